"""Conditions of requests: `If-Match` and its like (RFC 9110 section 13), and `If` of WebDAV (RFC 4918 section 10.4)."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from werkzeug.datastructures import EnvironHeaders
from werkzeug.http import parse_date, parse_etags
from wsgidav.dav_error import HTTP_PRECONDITION_FAILED, DAVError

from photosvc.core.errors import PhotosvcError
from photosvc.dav.addresses import path_of_url
from photosvc.dav.locking.if_header import Condition, List

if TYPE_CHECKING:
    from photosvc.dav.tree import Environ, OriginalFile, OriginalFolder, Originals


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


def check_if(
    lists: Sequence[List], environ: "Environ", provider: "Originals", path: str, tokens_on: Callable[[str], set[str]]
) -> None:
    """Check the lists of the header `If`, of which one must hold.

    Args:
        lists: of the header; none without it.
        environ: of the request.
        provider: finds the resources that lists are about.
        path: of the request; lists without an address are about it.
        tokens_on: gives the tokens of the locks that cover a path.

    Raises:
        DAVError: 412, no list holds.

    """
    etags: dict[str, str | None] = {}  # a header may name one resource in many lists
    tokens: dict[str, set[str]] = {}
    for one in lists:
        try:
            about = path_of_url(environ, provider.mount_path, one.address) if one.address else path
        except PhotosvcError:  # another server's resource
            continue
        for is_tag in {condition.is_tag for condition in one.conditions}:
            if is_tag and about not in etags:
                found = provider.get_resource_inst(about, environ)
                etags[about] = None if found is None else found.get_etag()
            elif not is_tag and about not in tokens:
                tokens[about] = tokens_on(about)
        if _hold(one.conditions, etags.get(about), tokens.get(about, set())):
            return
    if lists:
        raise DAVError(HTTP_PRECONDITION_FAILED)


def _hold(conditions: Sequence[Condition], etag: str | None, tokens: Collection[str]) -> bool:
    return all((one.value == etag if one.is_tag else one.value in tokens) is one.wanted for one in conditions)
