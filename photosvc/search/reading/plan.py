"""The planner, which chooses the index that drives a search on SQLite.

SQLite 3.40 keeps no statistics by value: it does not know that one colour has ten photos and another a hundred
thousand. On a million photos the wrong plan is a thousand times slower than the right one, so the plan is chosen here,
from counts. PostgreSQL has such statistics and plans by itself.

The *driving index* is the one whose rows are read; all other conditions are checked on these rows. *Candidates* are the
photos that the driving index of one condition finds; the fewer, the more selective it is. Every order has an index that
can be walked without sorting.

The planner counts the candidates of each conjunct with an index of its own, at most `limit + 1`. The limit is half the
square root of `rows_needed * N`: N is the highest photo id, `rows_needed` the rows of the page and those that its
offset skips. Walking an order until `rows_needed` of n matching rows are found reads about `rows_needed * N / n` rows;
rows that are compared with many values take longer, so that the limit grows with the root of their number. Sorting the
candidates reads n rows, each in a random place, which costs about four times as much. Timed in libraries of 10,000 and
100,000 files, sorting was faster up to n = limit, walking from n = 1.5 * limit.

The estimate assumes that the matching rows are spread evenly over the order. Days in orders by time are not: such an
order is walked between the times of the days, whose photos are not counted.

The plan is that of the first row that applies. On SQLite:

| case | plan |
|---|---|
| the most selective conjunct, apart from one plain album, has at most `limit` photos | `SORT_CANDIDATES` |
| the order ranks by words, for which no index exists | `SORT_CANDIDATES` of all photos with these words |
| the order ranks by words that may also mean a filter, such as `december` | `WALK_RANKS` |
| the order is the one by hand of an album | `WALK_POSITIONS` |
| a conjunct is one plain album, and the order is one that albums are indexed in | `WALK_ALBUM` |
| conjuncts compare an indexed column with one value, in order `newest` | `WALK_VALUE` |
| otherwise | `WALK_ORDER` |

The last two end their walk after a twentieth of the library, where an index can be read instead (see `candidates`).

On PostgreSQL:

| case | plan |
|---|---|
| the order is the one by hand of an album | `WALK_POSITIONS` |
| a conjunct is one plain album, and the order is one that albums are indexed in | `WALK_ALBUM` |
| an index of words finds few photos | `DATABASE` of these photos |
| the order ranks by words | `DATABASE` of all photos with these words |
| the order ranks by words that may also mean a filter | `WALK_RANKS` |
| otherwise | `DATABASE` |
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Final

from sqlalchemy import Connection, and_

from photosvc.models import SORT_KEYS, SearchRow
from photosvc.models.search_values import Term, times_around
from photosvc.query.nodes import Choice, Filter, Node, conjuncts
from photosvc.query.nodes import terms as count_terms
from photosvc.search.reading import words as full_text
from photosvc.search.reading.candidates import (
    BY_VALUE,
    CandidateCounter,
    Candidates,
    Tier,
    days_of,
    few_with_words,
    found_by_any,
    is_scanned,
    mixed_tiers,
    most_selective,
    most_walked,
    scan_values,
    value_column,
    with_words,
)
from photosvc.search.reading.columns import Condition, Context
from photosvc.search.reading.compile import compile_all, compile_query, visible
from photosvc.search.reading.request import MANUAL

#: `rows_needed` of a plan that reads everything that matches: up to 20,000 candidates in a library of 200,000 photos
#: are found one by one as fast as all rows are read.
ALL_ROWS: Final = 10_000
#: Orders by the time at which photos were taken.
_BY_TIME: Final = frozenset(("newest", "oldest"))
#: Orders that albums have an index for.
_BY_ALBUM = frozenset(name for name, keys in SORT_KEYS.items() if keys.by_album)


class Driver(StrEnum):
    """The way in which the rows of a search are found."""

    DATABASE = "PostgreSQL plans by its own statistics"
    WALK_ALBUM = "walk the order within one album"
    WALK_POSITIONS = "walk the order by hand of one album"
    SORT_CANDIDATES = "sort the photos that one condition finds"
    WALK_RANKS = "sort the photos with the words, and walk the order of the others"
    WALK_VALUE = "walk the order within one value"
    WALK_ORDER = "walk the order until the page is full"


@dataclass(frozen=True, slots=True)
class Plan:
    """The conditions of a search, in a form that makes SQLite use the driving index."""

    driver: Driver
    conditions: tuple[Condition, ...]
    album: int | None = None
    """The album whose files are walked in place of all files; no condition repeats this."""
    arranged: int | None = None
    """The album by whose order by hand the files are sorted."""
    tiers: tuple[Tier, ...] = ()
    """If the order is by rank and the words may also mean a filter, the photos with and without ranks."""
    walk: "Walk | None" = None
    """The limited walk along its order; None: to its end."""
    span: tuple[int | None, int | None] = (None, None)
    """The lowest and the highest value of the order's first key; None where nothing bounds it."""

    @property
    def sorts(self) -> bool:
        """Return whether all matching rows are sorted, so that no index of an order may be used."""
        return self.driver in {Driver.SORT_CANDIDATES, Driver.WALK_RANKS}


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk along an order that ends after some rows."""

    rows: int
    along: tuple[Condition, ...]
    """The conditions of the rows of the index, all of which count."""
    beyond: Plan
    """The plan that finds the page if it is not full by then."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The way in which the rows of a search are read."""

    order: str
    """The name of the order without its sign; empty: none."""
    rows_needed: int
    """The rows of the page and those that its offset skips."""
    ranked: tuple[Term, ...] = ()
    """The terms that the order ranks by."""
    in_order: bool = True
    """False if all rows that no index finds are read as they are stored.

    Of the indexes of orders SQLite would choose one at random, and find every row through it.
    """
    by_values: bool = False
    """True if only columns of the index of values are read, out of order: then it is read in place of the rows."""
    is_reversed: bool = False


