"""The photos of a query, each represented by the first of its files that matches."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, select

from photosvc.models import FILTER_COLUMNS, SEARCH_COLUMNS, SearchRow
from photosvc.models.search_values import RANK_BITS
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import Everything, Filter, Node, Word, leaves
from photosvc.search.reading.columns import Context
from photosvc.search.reading.compile import context_of
from photosvc.search.reading.plan import ALL_ROWS, Plan, Reading, make_plan
from photosvc.search.reading.request import last_value, parse_node
from photosvc.search.reading.resolve import resolve
from photosvc.search.reading.window import matching

#: PostgreSQL, for the rest of the transaction: plan each statement for its values. The plan for any values, which it
#: would choose from the eleventh call on, takes up to 40 times as long here; compiling takes as long as the statement.
_PLAN_BY_VALUES: Final = select(
    func.set_config("plan_cache_mode", "force_custom_plan", True), func.set_config("jit", "off", True)
)


@dataclass(frozen=True, slots=True)
class PhotoQuery:
    """The query for the photos of an overview."""

    node: Node
    """The parsed query, without the album of `album`."""
    album: str
    """The UID of the album that is searched; empty: all photos."""
    sees_private: bool
    today: date
    """The day from which smart albums count back."""


@dataclass(frozen=True, slots=True)
class Photos:
    """The photos of a query, and the plan that finds their rows."""

    connection: Connection
    plan: Plan
    single: bool
    """True if each photo has one row; otherwise each matching file has a row."""
    covered: bool
    """True if all rows are read, and the covering indexes contain all columns that the query compares."""

    def select(self, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """Return the query for these columns of all rows, unsorted."""
        query = matching(self.plan, *columns)
        return query.where(SearchRow.is_first) if self.single else query

    @property
    def count(self) -> ColumnElement[int]:
        """Return the expression that counts the photos in a group of rows."""
        photo_id = SearchRow.newest_key // 2**RANK_BITS  # in contrast to `photo_id`, in all indexes
        return func.count() if self.single else func.count(photo_id.distinct())


def parse_query(pairs: Iterable[tuple[str, str]], today: date, *, sees_private: bool) -> PhotoQuery:
    """Return the query of the parameters of a search; parameters for pages and orders are ignored.

    Raises:
        InvalidQueryError: one of them is not valid.
    """
    pairs = list(pairs)
    return PhotoQuery(parse_node(pairs, today), last_value(pairs, "s").strip(), sees_private, today)


def find_photos(connection: Connection, query: PhotoQuery, *, rows_needed: int) -> Photos:
    """Return the photos of this query.

    Args:
        rows_needed: see `plan.Reading`.
    """
    context = context_of(connection, query.node, sees_private=query.sees_private)
    context = replace(context, words_as_sets=rows_needed == ALL_ROWS)
    if context.on_postgresql:
        connection.execute(_PLAN_BY_VALUES)
    node = resolve(query.node, query.album, connection, sees_private=query.sees_private, today=query.today)
    plan = make_plan(node, Reading("", rows_needed, in_order=False), context, connection)
    single = is_single(node, context)
    only_words = context.words_as_sets and all(isinstance(part, Word) for part in leaves(node))
    covered = not plan.sorts and (isinstance(node, Everything) or only_words)
    return Photos(connection, plan, single, covered)


def is_single(node: Node, context: Context) -> bool:
    """Return whether a search finds each photo of a resolved query by its first listed file.

    It does if the query gives the same answer for all files of a photo.
    """
    names = (column for part in leaves(node) if isinstance(part, Filter) for column in FILTERS[part.name].columns)
    columns = (SEARCH_COLUMNS.get(FILTER_COLUMNS.get(name, name)) for name in names)
    return not context.opened and not any(column is not None and column.per_file for column in columns)
