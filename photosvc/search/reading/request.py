"""Search requests, parsed from parameters."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from itertools import chain

from photosvc.core.errors import InvalidValueError
from photosvc.core.times import local_day
from photosvc.models.search_values import Term
from photosvc.query.filter_spec import BOOLEANS
from photosvc.query.nodes import And, Everything, Node, Not, Or, Phrase, Word, conjunction, conjuncts
from photosvc.query.parser import MOST_TOKENS, ORDER, combine, parse_parameters, parse_query, parse_scope, split_order
from photosvc.query.typed import unset_filters
from photosvc.search.reading.compile import asked_open
from photosvc.search.reading.orders import (
    DEFAULT_ORDER,
    PRIME,
    Cursor,
    Order,
    order_named,
    parse_cursor,
    without_archive,
)

DEFAULT_COUNT = 100
MAX_COUNT = 100_000
_MAX_OFFSET = 2**53
_LONGEST_KEPT = 1024


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A page of a search: the query, the order, the start and the length of the page."""

    count: int
    offset: int
    order: Order
    """The order asked for. The search of one album that has an order by hand uses that when none is asked for."""
    seed: int
    cursor: Cursor | None
    node: Node = field(default_factory=Everything)
    """The parsed query, without the album of `album`."""
    album: str = ""
    """The UID of the album that is searched; empty: all photos."""
    merged: bool = False
    total: bool = False
    """True if all matching files are counted."""
    ordered: bool = True
    """True if the request names its order."""
    bare: bool = False
    """True if the records are to tell nothing but the pictures themselves; see `search.reading.shared`."""
    repeats: bool = True
    """True if the same request gives the same page again; False when its seed was drawn."""

    @property
    def start(self) -> int:
        """Return the number of files to skip: a cursor leads behind them already."""
        return 0 if self.cursor else self.offset

    @property
    def ranked(self) -> tuple[Term, ...]:
        """Return the terms that the order ranks by."""
        return tuple(_terms(self.node)) if self.order.base == "relevance" else ()


