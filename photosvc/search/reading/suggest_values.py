"""The kinds of values that are suggested, and the photos that have one, by statements whose cost has a bound.

Each value is counted up to a limit, in the order of an index, so that a count costs the same in a library of a million
photos. A count is the number of photos with exactly this value: the filter may find more, such as longer words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, exists, func, literal, not_, select
from sqlalchemy.engine import Dialect

from photosvc.models import AlbumPhoto, File, Marker, Photo, Place, SearchRow, photo_keywords
from photosvc.models.statements import Prepared, prepare_statement, unindexed
from photosvc.search.reading.compile import visible

#: The most photos of one value that are counted; answers say when there are more.
MOST_COUNTED: Final = 1000
#: The photos or files added last, whose values are suggested before anything is typed, and the most such values.
_RECENT: Final = 2000
_MOST_RECENT: Final = 40
#: Spellings of one value that are counted together.
MOST_KEYS: Final = 4
_KEYS: Final = tuple(f"key_{number}" for number in range(MOST_KEYS))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values."""

    name: str
    filter: str
    """The filter that is suggested with a value when no filter was typed."""
    filters: tuple[str, ...]
    """All filters with such values."""
    key: ColumnElement[Any]
    """The column with the value, or with its id."""
    owner: ColumnElement[Any]
    """The column with the photo that has it, or with the file."""
    of_file: bool = False
    places: bool = False
    """True if `key` is a column of the place of the photo."""
    condition: ColumnElement[bool] | None = None


def _rows(name: str, column: Any) -> Kind:  # noqa: ANN401 - attributes of models have many types
    return Kind(name, name, (name,), column, SearchRow.photo_id.expression, condition=SearchRow.listed.expression)


KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("camera", "camera", ("camera",), Photo.camera_id.expression, Photo.id.expression),
        Kind("lens", "lens", ("lens",), Photo.lens_id.expression, Photo.id.expression),
        Kind("city", "city", ("city", "place"), Place.city.expression, Photo.id.expression, places=True),
        Kind("state", "state", ("state", "place"), Place.state.expression, Photo.id.expression, places=True),
        _rows("country", SearchRow.country.expression),
        Kind("person", "subject", ("subject", "subjects"), Marker.name.expression, Marker.file_id.expression, True),
        Kind(
            "album",
            "album",
            ("album", "albums"),
            AlbumPhoto.album_id.expression,
            AlbumPhoto.photo_id.expression,
            condition=not_(AlbumPhoto.hidden),
        ),
        Kind("keyword", "keywords", ("keywords", "label"), photo_keywords.c.keyword_id, photo_keywords.c.photo_id),
        _rows("color", SearchRow.color.expression),
        _rows("type", SearchRow.photo_type.expression),
        _rows("year", SearchRow.year.expression),
    )
}


def compare(connection: Connection, kind: str, keys: Sequence[object], most: int) -> int:
    """Count the photos or files that have one of these values, private ones too, but at most `most`."""
    return _run(_comparing(connection.dialect, kind), connection, keys, most)


def count(connection: Connection, kind: str, keys: Sequence[object], *, sees_private: bool) -> int:
    """Count the photos that may be seen and have one of these values, at most one more than `MOST_COUNTED`."""
    return _run(_counting(connection.dialect, kind, sees_private=sees_private), connection, keys, MOST_COUNTED + 1)


def recent(connection: Connection, kind: str) -> list[Any]:
    """Return the keys of the most frequent values among the photos or files added last."""
    return [row[0] for row in _recent(connection.dialect, kind).run(connection, {})]


def _run(statement: Prepared, connection: Connection, keys: Sequence[object], most: int) -> int:
    # Fewer keys are repeated: they stand in an IN list of fixed length.
    values = dict(zip(_KEYS, [*keys, *[keys[0]] * MOST_KEYS], strict=False))
    ((found,),) = statement.run(connection, {**values, "most": most})
    return int(found)


def _having(kind: Kind, *columns: Any) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    keys = [bindparam(name, type_=kind.key.type) for name in _KEYS]
    if kind.places:
        query = select(*columns).where(Photo.place_id.in_(select(Place.id).where(kind.key.in_(keys))))
    else:
        query = select(*columns).where(kind.key.in_(keys))
    return query if kind.condition is None else query.where(kind.condition)


@lru_cache(maxsize=64)
def _comparing(dialect: Dialect, name: str) -> Prepared:
    found = _having(KINDS[name], literal(1)).limit(bindparam("most")).subquery()
    return prepare_statement(select(func.count()).select_from(found), dialect)


@lru_cache(maxsize=64)
def _counting(dialect: Dialect, name: str, *, sees_private: bool) -> Prepared:
    kind = KINDS[name]
    if kind.of_file:
        query = _having(kind, SearchRow.photo_id).join_from(
            kind.owner.table, SearchRow, SearchRow.file_id == kind.owner
        )
        query = query.where(visible(sees_private=sees_private, by_index=False)).distinct()
    elif kind.owner.table is SearchRow.__table__:
        query = _having(kind, SearchRow.photo_id).where(visible(sees_private=sees_private), SearchRow.is_first)
    else:
        shown = exists().where(SearchRow.photo_id == kind.owner, visible(sees_private=sees_private))
        query = _having(kind, kind.owner).where(shown).distinct()
    found = query.limit(bindparam("most")).subquery()
    return prepare_statement(select(func.count()).select_from(found), dialect)


@lru_cache(maxsize=64)
def _recent(dialect: Dialect, name: str) -> Prepared:
    kind = KINDS[name]
    last = select(func.max(File.id if kind.of_file else Photo.id) - _RECENT).scalar_subquery()
    query = select(kind.key, func.count())
    if kind.places:
        query = query.join_from(Photo, Place, Place.id == Photo.place_id)
    query = query.where(kind.owner > last)
    if kind.condition is not None:
        query = query.where(kind.condition)
    # The index of the values would give them in order, but then all photos are read.
    query = query.group_by(unindexed(kind.key)).order_by(func.count().desc(), kind.key).limit(_MOST_RECENT)
    return prepare_statement(query, dialect)
