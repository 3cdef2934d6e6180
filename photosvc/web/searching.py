"""Searches of requests and of a host app: their parameters, limits and pages of results.

A search has a time limit, takes a place if it is costly, and ends when its client disconnects. Host apps call it
without HTTP with the same parameters, rights and limits, and get the records of the API.
"""

import select
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode
from weakref import finalize

import orjson
from flask import Response, has_request_context, request, url_for
from sqlalchemy import Connection
from sqlalchemy.orm import Session

from photosvc.auth.link_tokens import preview_token
from photosvc.auth.policy import decide
from photosvc.auth.principal import HostUser, Principal
from photosvc.auth.throttle import remember, remembered_until
from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import digest
from photosvc.core.message import did_you_mean
from photosvc.pictures.sizes import SIZES
from photosvc.query.filters import FILTERS, NAMES, FilterSpec, ValueKind
from photosvc.query.lexer import LONGEST_QUERY
from photosvc.records.results import FoundPhoto
from photosvc.search.limits import RunningSearch, SearchTooLongError, begin_limits, end_limits, ended_by_limit
from photosvc.search.reading.library import highest_file, library_state, page_tag
from photosvc.search.reading.pages import KnownSearches, Page, find
from photosvc.search.reading.request import (
    ALBUM_ORDERS,
    DEFAULT_ORDER,
    ORDER_ALIASES,
    PRIME,
    SearchRequest,
    parse_request,
)
from photosvc.web import protector
from photosvc.web.contract import Header, Parameters, describe, unknown_parameters
from photosvc.web.files import begin_transfer
from photosvc.web.links import LINK_HEADERS, link_headers
from photosvc.web.paging import page_headers, page_numbers, page_parameters
from photosvc.web.parts import MEDIA
from photosvc.web.responses import JSON, ReadyResponse, cache_headers, require_modified
from photosvc.web.service import Service, current_service

_QUERY = {"type": "string", "maxLength": LONGEST_QUERY}
_FLAG = {"type": "boolean"}
#: Parameters that select photos.
_WHICH: Parameters = {
    "q": (_QUERY, "Words and filters."),
    "filter": (_QUERY, "A query that limits the whole search."),
    "s": ({"type": "string"}, "Only photos of the album with this UID."),
}
#: Parameters for the order and form of the results.
_HOW: Parameters = {
    **page_parameters("files"),
    "cursor": ({"type": "string"}, "Where the page begins, from the `Link` of the previous page."),
    "order": (
        {"type": "string", "enum": [*ALBUM_ORDERS, *ORDER_ALIASES], "default": DEFAULT_ORDER},
        "The order of the results; `manual` is that of one album, and its default if its `Order` is `manual`.",
    ),
    "reverse": (_FLAG, "Reverse the order."),
    "seed": (
        {"type": "integer", "minimum": 0, "maximum": PRIME - 1},
        "The seed of a random order; without it, pages by `offset` continue the shuffle of the first one for an hour.",
    ),
    "merged": (_FLAG, "One result for each photo, with its files in `Files`."),
    "total": (_FLAG, "Count all matches, in `X-Total-Count`."),
}
#: Every parameter of a search, with its aliases.
_KNOWN = frozenset({*_WHICH, *_HOW, *NAMES})
#: Names and values of a query string, in order.
Pairs: TypeAlias = tuple[tuple[str, str], ...]
#: Most characters of a `Link`: many servers and clients read only 4 or 8 KiB of headers.
_LONGEST_LINK = 2048
#: The headers of a page.
PAGE_HEADERS = {
    **page_headers("files"),
    "X-Total-Count": Header("integer", "Files that match, if `total` was asked for."),
    "X-Unknown-Parameters": Header(
        "string", "Parameters that were ignored, each with the one that may be meant: `limit (count)`."
    ),
    "X-Search-Hint": Header(
        "string", "If nothing was found: similar words, and shorter queries that find photos; percent-encoded UTF-8."
    ),
    "X-Cursor": Header("string", "The `cursor` of the next page, if this one is full."),
    "Link": Header("string", "The next page, if this one is full and its address short enough (RFC 8288)."),
    **LINK_HEADERS,
}
#: The least time for which pages by `offset` follow one shuffle, and a range of milliseconds added to it.
_SHUFFLED: Final = timedelta(hours=1)
_MILLISECONDS: Final = 60_000
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
    return _limited(service, RunningSearch(service.limits, owner, ClientGone(request.environ), part))


@contextmanager
def _limited(service: Service, read: RunningSearch) -> Iterator[Connection]:
    outermost = False
    try:
        with service.reading() as connection:
            outermost = begin_limits(connection, read)
            try:
                yield connection
            finally:
                if outermost:
                    end_limits(read)
    except BaseException as error:
        if not outermost or not ended_by_limit(error):
            raise
        read.ended = read.ended or SearchTooLongError  # by the timeout of the database
        reason = read.error()
        if reason is None:
            raise
        raise reason from error


def search_parameters() -> list[dict[str, Any]]:
    """Return the parameters of GET /photos."""
    return [*describe({**_WHICH, **_HOW}), *_filters()]


def overview_parameters(further: Parameters) -> list[dict[str, Any]]:
    """Return these further parameters, followed by those that select photos."""
    return [*describe({**further, **_WHICH}), *_filters()]


