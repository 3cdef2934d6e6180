"""Facets: how many files of a search have each value of a filter."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, not_, select

from photosvc.core.colors import COLORS
from photosvc.core.errors import InvalidValueError
from photosvc.models import Album, AlbumPhoto, Camera, Lens, Place, SearchRow
from photosvc.query.fold import fold
from photosvc.query.nodes import Node
from photosvc.search.reading.conditions.context import Column, unindexed
from photosvc.search.reading.conditions.visible import visible_albums
from photosvc.search.reading.plan import Plan, make_plan
from photosvc.search.reading.resolve import resolve
from photosvc.search.reading.window import context_of
from photosvc.search.word_text import gear_name

#: The most values of one facet in an answer.
MOST_VALUES = 1000

COLUMNS: dict[str, Column] = {
    "year": SearchRow.year,
    "month": SearchRow.month,
    "country": SearchRow.country,
    "city": SearchRow.city_key,
    "camera": SearchRow.camera_id,
    "lens": SearchRow.lens_id,
    "type": SearchRow.photo_type,
    "color": SearchRow.color,
}
#: Everything `by` may name.
FACETS = (*COLUMNS, "album")


@dataclass(frozen=True, slots=True)
class Value:
    """A value as its filter accepts it, its name for people, and how many files have it."""

    value: int | str
    label: str
    count: int


def parse_facets(text: str) -> list[str]:
    """The facets in a comma-separated list, each once.

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
    """The values of each facet, the most frequent first, among the files that match the query.

    Raises:
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.

    """
    context = context_of(connection, node, sees_private=sees_private)
    plan = make_plan(resolve(node, album, connection, sees_private=sees_private), "", context, connection)
    return {
        name: _albums(connection, plan, sees_private=sees_private)
        if name == "album"
        else _values(connection, plan, name)
        for name in facets
    }


def _values(connection: Connection, plan: Plan, name: str) -> list[Value]:
    column = COLUMNS[name]
    # Where conditions select the rows, grouping them costs less than reading the whole index of the value.
    grouped = unindexed(column) if len(plan.conditions) > 1 else column
    counted = _counted(connection, select(column, func.count()).where(*plan.conditions), grouped)
    label = _LABELS.get(name, lambda _connection, values: {value: str(value) for value in values})
    labels = label(connection, [value for value, _ in counted])
    named = name in {"city", "color"}
    return [
        Value(labels[value] if named else value, labels[value], count) for value, count in counted if value in labels
    ]


def _albums(connection: Connection, plan: Plan, *, sees_private: bool) -> list[Value]:
    query = select(AlbumPhoto.album_id, func.count()).join(SearchRow, SearchRow.photo_id == AlbumPhoto.photo_id)
    shown = select(Album.id).where(visible_albums(sees_private=sees_private))
    query = query.where(*plan.conditions, not_(AlbumPhoto.hidden), AlbumPhoto.album_id.in_(shown))
    counted = _counted(connection, query, AlbumPhoto.album_id)
    named = select(Album.id, Album.uid, Album.title).where(Album.id.in_([key for key, _ in counted]))
    known = {row.id: row for row in connection.execute(named)}
    return [Value(known[key].uid, known[key].title, count) for key, count in counted]


def _counted(connection: Connection, query: Any, column: Column) -> list[tuple[Any, int]]:  # noqa: ANN401
    query = query.group_by(column).order_by(func.count().desc(), column).limit(MOST_VALUES)
    return [(row[0], row[1]) for row in connection.execute(query)]


def _gear(kind: type[Camera | Lens]) -> Any:  # noqa: ANN401
    def labels(connection: Connection, ids: list[int]) -> dict[int, str]:
        known = select(kind.id, kind.make, kind.model).where(kind.id.in_(ids))
        return {key: gear_name(make, model) for key, make, model in connection.execute(known)}

    return labels


def _cities(connection: Connection, keys: list[str]) -> dict[str, str]:
    """Search rows contain folded names of cities; places contain their spelling."""
    written = connection.scalars(select(Place.city).distinct().order_by(Place.city))
    names = {fold(name): name for name in written}
    return {key: names[key] for key in keys if key in names}


_LABELS = {
    "camera": _gear(Camera),
    "lens": _gear(Lens),
    "city": _cities,
    "color": lambda _connection, ids: {number: COLORS[number] for number in ids if 0 <= number < len(COLORS)},
}
