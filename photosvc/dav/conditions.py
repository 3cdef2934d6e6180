"""Conditions of requests: preconditions of HTTP (RFC 9110 section 13), and `If` of WebDAV (RFC 4918 section 10.4)."""

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple

from werkzeug.datastructures import EnvironHeaders
from werkzeug.http import parse_date, parse_etags

from photosvc.core.errors import PhotosvcError
from photosvc.dav.addresses import path_of_url
from photosvc.dav.errors import DAVError

if TYPE_CHECKING:
    from photosvc.dav.tree import Environ, Original, Originals

#: The most characters of the header `If`, and conditions in it: each may cost a query.
LONGEST: Final = 8192
MOST_CONDITIONS: Final = 100
# Each alternative stops at the next bracket or quotation mark, so that matching takes linear time. A weak entity tag
# keeps its `W/`.
_TOKEN: Final = re.compile(r'[ \t]*(?:<([^<>]*)>|\["([^"]*)"\]|\[([^\]]*)\]|(not)\b|([()]))', re.IGNORECASE)


class IfHeaderError(PhotosvcError):
    """The header `If` cannot be read, or has more than 100 conditions."""

    status = HTTPStatus.BAD_REQUEST


class Condition(NamedTuple):
    """One condition of a list."""

    wanted: bool
    """True if the condition must hold; False after `Not`."""
    is_tag: bool
    """True if `value` is an entity tag, without quotes; False if it is a lock token."""
    value: str


class List(NamedTuple):
    """A list of conditions that must all hold."""

    address: str
    """The URL of the resource that they are about; empty: the resource of the request."""
    conditions: tuple[Condition, ...]


def parse_if(text: str) -> list[List]:
    """Parse the header `If` into its lists, of which one must hold.

    Raises:
        IfHeaderError: the header is malformed or too long.
    """
    if len(text) > LONGEST:
        raise IfHeaderError
    lists: list[List] = []
    address, position, number = "", 0, 0
    while position < len(text.rstrip()):
        found = _next(text, position)
        position = found.end()
        if found[5] == "(":
            conditions, position = _conditions(text, position)
            lists.append(List(address, conditions))
            number += len(conditions)
            if number > MOST_CONDITIONS:
                raise IfHeaderError
        elif found[1] and (address or not lists):  # a header has addresses before all of its lists, or before none
            address = found[1]
        else:
            raise IfHeaderError
    if not lists:
        raise IfHeaderError
    return lists


def _conditions(text: str, position: int) -> tuple[tuple[Condition, ...], int]:
    """Parse the conditions after an opening parenthesis; return them and the position behind the closing one."""
    conditions: list[Condition] = []
    wanted = True
    while (found := _next(text, position))[5] != ")":
        position = found.end()
        if found[4]:
            if not wanted:
                raise IfHeaderError
            wanted = False
            continue
        if found[5]:
            raise IfHeaderError
        tag = found[2] if found[3] is None else found[3]
        conditions.append(Condition(wanted, tag is not None, found[1] or "" if tag is None else tag))
        wanted = True
    if not conditions or not wanted:
        raise IfHeaderError
    return tuple(conditions), found.end()


def _next(text: str, position: int) -> re.Match[str]:
    found = _TOKEN.match(text, position)
    if found is None:
        raise IfHeaderError
    return found


def check_headers(environ: "Environ", found: "Original | None") -> None:
    """Check the preconditions of HTTP, for a request that changes something.

    Raises:
        DAVError: 412, one of them does not hold.
    """
    headers = EnvironHeaders(environ)
    etag = None if found is None else found.etag
    if match := headers.get("If-Match"):
        tags = parse_etags(match)
        holds = found is not None and (tags.star_tag or (etag is not None and tags.contains(etag)))
    elif found is not None and (since := parse_date(headers.get("If-Unmodified-Since"))):
        holds = datetime.fromtimestamp(int(found.status.st_mtime), UTC) <= since
    else:
        holds = True
    if found is not None and (none_match := headers.get("If-None-Match")):
        tags = parse_etags(none_match)
        holds = holds and not (tags.star_tag or (etag is not None and tags.contains_weak(etag)))
    if not holds:
        raise DAVError(HTTPStatus.PRECONDITION_FAILED)


def check_if(
    lists: Sequence[List], environ: "Environ", provider: "Originals", path: str, tokens_on: Callable[[str], set[str]]
) -> None:
    """Check the lists of the header `If`, of which one must hold.

    Args:
        lists: the lists of the header; empty without it.
        provider: finds the resources that lists are about.
        path: the path of the request, for lists without an address.
        tokens_on: returns the tokens of the locks that cover a path.

    Raises:
        DAVError: 412, no list holds.
    """
    etags: dict[str, str | None] = {}  # a header may name one resource in many lists
    tokens: dict[str, set[str]] = {}
    for one in lists:
        try:
            about = path_of_url(environ, provider.mount_path, one.address) if one.address else path
        except PhotosvcError:  # a resource of another server
            continue
        for is_tag in {condition.is_tag for condition in one.conditions}:
            if is_tag and about not in etags:
                found = provider.find(about)
                etags[about] = None if found is None else found.etag
            elif not is_tag and about not in tokens:
                tokens[about] = tokens_on(about)
        if _hold(one.conditions, etags.get(about), tokens.get(about, set())):
            return
    if lists:
        raise DAVError(HTTPStatus.PRECONDITION_FAILED)


def _hold(conditions: Sequence[Condition], etag: str | None, tokens: Collection[str]) -> bool:
    return all((one.value == etag if one.is_tag else one.value in tokens) is one.wanted for one in conditions)
