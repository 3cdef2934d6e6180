"""Keyset cursors: where the next page begins, as an opaque text.

A cursor contains the sort keys of the last row of a page, not its number: its cost does not grow with depth, and photos
that come or go do not shift it. It grants nothing, so it is not signed; what it says is only compared with.
"""

import base64
from dataclasses import dataclass

import orjson

from photosvc.core.errors import InvalidValueError

#: Longer than every cursor of this service (5.5 KB: a title of 1000 bytes and a name of 1024, all of them quotes), and
#: shorter than the 8 KB that servers accept as a request line. No character of a cursor needs percent-encoding.
_MAX_LENGTH = 6000
_INT64 = 2**63
_COUNT = 2**53


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: its order and seed, the number of files up to it, its sort keys."""

    order: str
    seed: int
    position: int
    values: tuple[int | str, ...]

    def __str__(self) -> str:
        raw = orjson.dumps([self.order, self.seed, self.position, *self.values])
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def parse_cursor(text: str) -> Cursor:
    """The cursor in `text`.

    Raises:
        InvalidValueError: this service did not make it.

    """
    cursor = _decode(text)
    if cursor is None:
        msg = "cursor is not one this service has given; begin again without it"
        raise InvalidValueError(msg, field="cursor")
    return cursor


def _decode(text: str) -> Cursor | None:
    if len(text) > _MAX_LENGTH:
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        order, seed, position, *values = orjson.loads(raw)
    except (ValueError, TypeError):
        return None
    fits = (
        isinstance(order, str)
        and _is_count(seed)
        and _is_count(position)
        and all(_is_integer(value) or _is_text(value) for value in values)
    )
    return Cursor(order, seed, position, tuple(values)) if fits else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value  # PostgreSQL refuses NUL in texts


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _COUNT
