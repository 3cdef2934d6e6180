"""How many photos were taken in each year, by each camera and of each type."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from photosvc.models import UNKNOWN_ID, Camera, File, SearchRow
from photosvc.search.reading.conditions.visible import visible
from photosvc.search.word_text import gear_name


@dataclass(frozen=True, slots=True)
class Share:
    """How many photos have a value."""

    value: int | str
    """As its filter takes it."""
    name: str
    photos: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Photos that a search without filters finds."""

    total: int
    years: Sequence[Share]
    """In their order; -1 is unknown."""
    cameras: Sequence[Share]
    """The most frequent first."""
    types: Sequence[Share]
    """The most frequent first."""
    files: int
    """That are there, listed or not."""
    size: int
    """Their bytes."""


def read_statistics(connection: Connection, sees_private: bool) -> Statistics:
    """The present numbers; reads every search row."""
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
