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

The estimate assumes that the matching rows are spread evenly over the order. Days and years in orders by time are not:
a walk that does not reach them ends at its limit.

| the first case that applies | plan |
|---|---|
| SQLite; the most selective conjunct, apart from one plain album, has at most `limit` photos | `SORT_CANDIDATES` |
| the order ranks by words that may also mean a filter, such as `december` | `WALK_RANKS` |
| SQLite; the order ranks by words, for which no index exists | `SORT_CANDIDATES` of all photos with these words |
| the order is the one by hand of an album | `WALK_POSITIONS` |
| a conjunct is one plain album, and the order is one that albums are indexed in | `WALK_ALBUM` |
| PostgreSQL | `DATABASE` |
| conjuncts compare an indexed column with one value, in order `newest` | `WALK_VALUE` |
| otherwise | `WALK_ORDER` |

The last two end their walk after a twentieth of the library, where an index can be read instead (see `candidates`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, and_, true

from photosvc.models import SORT_KEYS, SearchRow
from photosvc.models.search_values import Term
from photosvc.query.nodes import Choice, Filter, Node, conjuncts
from photosvc.query.nodes import terms as count_terms
from photosvc.search.reading import words as full_text
from photosvc.search.reading.candidates import (
    BY_VALUE,
    Candidates,
    Counter,
    Tier,
    expected,
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


def make_plan(
    node: Node,
    order: str,
    context: Context,
    connection: Connection,
    *,
    rows_needed: int = 100,
    ranked: tuple[Term, ...] = (),
    in_order: bool = True,
    by_values: bool = False,
) -> Plan:
    """Return the plan for the rows that `node` matches.

    Args:
        node: the resolved query.
        rows_needed: the rows of the page and those that its offset skips.
        ranked: the terms that the order ranks by.
        in_order: whether rows are read in the order. Otherwise, all rows that no index finds are read as they are
            stored: of the indexes of orders SQLite would choose one at random, and find every row through it.
        by_values: whether only columns of the index of values are read, out of order: then it is read for the rows.
    """
    parts = conjuncts(node)
    shown = visible(sees_private=context.sees_private, opened=context.opened)
    arranged = order == MANUAL.name
    of_album, album = one_album(node) if arranged or order in _BY_ALBUM else (None, None)
    others = tuple(part for part in parts if part is not of_album)
    by_order = in_order and order in BY_VALUE
    valued = [part for part in parts if by_order and value_column(part)]
    found_tiers: tuple[Tier, ...] = ()
    if others and not context.on_postgresql:
        counter = Counter(connection, rows_needed, sum(map(count_terms, others)))
        candidates = most_selective(others, valued, context, counter)
        if candidates is None and ranked:
            candidates, found_tiers = _by_rank(parts, ranked, context)
        if candidates is not None and not in_order and value_column(candidates.parts[0]):
            valued = list(candidates.parts)
        elif candidates is not None or found_tiers:
            exact = candidates.exact if candidates else ()
            rest = compile_all([part for part in parts if part not in exact], context)
            found = SearchRow.photo_id.in_(candidates.photos) if candidates else true()
            by_hand = album if arranged else None
            driver = Driver.WALK_RANKS if found_tiers else Driver.SORT_CANDIDATES
            return Plan(driver, (found, shown, rest), arranged=by_hand, tiers=found_tiers)
    if album is not None:
        driver = Driver.WALK_POSITIONS if arranged else Driver.WALK_ALBUM
        by_hand, by_index = (album, None) if arranged else (None, album)
        conditions = shown, compile_all(others, context)
        return Plan(driver, conditions, by_index, by_hand)
    if context.on_postgresql:
        counter = Counter(connection, rows_needed, sum(map(count_terms, others)))
        candidates = None
        if not context.words_as_sets:
            candidates = expected(parts, context, connection, counter) or found_by_any(parts, context, counter)
        if candidates is None and ranked:
            candidates, found_tiers = _by_rank(parts, ranked, context)
        if candidates is None:
            conditions = shown, compile_all(parts, context)
        else:
            rest = compile_all([part for part in parts if part not in candidates.exact], context)
            conditions = and_(SearchRow.photo_id.in_(candidates.photos), shown), rest
        driver = Driver.WALK_RANKS if found_tiers else Driver.DATABASE
        return Plan(driver, conditions, tiers=found_tiers)
    by_value = [compile_query(part, replace(context, may_use_index=True)) for part in valued]
    others = tuple(part for part in parts if part not in valued)
    rest = compile_all(others, context)
    driver = Driver.WALK_VALUE if valued else Driver.WALK_ORDER
    walk = None
    if not (valued or in_order or (by_values and all(is_scanned(part, context) for part in parts))):
        shown = visible(sees_private=context.sees_private, opened=context.opened, by_index=False)
    elif others and in_order:
        walk = _limited_walk(parts, context, counter, shown, by_value)
    return Plan(driver, (shown, *by_value, rest), walk=walk)


def _limited_walk(
    parts: Sequence[Node], context: Context, counter: Counter, shown: Condition, by_value: Sequence[Condition]
) -> Walk | None:
    """Return the limited walk along the order for these conjuncts; None: to its end."""
    photos = scan_values(parts, context)
    rows = most_walked(counter.photos, counter.rows_needed) if photos is not None else None
    if rows is None:
        return None
    rest = compile_all([part for part in parts if not full_text.is_words(part)], context)
    beyond = Plan(Driver.SORT_CANDIDATES, (SearchRow.photo_id.in_(photos), shown, rest))
    return Walk(rows, (and_(SearchRow.listed), *by_value), beyond)


def _by_rank(
    parts: Sequence[Node], ranked: Sequence[Term], context: Context
) -> tuple[Candidates | None, tuple[Tier, ...]]:
    """Return all photos with the words of these conjuncts; if these may also mean a filter, in tiers."""
    candidates = with_words(parts, context)
    return candidates, () if candidates else mixed_tiers(parts, ranked, context)


def plan_all(node: Node, context: Context, connection: Connection) -> Plan:
    """Return the plan that reads every row that `node` matches, to count or group them; see `make_plan`."""
    context = replace(context, words_as_sets=True)
    return make_plan(node, "newest", context, connection, rows_needed=ALL_ROWS, in_order=False, by_values=True)


def one_album(node: Node) -> tuple[Node, int] | tuple[None, None]:
    """Return the last conjunct that asks for one plain album, and the album's id.

    That is the album of `s` if there is one.
    """
    for part in reversed(conjuncts(node)):
        match part:
            case Filter("album" | "albums", Choice((int(album),), ())):
                return part, album
    return None, None
