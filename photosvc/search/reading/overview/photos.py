"""The photos that a query finds, each represented by the first of its files that matches."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, select

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.models import FILTER_COLUMNS, SEARCH_COLUMNS, SearchRow
from photosvc.models.search.values import RANK_BITS
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import And, Everything, Filter, Node, Not, Or
from photosvc.query.operands import Word
from photosvc.search.reading.library import library_state
from photosvc.search.reading.names.resolve import resolve
from photosvc.search.reading.paging.window import context_of, matching
from photosvc.search.reading.planning.plan import ALL_ROWS, Plan, make_plan
from photosvc.search.reading.request import parse_node

#: PostgreSQL, for the rest of the transaction: plan each statement for its values. The plan for any values, which it
#: would choose from the eleventh call on, takes up to 40 times as long here; compiling takes as long as the statement.
_PLAN_BY_VALUES: Final = select(
    func.set_config("plan_cache_mode", "force_custom_plan", True), func.set_config("jit", "off", True)
)


@dataclass(frozen=True, slots=True)
class PhotoQuery:
    """Which photos an overview shows."""

    node: Node
    """The parsed query, without the album of `album`."""
    album: str
    """The UID of the album that is searched; empty: all photos."""
    sees_private: bool


@dataclass(frozen=True, slots=True)
class Photos:
    """How the rows of these photos are found."""

    connection: Connection
    plan: Plan
    single: bool
    """Whether there is one row for each photo; otherwise one for each matching file."""
    covered: bool
    """Whether all rows are read and the covering indexes contain what the query compares: nothing, or words."""

    def select(self, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """The query for these columns of all rows, in no order."""
        query = matching(self.plan, *columns)
        return query.where(SearchRow.is_first) if self.single else query

    @property
    def count(self) -> ColumnElement[int]:
        """The number of photos in a group of rows."""
        photo_id = SearchRow.newest_key // 2**RANK_BITS  # in contrast to `photo_id`, in all indexes
        return func.count() if self.single else func.count(photo_id.distinct())


def parse_query(pairs: Iterable[tuple[str, str]], *, sees_private: bool) -> PhotoQuery:
    """The query that the parameters of a search make; those that page or sort it are ignored.

    Raises:
        InvalidQueryError: one of them is not valid.

    """
    pairs = list(pairs)
    album = next((value.strip() for name, value in pairs if name == "s" and value.strip()), "")
    return PhotoQuery(parse_node(pairs), album, sees_private)


def parse_number(text: str, name: str, low: int, high: int, default: int) -> int:
    """The whole number in a parameter; empty: the default.

    Raises:
        InvalidValueError: it is none, or not between `low` and `high`.

    """
    digits = text.strip()
    if not digits:
        return default
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10 and low <= int(digits) <= high):
        msg = f"{name} must be a whole number from {low} to {high}"
        raise InvalidValueError(msg, field=name)
    return int(digits)


def find_photos(connection: Connection, query: PhotoQuery, *, rows_needed: int) -> Photos:
    """The photos of this query.

    Args:
        connection: where names are looked up and candidates are counted.
        query: which photos.
        rows_needed: see `make_plan`.

    Raises:
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.

    """
    context = context_of(connection, query.node, sees_private=query.sees_private)
    context = replace(context, words_as_sets=rows_needed == ALL_ROWS)
    if context.on_postgresql:
        connection.execute(_PLAN_BY_VALUES)
    node = resolve(query.node, query.album, connection, sees_private=query.sees_private)
    plan = make_plan(node, "", context, connection, rows_needed=rows_needed, in_order=False)
    single = not context.opened and _is_about_photos(node)
    covered = not plan.sorts and (isinstance(node, Everything) or (context.words_as_sets and _has_only_words(node)))
    return Photos(connection, plan, single, covered)


def version_of(connection: Connection, expected: str = "") -> str:
    """The version of the library: another one as soon as anything in it changes.

    Raises:
        ConflictError: it is not the expected one.

    """
    version = f"{library_state(connection):x}"
    if expected and expected != version:
        msg = "the library has changed: ask for the months again and use their version"
        raise ConflictError(msg, field="version")
    return version


def _is_about_photos(node: Node) -> bool:
    """Whether a resolved query gives the same answer for all files of a photo."""
    match node:
        case Filter(name):
            columns = (SEARCH_COLUMNS.get(FILTER_COLUMNS.get(column, column)) for column in FILTERS[name].columns)
            return not any(column is not None and column.per_file for column in columns)
        case Not(part):
            return _is_about_photos(part)
        case And(parts) | Or(parts):
            return all(map(_is_about_photos, parts))
        case _:
            return True


def _has_only_words(node: Node) -> bool:
    """Whether all conditions of a resolved query are words."""
    match node:
        case Not(part):
            return _has_only_words(part)
        case And(parts) | Or(parts):
            return all(map(_has_only_words, parts))
        case _:
            return isinstance(node, Word)
