"""Which index finds the fewest photos of a query."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, literal_column, select, union_all

from photosvc.models import (
    FILTER_COLUMNS,
    LOOKUP_COLUMNS,
    PATTERN_COLUMNS,
    RARE_COLUMNS,
    SORT_KEYS,
    VALUE_COLUMNS,
    SearchRow,
)
from photosvc.models.search.values import RANK_BITS
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import Filter, Node, Or
from photosvc.query.operands import Choice, Operand, Pattern, Phrase, Range, Since, TakenOut, Word
from photosvc.search.reading.conditions import full_text, word_index
from photosvc.search.reading.conditions.columns import in_days
from photosvc.search.reading.conditions.compile import compile_query, members
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.planning.counting import Candidates, Counter
from photosvc.search.reading.planning.day_bounds import days_of
from photosvc.search.reading.planning.value_scan import is_scanned, scan_values
from photosvc.search.reading.planning.vocabulary import by_indexes_alone
from photosvc.search.reading.planning.word_candidates import few_with

#: Orders that have an index for every column of `VALUE_COLUMNS`.
BY_VALUE = frozenset(name for name, keys in SORT_KEYS.items() if keys.by_value)

#: Filters whose columns have an index that keeps no order.
_LOOKED_UP = frozenset(
    name
    for name, spec in FILTERS.items()
    if any(FILTER_COLUMNS.get(column, column) in LOOKUP_COLUMNS for column in spec.columns)
)


def most_selective(
    parts: Sequence[Node], walked: Sequence[Node], context: Context, connection: Connection, counter: Counter
) -> Candidates | None:
    """The candidates of the most selective conjuncts; None when all of these have more than the counter's limit.

    Args:
        parts: the conjuncts.
        walked: those whose value has an index in the order: that needs no sorting.
        context: the database and the rights of the search.
        connection: where they are counted.
        counter: counts them.

    """
    best, fewest = None, 0
    for candidates in _candidates(parts, walked, context, connection, counter):
        found, count = counter.find(candidates, context)
        if count <= counter.limit and (best is None or count < fewest):
            best, fewest = found, count
    return best


def found_by_scan(
    parts: Sequence[Node], context: Context, connection: Connection, counter: Counter
) -> Candidates | None:
    """PostgreSQL: the photos that indexes find without its statistics, if they are few.

    It would compare whole rows with patterns without a beginning, with values that have no index of their own, and with
    a word or another condition.
    """
    by_index = replace(context, may_use_index=True)
    for part in parts:
        is_mixed = full_text.is_mixed(part, context)
        photos = _photos(part, by_index) if is_mixed or _is_open_pattern(part) else None
        if photos is not None:
            found, count = counter.find(Candidates((part,), photos, scanned=True), context)
            if count <= counter.limit:
                return found
    values = [part for part in parts if is_scanned(part, context) and not _has_index(part)]
    photos = scan_values(values, context)
    if photos is None:
        return None
    with by_indexes_alone(connection):
        found, count = counter.find(Candidates(tuple(values), photos, scanned=True), context)
    return found if count <= counter.limit else None


def _candidates(
    parts: Sequence[Node], walked: Sequence[Node], context: Context, connection: Connection, counter: Counter
) -> Iterator[Candidates]:
    words = full_text.needed(parts)
    if words is not None:
        yield from few_with(words, parts, context, connection, counter)
    by_index = replace(context, may_use_index=True)
    for part in parts:
        photos = None if part in walked else _photos(part, by_index)
        if photos is not None:
            yield Candidates((part,), photos, scanned=_is_pattern(part))


def _photos_of_any(part: Node, context: Context) -> Any:  # noqa: ANN401
    """The photos that an index finds by one part of an `Or`."""
    return word_index.matching(part, {}, context) if isinstance(part, Word | Phrase) else _photos(part, context)


def _photos(part: Node, context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """The photos that a conjunct's own index finds; None without such an index."""
    rows = select(SearchRow.photo_id)
    keys = select(SearchRow.newest_key // 2**RANK_BITS)  # most indexes contain a key, not `photo_id`
    match part:
        case Or(parts) if full_text.is_mixed(part, context):
            each = [_photos_of_any(one, context) for one in parts]
            return union_all(*each) if None not in each else None
        case Filter("album" | "albums", Choice(ids)) if ids and not any(isinstance(one, TakenOut) for one in ids):
            return members([one for one in ids if isinstance(one, int)])
        case Filter("uid", Choice(any_of)) if any_of:
            return rows.where(compile_query(part, context))
        case _ if context.opened:  # the other indexes contain listed rows only
            return None
        case Filter() if (days := days_of(part)) is not None:
            return keys.where(SearchRow.listed, in_days(SearchRow.timeline_day, days))
        case Filter() if _is_pattern(part):
            return select(SearchRow.oldest_key // 2**RANK_BITS).where(SearchRow.listed, compile_query(part, context))
        case Filter(_, Since()):
            return keys.where(SearchRow.listed, compile_query(part, context))
        case Filter("review", True):  # the index of the order `relevance` begins with the quality
            return keys.where(SearchRow.listed, compile_query(part, context))
        case Filter(name, Choice(any_of)) if any_of and _column(name) in RARE_COLUMNS:
            # SQLite recognises the condition of the index by its text.
            is_rare = getattr(SearchRow, _column(name)) > literal_column("0")
            more = all(isinstance(one, Range) and one.low is not None and one.low > 0 for one in any_of)
            return keys.where(SearchRow.listed, is_rare, compile_query(part, context)) if more else None
        case Filter(name, Choice(any_of)) if any_of and name in _LOOKED_UP:
            return keys.where(SearchRow.listed, compile_query(part, context))
        case Filter(name) if _column(name) in VALUE_COLUMNS:
            return keys.where(SearchRow.listed, compile_query(part, context))
        case _:
            return None


def value_column(part: Node) -> str | None:
    """The indexed column that a conjunct compares with one value."""
    if not isinstance(part, Filter):
        return None
    column = _column(part.name)
    value = FILTERS[part.name].means if part.value is True else part.value
    if column not in VALUE_COLUMNS or not isinstance(value, Choice) or len(value.any_of) != 1 or value.none_of:
        return None
    return column if _is_value(value.any_of[0]) else None


def _has_index(part: Node) -> bool:
    """Whether an index of its own finds the photos of a conjunct."""
    return isinstance(part, Filter) and _column(part.name) in {*VALUE_COLUMNS, *RARE_COLUMNS}


def _is_pattern(part: Node) -> bool:
    """Whether a conjunct compares a column with patterns that an index can answer."""
    if not (isinstance(part, Filter) and isinstance(part.value, Choice) and _column(part.name) in PATTERN_COLUMNS):
        return False
    return all(isinstance(operand, Pattern) for operand in part.value.any_of + part.value.none_of)


def _is_open_pattern(part: Node) -> bool:
    """Whether a conjunct compares a column with a pattern for which its index is read from end to end."""
    if not (_is_pattern(part) and isinstance(part, Filter) and isinstance(part.value, Choice)):
        return False
    patterns = [item for item in part.value.any_of if isinstance(item, Pattern)]
    return any(len(pattern.pieces) > 1 and not pattern.pieces[0] for pattern in patterns)


def _column(name: str) -> str:
    column = next(iter(FILTERS[name].columns), "")
    return FILTER_COLUMNS.get(column, column)


def _is_value(operand: Operand) -> bool:
    match operand:
        case int() | Pattern((_,)):
            return True
        case Range(low, high):
            return low is not None and low == high
        case _:
            return False
