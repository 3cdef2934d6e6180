"""Statistics of the library: numbers of photos, files and albums, which read an index of all photos."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, func, not_, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from photosvc.models import (
    CHANGES,
    UNKNOWN_ID,
    UNKNOWN_PLACE,
    Album,
    Camera,
    File,
    Keyword,
    Photo,
    SearchRow,
    photo_keywords,
    read_counter,
)
from photosvc.models.search_values import camera_or_lens_name
from photosvc.models.statements import unindexed
from photosvc.query.nodes import Everything, Filter
from photosvc.search.reading.columns import Condition
from photosvc.search.reading.compile import compile_query, context_of, visible, visible_albums, visible_photos

_LIVE, _VIDEO = "live", "video"
#: The numbers of the days of one month are equal when divided by this one.
_DAYS: Final = 100
#: No key of a row is higher.
_MOST: Final = 2**63 - 1
#: Made once, because an alias copies every column of the table.
_Following = aliased(SearchRow)


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of photos by type and state, and of files, albums, people, labels, places, cameras and folders."""

    all: int
    photos: int
    live: int
    videos: int
    favorites: int
    private: int
    files: int
    albums: int
    review: int
    hidden: int
    archived: int
    """0, like `hidden`, for callers who do not see private photos."""
    cameras: int
    countries: int
    states: int
    places: int
    """Towns, or regions where no town is known."""
    folders: int
    months: int
    labels: int
    people: int = 0
    """Left to the caller, who has the list of them."""


def read_counts(connection: Connection, *, sees_private: bool) -> Counts:
    """Count the photos, files and albums that a search without filters finds."""
    context = context_of(connection, Everything(), sees_private=sees_private)
    seen, is_primary = visible(sees_private=sees_private), compile_query(Filter("primary", True), context)
    numbers = (
        func.count(),
        func.count().filter(not_(is_primary)),
        # The condition that few rows meet comes first, because SQLite then leaves out the other one.
        func.count().filter(SearchRow.favorite, is_primary),
        func.count().filter(SearchRow.photo_type == _LIVE, is_primary),
        func.count().filter(SearchRow.photo_type == _VIDEO, is_primary),
        func.count().filter(SearchRow.private, is_primary),
        func.count().filter(compile_query(Filter("review", True), context), is_primary),
    )
    every, further, favorite, live, videos, private, review = connection.execute(select(*numbers).where(seen)).one()
    hidden, archived = (
        _count_photos(connection, visible(sees_private=True, opened=(name,)), column) if sees_private else 0
        for name, column in (("hidden", SearchRow.hidden), ("archived", SearchRow.archived))
    )
    of_place = SearchRow.country, SearchRow.state_key, SearchRow.city_key
    places = _differing(connection, seen, *of_place, first="", tie=[SearchRow.oldest_key])
    places = [place for place in places if place.country != UNKNOWN_PLACE]
    cameras = _differing(connection, seen, SearchRow.camera_id, first=0)
    return Counts(
        all=every - further,
        photos=every - further - live - videos,
        live=live,
        videos=videos,
        favorites=favorite,
        private=private,
        files=every,
        albums=connection.scalar(_count_albums(sees_private=sees_private)) or 0,
        review=review,
        hidden=hidden,
        archived=archived,
        cameras=sum(camera_id != UNKNOWN_ID for (camera_id,) in cameras),
        countries=len({row.country for row in places}),
        states=len({(row.country, row.state_key) for row in places if row.state_key}),
        places=len(places),
        folders=len(_differing(connection, seen, SearchRow.path, first="")),
        months=len(_differing(connection, seen, SearchRow.timeline_day, first=0, step=_DAYS)),
        labels=connection.scalar(_count_labels(sees_private=sees_private)) or 0,
    )


def _count_labels(*, sees_private: bool) -> "Select[int]":
    """Return the query for the number of keywords with a photo that may be seen."""
    labelled = select(SearchRow.file_id).join(photo_keywords, photo_keywords.c.photo_id == SearchRow.photo_id)
    labelled = labelled.where(
        photo_keywords.c.keyword_id == Keyword.id, visible(sees_private=sees_private, by_index=False)
    )
    return select(func.count()).select_from(Keyword).where(labelled.exists())


def _count_photos(connection: Connection, shown: Condition, column: InstrumentedAttribute[bool]) -> int:
    """Count the photos among the rows with this column that searches leave out, which have an index of their own."""
    query = select(func.count(SearchRow.photo_id.distinct())).where(not_(SearchRow.listed), shown, column)
    return connection.scalar(query) or 0


