"""Facets: the number of files of a search for each value of a filter."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, Text, cast, func, literal, literal_column, not_, select, tuple_

from photosvc.core.errors import InvalidValueError
from photosvc.core.vocabulary import COLORS
from photosvc.models import VALUE_GROUPS, Album, AlbumPhoto, Camera, File, Lens, Marker, Place, SearchRow
from photosvc.models.search_values import gear_name
from photosvc.models.statements import Column, read_tuples, unindexed
from photosvc.query.fold import fold
from photosvc.query.nodes import Node
from photosvc.search.reading.compile import visible_albums
from photosvc.search.reading.people import by_person, names_of_hidden
from photosvc.search.reading.plan import Driver, Plan, plan_all
from photosvc.search.reading.resolve import resolve
from photosvc.search.reading.window import context_of, matching

#: The most values of one facet in an answer.
MOST_VALUES = 1000
#: From so many facets on, PostgreSQL is faster with one statement.
_MANY: Final = 4
#: Few enough rows to stay in the cache of the processor until they are counted.
_CHUNK: Final = 200
#: Groups of rows that are read at once; a large one has thousands of rows.
_GROUPS: Final = 4

#: Values and how many files have them, the most frequent first.
Counted: TypeAlias = list[tuple[Any, int]]

COLUMNS: dict[str, Column] = {
    "year": SearchRow.year,
    "month": SearchRow.month,
    "country": SearchRow.country,
    "city": SearchRow.city_key,
    "camera": SearchRow.camera_id,
    "lens": SearchRow.lens_id,
    "type": SearchRow.photo_type,
    "color": SearchRow.color,
    "rating": SearchRow.rating,
}
#: All names that `by` accepts.
FACETS = (*COLUMNS, "album", "person")


@dataclass(frozen=True, slots=True)
class Value:
    """A value as its filter accepts it, its name for people, and how many files have it."""

    value: int | str
    label: str
    count: int


def parse_facets(text: str) -> list[str]:
    """Return the facets in a comma-separated list, each once.

    Raises:
        InvalidValueError: one of them is unknown, or there is none.
    """
    names = list(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in FACETS]
    if unknown or not names:
        msg = f"by names one or more of {', '.join(FACETS)}" + (f", not {unknown[0][:40]!r}" if unknown else "")
        raise InvalidValueError(msg, field="by")
    return names


def count_values(
    connection: Connection, node: Node, album: str, facets: Iterable[str], *, sees_private: bool
) -> dict[str, list[Value]]:
    """Return the values of each facet among the files that match the query, the most frequent first.

    Raises:
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.
    """
    context = context_of(connection, node, sees_private=sees_private)
    resolved = resolve(node, album, connection, sees_private=sees_private)
    facets = list(facets)
    columns = [name for name in facets if name in COLUMNS]
    plan = plan_all(resolved, context, connection)
    if context.on_postgresql:
        count = _in_one_statement if len(columns) >= _MANY else _grouped
    else:
        count = _by_groups if plan.driver is Driver.WALK_ORDER else _scanned
    counted = count(connection, plan, columns) if columns else {}
    found = {name: _named(connection, name, values) for name, values in counted.items()}
    if "album" in facets:
        found["album"] = _albums(connection, plan, sees_private=sees_private)
    if "person" in facets:
        found["person"] = _people(connection, plan)
    return {name: found[name] for name in facets}


def _grouped(connection: Connection, plan: Plan, names: Iterable[str]) -> dict[str, Counted]:
    """Count each facet by a statement of its own."""
    found = {}
    for name in names:
        column = COLUMNS[name]
        # An index of the value would give the groups in order, but then every row is looked up through it.
        found[name] = _counted(connection, matching(plan, column, func.count()), unindexed(column))
    return found


def _scanned(connection: Connection, plan: Plan, names: Sequence[str]) -> dict[str, Counted]:
    """Count all facets in one reading of the rows, which SQLite would read and sort for each of them."""
    counters: list[Counter[Any]] = [Counter() for _ in names]
    # SQLAlchemy's own rows take as long as reading and counting these tuples does.
    for chunk in read_tuples(connection, matching(plan, *(COLUMNS[name] for name in names)), _CHUNK):
        for counter, values in zip(counters, zip(*chunk, strict=True), strict=True):
            counter.update(values)
    return {name: _most(counter.items()) for name, counter in zip(names, counters, strict=True)}


def _by_groups(connection: Connection, plan: Plan, names: Sequence[str]) -> dict[str, Counted]:
    """Count all facets from the index of values, which SQLite reads group by group, in its order.

    SQLite gives the values of a group as one text, which takes half the time of rows. Folded texts have no line breaks.
    """
    groups = {name: column for name, column in COLUMNS.items() if column.key in VALUE_GROUPS}
    others = {name: COLUMNS[name] for name in names if name not in groups}
    counters: dict[str, Counter[Any]] = {name: Counter() for name in (*groups, *others)}
    texts = [func.group_concat(column, literal_column("char(10)")) for column in others.values()]
    query = matching(plan, func.count(), *groups.values(), *texts).group_by(*groups.values())
    for count, *values in chain.from_iterable(read_tuples(connection, query, _GROUPS)):
        for name, value in zip(groups, values, strict=False):
            counters[name][value] += count
        for name, text in zip(others, values[len(groups) :], strict=True):
            counters[name].update(text.split("\n"))
    return {name: _most(_typed(counters[name], name if name in others else "")) for name in names}


def _typed(counter: Counter[Any], name: str) -> Iterable[tuple[Any, int]]:
    """Return the counts of a facet; with a name, convert their texts to values of its column."""
    kind = COLUMNS[name].type.python_type if name else None
    return ((kind(value), count) for value, count in counter.items()) if kind else counter.items()


def _in_one_statement(connection: Connection, plan: Plan, names: Sequence[str]) -> dict[str, Counted]:
    """Count all facets by one statement of PostgreSQL."""
    columns = [COLUMNS[name] for name in names]
    # In each row, the columns of other facets are NULL; the one bit that is not set marks the facet of the row.
    sets = func.grouping_sets(*(tuple_(column) for column in columns))
    rows = connection.execute(matching(plan, func.grouping(*columns), func.count(), *columns).group_by(sets)).all()
    found: dict[str, Counted] = {}
    for number, name in enumerate(names):
        others = 2 ** len(names) - 1 - 2 ** (len(names) - 1 - number)
        counted = [(row[2 + number], row[1]) for row in rows if row[0] == others]
        found[name] = _most(counted)
    return found


def _most(counted: Iterable[tuple[Any, int]]) -> Counted:
    return sorted(counted, key=lambda pair: (-pair[1], pair[0]))[:MOST_VALUES]


def _named(connection: Connection, name: str, counted: Counted) -> list[Value]:
    label = _LABELS.get(name, lambda _connection, values: {value: str(value) for value in values})
    labels = label(connection, [value for value, _ in counted])
    named = name in {"city", "color"}
    return [
        Value(labels[value] if named else value, labels[value], count) for value, count in counted if value in labels
    ]


def _albums(connection: Connection, plan: Plan, *, sees_private: bool) -> list[Value]:
    shown = select(Album.id).where(visible_albums(sees_private=sees_private))
    query = matching(plan, AlbumPhoto.album_id, func.count())
    query = query.join(AlbumPhoto, AlbumPhoto.photo_id == SearchRow.photo_id)
    query = query.where(not_(AlbumPhoto.hidden), AlbumPhoto.album_id.in_(shown))
    counted = _counted(connection, query, AlbumPhoto.album_id)
    named = select(Album.id, Album.uid, Album.title).where(Album.id.in_([key for key, _ in counted]))
    known = {row.id: row for row in connection.execute(named)}
    return [Value(known[key].uid, known[key].title, count) for key, count in counted]


def _people(connection: Connection, plan: Plan) -> list[Value]:
    """Count the files of photos on which a person is named, on any file of the photo, as their filter finds them.

    Hidden people are left out.
    """
    # As in `people.people`: one row for each spelling, because reading one for each area takes half as long again.
    ids = func.aggregate_strings(cast(SearchRow.file_id, Text), ",")
    query = matching(plan, Marker.name, ids, literal("")).join(File, File.photo_id == SearchRow.photo_id)
    query = query.join(Marker, Marker.file_id == File.id).where(Marker.name != "", not_(File.missing))
    people, hidden = by_person(connection.execute(query.group_by(Marker.name))), names_of_hidden(connection)
    counted = _most((folded, len(one.ids)) for folded, one in people.items() if folded not in hidden)
    return [Value(people[folded].name, people[folded].name, count) for folded, count in counted]


def _counted(connection: Connection, query: Any, column: Column) -> Counted:  # noqa: ANN401
    query = query.group_by(column).order_by(func.count().desc(), column).limit(MOST_VALUES)
    return [(row[0], row[1]) for row in connection.execute(query)]


def _gear(kind: type[Camera | Lens]) -> Any:  # noqa: ANN401
    def labels(connection: Connection, ids: list[int]) -> dict[int, str]:
        known = select(kind.id, kind.make, kind.model).where(kind.id.in_(ids))
        return {key: gear_name(make, model) for key, make, model in connection.execute(known)}

    return labels


def _cities(connection: Connection, keys: list[str]) -> dict[str, str]:
    """Return the names of cities by their folded names: only places contain the spelling, not search rows."""
    written = connection.scalars(select(Place.city).distinct().order_by(Place.city))
    names = {fold(name): name for name in written}
    return {key: names[key] for key in keys if key in names}


_LABELS = {
    "camera": _gear(Camera),
    "lens": _gear(Lens),
    "city": _cities,
    "color": lambda _connection, ids: {number: COLORS[number] for number in ids if 0 <= number < len(COLORS)},
}
