"""Candidates: the photos that the index of one condition finds, and their number.

A walk along an order reads whole rows, in places far apart, until the page is full: all of them where few photos match,
270 ms for 200,000 files. The index of values has a fifth of their size and lies together, so all of it is read in a
tenth of the time. A walk therefore ends after a part of the library (see `most_walked`); if the page is not full by
then, the index of values finds the photos that match.

The full-text index of PostgreSQL tells about how many photos have a word.

Photos of words that may also mean a filter, such as `december`, need no word. Those with one are ranked and sorted; all
others have the rank 0, and are found as if no rank counted.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, func, or_, select, text, union_all
from sqlalchemy.engine import Dialect
from sqlalchemy.util import memoized_property

from photosvc.models import (
    FILTER_COLUMNS,
    LOOKUP_COLUMNS,
    PATTERN_COLUMNS,
    RARE_COLUMNS,
    SCANNED_COLUMNS,
    SORT_KEYS,
    VALUE_COLUMNS,
    FileKey,
    SearchRow,
    SearchText,
)
from photosvc.models.search import WORD_TERMS
from photosvc.models.search_values import RANK_BITS, Term
from photosvc.models.statements import Prepared, prepare_statement, run_text
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import (
    And,
    Choice,
    Days,
    Everything,
    Filter,
    Node,
    Not,
    Nothing,
    Operand,
    Or,
    Pattern,
    Phrase,
    Range,
    Since,
    TakenOut,
    Uid,
    Value,
    Word,
    conjunction,
    disjunction,
    terms,
)
from photosvc.search.reading import words as word_index
from photosvc.search.reading.columns import Context, identified, in_days, select_ids
from photosvc.search.reading.compile import compile_all, compile_query, members

#: One in this many rows of the library is walked before the index of values is read; both take about the same time.
_PART: Final = 20
#: Rows that are walked for each row of the page at least.
_LEAST: Final = 10
_SCANNED: Final = frozenset((*SCANNED_COLUMNS, "private"))
#: Orders that have an index for every column of `VALUE_COLUMNS`.
BY_VALUE = frozenset(name for name, keys in SORT_KEYS.items() if keys.by_value)
#: The unique key in the index of an order, by the name of the index.
_KEYS: Final = {keys.index: keys.columns[-1] for keys in SORT_KEYS.values()}
#: Filters whose columns have an index that keeps no order.
_LOOKED_UP = frozenset(
    name
    for name, spec in FILTERS.items()
    if any(FILTER_COLUMNS.get(column, column) in LOOKUP_COLUMNS for column in spec.columns)
)
#: Comparing a row of a walk with this many values takes as long as reading it.
_LIGHT_VALUES = 8
_MATCHING: Final = f"FROM {SearchText.__tablename__} WHERE {WORD_TERMS} @@ %(tsquery)s::tsquery"
#: PostgreSQL expects a number by the shares of words in its statistics.
_ESTIMATE: Final = f"EXPLAIN (FORMAT JSON) SELECT 1 {_MATCHING}"
_LOOK_UP: Final = f"SELECT photo_id {_MATCHING} LIMIT %(most)s"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The photos that the index of some conjuncts finds: all photos that match, and maybe more."""

    parts: tuple[Node, ...]
    """The conjuncts for which the index was read."""
    photos: Any
    """The SELECT of their ids."""
    exact: tuple[Node, ...] = ()
    """The conjuncts that all candidates match, so that they need no further check."""
    scanned: bool = False
    """True if the whole index is read to find them."""


@lru_cache(maxsize=8)
def _newest(dialect: Dialect) -> Prepared:
    return prepare_statement(select(func.max(SearchRow.newest_key)).where(SearchRow.listed), dialect)


