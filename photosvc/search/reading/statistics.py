"""Statistics of the library: its counts and statistics, which read every search row, and its size."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, not_, select
from sqlalchemy.orm import Session

from photosvc.models import CHANGES, UNKNOWN_ID, Album, Camera, File, Photo, SearchRow, read_counter
from photosvc.models.search_values import gear_name
from photosvc.query.nodes import Everything, Filter
from photosvc.search.reading.compile import compile_query, context_of, visible, visible_albums, visible_photos

_LIVE, _VIDEO = "live", "video"


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of photos by type, and of favourite and private photos, files, albums and people."""

    all: int
    photos: int
    live: int
    videos: int
    favorites: int
    private: int
    files: int
    albums: int
    people: int = 0
    """Left to the caller, who has the list of them."""


def read_counts(connection: Connection, sees_private: bool) -> Counts:
    """Count the photos, files and albums that a search without filters finds."""
    context = context_of(connection, Everything(), sees_private=sees_private)
    seen, one = visible(sees_private=sees_private), compile_query(Filter("primary", True), context)
    numbers = (
        func.count(),
        func.count().filter(SearchRow.favorite, one),
        func.count().filter(not_(one)),
        func.count().filter(one, SearchRow.photo_type == _LIVE),
        func.count().filter(one, SearchRow.photo_type == _VIDEO),
        func.count().filter(one, SearchRow.private),
    )
    every, favorite, further, live, videos, private = connection.execute(select(*numbers).where(seen)).one()
    albums = select(func.count()).select_from(Album).where(visible_albums(sees_private=sees_private))
    return Counts(
        all=every - further,
        photos=every - further - live - videos,
        live=live,
        videos=videos,
        favorites=favorite,
        private=private,
        files=every,
        albums=connection.scalar(albums) or 0,
    )


def read_years(connection: Connection, sees_private: bool) -> tuple[int, ...]:
    """Return the years of the photos that a search without filters finds, latest first."""
    seen = select(SearchRow.year).where(visible(sees_private=sees_private), SearchRow.year > 0).distinct()
    return tuple(connection.scalars(seen.order_by(SearchRow.year.desc())))


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


def read_statistics(connection: Connection, sees_private: bool) -> Statistics:
    """Return the present statistics; this reads every search row."""
    groups = (SearchRow.year, SearchRow.camera_id, SearchRow.photo_type)
    query = select(*groups, func.count()).where(visible_photos(sees_private=sees_private))
    years, cameras, types = Counter[int](), Counter[int](), Counter[str]()
    for year, camera, kind, photos in connection.execute(query.group_by(*groups)):
        years[year] += photos
        cameras[camera] += photos
        types[kind] += photos
    gear = select(Camera.id, Camera.make, Camera.model).where(Camera.id != UNKNOWN_ID)
    known = {camera: gear_name(make, model) for camera, make, model in connection.execute(gear)}
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
    """Photos by type, without hidden and archived ones."""
    files: int
    missing: int
    broken: int
    albums: int
    changes: int


def read_library_size(session: Session, *, sees_private: bool) -> LibrarySize:
    """Return the size of the library, with or without private photos."""
    seen = [] if sees_private else [Photo.private.is_(False)]
    is_missing, is_broken = File.missing, File.error != ""
    numbers = (
        func.count().filter(~is_missing, ~is_broken),
        func.count().filter(is_missing),
        func.count().filter(~is_missing, is_broken),
    )
    counted = select(*numbers).select_from(File)
    counted = counted if sees_private else counted.join(Photo, Photo.id == File.photo_id).where(*seen)
    files, missing, broken = session.execute(counted).one()
    shown = select(Photo.type, func.count()).where(Photo.quality >= 0, Photo.archived_at.is_(None), *seen)
    albums = select(func.count()).select_from(Album).where(visible_albums(sees_private=sees_private))
    return LibrarySize(
        photos={kind: number for kind, number in session.execute(shown.group_by(Photo.type))},  # noqa: C416 - typed rows
        files=files,
        missing=missing,
        broken=broken,
        albums=session.scalar(albums) or 0,
        changes=read_counter(session, CHANGES) or 0,
    )
