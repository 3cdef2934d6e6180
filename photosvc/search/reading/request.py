"""Search requests, parsed from parameters, with their sort orders and cursors.

Each order is total: it ends in a unique key. A cursor is the place in an order where a page begins, as an opaque text.
It contains the sort keys of the last row of the previous page, not the number of that row. So its cost does not grow
with depth, and photos that come or go do not shift it. It grants nothing and is not signed; its values are only
compared with sort keys.
"""

import base64
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

import orjson
from sqlalchemy import BigInteger, cast

from photosvc.core.errors import InvalidValueError
from photosvc.core.text import names_like, parse_digits
from photosvc.models import SORT_KEYS, AlbumPhoto, SearchRow
from photosvc.models.search_values import Term
from photosvc.models.statements import Column
from photosvc.query.filters import BOOLEANS
from photosvc.query.nodes import And, Everything, Node, Not, Or, Phrase, Word, conjunction, conjuncts
from photosvc.query.parameters import combine, parse_filter_parameter, parse_parameters, unset_filters
from photosvc.query.parser import ORDER, parse_query, split_order
from photosvc.search.reading.compile import opened_switches

DEFAULT_COUNT = 100
MAX_COUNT = 100_000
_MAX_OFFSET = 2**53
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

Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order: columns in one direction, so that one row-value comparison finds the next page."""

    name: str
    """The name in requests and cursors; begins with a `-` if the order is reversed."""
    columns: Callable[[int], Columns] = field(repr=False)
    """The columns for a seed; they follow from the name, from `merged`, and from a search of archived photos."""
    falling: bool
    help: str = field(repr=False, compare=False)

    @property
    def base(self) -> str:
        """Return the name without the sign of a reversed order."""
        return self.name.removeprefix(REVERSED)

    @property
    def is_reversed(self) -> bool:
        """Return whether it is the reverse of an order of `ORDERS`, also within a photo."""
        return self.name.startswith(REVERSED)

    def reversed(self) -> "Order":
        """Return the same order backwards."""
        name = self.base if self.is_reversed else REVERSED + self.name
        return replace(self, name=name, falling=not self.falling)


def _new_order(name: str, help_: str, *, falling: bool = True, keys: str = "") -> Order:
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
        _new_order("added", "Last added first"),
        _new_order("updated", "Last changed first, by people or by the index"),
        _new_order("edited", "Last edited by people first, then the others"),
        # Photos that are not archived have no such time: see `without_archive`.
        Order(
            "archived",
            lambda _seed: (SearchRow.archived_at, SearchRow.newest_key),
            True,
            "Last archived first, then as `added`",
        ),
        _new_order("relevance", "Best match first; without words best quality first"),
        _new_order("duration", "Longest first"),
        _new_order("size", "Largest file first"),
        _new_order("newest", "Last taken first"),
        _new_order("oldest", "First taken first", falling=False),
        _new_order("similar", "By colour, place and structure", falling=False),
        _new_order("name", "By folder and file name", falling=False),
        _new_order("title", "By title", falling=False),
        _new_order("place", "By country, state and city", falling=False),
        Order("random", _shuffled, True, "Shuffled by `seed`"),
    )
}

#: The order `size` of merged results, which keep the files of a photo together: the photo's largest file counts.
_MERGED_SIZE = _new_order("size", ORDERS["size"].help, keys="photo_size")

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
    base = name.lower().removeprefix(REVERSED)
    order = MANUAL if base == MANUAL.name else ORDERS.get(ORDER_ALIASES.get(base, base))
    if order is None:
        near = names_like(base, ALBUM_ORDERS)
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
    """The last row of a page: the order and seed, the number of files up to the row, and its sort keys."""

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
        InvalidValueError: the text is no cursor of this service.
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
        if not raw.startswith(b"["):  # the beginning of a text longer than `_MAX_CURSOR` is no JSON
            raw = zlib.decompressobj().decompress(raw, _MAX_CURSOR)
        order, seed, position, *values = orjson.loads(raw)
    except (ValueError, TypeError, zlib.error):
        return None
    fits = isinstance(order, str) and all(type(one) is int and 0 <= one < _COUNT for one in (seed, position))
    return Cursor(order, seed, position, tuple(values)) if fits and all(map(_is_key, values)) else None


def _is_key(value: object) -> bool:
    if isinstance(value, str):
        return "\0" not in value  # PostgreSQL refuses NUL in texts
    return type(value) is int and -_INT64 <= value < _INT64


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A page of a search: the query, the order, the start and the length of the page."""

    count: int
    offset: int
    order: Order
    """The order of the request. If it names none, the search of an album with an order by hand uses that order."""
    seed: int
    cursor: Cursor | None
    today: date
    """The day from which the query and smart albums count back."""
    node: Node = field(default_factory=Everything)
    """The parsed query, without the album of `album`."""
    album: str = ""
    """The UID of the album that is searched; empty: all photos."""
    merged: bool = False
    total: bool = False
    """True if all matching files are counted."""
    ordered: bool = True
    """True if the request names its order."""
    alias_key: bytes = b""
    """The key of the ids in records without metadata (see `reading.guests`); empty for complete records."""
    repeats: bool = True
    """True if the same request gives the same page again; False if its seed was drawn."""
    newest_file: int | None = None
    """The highest id of the files that it finds; None: of all files."""

    @property
    def without_metadata(self) -> bool:
        """Return whether the records contain no metadata."""
        return bool(self.alias_key)

    @property
    def start(self) -> int:
        """Return the number of files to skip; none with a cursor, which is already behind them."""
        return 0 if self.cursor else self.offset

    @property
    def ranked(self) -> tuple[Term, ...]:
        """Return the terms that the order ranks by."""
        return tuple(_terms(self.node)) if self.order.base == "relevance" else ()


