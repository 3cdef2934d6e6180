"""Conditions of requests: `If-Match` and its like (RFC 9110 section 13), and `If` of WebDAV (RFC 4918 section 10.4)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from werkzeug.datastructures import EnvironHeaders
from werkzeug.http import parse_date, parse_etags
from wsgidav.dav_error import HTTP_BAD_REQUEST, HTTP_PRECONDITION_FAILED, DAVError
from wsgidav.util import parse_if_header_dict

from photosvc.core.errors import PhotosvcError
from photosvc.dav.addresses import path_of_url

if TYPE_CHECKING:
    from photosvc.dav.tree import Environ, OriginalFile, OriginalFolder, Originals

#: A condition of a list: whether it must hold, `entity` or `locktoken`, and the tag or token.
_Condition = tuple[bool, str, str]


def check_headers(environ: "Environ", found: "OriginalFile | OriginalFolder | None") -> None:
    """Check the preconditions of HTTP, for a request that changes something.

    Raises:
        DAVError: 412, one of them does not hold.

    """
    headers = EnvironHeaders(environ)
    etag = None if found is None else found.get_etag()
    if match := headers.get("If-Match"):
        tags = parse_etags(match)
        holds = found is not None and (tags.star_tag or (etag is not None and tags.contains(etag)))
    elif found is not None and (since := parse_date(headers.get("If-Unmodified-Since"))):
        holds = datetime.fromtimestamp(int(found.get_last_modified()), UTC) <= since
    else:
        holds = True
    if found is not None and (none_match := headers.get("If-None-Match")):
        tags = parse_etags(none_match)
        holds = holds and not (tags.star_tag or (etag is not None and tags.contains_weak(etag)))
    if not holds:
        raise DAVError(HTTP_PRECONDITION_FAILED)


def check_if(environ: "Environ", provider: "Originals", path: str, tokens_on: Callable[[str], set[str]]) -> None:
    """Check the header `If`, which holds when one of its lists does, and note the lock tokens that it shows.

    Args:
        environ: gets the tokens as `wsgidav.ifLockTokenList`.
        provider: finds the resources that lists are about.
        path: of the request; lists without an address are about it.
        tokens_on: gives the tokens of the locks that cover a path.

    Raises:
        DAVError: 412, no list holds; 400, the header has no list.

    """
    parse_if_header_dict(environ)
    if "HTTP_IF" not in environ:
        return
    lists: dict[str, list[list[_Condition]]] = environ["wsgidav.conditions.if"]
    if not lists:
        raise DAVError(HTTP_BAD_REQUEST, "the header If has no list")
    for address, conditions in lists.items():
        try:
            about = path if address == "*" else path_of_url(environ, provider.mount_path, address)
        except PhotosvcError:  # another server's resource
            continue
        if _one_holds(provider.get_resource_inst(about, environ), tokens_on(about), conditions):
            return
    raise DAVError(HTTP_PRECONDITION_FAILED)


def _one_holds(found: "OriginalFile | OriginalFolder | None", tokens: set[str], lists: list[list[_Condition]]) -> bool:
    etag = None if found is None else found.get_etag()

    def holds(condition: _Condition) -> bool:
        wanted, kind, value = condition
        return (value == etag if kind == "entity" else value in tokens) is wanted

    return any(all(map(holds, one)) for one in lists)