def _filters() -> Iterator[dict[str, Any]]:
    for spec in FILTERS.values():
        schema = _FLAG if spec.kind in {ValueKind.FLAG, ValueKind.SWITCH} else _QUERY
        parameter = {"name": spec.name, "in": "query", "description": _meaning(spec), "schema": schema}
        if schema is _QUERY:
            parameter["example"] = _value(spec)
        yield parameter


def _meaning(spec: FilterSpec) -> str:
    also = f" Also called {' and '.join(spec.aliases)}." if spec.aliases else ""
    return f"{spec.help}{also} Takes {spec.kind.expected}."


def _value(spec: FilterSpec) -> str:
    """Return the value in the filter's example, without a further filter that may follow it there."""
    name = next(name for name in (spec.name, *spec.aliases) if f"{name}:" in spec.example)
    behind = spec.example.partition(f"{name}:")[2]
    return behind if '"' in behind else behind.partition(" ")[0]


def answer_page(
    asked: SearchRequest,
    path: str,
    *,
    pieces: Callable[[Page], Iterable[str]] = lambda page: page.pieces,
    cached: bool = True,
    hint: Callable[[Connection], str] | None = None,
) -> Response:
    """Answer with the page of this search, limited to what the principal may see.

    Args:
        path: the path of the route, for the address of the next page.
        pieces: makes the body from the page; by default the body has its results.
        cached: whether clients may cache the answer.
        hint: finds the hint for a search without results.
    """
    service, who, headers = current_service(), protector.principal(), link_headers()
    pairs = tuple(request.args.items(multi=True))
    asked = asked if asked.repeats else _of_one_shuffle(service, who, asked)
    with searching(who.owner_uid) as connection:
        state = library_state(connection)
        etag = page_tag(state, asked, sees_private=who.sees_private) if cached else None
        require_modified(etag, headers)
        page = service.only(KnownSearches).find(connection, asked, state, sees_private=who.sees_private)
        if hint and not page.count and not asked.offset and asked.cursor is None:
            page = replace(page, hint=hint(connection))
        caching = cache_headers(etag) if cached else [("Cache-Control", "no-store")]
        return _send(page, pieces(page), [*headers, *caching, *_headers_of(service, page, path, pairs)])


def _of_one_shuffle(service: Service, who: Principal, asked: SearchRequest) -> SearchRequest:
    """Return the request for a random page that names no seed, with that of the first page and without newer files.

    Clients that page by `offset` alone know no seed. A key of the search is stored until a time that is random enough
    to make one, and another one until as many milliseconds later as the highest id of a file; a credential has 256 keys
    of each kind at most. Where nothing can be written, the seed changes each minute.
    """
    search = digest(repr((asked.order.name, asked.merged, asked.album, asked.node)))
    key, now = f"shuffle:{who.owner_uid}:{who.credential_uid}:{search[:2]}", service.now()
    key_of_files = f"{key}:files"
    if not asked.offset:
        until = now + _SHUFFLED + timedelta(milliseconds=asked.seed % _MILLISECONDS)

        def begin(session: Session) -> None:
            remember(session, key, until)
            remember(session, key_of_files, until + timedelta(milliseconds=highest_file(session)))

        service.write_if_free(begin, lasting=False)
    with service.reading() as connection:
        stored = remembered_until(connection, key, now)
        newest_file = remembered_until(connection, key_of_files, now) - stored if stored else None
    moment = stored or int(now.timestamp()) // 60
    return replace(asked, seed=int(digest(f"{key}{search}{moment}"), 16) % PRIME, newest_file=newest_file)


def _send(page: Page, pieces: Iterable[str], headers: list[tuple[str, str]]) -> Response:
    """Return the answer with these pieces as its body; unless the page is whole, they are read while they are sent."""
    if page.is_whole:
        return ReadyResponse("".join(pieces), content_type=JSON, headers=headers)
    answer = ReadyResponse(pieces, content_type=JSON, headers=headers)
    # `finalize`, because an answer that is dropped before a server reads it is never closed.
    answer.call_on_close(begin_transfer(answer))
    read = current_service().keep_open()
    answer.call_on_close(finalize(answer, read.close))
    answer.response = read.pieces(pieces)
    return answer


def _headers_of(service: Service, page: Page, path: str, pairs: Pairs) -> list[tuple[str, str]]:
    """Return the headers with the numbers of a page and the address of the next one; `path` is that of the route."""
    headers = page_numbers(page.count, page.limit, page.offset)
    names = tuple(name for name, _ in pairs if name not in _KNOWN)
    if names and (unknown := unknown_parameters(names, _KNOWN)):
        headers.append(("X-Unknown-Parameters", unknown))
    if page.hint:
        headers.append(("X-Search-Hint", page.hint))
    if page.total is not None:
        headers.append(("X-Total-Count", str(page.total)))
    if page.next:
        further = tuple(pair for pair in pairs if pair[0] not in {"cursor", "offset", "seed"})
        query = "".join(f"{urlencode([pair])}&" for pair in further)
        cursor = str(page.next)
        following = f"{service.address_of(request, f'/api/v1/{path}')}?{query}cursor={cursor}"
        headers.append(("X-Cursor", cursor))
        link = f'<{following}>; rel="next"'
        if len(link) <= _LONGEST_LINK:
            headers.append(("Link", link))
    return headers


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
    with _limited(service, RunningSearch(service.limits, owner, lambda: False, "q")) as connection:
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
    if name in _KNOWN:
        return name
    msg = f'"{name[:32]}" is no parameter or filter of the search'
    raise InvalidValueError(did_you_mean(msg, name, [*_WHICH, *_HOW, *NAMES]), field=name[:32])


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
