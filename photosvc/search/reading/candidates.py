"""Candidates: the photos that the index of one condition finds, and how many they are."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, func, select

from photosvc.models import FILTER_COLUMNS, LOOKUP_COLUMNS, SORT_KEYS, VALUE_COLUMNS, FileKey, SearchRow
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import Filter, Node
from photosvc.query.operands import Choice, Operand, Pattern, Phrase, Range, TakenOut, Word
from photosvc.search.reading.conditions import full_text
from photosvc.search.reading.conditions.compile import compile_query, members
from photosvc.search.reading.conditions.context import Context
from photosvc.search.reading.resolve import expand_prefix
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
class Candidates:
    """The photos that the index of some conjuncts finds: all that match, and maybe further ones."""

    parts: tuple[Node, ...]
    """The conjuncts that the index was asked for."""
    photos: Any
    """The SELECT of their ids."""
    exact: tuple[Node, ...] = ()
    """The conjuncts that all candidates match; they are not checked again."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many candidates some conjuncts have; an index of files counts the files of the photos."""

    parts: tuple[Node, ...]
    count: int
    limit: int
    """The most candidates that are sorted; counting stops at one more."""


class Counter:
    """Counts candidates up to a limit, and records what it counted."""

    def __init__(self, connection: Connection, rows_needed: int) -> None:
        self.counted: list[Counted] = []
        self._connection = connection
        self._rows_needed = rows_needed

    @cached_property
    def limit(self) -> int:
        """The most candidates for which sorting them is faster than walking the order (see `plan`)."""
        newest = self._connection.scalar(select(func.max(SearchRow.newest_key)).where(SearchRow.listed)) or 0
        return math.isqrt(self._rows_needed * (FileKey.unpack_photo_id(newest) + 1)) // 2

    def count(self, candidates: Candidates) -> int:
        """The number of candidates, at most one more than the limit."""
        some = candidates.photos.limit(self.limit + 1).subquery()
        count = self._connection.scalar(select(func.count()).select_from(some)) or 0
        self.counted.append(Counted(candidates.parts, count, self.limit))
        return count


def most_selective(
    parts: tuple[Node, ...], order: str, context: Context, connection: Connection, counter: Counter
) -> Candidates | None:
    """The candidates of the most selective conjuncts; None when all of these have more than the counter's limit."""
    best, fewest = None, 0
    for candidates in _candidates(parts, order, context, connection, counter):
        count = counter.count(candidates)
        if count <= counter.limit and (best is None or count < fewest):
            best, fewest = candidates, count
    return best


def with_words(parts: tuple[Node, ...], connection: Connection) -> Candidates | None:
    """The photos that have all words of these conjuncts, however many; None without words."""
    terms = _terms(parts)
    if not terms:
        return None
    expanded = {prefix: expand_prefix(prefix, connection) for prefix in full_text.prefixes(terms)}
    exact = tuple(part for part in parts if isinstance(part, Word))
    return Candidates(tuple(terms), full_text.matching(terms, expanded), exact)


def _candidates(
    parts: tuple[Node, ...], order: str, context: Context, connection: Connection, counter: Counter
) -> Iterator[Candidates]:
    terms = _terms(parts)
    # A word that has more photos than the limit as a whole word has even more as a prefix; the prefix costs more to
    # look up, so it is skipped.
    whole = tuple(replace(term, prefix=False) for term in terms)
    if terms and counter.count(Candidates(whole, full_text.matching(whole, {}))) <= counter.limit:
        words = with_words(parts, connection)
        if words is not None:
            yield words
    by_index = replace(context, may_use_index=True)
    for part in parts:
        photos = _photos(part, order, by_index)
        if photos is not None:
            yield Candidates((part,), photos)


def _photos(part: Node, order: str, context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """The photos that a conjunct's own index finds; None without such an index."""
    rows = select(SearchRow.photo_id)
    match part:
        case Filter("album" | "albums", Choice(ids)) if ids and not any(isinstance(one, TakenOut) for one in ids):
            return members([one for one in ids if isinstance(one, int)])
        case Filter("uid", Choice(any_of)) if any_of:
            return rows.where(compile_query(part, context))
        case _ if context.opened:  # the other indexes contain listed rows only
            return None
        case Filter(name, Choice(any_of)) if any_of and name in _LOOKED_UP:
            return rows.where(SearchRow.listed, compile_query(part, context))
        case Filter(name) if _column(name) in VALUE_COLUMNS:
            walked = order in BY_VALUE and value_column(part) is not None
            return None if walked else rows.where(SearchRow.listed, compile_query(part, context))
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


def _column(name: str) -> str:
    return next(iter(FILTERS[name].columns), "")


def _is_value(operand: Operand) -> bool:
    match operand:
        case int() | Pattern((_,)):
            return True
        case Range(low, high):
            return low is not None and low == high
        case _:
            return False


def _terms(parts: tuple[Node, ...]) -> list[Term]:
    """Terms of which every matching photo has all words."""
    found: list[Term] = []
    for part in parts:
        match part:
            case Word() | Phrase():
                found.append(part)
            case Filter("keywords" | "label" | "subject" | "subjects", Choice((Word() | Phrase() as term,))):
                found.append(term)
    return found
