"""Figures of the library: its counts and statistics, cached until it changes, and its state as entity tags.

Counts and statistics read every search row. Entity tags (RFC 9110 section 8.8.3) are made from the state number, so
that they change with the library.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.core.times import local_day
from photosvc.models import (
    CHANGES,
    PROJECTION_VERSION,
    STATE,
    UNKNOWN_ID,
    Album,
    Camera,
    File,
    LibraryState,
    Photo,
    SearchRow,
    named_number,
)
from photosvc.models.search_values import gear_name
from photosvc.models.statements import Prepared, prepare_statement
from photosvc.search.reading.compile import visible, visible_albums
from photosvc.search.reading.request import SearchRequest

Value = TypeVar("Value")


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


def count(connection: Connection, sees_private: bool) -> Counts:
    """Count the photos, files and albums that a search without filters finds; this reads every search row."""
    one = SearchRow.is_primary
    query = select(
        SearchRow.photo_type,
        func.count(),
        func.count().filter(one),
        func.count().filter(one, SearchRow.favorite),
        func.count().filter(one, SearchRow.private),
    )
    # An index of types would give the groups in order, but then every row is looked up through it.
    seen = query.where(visible(sees_private=sees_private, by_index=False))
    rows = connection.execute(seen.group_by(SearchRow.photo_type)).all()
    albums = select(func.count()).select_from(Album).where(visible_albums(sees_private=sees_private))
    by_type = {kind: sum(row[2] for row in rows if row[0] == kind) for kind in {row[0] for row in rows}}
    every, live, videos = sum(by_type.values()), by_type.get("live", 0), by_type.get("video", 0)
    return Counts(
        all=every,
        photos=every - live - videos,
        live=live,
        videos=videos,
        favorites=sum(row[3] for row in rows),
        private=sum(row[4] for row in rows),
        files=sum(row[1] for row in rows),
        albums=connection.scalar(albums) or 0,
    )


def years(connection: Connection, sees_private: bool) -> tuple[int, ...]:
    """Return the years of the photos that a search without filters finds, latest first.

    Each year is looked up in the index as the one before the last: that costs as many look-ups as there are years.
    """
    seen = select(SearchRow.year).where(visible(sees_private=sees_private), SearchRow.year > 0)
    latest = seen.order_by(SearchRow.year.desc()).limit(1)
    found = select(latest.scalar_subquery().label("year")).cte("found", recursive=True)
    before = latest.where(SearchRow.year < found.c.year).correlate(found).scalar_subquery()
    found = found.union_all(select(before).where(found.c.year.is_not(None)))
    return tuple(connection.scalars(select(found.c.year).where(found.c.year.is_not(None))))


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
    query = select(*groups, func.count()).where(visible(sees_private=sees_private, by_index=False), SearchRow.is_first)
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


@lru_cache(maxsize=8)
def _state(dialect: Dialect) -> Prepared:
    return prepare_statement(select(LibraryState.value).where(LibraryState.name == bindparam("name")), dialect)


def page_tag(state: int, request: SearchRequest, *, sees_private: bool) -> str | None:
    """Return the entity tag of a page in this state of the library; None if its seed was drawn at random."""
    if not request.repeats:
        return None
    return _tag(state, request, sees_private=sees_private)


def library_state(connection: Connection) -> int:
    """Return the state number of the library, a random number that differs after each change."""
    ((state,),) = _state(connection.dialect).run(connection, {"name": STATE}) or [(0,)]
    return int(state)


def state_tag(connection: Connection, *made_of: object, sees_private: bool) -> str:
    """Return the entity tag of an answer made from the library's state, the right to private photos, and `made_of`.

    Pass requests and queries whole, so that the tag contains all their fields, also those that are added one day.
    """
    return _tag(library_state(connection), *made_of, sees_private=sees_private)


def _tag(state: int, *made_of: object, sees_private: bool) -> str:
    # The filter of a smart album may say `last week`.
    text = repr((state, local_day().toordinal(), PROJECTION_VERSION, sees_private, *made_of))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Figures:
    """The size of the library."""

    photos: dict[str, int]
    """Photos by type, without hidden and archived ones."""
    files: int
    missing: int
    broken: int
    albums: int
    changes: int


def figures(session: Session, *, sees_private: bool) -> Figures:
    """Return the figures of the library, with or without private photos."""
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
    return Figures(
        photos={kind: number for kind, number in session.execute(shown.group_by(Photo.type))},  # noqa: C416 - typed rows
        files=files,
        missing=missing,
        broken=broken,
        albums=session.scalar(albums) or 0,
        changes=named_number(session, CHANGES) or 0,
    )


class Kept(Generic[Value]):
    """A cached value of the library, one for callers who see private photos and one for others."""

    def __init__(self, read: Callable[[Connection, bool], Value]) -> None:
        self._read = read
        self._kept: dict[bool, tuple[int, Value]] = {}

    def read(self, connection: Connection, *, sees_private: bool) -> Value:
        """Return the value for the present state of the library."""
        state = library_state(connection)
        kept = self._kept.get(sees_private)
        if kept is None or kept[0] != state or not state:  # without a state number, no change is noticed
            self._kept[sees_private] = kept = (state, self._read(connection, sees_private))
        return kept[1]
