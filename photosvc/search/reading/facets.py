"""Facets: the number of files of a search for each value of a filter."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Text,
    and_,
    cast,
    func,
    literal,
    literal_column,
    not_,
    select,
    tuple_,
)

from photosvc.core.errors import InvalidValueError
from photosvc.core.vocabulary import COLORS
from photosvc.models import VALUE_GROUPS, Album, AlbumPhoto, Camera, File, Lens, Marker, Place, SearchAlbum, SearchRow
from photosvc.models.search_values import camera_or_lens_name
from photosvc.models.statements import Column, read_tuples
from photosvc.query.fold import fold
from photosvc.query.nodes import Filter, Node, conjuncts
from photosvc.search.limits import waiting_for
from photosvc.search.reading.compile import context_of, visible_albums
from photosvc.search.reading.library import CachedValue
from photosvc.search.reading.people import by_person, names_of_hidden
from photosvc.search.reading.photos import PhotoQuery
from photosvc.search.reading.plan import Driver, Plan, plan_all
from photosvc.search.reading.resolve import resolve
from photosvc.search.reading.window import matching

#: The most values of one facet in an answer.
MOST_VALUES = 1000
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
#: Facets of numbers from -1 on that are counted packed into one number, each with a bound above its number of values.
_PACKED: Final = {"camera": 2**48, "month": 16, "color": 32}
#: Facets in which most photos have one value, and this value.
_USUAL: Final = {"type": "image", "rating": 0}
#: The columns that the index of the order `place` begins with, in its order, and the facets of them.
_PLACES: Final = (SearchRow.country, SearchRow.state_key, SearchRow.city_key)
_OF_PLACES: Final = ("country", "city")
#: The condition of one file for each photo, with which a search is still one of the whole library.
_PRIMARY: Final = Filter("primary", True)
#: All names that `by` accepts.
FACETS = (*COLUMNS, "album", "person")


@dataclass(frozen=True, slots=True)
class FacetValue:
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


def count_values(connection: Connection, query: PhotoQuery, facets: Iterable[str]) -> dict[str, list[FacetValue]]:
    """Return the values of each facet among the files that match the query, the most frequent first."""
    sees_private = query.sees_private
    context = context_of(connection, query.node, sees_private=sees_private)
    resolved = resolve(query.node, query.album, connection, sees_private=sees_private, today=query.today)
    facets = list(facets)
    columns = [name for name in facets if name in COLUMNS]
    plan = plan_all(resolved, context, connection)
    whole = _is_whole(resolved)
    counted: dict[str, Counted] = {}
    if whole and not context.on_postgresql and not {*_OF_PLACES}.isdisjoint(columns):
        counted = _of_places(connection, plan)
    rest = [name for name in columns if name not in counted]
    by_reading = _by_groups if plan.driver is Driver.WALK_ORDER else _scanned
    count = _in_one_statement if context.on_postgresql else by_reading
    counted |= count(connection, plan, rest) if rest else {}
    values = {name: _named(connection, name, counted[name]) for name in columns}
    if "album" in facets:
        values["album"] = _albums(connection, plan, whole=whole, sees_private=sees_private)
    if "person" in facets:
        values["person"] = _people(connection, plan)
    return {name: values[name] for name in facets}


class KnownFacets:
    """The facets of the whole library, cached until it changes: counting them reads every search row."""

    def __init__(self) -> None:
        #: The values of all files, and those of the primary ones.
        self._counting = Lock()
        self._cached: CachedValue[tuple[dict[str, list[FacetValue]], ...]] = CachedValue(lambda *_, **__: ({}, {}))

    def count(self, connection: Connection, query: PhotoQuery, facets: Sequence[str]) -> dict[str, list[FacetValue]]:
        """Return the values like `count_values`; a search without conditions is answered from the cache."""
        if query.album or not _is_whole(query.node):
            return count_values(connection, query, facets)
        known = self._cached.read(connection, sees_private=query.sees_private)[bool(conjuncts(query.node))]
        if any(name not in known for name in facets):
            with waiting_for(connection, self._counting):
                if missing := [name for name in facets if name not in known]:
                    known.update(count_values(connection, query, missing))
        return {name: known[name] for name in facets}


def _is_whole(node: Node) -> bool:
    """Return whether a search finds the whole library, all files or one of each photo."""
    return all(part == _PRIMARY for part in conjuncts(node))


def _scanned(connection: Connection, plan: Plan, names: Sequence[str]) -> dict[str, Counted]:
    """Count all facets in one reading of the rows, which SQLite would read and sort for each of them."""
    counters: list[Counter[Any]] = [Counter() for _ in names]
    # SQLAlchemy's own rows take as long as reading and counting these tuples does.
    for chunk in read_tuples(connection, matching(plan, *(COLUMNS[name] for name in names)), _CHUNK):
        for counter, values in zip(counters, zip(*chunk, strict=True), strict=True):
            counter.update(values)
    return {name: _most(counter.items()) for name, counter in zip(names, counters, strict=True)}


def _of_places(connection: Connection, plan: Plan) -> dict[str, Counted]:
    """Count countries and cities of the whole library, from the index of places, which needs no sorting."""
    counters: dict[str, Counter[Any]] = {name: Counter() for name in _OF_PLACES}
    query = matching(plan, SearchRow.country, SearchRow.city_key, func.count()).group_by(*_PLACES)
    for country, city, count in chain.from_iterable(read_tuples(connection, query, _CHUNK)):
        counters["country"][country] += count
        counters["city"][city] += count
    return {name: _most(counter.items()) for name, counter in counters.items()}


def _by_groups(connection: Connection, plan: Plan, names: Sequence[str]) -> dict[str, Counted]:
    """Count all facets from the index of values, which SQLite reads group by group, in its order.

    SQLite gives the values of a group as one text, which takes half the time of rows, and less if small numbers are
    packed in one and the value that most photos have is left out. Folded texts have no line breaks.
    """
    groups = {name: column for name, column in COLUMNS.items() if column.key in VALUE_GROUPS}
    packed = [name for name in _PACKED if name in names]
    others = [name for name in names if name not in groups and name not in packed]
    texts = [func.nullif(COLUMNS[name], _USUAL[name]) if name in _USUAL else COLUMNS[name] for name in others]
    if packed:
        texts.append(_pack(packed))
    counters: dict[str, Counter[Any]] = {name: Counter() for name in (*groups, *others, *packed)}
    numbers: Counter[str] = Counter()
    lists = [func.group_concat(text, literal_column("char(10)")) for text in texts]
    query = matching(plan, func.count(), *groups.values(), *lists).group_by(*groups.values())
    total = 0
    for count, *values in chain.from_iterable(read_tuples(connection, query, _GROUPS)):
        total += count
        for name, value in zip(groups, values, strict=False):
            counters[name][value] += count
        written = (text.split("\n") if text is not None else () for text in values[len(groups) :])
        for counter, some in zip([*(counters[name] for name in others), numbers], written, strict=False):
            counter.update(some)
    for name in others:
        kind = COLUMNS[name].type.python_type
        counters[name] = Counter({kind(value): count for value, count in counters[name].items()})
        if name in _USUAL and (usual := total - counters[name].total()):
            counters[name][_USUAL[name]] = usual
    _unpack(numbers, {name: counters[name] for name in packed})
    return {name: _most(counters[name].items()) for name in names}


def _pack(names: Sequence[str]) -> ColumnElement[int]:
    """Return one number made of the columns of these facets."""
    first, *others = names
    number: ColumnElement[int] = cast(COLUMNS[first] + 1, BigInteger)
    for name in others:
        number = number * _PACKED[name] + (COLUMNS[name] + 1)
    return number


def _unpack(numbers: Mapping[str, int], counters: Mapping[str, Counter[Any]]) -> None:
    """Count the values in numbers that `_pack` made of the facets of these counters, in their order."""
    parts = [(counter, _PACKED[name]) for name, counter in reversed([*counters.items()])]
    for text, count in numbers.items():
        number = int(text)
        for counter, size in parts:
            number, value = divmod(number, size)
            counter[value - 1] += count


def _in_one_statement(connection: Connection, plan: Plan, names: Sequence[str]) -> dict[str, Counted]:
    """Count all facets by one statement of PostgreSQL."""
    columns = [COLUMNS[name] for name in names]
    # In each row, the columns of other facets are NULL; the one bit that is not set marks the facet of the row.
    sets = func.grouping_sets(*(tuple_(column) for column in columns))
    rows = connection.execute(matching(plan, func.grouping(*columns), func.count(), *columns).group_by(sets)).all()
    counts: dict[str, Counted] = {}
    for number, name in enumerate(names):
        others = 2 ** len(names) - 1 - 2 ** (len(names) - 1 - number)
        counted = [(row[2 + number], row[1]) for row in rows if row[0] == others]
        counts[name] = _most(counted)
    return counts


def _most(counted: Iterable[tuple[Any, int]]) -> Counted:
    return sorted(counted, key=lambda pair: (-pair[1], pair[0]))[:MOST_VALUES]


def _named(connection: Connection, name: str, counted: Counted) -> list[FacetValue]:
    label = _LABELS.get(name, lambda _connection, values: {value: str(value) for value in values})
    labels = label(connection, [value for value, _ in counted])
    named = name in {"city", "color"}
    return [
        FacetValue(labels[value] if named else value, labels[value], count)
        for value, count in counted
        if value in labels
    ]


def _albums(connection: Connection, plan: Plan, *, whole: bool, sees_private: bool) -> list[FacetValue]:
    """Count the files in albums; for the whole library, those of the index of albums without what does not match."""
    shown = select(Album.id).where(visible_albums(sees_private=sees_private))
    if whole:
        of_album: Column = SearchAlbum.album_id
        left_out = select(SearchRow.file_id).where(not_(and_(*plan.conditions)))
        query = select(of_album, func.count()).where(SearchAlbum.file_id.not_in(left_out))
    else:
        of_album = AlbumPhoto.album_id
        query = matching(plan, of_album, func.count()).join(AlbumPhoto, AlbumPhoto.photo_id == SearchRow.photo_id)
        query = query.where(not_(AlbumPhoto.hidden))
    counted = _counted(connection, query.where(of_album.in_(shown)), of_album)
    named = select(Album.id, Album.uid, Album.title).where(Album.id.in_([key for key, _ in counted]))
    known = {row.id: row for row in connection.execute(named)}
    return [FacetValue(known[key].uid, known[key].title, count) for key, count in counted]


def _people(connection: Connection, plan: Plan) -> list[FacetValue]:
    """Count the files of photos on which a person is named, on any file of the photo, as their filter finds them.

    Hidden people are left out.
    """
    # As in `people.people`: one row for each spelling, because reading one for each area takes half as long again.
    ids = func.aggregate_strings(cast(SearchRow.file_id, Text), ",")
    query = matching(plan, Marker.name, ids, literal("")).join(File, File.photo_id == SearchRow.photo_id)
    query = query.join(Marker, Marker.file_id == File.id).where(Marker.name != "", not_(File.missing))
    people, hidden = by_person(connection.execute(query.group_by(Marker.name))), names_of_hidden(connection)
    counted = _most((folded, len(person.ids)) for folded, person in people.items() if folded not in hidden)
    return [FacetValue(people[folded].name, people[folded].name, count) for folded, count in counted]


def _counted(connection: Connection, query: Any, column: Column) -> Counted:  # noqa: ANN401
    query = query.group_by(column).order_by(func.count().desc(), column).limit(MOST_VALUES)
    return [(row[0], row[1]) for row in connection.execute(query)]


def _gear(kind: type[Camera | Lens]) -> Any:  # noqa: ANN401
    def labels(connection: Connection, ids: list[int]) -> dict[int, str]:
        known = select(kind.id, kind.make, kind.model).where(kind.id.in_(ids))
        return {key: camera_or_lens_name(make, model) for key, make, model in connection.execute(known)}

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