def parse_request(parameters: Mapping[str, str] | Iterable[tuple[str, str]], today: date) -> SearchRequest:
    """Return the request of these parameters on this day.

    An empty value counts as absent; of a repeated parameter the last value counts.

    Raises:
        InvalidValueError: a value is not valid; `field` names the parameter.
    """
    pairs = tuple(parameters.items() if isinstance(parameters, Mapping) else parameters)
    cursor = None
    if text := last_value(pairs, "cursor").strip():
        cursor = parse_cursor(text)
        pairs = tuple(pair for pair in pairs if pair[0] != "cursor")
    begun = (cursor.order, cursor.seed) if cursor else None
    request = _parse(pairs, today, begun)
    if cursor:
        request = replace(request, cursor=cursor, offset=cursor.position)
        _check_cursor(cursor, request, pairs)
    return request if request.repeats else replace(request, seed=secrets.randbelow(PRIME))


def _parse(pairs: tuple[tuple[str, str], ...], today: date, begun: tuple[str, int] | None) -> SearchRequest:
    """Return the request, except for its cursor and a seed that must be drawn.

    Args:
        pairs: the parameters without the cursor.
        today: the present day.
        begun: the order and the seed of the cursor, if there is one.
    """
    values = {name: value.strip() for name, value in pairs if value.strip()}
    order_before, seed = begun or (DEFAULT_ORDER, 0)
    merged = _boolean(values, "merged")
    _, typed = split_order(values.get("q", ""))
    if typed:
        values[ORDER] = typed
    order = _order(values, order_before, begun=begun is not None, merged=merged, field="q" if typed else ORDER)
    node = parse_node(pairs, today)
    if "archived" not in opened_switches(node):
        order = without_archive(order)
    drawn = order.base == "random" and "seed" not in values and begun is None
    return SearchRequest(
        count=min(_integer(values, "count", 1, _MAX_OFFSET, DEFAULT_COUNT), MAX_COUNT),
        offset=0 if begun else _integer(values, "offset", 0, _MAX_OFFSET, 0),
        order=order,
        seed=_integer(values, "seed", 0, PRIME - 1, seed),
        cursor=None,
        today=today,
        node=node,
        album=values.get("s", ""),
        merged=merged,
        total=_boolean(values, "total"),
        ordered=ORDER in values or begun is not None,
        repeats=not drawn,
    )


