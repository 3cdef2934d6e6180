"""The header `If` of WebDAV (RFC 4918 section 10.4): lists of conditions about entity tags and lock tokens."""

import re
from collections.abc import Collection, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from photosvc.core.errors import PhotosvcError

#: The most characters of the header, and the most conditions in it: each may cost a query.
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


class ConditionList(NamedTuple):
    """A list of conditions that must all hold."""

    address: str
    """The URL of the resource that the conditions are about; empty for the resource of the request."""
    conditions: tuple[Condition, ...]


def parse_if(text: str) -> list[ConditionList]:
    """Parse the header `If` into its lists, of which one must hold.

    Raises:
        IfHeaderError: the header is malformed or too long.
    """
    if len(text) > LONGEST:
        raise IfHeaderError
    lists: list[ConditionList] = []
    address, position, count = "", 0, 0
    while position < len(text.rstrip()):
        part = _next(text, position)
        position = part.end()
        if part[5] == "(":
            conditions, position = _conditions(text, position)
            lists.append(ConditionList(address, conditions))
            count += len(conditions)
            if count > MOST_CONDITIONS:
                raise IfHeaderError
        elif part[1] and (address or not lists):  # a header has addresses before all of its lists, or before none
            address = part[1]
        else:
            raise IfHeaderError
    if not lists:
        raise IfHeaderError
    return lists


def _conditions(text: str, position: int) -> tuple[tuple[Condition, ...], int]:
    """Parse the conditions after an opening parenthesis; return them and the position after the closing one."""
    conditions: list[Condition] = []
    wanted = True
    while (part := _next(text, position))[5] != ")":
        position = part.end()
        if part[4]:
            if not wanted:
                raise IfHeaderError
            wanted = False
            continue
        if part[5]:
            raise IfHeaderError
        tag = part[2] if part[3] is None else part[3]
        conditions.append(Condition(wanted, tag is not None, part[1] or "" if tag is None else tag))
        wanted = True
    if not conditions or not wanted:
        raise IfHeaderError
    return tuple(conditions), part.end()


def _next(text: str, position: int) -> re.Match[str]:
    if (part := _TOKEN.match(text, position)) is None:
        raise IfHeaderError
    return part


def hold(conditions: Sequence[Condition], etag: str | None, tokens: Collection[str]) -> bool:
    """Return whether all conditions hold for a resource with this entity tag, covered by the locks of these tokens."""
    return all(
        (condition.value == etag if condition.is_tag else condition.value in tokens) == condition.wanted
        for condition in conditions
    )
