"""The sort orders of spec section 4.2. Each is total: it ends in a key no two rows share."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, cast
from sqlalchemy.orm import InstrumentedAttribute

from photosvc.core.errors import InvalidValueError
from photosvc.models import SearchRow

#: Modulus and range of seeds: products stay below 2^62 on both databases.
PRIME = 2**31 - 1

Column = ColumnElement[Any] | InstrumentedAttribute[Any]
Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order: columns that all fall or all rise, so that one row-value comparison finds the next page."""

    name: str
    columns: Callable[[int], Columns]
    falling: bool
    help: str


def _fixed(*columns: Any) -> Callable[[int], Columns]:  # noqa: ANN401
    return lambda _seed: columns


def _shuffled(seed: int) -> Columns:
    # Multiplication modulo a prime permutes the photos' fixed random numbers: another seed, another order.
    # PostgreSQL would multiply in 32 bits, and fail.
    return (cast(SearchRow.shuffle, BigInteger) * (seed % (PRIME - 1) + 1) % PRIME, SearchRow.newest_key)


_NEWEST, _OLDEST = SearchRow.newest_key, SearchRow.oldest_key

ORDERS = {
    order.name: order
    for order in (
        Order("added", _fixed(_NEWEST), True, "Last added first"),
        Order("updated", _fixed(SearchRow.updated_at, _NEWEST), True, "Last changed first, by people or by the index"),
        Order("edited", _fixed(SearchRow.edited_at, _NEWEST), True, "Last edited by people first, then the others"),
        Order(
            "relevance",
            _fixed(SearchRow.quality, SearchRow.taken_at, _NEWEST),
            True,
            "Best match first; without words best quality first",
        ),
        Order("duration", _fixed(SearchRow.duration, _NEWEST), True, "Longest first"),
        Order("size", _fixed(SearchRow.size, _NEWEST), True, "Largest file first"),
        Order("newest", _fixed(SearchRow.taken_at, _NEWEST), True, "Last taken first"),
        Order("oldest", _fixed(SearchRow.taken_at, _OLDEST), False, "First taken first"),
        Order(
            "similar",
            _fixed(SearchRow.color, SearchRow.cell_id, SearchRow.photo_diff, _OLDEST),
            False,
            "By colour, place and structure",
        ),
        Order("name", _fixed(SearchRow.path, SearchRow.name, _OLDEST), False, "By folder and file name"),
        Order("title", _fixed(SearchRow.title_key, SearchRow.name, _OLDEST), False, "By title"),
        Order("random", _shuffled, True, "Shuffled by `seed`"),
    )
}

#: Merged results keep the files of a photo together, so there the photo's largest file counts.
_MERGED_SIZE = Order("size", _fixed(SearchRow.photo_size, _NEWEST), True, ORDERS["size"].help)

DEFAULT_ORDER = "added"


def order_named(name: str, *, merged: bool = False) -> Order:
    """The order with this name, in the form for merged results or for files.

    Raises:
        InvalidValueError: there is none; the sentence lists them.

    """
    order = ORDERS.get(name.lower())
    if order is None:
        near = get_close_matches(name.lower(), ORDERS, 1)
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(ORDERS)}"
        msg = f"order {name[:40]!r} is unknown: {hint}"
        raise InvalidValueError(msg, field="order")
    return _MERGED_SIZE if merged and order.name == "size" else order
