"""The photos of a query, each represented by the first of its files that matches, and their numbers by town."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, func, select

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.text import parse_digits
from photosvc.models import FILTER_COLUMNS, SEARCH_COLUMNS, UNKNOWN_PLACE, Place, SearchRow
from photosvc.models.search_values import RANK_BITS
from photosvc.models.statements import unindexed
from photosvc.query.filters import FILTERS
from photosvc.query.fold import fold
from photosvc.query.nodes import Everything, Filter, Node, Word, leaves
from photosvc.search.reading.columns import Context
from photosvc.search.reading.compile import context_of
from photosvc.search.reading.library import library_state
from photosvc.search.reading.plan import ALL_ROWS, Plan, Reading, make_plan
from photosvc.search.reading.request import last_value, parse_node
from photosvc.search.reading.resolve import resolve
from photosvc.search.reading.window import matching

#: PostgreSQL, for the rest of the transaction: plan each statement for its values. The plan for any values, which it
#: would choose from the eleventh call on, takes up to 40 times as long here; compiling takes as long as the statement.
_PLAN_BY_VALUES: Final = select(
    func.set_config("plan_cache_mode", "force_custom_plan", True), func.set_config("jit", "off", True)
)
#: The most towns of an answer.
MOST_TOWNS: Final = 2000


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
    """True if there is one row for each photo; otherwise there is one for each matching file."""
    covered: bool
    """True if all rows are read and the covering indexes contain what the query compares: nothing, or words."""

    def select(self, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
        """Return the query for these columns of all rows, in no order."""
        query = matching(self.plan, *columns)
        return query.where(SearchRow.is_first) if self.single else query

    @property
    def count(self) -> ColumnElement[int]:
        """Return the expression that counts the photos in a group of rows."""
        photo_id = SearchRow.newest_key // 2**RANK_BITS  # in contrast to `photo_id`, in all indexes
        return func.count() if self.single else func.count(photo_id.distinct())


def parse_query(pairs: Iterable[tuple[str, str]], today: date, *, sees_private: bool) -> PhotoQuery:
    """Return the query that the parameters of a search make; those that page or sort it are ignored.

    Raises:
        InvalidQueryError: one of them is not valid.
    """
    pairs = list(pairs)
    return PhotoQuery(parse_node(pairs, today), last_value(pairs, "s").strip(), sees_private, today)


def parse_number(text: str, name: str, low: int, high: int, default: int) -> int:
    """Return the whole number in a parameter; empty: the default.

    Raises:
        InvalidValueError: it is none, or not between `low` and `high`.
    """
    if not text.strip():
        return default
    number = parse_digits(text.strip())
    if number is None or not low <= number <= high:
        raise InvalidValueError(f"{name} must be a whole number from {low} to {high}", field=name)
    return number


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


def version_of(connection: Connection, expected: str = "", *, sees_private: bool) -> str:
    """Return the version of the library, which differs after any change that the caller may see.

    Raises:
        ConflictError: it is not the expected one.
    """
    version = f"{library_state(connection, sees_private=sees_private):x}"
    if expected and expected != version:
        raise ConflictError("the library has changed: ask for the months again and use their version", field="version")
    return version


def is_single(node: Node, context: Context) -> bool:
    """Return whether a search finds each photo of a resolved query by its first listed file.

    It does if the query gives the same answer for all files of a photo.
    """
    names = (column for part in leaves(node) if isinstance(part, Filter) for column in FILTERS[part.name].columns)
    columns = (SEARCH_COLUMNS.get(FILTER_COLUMNS.get(name, name)) for name in names)
    return not context.opened and not any(column is not None and column.per_file for column in columns)


@dataclass(frozen=True, slots=True)
class CountedTown:
    """A town with photos."""

    country: str
    """ISO 3166 code of two lower-case letters."""
    name: str
    """Empty where photos of the country were taken outside of towns."""
    count: int


def find_towns(connection: Connection, query: PhotoQuery) -> list[CountedTown]:
    """Return at most `MOST_TOWNS` towns of the photos whose country is known, most photos first."""
    photos = find_photos(connection, query, rows_needed=ALL_ROWS)
    columns = SearchRow.country, SearchRow.state_key, SearchRow.city_key
    # The index of the order `place`, which has only listed rows, gives them in order; of other queries, every row would
    # be looked up through it.
    by_index = photos.covered
    in_order = columns if by_index else map(unindexed, columns)
    known = unindexed(SearchRow.country) != UNKNOWN_PLACE
    grouped = photos.select(SearchRow.country, SearchRow.city_key, photos.count.label("photos")).where(known)
    if by_index:
        grouped = grouped.where(SearchRow.listed)
    by_state = grouped.group_by(*in_order).subquery().c
    country, city, count = by_state.country, by_state.city_key, func.sum(by_state.photos)
    statement = select(country, city, cast(count, BigInteger)).group_by(country, city)
    found = connection.execute(statement.order_by(count.desc(), country, city).limit(MOST_TOWNS)).all()
    names = _names(connection, {row[0] for row in found})
    return [CountedTown(code, names.get((code, key), ""), count) for code, key, count in found]


def _names(connection: Connection, countries: set[str]) -> dict[tuple[str, str], str]:
    """Return the names of towns by country and folded name: only places contain the spelling."""
    written = select(Place.country, Place.city).where(Place.country.in_(countries)).distinct().order_by(Place.city)
    return {(code, fold(city)): city for code, city in connection.execute(written)}
