"""The header `If` of WebDAV (RFC 4918 section 10.4)."""

import re
from http import HTTPStatus
from typing import Final, NamedTuple

from photosvc.core.errors import PhotosvcError

#: Characters of the header, and conditions in it: each may cost a query.
LONGEST: Final = 8192
MOST_CONDITIONS: Final = 100

# Each alternative stops at the next bracket or quotation mark, so that no text takes long. A weak tag keeps its `W/`.
_TOKEN: Final = re.compile(r'[ \t]*(?:<([^<>]*)>|\["([^"]*)"\]|\[([^\]]*)\]|(not)\b|([()]))', re.IGNORECASE)


class IfHeaderError(PhotosvcError):
    """The header `If` cannot be read, or has more than 100 conditions."""

    status = HTTPStatus.BAD_REQUEST


class Condition(NamedTuple):
    """One condition of a list."""

    wanted: bool
    """Whether it must hold; False after `Not`."""
    is_tag: bool
    """Whether `value` is an entity tag, without quotes; else it is a lock token."""
    value: str


class List(NamedTuple):
    """Conditions that must hold together."""

    address: str
    """Of the resource that they are about; empty: that of the request."""
    conditions: tuple[Condition, ...]


def parse_if(text: str) -> list[List]:
    """The lists of a header, of which one must hold.

    Raises:
        IfHeaderError: it is not in the form of the RFC, or too long.

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
    """What follows an opening parenthesis, and where it ends."""
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