def _differing(
    connection: Connection,
    seen: Condition,
    *columns: InstrumentedAttribute[Any],
    first: int | str,
    step: int = 1,
    tie: Sequence[InstrumentedAttribute[int]] = (),
) -> Sequence[Any]:
    """Return the different values, or combinations of values, that the seen rows have in columns an index begins with.

    Each is looked up behind the one before; for DISTINCT, SQLite would read the whole index.

    Args:
        first: the values are above this one.
        step: of numbers that are equal when divided by it, one is enough.
        tie: the column of the index behind several columns, so that equal combinations are not read one by one.
    """
    keys = (*columns, *tie)

    def behind(values: Sequence[Any], *wanted: InstrumentedAttribute[Any]) -> Any:  # noqa: ANN401
        last = tuple_(*values, *(_MOST for _ in tie))
        return select(*wanted).where(seen, tuple_(*keys) > last).order_by(*keys).limit(1)

    known = select(behind([first] * len(columns), *columns).subquery()).cte(recursive=True)
    # As expressions: of columns of texts, SQLite would compare only the first in the index.
    last = [unindexed(value) if step == 1 else value // step * step + step - 1 for value in known.c]
    following = _Following.file_id == behind(last, SearchRow.file_id).scalar_subquery()
    names = (getattr(_Following, column.key) for column in columns)
    return connection.execute(select(known.union_all(select(*names).join(known, following)))).all()


def read_years(connection: Connection, *, sees_private: bool) -> tuple[int, ...]:
    """Return the years of the photos that a search without filters finds, latest first."""
    years = _differing(connection, visible(sees_private=sees_private), SearchRow.year, first=0)
    return tuple(sorted((year for (year,) in years), reverse=True))


@dataclass(frozen=True, slots=True)
class Share:
    """The number of photos with one value."""

    value: int | str
    """The value as its filter takes it."""
    name: str
    photos: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers of the photos that a search without filters finds."""

    total: int
    years: Sequence[Share]
    """In ascending order; -1 is unknown."""
    cameras: Sequence[Share]
    """The most frequent first."""
    types: Sequence[Share]
    """The most frequent first."""
    files: int
    """Files on disk, listed or not."""
    size: int
    """Bytes of these files."""


def read_statistics(connection: Connection, *, sees_private: bool) -> Statistics:
    """Return the present statistics; this reads every search row."""
    groups = (SearchRow.year, SearchRow.camera_id, SearchRow.photo_type)
    query = select(*groups, func.count()).where(visible_photos(sees_private=sees_private))
    years, cameras, types = Counter[int](), Counter[int](), Counter[str]()
    for year, camera, kind, photos in connection.execute(query.group_by(*groups)):
        years[year] += photos
        cameras[camera] += photos
        types[kind] += photos
    gear = select(Camera.id, Camera.make, Camera.model).where(Camera.id != UNKNOWN_ID)
    known = {camera: camera_or_lens_name(make, model) for camera, make, model in connection.execute(gear)}
    there = select(func.count(), func.coalesce(func.sum(File.size), 0)).where(File.missing.is_(False))
    files, size = connection.execute(there).one()
    return Statistics(
        total=types.total(),
        years=[Share(year, str(year), years[year]) for year in sorted(years)],
        cameras=[Share(camera, known.get(camera, ""), photos) for camera, photos in cameras.most_common()],
        types=[Share(kind, kind, photos) for kind, photos in types.most_common()],
        files=files,
        size=int(size),
    )


@dataclass(frozen=True, slots=True)
class LibrarySize:
    """The size of the library."""

    photos: dict[str, int]
    """The photos that a search without filters finds, by type."""
    files: int
    missing: int
    broken: int
    albums: int
    changes: int


def photos_by_type(session: Session, *conditions: Condition, sees_private: bool) -> dict[str, int]:
    """Return the number of photos of each type that a search without filters finds, under further conditions."""
    photos = select(SearchRow.photo_type, func.count()).where(visible_photos(sees_private=sees_private), *conditions)
    return {kind: number for kind, number in session.execute(photos.group_by(SearchRow.photo_type))}  # noqa: C416 - typed rows


def read_library_size(session: Session, *, sees_private: bool) -> LibrarySize:
    """Return the size of the library, with or without private photos and albums."""
    is_missing, is_broken = File.missing, File.error != ""
    numbers = (
        func.count().filter(~is_missing, ~is_broken),
        func.count().filter(is_missing),
        func.count().filter(~is_missing, is_broken),
    )
    counted = select(*numbers).select_from(File)
    if not sees_private:
        counted = counted.join(Photo, Photo.id == File.photo_id).where(Photo.private.is_(False))
    files, missing, broken = session.execute(counted).one()
    return LibrarySize(
        photos=photos_by_type(session, sees_private=sees_private),
        files=files,
        missing=missing,
        broken=broken,
        albums=session.scalar(_count_albums(sees_private=sees_private)) or 0,
        changes=read_counter(session, CHANGES) or 0,
    )


def _count_albums(*, sees_private: bool) -> "Select[int]":
    """Return the query for the number of albums that a search may name."""
    return select(func.count()).select_from(Album).where(visible_albums(sees_private=sees_private))