def parse_request(parameters: Mapping[str, str] | Iterable[tuple[str, str]]) -> SearchRequest:
    """Return the request of these parameters.

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
    parse = _parse if is_short((*pairs, (cursor.order if cursor else "", ""))) else _parse.__wrapped__
    request = parse(pairs, local_day(), begun)
    if cursor:
        request = replace(request, cursor=cursor, offset=cursor.position)
        _check_cursor(cursor, request, pairs)
    return request if request.repeats else replace(request, seed=secrets.randbelow(PRIME))


def is_short(pairs: Iterable[tuple[str, str]]) -> bool:
    """Return whether parameters are short enough to be cached: clients choose them, and memory is limited."""
    return sum(map(len, chain.from_iterable(pairs))) <= _LONGEST_KEPT


@lru_cache(maxsize=256)
def _parse(pairs: tuple[tuple[str, str], ...], today: date, begun: tuple[str, int] | None) -> SearchRequest:
    """Return the request, except for its cursor and a seed that must be drawn.

    It is cached, because clients ask for one page after another of the same search.

    Args:
        pairs: the parameters without the cursor.
        today: the present day.
        begun: the order and the seed of the cursor, if there is one.
    """
    given = {name: value.strip() for name, value in pairs if value.strip()}
    order_before, seed = begun or (DEFAULT_ORDER, 0)
    merged = _boolean(given, "merged")
    _, typed = split_order(given.get("q", ""))
    if typed:
        given[ORDER] = typed
    order = _order(given, order_before, begun=begun is not None, merged=merged, field="q" if typed else ORDER)
    node = parse_node(pairs, today)
    if "archived" not in asked_open(node):
        order = without_archive(order)
    drawn = order.base == "random" and "seed" not in given and begun is None
    return SearchRequest(
        count=min(_integer(given, "count", 1, _MAX_OFFSET, DEFAULT_COUNT), MAX_COUNT),
        offset=0 if begun else _integer(given, "offset", 0, _MAX_OFFSET, 0),
        order=order,
        seed=_integer(given, "seed", 0, PRIME - 1, seed),
        cursor=None,
        node=node,
        album=given.get("s", ""),
        merged=merged,
        total=_boolean(given, "total"),
        ordered=ORDER in given or begun is not None,
        repeats=not drawn,
    )


def _order(given: Mapping[str, str], before: str, *, begun: bool, merged: bool, field: str) -> Order:
    """Return the order that is named, or the one `before`, which is that of the cursor or the default one.

    `reverse` turns it around. A cursor names an order that is reversed already.
    """
    named = order_named(given.get(ORDER, before), merged=merged, field=field)
    if "reverse" not in given:
        return named
    backwards = _boolean(given, "reverse")
    if ORDER not in given and begun:
        return named if named.is_reversed is backwards else named.reversed()
    return named.reversed() if backwards else named


def best_order(query: str) -> str:
    """Return the order for people who name none: that of the best match for a query of words alone.

    Raises:
        InvalidQueryError: the query is not valid.
    """
    parts = conjuncts(parse_node([("q", query)]))
    is_ranked = any(isinstance(part, Word | Phrase) for part in parts)
    is_alone = all(isinstance(part, Word | Phrase | Not) for part in parts)
    return "relevance" if is_ranked and is_alone else DEFAULT_ORDER


def parse_node(pairs: Iterable[tuple[str, str]], today: date | None = None) -> Node:
    """Return the query that `q` and filters as parameters make together, within the scope of `filter`.

    Args:
        today: the present day; that of the clock if it is left out.

    Raises:
        InvalidQueryError: one of them is not valid.
    """
    pairs = list(pairs)
    query, _ = split_order(last_value(pairs, "q"))
    parse = _parse_query if len(query) <= _LONGEST_KEPT else _parse_query.__wrapped__
    asked, parameters = parse(query, today or local_day()), parse_parameters(pairs)
    unset = () if isinstance(parameters, Everything) else unset_filters(query, MOST_TOKENS)
    return conjunction([combine(asked, parameters, unset), parse_scope(pairs, today)])


@lru_cache(maxsize=256)
def _parse_query(query: str, today: date) -> Node:
    """Return the query; cached, because pages ask for its usual order first, and clients for one page after another."""
    return parse_query(query, today=today)


def last_value(pairs: Iterable[tuple[str, str]], name: str) -> str:
    """Return the last value of a parameter that is not blank; empty if there is none."""
    return next((value for key, value in reversed(list(pairs)) if key == name and value.strip()), "")


def _check_cursor(cursor: Cursor, request: SearchRequest, pairs: Iterable[tuple[str, str]]) -> None:
    if last_value(pairs, "offset"):
        raise InvalidValueError("offset and cursor are two ways to say where a page begins; send one", field="offset")
    kinds = [int] * bool(request.ranked) + _kinds(request.order)
    fits = cursor.order == request.order.name and cursor.seed == request.seed < PRIME
    if not fits or [type(value) for value in cursor.values] != kinds:
        raise InvalidValueError("cursor belongs to another search; begin again without it", field="cursor")


@lru_cache(maxsize=64)
def _kinds(order: Order) -> list[type]:
    """Return the types of the keys of an order; cached, because SQLAlchemy looks each up in several places."""
    return [column.type.python_type for column in order.columns(0)]


def _terms(node: Node) -> Iterator[Term]:
    """Yield the words and phrases that rank a match: all but those under a negation."""
    match node:
        case Word() | Phrase():
            yield node
        case And(parts) | Or(parts):
            for part in parts:
                yield from _terms(part)


def _integer(given: Mapping[str, str], name: str, low: int, high: int, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20 and low <= int(digits)):
        raise InvalidValueError(f"{name} must be a whole number from {low}", field=name)
    return min(int(digits), high)


def _boolean(given: Mapping[str, str], name: str) -> bool:
    value = BOOLEANS.get(given.get(name, "false").lower())
    if value is None:
        raise InvalidValueError(f"{name} must be true or false", field=name)
    return value