def _order(values: Mapping[str, str], before: str, *, begun: bool, merged: bool, field: str) -> Order:
    """Return the order of the parameters, or the order `before`, that of the cursor or the default.

    `reverse` reverses it, but not the order of a cursor that is already reversed.
    """
    named = order_named(values.get(ORDER, before), merged=merged, field=field)
    if "reverse" not in values:
        return named
    backwards = _boolean(values, "reverse")
    if ORDER not in values and begun:
        return named if named.is_reversed is backwards else named.reversed()
    return named.reversed() if backwards else named


def best_order(query: str, today: date) -> str:
    """Return the order for people who name none: `relevance` for a query of words alone, else the default.

    Raises:
        InvalidQueryError: the query is not valid.
    """
    parts = conjuncts(parse_node([("q", query)], today))
    is_ranked = any(isinstance(part, Word | Phrase) for part in parts)
    is_alone = all(isinstance(part, Word | Phrase | Not) for part in parts)
    return "relevance" if is_ranked and is_alone else DEFAULT_ORDER


def parse_node(pairs: Iterable[tuple[str, str]], today: date) -> Node:
    """Return the query that `q` and filters as parameters make together, within the scope of `filter`.

    Raises:
        InvalidQueryError: one of them is not valid.
    """
    pairs = list(pairs)
    query, _ = split_order(last_value(pairs, "q"))
    node, parameters = parse_query(query, today), parse_parameters(pairs)
    unset = () if isinstance(parameters, Everything) else unset_filters(query)
    return conjunction([combine(node, parameters, unset), parse_filter_parameter(pairs, today)])


def last_value(pairs: Iterable[tuple[str, str]], name: str) -> str:
    """Return the last value of a parameter that is not blank; empty if there is none."""
    return next((value for key, value in reversed(list(pairs)) if key == name and value.strip()), "")


def _check_cursor(cursor: Cursor, request: SearchRequest, pairs: Iterable[tuple[str, str]]) -> None:
    if last_value(pairs, "offset"):
        raise InvalidValueError("offset and cursor are two ways to say where a page begins; send one", field="offset")
    kinds = [int] * bool(request.ranked) + [column.type.python_type for column in request.order.columns(0)]
    fits = cursor.order == request.order.name and cursor.seed == request.seed < PRIME
    if not fits or [type(value) for value in cursor.values] != kinds:
        raise InvalidValueError("cursor belongs to another search; begin again without it", field="cursor")


def _terms(node: Node) -> Iterator[Term]:
    """Yield the words and phrases that rank a match: all but those under a negation."""
    match node:
        case Word() | Phrase():
            yield node
        case And(parts) | Or(parts):
            for part in parts:
                yield from _terms(part)


def _integer(values: Mapping[str, str], name: str, low: int, high: int, default: int) -> int:
    text = values.get(name)
    if text is None:
        return default
    number = parse_digits(text.removeprefix("+"), longest=20)
    if number is None or number < low:
        raise InvalidValueError(f"{name} must be a whole number from {low}", field=name)
    return min(number, high)


def parse_number(text: str, name: str, low: int, high: int, default: int) -> int:
    """Return the whole number in a parameter; empty: the default.

    Raises:
        InvalidValueError: it is none, or not between `low` and `high`.
    """
    if not text.strip():
        return default
    number = parse_digits(text.strip())
    if number is None or not low <= number <= high:
        raise InvalidValueError(f"{name} must be a whole number from {low} to {high}", field=name)
    return number


def _boolean(values: Mapping[str, str], name: str) -> bool:
    flag = BOOLEANS.get(values.get(name, "false").lower())
    if flag is None:
        raise InvalidValueError(f"{name} must be true or false", field=name)
    return flag
