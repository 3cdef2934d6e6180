"""The sort orders, and cursors: the places in them where pages begin, as opaque texts.

Each order is total: it ends in a unique key. A cursor contains the sort keys of the last row of a page, not its number:
its cost does not grow with depth, and photos that come or go do not shift it. It grants nothing, so it is not signed;
its values are only compared with sort keys.
"""

import base64
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from sqlalchemy import BigInteger, ColumnElement, cast
from sqlalchemy.orm import InstrumentedAttribute

from photosvc.core.errors import InvalidValueError
from photosvc.core.words import names_like
from photosvc.models import SORT_KEYS, AlbumPhoto, SearchRow

#: Modulus and range of seeds: products stay below 2^62 on both databases.
PRIME = 2**31 - 1

#: Longer than every cursor of this service before it is compressed (4.2 KB: a title of 1000 bytes and a name of 1024,
#: all of them quotes), and shorter than the 8 KB that servers accept as a request line. Compressed, the longest have
#: 2.8 KB. No character of a cursor needs percent-encoding.
_MAX_CURSOR = 6000
#: Longer cursors, in bytes, are compressed.
_LONG = 400
_INT64 = 2**63
_COUNT = 2**53

#: Precedes the name of an order that is reversed.
REVERSED = "-"

Column = ColumnElement[Any] | InstrumentedAttribute[Any]
Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order: columns in one direction, so that one row-value comparison finds the next page."""

    name: str
    """Its name in requests and cursors; begins with a `-` when it is reversed."""
    columns: Callable[[int], Columns] = field(repr=False)
    """The columns for a seed; they follow from the name, from merging, and from searching archived photos."""
    falling: bool
    help: str = field(repr=False, compare=False)

    @property
    def base(self) -> str:
        """Return the name without the sign of a reversed order."""
        return self.name.removeprefix(REVERSED)

    @property
    def is_reversed(self) -> bool:
        """Return whether it is an order of `ORDERS` backwards, also within a photo."""
        return self.name.startswith(REVERSED)

    def reversed(self) -> "Order":
        """Return the same order backwards."""
        name = self.base if self.is_reversed else REVERSED + self.name
        return replace(self, name=name, falling=not self.falling)


def _order(name: str, help_: str, *, falling: bool = True, keys: str = "") -> Order:
    """Return an order by the columns that `SORT_KEYS` has under `keys`, or else under the order's own name."""
    columns = tuple(getattr(SearchRow, column) for column in SORT_KEYS[keys or name].columns)
    return Order(name, lambda _seed: columns, falling, help_)


def _shuffled(seed: int) -> Columns:
    # Multiplication modulo a prime permutes the fixed random numbers of the photos, differently for each seed. Without
    # the cast PostgreSQL multiplies in 32 bits and fails.
    return (cast(SearchRow.shuffle, BigInteger) * (seed % (PRIME - 1) + 1) % PRIME, SearchRow.newest_key)


ORDERS = {
    order.name: order
    for order in (
        _order("added", "Last added first"),
        _order("updated", "Last changed first, by people or by the index"),
        _order("edited", "Last edited by people first, then the others"),
        # Photos that are not archived have no such time: see `without_archive`.
        Order(
            "archived",
            lambda _seed: (SearchRow.archived_at, SearchRow.newest_key),
            True,
            "Last archived first, then as `added`",
        ),
        _order("relevance", "Best match first; without words best quality first"),
        _order("duration", "Longest first"),
        _order("size", "Largest file first"),
        _order("newest", "Last taken first"),
        _order("oldest", "First taken first", falling=False),
        _order("similar", "By colour, place and structure", falling=False),
        _order("name", "By folder and file name", falling=False),
        _order("title", "By title", falling=False),
        _order("place", "By country, state and city", falling=False),
        Order("random", _shuffled, True, "Shuffled by `seed`"),
    )
}

#: Merged results keep the files of a photo together, so there the photo's largest file counts.
_MERGED_SIZE = _order("size", ORDERS["size"].help, keys="photo_size")

#: The order by hand of one album, which `window` reads from the entries of the album.
MANUAL = Order("manual", lambda _seed: (AlbumPhoto.position, SearchRow.oldest_key), False, "As people ordered an album")

#: Names of the orders that an album may have.
ALBUM_ORDERS = (*ORDERS, MANUAL.name)

#: Further names of orders, as other clients write them.
ORDER_ALIASES = {"imported": "added", "updated_at": "updated"}

#: Orders without an index of their own.
UNINDEXED_ORDERS = frozenset({"random", "archived"})

DEFAULT_ORDER = "added"


def order_named(name: str, *, merged: bool = False, field: str = "order") -> Order:
    """Return the order with this name, for merged results or for files; a `-` before it reverses it.

    Args:
        name: the name, in any case.
        field: the parameter that errors name.

    Raises:
        InvalidValueError: there is none; the message suggests the nearest or lists all.
    """
    asked = name.lower().removeprefix(REVERSED)
    order = MANUAL if asked == MANUAL.name else ORDERS.get(ORDER_ALIASES.get(asked, asked))
    if order is None:
        near = names_like(asked, ALBUM_ORDERS)
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(ALBUM_ORDERS)}"
        raise InvalidValueError(f"order {name[:40]!r} is unknown: {hint}", field=field)
    order = _MERGED_SIZE if merged and order.name == "size" else order
    return order.reversed() if name.startswith(REVERSED) else order


def without_archive(order: Order) -> Order:
    """Replace `archived`, in a search that shows nothing archived, by the order of `added`, which has an index."""
    if order.base != "archived":
        return order
    return replace(order, columns=ORDERS["added"].columns)


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: its order and seed, the number of files up to it, and its sort keys."""

    order: str
    seed: int
    position: int
    values: tuple[int | str, ...]

    def __str__(self) -> str:
        raw = orjson.dumps([self.order, self.seed, self.position, *self.values])
        if len(raw) > _LONG:  # a header contains it, and titles and names may be long
            raw = zlib.compress(raw, 9)
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def parse_cursor(text: str) -> Cursor:
    """Return the cursor in `text`.

    Raises:
        InvalidValueError: this service did not make it.
    """
    cursor = _decode(text)
    if cursor is None:
        raise InvalidValueError("cursor is not one this service has given; begin again without it", field="cursor")
    return cursor


def _decode(text: str) -> Cursor | None:
    if len(text) > _MAX_CURSOR:
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        order, seed, position, *values = orjson.loads(raw if raw.startswith(b"[") else _expanded(raw))
    except (ValueError, TypeError, zlib.error):
        return None
    fits = (
        isinstance(order, str)
        and _is_count(seed)
        and _is_count(position)
        and all(_is_integer(value) or _is_text(value) for value in values)
    )
    return Cursor(order, seed, position, tuple(values)) if fits else None


def _expanded(compressed: bytes) -> bytes:
    """Decompress a cursor, at most as far as the longest one: the beginning of a longer text is no JSON."""
    return zlib.decompressobj().decompress(compressed, _MAX_CURSOR)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value  # PostgreSQL refuses NUL in texts


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _COUNT
