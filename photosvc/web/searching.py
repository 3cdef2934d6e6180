"""Searches under limits: for requests, and without HTTP for the code and the pages of a host app.

A search has a time limit, takes a place if it is costly, and ends when its client disconnects. Host apps call it with
the same parameters, rights and limits, and get the records of the API.
"""

import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import orjson
from flask import has_request_context, request, url_for
from sqlalchemy import Connection

from photosvc.auth.link_tokens import preview_token
from photosvc.auth.policy import decide
from photosvc.auth.principal import HostUser, Principal
from photosvc.core.errors import InvalidValueError
from photosvc.core.message import did_you_mean
from photosvc.pictures.sizes import SIZES
from photosvc.query.filters import NAMES
from photosvc.records.results import FoundPhoto
from photosvc.search.limits import Read, SearchTooLongError, begin_read, end_read, ended_by_limit
from photosvc.search.reading.pages import find
from photosvc.search.reading.request import parse_request
from photosvc.web.parts import MEDIA
from photosvc.web.service import Service, current_service

#: Parameters of the search that are not filters.
_PARAMETERS: Final = frozenset(
    {"q", "filter", "s", "count", "offset", "cursor", "order", "reverse", "seed", "merged", "total"}
)
#: The owner of the places of costly searches without a principal.
_NOBODY: Final = "host app"
Value: TypeAlias = str | float | bool | date | None


def searching(owner: str, part: str = "q") -> AbstractContextManager[Connection]:
    """Open a connection as `Service.reading` does, whose statements are ended at the limits of a search.

    Args:
        owner: the `owner_uid` of the principal, whose place a costly search takes.
        part: the parameter that an error names when the request has no query.

    Raises:
        SearchTooLongError: the search in the block took too long.
        SearchesBusyError: the search in the block is costly, and too many such searches run.
        ClientGoneError: the client closed the connection during the block.
    """
    service = current_service()
    return _limited(service, Read(service.limits, owner, ClientGone(request.environ), part))


@contextmanager
def _limited(service: Service, read: Read) -> Iterator[Connection]:
    outermost = False
    try:
        with service.reading() as connection:
            outermost = begin_read(connection, read)
            try:
                yield connection
            finally:
                if outermost:
                    end_read(read)
    except BaseException as error:
        if not outermost or not ended_by_limit(error):
            raise
        read.ended = read.ended or SearchTooLongError  # by the timeout of the database
        reason = read.error()
        if reason is None:
            raise
        raise reason from error


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of search results, which is also a sequence of its photos."""

    photos: tuple[FoundPhoto, ...]
    count: int
    """The number of files on the page; with `merged`, several of them may be one result."""
    limit: int
    """The most files that the page can have."""
    offset: int
    cursor: str | None
    """The beginning of the next page, for `search(cursor=…)`; None if this page was not full."""
    total: int | None
    """The number of files that match, if `total` was asked for."""

    def __iter__(self) -> Iterator[FoundPhoto]:
        return iter(self.photos)

    def __len__(self) -> int:
        return len(self.photos)

    def __getitem__(self, number: int) -> FoundPhoto:
        return self.photos[number]


def search_library(principal: HostUser | Principal | None, parameters: Mapping[str, Value]) -> SearchResults:
    """Return the page of results for these parameters of GET /photos; None as a value stands for an absent parameter.

    Call it in an app context of its own, at whose end its transaction ends.

    Args:
        principal: the user who searches; None leaves private photos out.
        parameters: names and values, including filters.

    Raises:
        TypeError: `principal` is something else.
        InvalidValueError: a name is unknown, or a value is not valid.
        PermissionDeniedError: the scope of the principal does not cover searching.
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.
        SearchEndedError: the search took too long, or too many costly searches run.
        SchemaError: the tables are missing or of another version.
    """
    service = current_service()
    who = principal.principal(service.now()) if isinstance(principal, HostUser) else principal
    if who is not None:
        _check(who)
        decide(who, "photos.search")
    pairs = [(_known(name), _text(value)) for name, value in parameters.items() if value is not None]
    asked = parse_request(pairs, service.today())
    service.require_schema()
    owner = _NOBODY if who is None else who.owner_uid
    with _limited(service, Read(service.limits, owner, lambda: False, "q")) as connection:
        page = find(connection, asked, sees_private=who is not None and who.sees_private)
        body = page.body
    return SearchResults(
        photos=tuple(orjson.loads(body)),
        count=page.count,
        limit=page.limit,
        offset=page.offset,
        cursor=None if page.next is None else str(page.next),
        total=page.total,
    )


def thumbnail_url(content_hash: str, size: str, user: HostUser) -> str:
    """Return the address of a thumbnail, which opens while this user is signed in to the host.

    Raises:
        InvalidValueError: there is no such size.
        RuntimeError: there is no `principal_loader`, or the part `media` is not mounted.
    """
    service = current_service()
    if service.hosts.load is None or MEDIA not in service.parts:
        raise RuntimeError("thumbnails for users of a host app need the part media and a principal_loader")
    if size not in SIZES:
        raise InvalidValueError(f'"{size[:32]}" is no size of thumbnails; `svc show sizes` lists them', field="size")
    token = preview_token(service.settings, user.principal(service.now()))
    if has_request_context():
        return url_for("photosvc.thumbnails.thumbnail", content_hash=content_hash, token=token, size=size)
    root = service.settings.base_url or service.url_prefix
    return f"{root}/api/v1/t/{quote(content_hash, safe='')}/{token}/{size}"


def _check(who: object) -> None:
    if not isinstance(who, Principal):
        raise TypeError(f"principal must be a photosvc.HostUser or None, not {type(who).__name__}")


def _known(name: str) -> str:
    if name in _PARAMETERS or name in NAMES:
        return name
    msg = f'"{name[:32]}" is no parameter or filter of the search'
    raise InvalidValueError(did_you_mean(msg, name, [*_PARAMETERS, *NAMES]), field=name[:32])


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)


#: Keys in the environ of the client's connection: gunicorn's, and that of Werkzeug's development server.
_SOCKETS: Final = ("gunicorn.socket", "werkzeug.socket")


class ClientGone:
    """A check whether the client of a request has closed its connection; any thread may call it."""

    __slots__ = ("_environ",)

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._environ = environ

    def __call__(self) -> bool:
        """Return whether the client has closed the connection.

        False if it has already sent its next request, and if the server does not give access to the connection.
        """
        client = next((self._environ[name] for name in _SOCKETS if name in self._environ), None)
        if client is None:
            return False
        try:
            poll = select.poll()
            poll.register(client.fileno(), select.POLLIN)
            # This works for TLS as well: the content of the connection does not matter.
            return bool(poll.poll(0)) and not socket.socket.recv(client, 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except (OSError, ValueError):
            return True
