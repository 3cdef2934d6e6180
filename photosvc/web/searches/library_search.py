"""The search for code of a host app, without HTTP: the same parameters, rights and limits, with typed results.

And what its pages show of them.
"""

import difflib
from collections.abc import Mapping
from datetime import date, datetime
from typing import Final, TypeAlias
from urllib.parse import quote

from flask import has_request_context, url_for

from photosvc.auth.credentials.link_tokens import preview_token
from photosvc.auth.host_user import HostUser
from photosvc.auth.policy import decide
from photosvc.auth.principal import Principal
from photosvc.core.errors import InvalidValueError
from photosvc.pictures.thumbnails.sizes import SIZES
from photosvc.query.filters import NAMES
from photosvc.records.photos.results import SearchResults, read_results
from photosvc.search.reading.paging.page import find
from photosvc.search.reading.request import parse_request
from photosvc.web.current import current_service
from photosvc.web.searches.searching import searching_apart
from photosvc.web.service.parts import MEDIA

#: The parameters of the search that are no filters.
_PARAMETERS: Final = frozenset(
    {"q", "filter", "s", "count", "offset", "cursor", "order", "reverse", "seed", "merged", "total"}
)
#: The owner of the turns that costly searches without a principal take.
_NOBODY: Final = "host app"

Value: TypeAlias = str | float | bool | date | None


def search_library(principal: HostUser | Principal | None, parameters: Mapping[str, Value]) -> SearchResults:
    """The page of results that these parameters of GET /photos ask for; None as a value is one that is absent.

    Call it in an app context of its own, at whose end its transaction ends.

    Args:
        principal: who searches; with None, private photos are left out.
        parameters: names and values; filters too.

    Raises:
        TypeError: the principal is something else.
        InvalidValueError: a name is unknown, or a value is not valid.
        PermissionDeniedError: the scope of the principal does not cover searching.
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.
        SearchEndedError: the search took too long, or too many costly ones run.
        SchemaError: the tables are missing or of another version.

    """
    service = current_service()
    who = principal.principal(service.now()) if isinstance(principal, HostUser) else principal
    if who is not None:
        _check(who)
        decide(who, "photos.search")
    asked = parse_request([(_known(name), _text(value)) for name, value in parameters.items() if value is not None])
    service.require_schema()
    with searching_apart(service, _NOBODY if who is None else who.owner_uid) as connection:
        page = find(connection, asked, sees_private=who is not None and who.sees_private)
        body = page.body
    return SearchResults(
        photos=read_results(body),
        count=page.count,
        limit=page.limit,
        offset=page.offset,
        cursor=None if page.next is None else str(page.next),
        total=page.total,
    )


def thumbnail_url(content_hash: str, size: str, user: HostUser) -> str:
    """The address of a thumbnail, which opens while this user is signed in to the host.

    Raises:
        InvalidValueError: there is no such size.
        RuntimeError: no `principal_loader` says who is signed in, or the part `media` is not mounted.

    """
    service = current_service()
    if service.hosts.load is None or MEDIA not in service.parts:
        msg = "thumbnails for users of a host app need the part media and a principal_loader"
        raise RuntimeError(msg)
    if size not in SIZES:
        msg = f'"{size[:32]}" is no size of thumbnails; `svc show sizes` lists them'
        raise InvalidValueError(msg, field="size")
    token = preview_token(service.settings, user.principal(service.now()))
    if has_request_context():
        return url_for("photosvc.thumbnail", content_hash=content_hash, token=token, size=size)
    root = service.settings.base_url or service.url_prefix
    return f"{root}/api/v1/t/{quote(content_hash, safe='')}/{token}/{size}"


def _check(who: object) -> None:
    if not isinstance(who, Principal):
        msg = f"principal must be a photosvc.HostUser or None, not {type(who).__name__}"
        raise TypeError(msg)


def _known(name: str) -> str:
    if name in _PARAMETERS or name in NAMES:
        return name
    nearest = difflib.get_close_matches(name, [*_PARAMETERS, *NAMES], n=1)
    hint = f'; did you mean "{nearest[0]}"?' if nearest else ""
    raise InvalidValueError(f'"{name[:32]}" is no parameter or filter of the search{hint}', field=name[:32])


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)