class _Planner(ABC):
    """The planner of one search: a method for each row of the table above, which returns None if it does not apply."""

    candidates_driver: ClassVar[Driver]
    """The driver of plans that look up candidates."""

    def __init__(self, node: Node, reading: Reading, context: Context, connection: Connection) -> None:
        self._reading, self._context, self._connection = reading, context, connection
        self._parts = conjuncts(node)
        self._arranged = reading.order == MANUAL.name
        in_album = self._arranged or reading.order in _BY_ALBUM
        in_one_album = one_album(node) if in_album else None
        album_part: Node | None
        self._album: int | None
        album_part, self._album = in_one_album or (None, None)
        self._others = tuple(part for part in self._parts if part is not album_part)
        self._shown = visible(sees_private=context.sees_private, opened=context.opened)
        self._counter = CandidateCounter(connection, reading.rows_needed, sum(map(count_terms, self._others)))
        by_time = reading.in_order and reading.order in _BY_TIME and self._album is None
        self._dated = [part for part in self._parts if by_time and days_of(part)]

    @abstractmethod
    def plan(self) -> Plan:
        """Return the plan of the first row that applies."""

    def _sort(self, candidates: Candidates) -> Plan:
        """Return the plan that sorts these candidates."""
        rest = [part for part in self._parts if part not in candidates.exact]
        conditions = SearchRow.photo_id.in_(candidates.photos), self._shown, compile_all(rest, self._context)
        return Plan(self.candidates_driver, conditions, arranged=self._album if self._arranged else None)

    def _span(self) -> tuple[int | None, int | None]:
        """Return the times between which all photos of the days lie that the query asks for."""
        days = [asked for part in self._dated if (asked := days_of(part))]
        first = max((times_around(asked.start)[0] for asked in days if asked.start), default=None)
        return first, min((times_around(asked.end)[1] for asked in days if asked.end), default=None)

    def _sort_ranked(self) -> Plan | None:
        candidates = with_words(self._parts, self._context) if self._reading.ranked else None
        return self._sort(candidates) if candidates else None

    def _walk_ranks(self) -> Plan | None:
        tiers = mixed_tiers(self._parts, self._reading.ranked, self._context) if self._reading.ranked else ()
        if not tiers:
            return None
        return Plan(Driver.WALK_RANKS, (self._shown, compile_all(self._parts, self._context)), tiers=tiers)

    def _walk_album(self) -> Plan | None:
        if self._album is None:
            return None
        conditions = self._shown, compile_all(self._others, self._context)
        if self._arranged:
            return Plan(Driver.WALK_POSITIONS, conditions, arranged=self._album)
        return Plan(Driver.WALK_ALBUM, conditions, album=self._album)


