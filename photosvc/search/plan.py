"""How SQLite finds a page: by walking an order until it is full, or from the few photos that can match.

PostgreSQL keeps statistics and plans for itself. SQLite does not know how common a word or colour is, and either way
is a thousand times slower than the other on a million photos; so it is counted first, up to a limit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, func, select

from photosvc.models import INDEXED, SearchRow
from photosvc.query.filters import FILTERS
from photosvc.query.items import Choice, Item, Pattern, Phrase, Word
from photosvc.query.nodes import Filter, Node, conjuncts
from photosvc.search import names, texts
from photosvc.search.compile import compile_all, compile_query
from photosvc.search.context import Context
from photosvc.search.row import RANKS
from photosvc.search.visible import asked_open, visible
from photosvc.search.words import Term

Condition = ColumnElement[bool]

#: Orders that have an index for every column of `INDEXED`.
_BY_VALUE = frozenset({"newest", "added"})

#: Filters besides with an index of their own.
_LOOKED_UP = frozenset({"near", "latlng", "olc", "path"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What a row must fulfil, and whether rows are sorted rather than walked through."""

    conditions: tuple[Condition, ...]
    sorts: bool


def make_plan(node: Node, order: str, context: Context, *, reach: int = 100, ranked: tuple[Term, ...] = ()) -> Plan:
    """The conditions for the rows that `node` matches, in the form that finds a page of this order soonest.

    Args:
        node: the query.
        order: the name of the order.
        context: who searches, and where.
        reach: how many rows are wanted, those that are skipped included.
        ranked: the terms that the order ranks by.

    Raises:
        NotFoundError: the photo of `near` does not exist, or may not be seen.

    """
    parts = conjuncts(node)
    outer = visible(sees_private=context.sees_private, node=node)
    if context.on_postgresql or not parts:
        return Plan((outer, compile_all(parts, context)), sorts=False)
    few = _fewest(parts, order, context, reach, ranked)
    if few is not None:
        rest = compile_all([part for part in parts if part not in few.exact], context)
        return Plan((SearchRow.photo_id.in_(few.photos), outer, rest), sorts=True)
    valued = [part for part in parts if order in _BY_VALUE and _value_column(part)]
    by_value = [compile_query(part, replace(context, bare=True)) for part in valued]
    return Plan((outer, *by_value, compile_all([part for part in parts if part not in valued], context)), sorts=False)


@dataclass(frozen=True, slots=True)
class _Few:
    """The photos that some of the parts can match, as an index tells them."""

    photos: Any
    exact: tuple[Node, ...] = ()
    """Parts that all of them match for certain."""


def _fewest(parts: tuple[Node, ...], order: str, context: Context, reach: int, ranked: tuple[Term, ...]) -> _Few | None:
    """The photos that the rarest parts can match, if they are so few that to sort them is sooner done than to walk."""
    best, fewest = None, _few(context, reach) + 1
    for candidate in _candidates(parts, order, context):
        counted = select(func.count()).select_from(candidate.photos.limit(fewest).subquery())
        count = context.connection.scalar(counted) or 0
        if count < fewest:
            best, fewest = candidate, count
    if best is None and ranked:  # no index knows this order: all that match must be ranked
        return _by_words(parts)
    return best


def _few(context: Context, reach: int) -> int:
    """How many photos are few.

    Of N rows n match: to walk until `reach` of them are found takes about reach * N / n looks at a row, to sort them
    n dearer looks. Measured, they take as long when n is half the square root of reach * N.
    """
    newest = context.connection.scalar(select(func.max(SearchRow.newest_key)).where(SearchRow.listed)) or 0
    return math.isqrt(reach * (newest // RANKS + 1)) // 2


def _candidates(parts: tuple[Node, ...], order: str, context: Context) -> Iterator[_Few]:
    if by_words := _by_words(parts):
        yield by_words
    bare = replace(context, bare=True)
    listed_only = not (context.sees_private and any(map(asked_open, parts)))  # as the indexes are
    for part in parts:
        match part:
            case Filter("album" | "albums", Choice(any_of)) if any_of:
                albums = names.plain_albums(any_of, context)
                if albums is not None:
                    yield _Few(names.members(albums))
            case Filter("uid", Choice(any_of)) if any_of:
                yield _Few(select(SearchRow.photo_id).where(compile_query(part, bare)))
            case Filter(name, Choice(any_of)) if any_of and name in _LOOKED_UP and listed_only:
                yield _Few(select(SearchRow.photo_id).where(SearchRow.listed, compile_query(part, bare)))
            case Filter(name) if listed_only and FILTERS[name].columns[:1] and FILTERS[name].columns[0] in INDEXED:
                if order not in _BY_VALUE or _value_column(part) is None:
                    yield _Few(select(SearchRow.photo_id).where(SearchRow.listed, compile_query(part, bare)))


def _by_words(parts: tuple[Node, ...]) -> _Few | None:
    terms = _terms(parts)
    if not terms:
        return None
    return _Few(texts.matching(terms), exact=tuple(part for part in parts if isinstance(part, Word)))


def _terms(parts: tuple[Node, ...]) -> list[Term]:
    """Terms of which a matching photo has every word."""
    found: list[Term] = []
    for part in parts:
        match part:
            case Word() | Phrase():
                found.append(part)
            case Filter("keywords" | "label" | "subject" | "subjects", Choice((Word() | Phrase() as term,))):
                found.append(term)
    return found


def _value_column(part: Node) -> str | None:
    """The indexed column that a part compares with one value."""
    if not isinstance(part, Filter):
        return None
    spec = FILTERS[part.name]
    value = spec.means if part.value is True else part.value
    column = spec.columns[0] if spec.columns else ""
    if column not in INDEXED or not isinstance(value, Choice) or len(value.any_of) != 1 or value.none_of:
        return None
    return column if _is_value(value.any_of[0]) else None


def _is_value(item: Item) -> bool:
    match item:
        case Pattern((_,)):
            return True
        case _:
            return isinstance(item, int) or (getattr(item, "low", None) is not None and item.low == item.high)  # type: ignore[union-attr]