class CandidateCounter:
    """A counter of candidates up to a limit."""

    def __init__(self, connection: Connection, rows_needed: int, values: int) -> None:
        self.rows_needed = rows_needed
        self._connection = connection
        self._weight = max(1, values // _LIGHT_VALUES)

    @memoized_property  # without a lock: see `Search.plan`
    def photos(self) -> int:
        """Return the highest photo id, as a measure of the size of the library."""
        ((newest,),) = _newest(self._connection.dialect).run(self._connection, {})
        return FileKey.unpack_photo_id(newest or 0)

    @memoized_property
    def limit(self) -> int:
        """Return the number of candidates up to which sorting them is faster than walking the order (see `plan`)."""
        return math.isqrt(self.rows_needed * (self.photos + 1) * self._weight) // 2

    def count(self, candidates: Candidates) -> int:
        """Count the candidates, at most one more than the limit."""
        some = candidates.photos.limit(self.limit + 1).subquery()
        return self._connection.scalar(select(func.count()).select_from(some)) or 0

    def find(self, candidates: Candidates, context: Context) -> tuple[Candidates, int]:
        """Return the candidates and their number; an index that is read as a whole is read only once."""
        if not candidates.scanned:
            return candidates, self.count(candidates)
        ids = self._connection.scalars(candidates.photos.limit(self.limit + 1)).all()
        return replace(candidates, photos=select_ids(ids, context)), len(ids)


def days_of(part: Node) -> Days | None:
    """Return the days of a conjunct that asks for one range of days; None for other conjuncts."""
    match part:
        case Filter("taken" | "before" | "after", Choice((Days() as days,))):
            return days
        case _:
            return None


def most_walked(photos: int, rows_needed: int) -> int | None:
    """Return the most rows to walk for a page in a library of this many photos; None: all rows."""
    rows = max(photos // _PART, _LEAST * rows_needed)
    return rows if rows * 2 < photos else None


def scan_values(parts: Sequence[Node], context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """Return the SELECT of all photos that match these conjuncts, and maybe more photos; None without an index."""
    scanned = sorted((part for part in parts if is_scanned(part, context)), key=word_index.is_words)
    if context.opened or not scanned:  # the index has only listed rows
        return None
    photos = select(SearchRow.newest_key // 2**RANK_BITS)  # words are looked up last, for the rows that are left
    return photos.where(SearchRow.listed, compile_all(scanned, replace(context, words_as_sets=True)))


def is_scanned(node: Node, context: Context) -> bool:
    """Return whether the index of values, on SQLite with that of words, decides alone what a query matches.

    PostgreSQL would read the rows of all photos with the words instead.
    """
    match node:
        case Everything() | Nothing():
            return True
        case Word() | Filter() if word_index.is_words(node):
            return not context.on_postgresql
        case Filter("unsorted") if not context.sees_private:  # its column counts private albums too
            return False
        case Filter("primary") if not context.on_postgresql:  # the key of the file tells
            return True
        case Filter(name):
            return _SCANNED.issuperset(FILTER_COLUMNS.get(column, column) for column in FILTERS[name].columns)
        case Not(part):
            return is_scanned(part, context)
        case And(parts) | Or(parts):
            return all(is_scanned(part, context) for part in parts)
        case _:
            return False


def most_selective(
    parts: Sequence[Node], walked: Sequence[Node], context: Context, counter: CandidateCounter
) -> Candidates | None:
    """Return the candidates of the most selective conjuncts; None if all exceed the counter's limit.

    Args:
        walked: the conjuncts whose value has an index in the order. Walking that index needs no sorting.
    """
    best, fewest = None, 0
    for candidates in _candidates(parts, walked, context):
        counted, count = counter.find(candidates, context)
        if count <= counter.limit and (best is None or count < fewest):
            best, fewest = counted, count
    return best


def found_by_any(parts: Sequence[Node], context: Context, counter: CandidateCounter) -> Candidates | None:
    """Return the photos of words that may also mean a filter, if the indexes of PostgreSQL find few.

    PostgreSQL by itself would compare all rows with the words and the filter.
    """
    for part in parts:
        if not (isinstance(part, Or) and word_index.is_mixed(part, context)):
            continue
        photos = _photos(part, replace(context, may_use_index=True))
        if photos is not None:
            candidates, count = counter.find(Candidates((part,), photos, scanned=True), context)
            if count <= counter.limit:
                return candidates
    return None


def _candidates(parts: Sequence[Node], walked: Sequence[Node], context: Context) -> Iterator[Candidates]:
    if (by_words := with_words(parts, context)) is not None:
        yield by_words
    by_index = replace(context, may_use_index=True)
    for part in parts:
        photos = None if part in walked else _photos(part, by_index)
        if photos is not None:
            yield Candidates((part,), photos, scanned=_is_pattern(part))


def _photos_of_any(part: Node, context: Context) -> Any:  # noqa: ANN401
    """Return the photos that an index finds by one part of an `Or`."""
    return word_index.matching(part, context) if isinstance(part, Word | Phrase) else _photos(part, context)


def _photos(part: Node, context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """Return the photos that a conjunct's own index finds; None without such an index."""
    keys = select(SearchRow.newest_key // 2**RANK_BITS)  # most indexes contain a key, not `photo_id`
    match part:
        case Or(parts) if word_index.is_mixed(part, context):
            each = [_photos_of_any(item, context) for item in parts]
            return union_all(*each) if None not in each else None
        case Filter("album" | "albums", Choice(ids)) if ids and not any(isinstance(item, TakenOut) for item in ids):
            return members([item for item in ids if isinstance(item, int)])
        case Filter("uid", Choice(any_of)) if any_of:
            # No union: this may be a part of one, and SQLite knows none within another.
            return select(SearchRow.photo_id).where(or_(*_identified(item for item in any_of if isinstance(item, Uid))))
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
        case Filter(name) if _column(name) in RARE_COLUMNS:
            # SQLite recognises the condition of the index by its text.
            is_rare = text(RARE_COLUMNS[_column(name)])
            return keys.where(SearchRow.listed, is_rare, compile_query(part, context)) if _is_rare(part) else None
        case Filter(name, Choice(any_of)) if any_of and name in _LOOKED_UP:
            key = getattr(SearchRow, _KEYS.get(LOOKUP_COLUMNS.get(_column(name), ""), "newest_key"))
            return select(key // 2**RANK_BITS).where(SearchRow.listed, compile_query(part, context))
        case Filter(name) if _column(name) in VALUE_COLUMNS:
            return keys.where(SearchRow.listed, compile_query(part, context))
        case _:
            return None


def value_column(part: Node) -> str | None:
    """Return the indexed column that a conjunct compares with one value; None without such a column."""
    if not isinstance(part, Filter):
        return None
    column, value = _column(part.name), _value(part)
    if column not in VALUE_COLUMNS or not isinstance(value, Choice) or len(value.any_of) != 1 or value.none_of:
        return None
    return column if _is_value(value.any_of[0]) else None


def _is_rare(part: Filter) -> bool:
    """Return whether all values that a filter asks for are in the index of the rare values of its column."""
    value = _value(part)
    if not (isinstance(value, Choice) and value.any_of):
        return False
    for item in value.any_of:
        match item:
            case Range(low) if low is not None and low > 0:
                pass
            case Pattern((name,)) if name != "image":
                pass
            case _:
                return False
    return True


def _value(part: Filter) -> Value | None:
    """Return the value that a filter compares; that of a flag which is set is named by its declaration."""
    return FILTERS[part.name].means if part.value is True else part.value


def _identified(uids: Iterable[Uid]) -> Iterator[Any]:
    """Yield the conditions that a photo has one of these UIDs, or a file with one of these UIDs or hashes."""
    texts = defaultdict(list)
    for uid in uids:
        texts[uid.column].append(uid.text)
    for column, values in texts.items():
        yield identified(column, values)


def _is_pattern(part: Node) -> bool:
    """Return whether a conjunct compares a column with patterns that an index can answer."""
    if not (isinstance(part, Filter) and isinstance(part.value, Choice) and _column(part.name) in PATTERN_COLUMNS):
        return False
    return all(isinstance(operand, Pattern) for operand in part.value.any_of + part.value.none_of)


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


def _estimate(tsquery: str, connection: Connection) -> int:
    """Return the number of photos that PostgreSQL expects of a text search; this takes half a millisecond."""
    ((plans,),) = run_text(connection, _ESTIMATE, {"tsquery": tsquery})
    return int(plans[0]["Plan"]["Plan Rows"])


def _find_by_index(tsquery: str, most: int, connection: Connection) -> list[int]:
    """Return at most `most` photos that a text search of PostgreSQL finds by the full-text index alone.

    PostgreSQL by itself reads the whole table if it expects many photos. It does so for any of several words, even if
    no photo has one of them.
    """
    run_text(connection, "SET LOCAL enable_seqscan = off", {})
    rows = run_text(connection, _LOOK_UP, {"tsquery": tsquery, "most": most})
    run_text(connection, "SET LOCAL enable_seqscan = on", {})
    return [row[0] for row in rows]


def few_with_words(
    parts: Sequence[Node], context: Context, connection: Connection, counter: CandidateCounter
) -> Candidates | None:
    """Return the photos that the words of these conjuncts find, if PostgreSQL expects few.

    If words are frequent, it would compare the indexed text of each row that it walks, which costs more than finding a
    substring. It knows the shares of frequent words only, so it may expect far too many photos of any of several words.
    """
    candidates, words = with_words(parts, context), word_index.needed(parts)
    if candidates is None or words is None:
        return None
    tsquery = word_index.as_tsquery(words)
    number = _estimate(tsquery, connection)
    if number > counter.limit and terms(words) > 1:
        ids = _find_by_index(tsquery, counter.limit + 1, connection)
        number = len(ids)
        candidates = replace(candidates, photos=select_ids(ids, context))
    return candidates if number <= counter.limit else None


def with_words(parts: Sequence[Node], context: Context) -> Candidates | None:
    """Return the photos that the words of these conjuncts find, however many; None without words."""
    words = word_index.needed(parts)
    if words is None:
        return None
    exact = tuple(part for part in parts if word_index.is_words(part))
    return Candidates((words,), word_index.matching(words, context), exact)


@dataclass(frozen=True, slots=True)
class Tier:
    """Photos with ranks, or all photos without a rank, in the order by relevance."""

    node: Node
    """The condition that they match."""
    photos: Any = None
    """The SELECT of the ids of photos with ranks; None for the tier of photos without ranks."""


def mixed_tiers(parts: Sequence[Node], ranked: Sequence[Term], context: Context) -> tuple[Tier, ...]:
    """Return the photos of words that may also mean a filter: first photos with a word, then photos without rank.

    Return `()` if the query has words that mean only themselves.
    """
    words: list[Node] = []
    others: list[Node] = []
    for part in parts:
        if not (isinstance(part, Or) and word_index.is_mixed(part, context)):
            others.append(part)
            continue
        words += [meaning for meaning in part.parts if isinstance(meaning, Word)]
        others.append(disjunction([meaning for meaning in part.parts if not isinstance(meaning, Word)]))
    if context.opened or not words or len(words) < len(ranked):
        return ()
    any_word = disjunction(words)
    best = Tier(conjunction(parts), word_index.matching(any_word, context))
    return best, Tier(conjunction([*others, Not(any_word)]))