class _SqlitePlanner(_Planner):
    candidates_driver = Driver.SORT_CANDIDATES

    def plan(self) -> Plan:
        valued: list[Node] = []
        if self._reading.in_order and self._reading.order in BY_VALUE:
            valued = [part for part in self._parts if value_column(part)]
        return (
            self._sort_most_selective([*valued, *self._dated])
            or self._sort_ranked()
            or self._walk_ranks()
            or self._walk_album()
            or self._walk(valued)
        )

    def _sort_most_selective(self, valued: Sequence[Node]) -> Plan | None:
        candidates = most_selective(self._others, valued, self._context, self._counter)
        if candidates is None:
            return None
        if not self._reading.in_order and value_column(candidates.parts[0]):
            # The index of the value has all rows, and no order is asked for.
            return self._walk_album() or self._walk(candidates.parts)
        return self._sort(candidates)

    def _walk(self, valued: Sequence[Node]) -> Plan:
        """Return the plan that walks the order, within the values of these conjuncts if there are any."""
        within = [compile_query(part, replace(self._context, may_use_index=True)) for part in valued]
        others = tuple(part for part in self._parts if part not in valued)
        shown, limited, span = self._shown, None, self._span()
        if self._reading.in_order:
            limited = self._limited_walk(within) if any(part not in self._dated for part in others) else None
        elif not (valued or (self._reading.by_values and all(is_scanned(part, self._context) for part in self._parts))):
            shown = visible(sees_private=self._context.sees_private, opened=self._context.opened, by_index=False)
        driver = Driver.WALK_VALUE if valued else Driver.WALK_ORDER
        return Plan(driver, (shown, *within, compile_all(others, self._context)), walk=limited, span=span)

    def _limited_walk(self, within: Sequence[Condition]) -> Walk | None:
        """Return the limited walk along the order, within these values; None: to its end."""
        photos = scan_values(self._parts, self._context)
        rows = most_walked(self._counter.photos, self._counter.rows_needed) if photos is not None else None
        if rows is None:
            return None
        rest = compile_all([part for part in self._parts if not full_text.is_words(part)], self._context)
        beyond = Plan(Driver.SORT_CANDIDATES, (SearchRow.photo_id.in_(photos), self._shown, rest))
        return Walk(rows, (and_(SearchRow.listed), *within), beyond)


class _PostgresqlPlanner(_Planner):
    candidates_driver = Driver.DATABASE

    def plan(self) -> Plan:
        return (
            self._walk_album()
            or self._look_up_few()
            or self._sort_ranked()
            or self._walk_ranks()
            or Plan(Driver.DATABASE, (self._shown, compile_all(self._parts, self._context)), span=self._span())
        )

    def _look_up_few(self) -> Plan | None:
        """Return the plan with few photos of the words, which PostgreSQL left to itself would look for in each row."""
        if self._context.words_as_sets:
            return None
        candidates = few_with_words(self._parts, self._context, self._connection, self._counter)
        candidates = candidates or found_by_any(self._parts, self._context, self._counter)
        return self._sort(candidates) if candidates else None


def make_plan(node: Node, reading: Reading, context: Context, connection: Connection) -> Plan:
    """Return the plan for the rows that the resolved query `node` matches."""
    planner = _PostgresqlPlanner if context.on_postgresql else _SqlitePlanner
    return planner(node, reading, context, connection).plan()


def plan_all(node: Node, context: Context, connection: Connection) -> Plan:
    """Return the plan that reads every row that the resolved query `node` matches, to count or group them."""
    context = replace(context, words_as_sets=True)
    return make_plan(node, Reading("newest", ALL_ROWS, in_order=False, by_values=True), context, connection)


def one_album(node: Node) -> tuple[Node, int] | None:
    """Return the last conjunct that asks for one plain album, and the album's id; None without one.

    That is the album of `s` if there is one.
    """
    for part in reversed(conjuncts(node)):
        match part:
            case Filter("album" | "albums", Choice((int(album),), ())):
                return part, album
    return None
