"""The few photos that can match, found by the rarest thing asked for.

SQLite does not know how common a word or colour is, so it is counted first, up to a limit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, select

from photosvc.models import FILTER_COLUMNS, LOOKUP_COLUMNS, SORT_KEYS, VALUE_COLUMNS, FileKey, SearchRow
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import Filter, Node
from photosvc.query.operands import Choice, Operand, Pattern, Phrase, Word
from photosvc.search.reading.conditions import full_text, names
from photosvc.search.reading.conditions.compile import compile_query
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.conditions.visible import asked_open
from photosvc.search.word_text import Term

#: Orders that have an index for every column of `VALUE_COLUMNS`.
BY_VALUE = frozenset(name for name, keys in SORT_KEYS.items() if keys.by_value)

#: Filters whose columns have an index that keeps no order.
_LOOKED_UP = frozenset(
    name
    for name, spec in FILTERS.items()
    if any(FILTER_COLUMNS.get(column, column) in LOOKUP_COLUMNS for column in spec.columns)
)


@dataclass(frozen=True, slots=True)
class Few:
    """The photos that some of the parts can match, as an index tells them."""

    photos: Any
    exact: tuple[Node, ...] = ()
    """Parts that all of them match for certain."""


def fewest(parts: tuple[Node, ...], order: str, context: Context, reach: int) -> Few | None:
    """The photos that the rarest parts can match, if they are so few that to sort them is sooner done than to walk."""
    best, least = None, _few(context, reach) + 1
    for candidate in _candidates(parts, order, context, least):
        count = _count(candidate.photos, least, context)
        if count < least:
            best, least = candidate, count
    return best


def _count(photos: Any, limit: int, context: Context) -> int:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """How many there are, up to a limit."""
    return context.connection.scalar(select(func.count()).select_from(photos.limit(limit).subquery())) or 0


def _few(context: Context, reach: int) -> int:
    """How many photos are few.

    Of N rows n match: to walk until `reach` of them are found takes about reach * N / n looks at a row, to sort them
    n dearer looks. Measured, they take as long when n is half the square root of reach * N.
    """
    newest = context.connection.scalar(select(func.max(SearchRow.newest_key)).where(SearchRow.listed)) or 0
    return math.isqrt(reach * (FileKey.unpack_photo_id(newest) + 1)) // 2


def _candidates(parts: tuple[Node, ...], order: str, context: Context, least: int) -> Iterator[Few]:
    terms = _terms(parts)
    # Words that are many as they stand are more with all that begin so, and those take longer to look up.
    if terms and _count(full_text.matching(terms, context, whole=True), least, context) < least:
        yield _worded(terms, parts, context)
    bare = replace(context, bare=True)
    listed_only = not (context.sees_private and any(map(asked_open, parts)))  # as the indexes are
    for part in parts:
        match part:
            case Filter("album" | "albums", Choice(any_of)) if any_of:
                albums = names.plain_albums(any_of, context)
                if albums is not None:
                    yield Few(names.members(albums))
            case Filter("uid", Choice(any_of)) if any_of:
                yield Few(select(SearchRow.photo_id).where(compile_query(part, bare)))
            case Filter(name, Choice(any_of)) if any_of and name in _LOOKED_UP and listed_only:
                yield Few(select(SearchRow.photo_id).where(SearchRow.listed, compile_query(part, bare)))
            case Filter(name) if (
                listed_only and FILTERS[name].columns[:1] and FILTERS[name].columns[0] in VALUE_COLUMNS
            ):
                if order not in BY_VALUE or value_column(part) is None:
                    yield Few(select(SearchRow.photo_id).where(SearchRow.listed, compile_query(part, bare)))


def by_words(parts: tuple[Node, ...], context: Context) -> Few | None:
    """The photos that have all the words asked for, however many."""
    terms = _terms(parts)
    return _worded(terms, parts, context) if terms else None


def _worded(terms: list[Term], parts: tuple[Node, ...], context: Context) -> Few:
    return Few(full_text.matching(terms, context), exact=tuple(part for part in parts if isinstance(part, Word)))


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


def value_column(part: Node) -> str | None:
    """The indexed column that a part compares with one value."""
    if not isinstance(part, Filter):
        return None
    spec = FILTERS[part.name]
    value = spec.means if part.value is True else part.value
    column = spec.columns[0] if spec.columns else ""
    if column not in VALUE_COLUMNS or not isinstance(value, Choice) or len(value.any_of) != 1 or value.none_of:
        return None
    return column if _is_value(value.any_of[0]) else None


def _is_value(item: Operand) -> bool:
    match item:
        case Pattern((_,)):
            return True
        case _:
            return isinstance(item, int) or (getattr(item, "low", None) is not None and item.low == item.high)  # type: ignore[union-attr]
