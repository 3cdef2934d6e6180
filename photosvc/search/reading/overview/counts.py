"""How much of the library somebody may see: what the configuration of clients says of it."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from photosvc.models import Album, SearchRow
from photosvc.search.reading.conditions.visible import visible, visible_albums
from photosvc.search.reading.library import library_state


@dataclass(frozen=True, slots=True)
class Counts:
    """Photos by type, how many of all are favourite or private, and the years in which they were taken."""

    all: int
    photos: int
    live: int
    videos: int
    favorites: int
    private: int
    files: int
    albums: int
    years: tuple[int, ...]
    """Latest first, without the unknown year."""


class KnownCounts:
    """The counts of one library, kept until it changes: counting reads every search row."""

    def __init__(self) -> None:
        self._kept: dict[bool, tuple[int, Counts]] = {}

    def read(self, connection: Connection, *, sees_private: bool) -> Counts:
        """What a search without filters finds, counted."""
        state = library_state(connection)
        kept = self._kept.get(sees_private)
        if kept is None or kept[0] != state or not state:  # without a number, nothing tells of changes
            self._kept[sees_private] = kept = (state, count(connection, sees_private=sees_private))
        return kept[1]


def count(connection: Connection, *, sees_private: bool) -> Counts:
    """What a search without filters finds, counted now."""
    one = SearchRow.is_primary
    query = select(
        SearchRow.photo_type,
        SearchRow.year,
        func.count(),
        func.count().filter(one),
        func.count().filter(one, SearchRow.favorite),
        func.count().filter(one, SearchRow.private),
    )
    # An index of types would give the groups in order, but then every row is looked up through it.
    seen = query.where(visible(sees_private=sees_private, by_index=False))
    rows = connection.execute(seen.group_by(SearchRow.photo_type, SearchRow.year)).all()
    albums = select(func.count()).select_from(Album).where(visible_albums(sees_private=sees_private))
    by_type = {kind: sum(row[3] for row in rows if row[0] == kind) for kind in {row[0] for row in rows}}
    every, live, videos = sum(by_type.values()), by_type.get("live", 0), by_type.get("video", 0)
    return Counts(
        all=every,
        photos=every - live - videos,
        live=live,
        videos=videos,
        favorites=sum(row[4] for row in rows),
        private=sum(row[5] for row in rows),
        files=sum(row[2] for row in rows),
        albums=connection.scalar(albums) or 0,
        years=tuple(sorted({row[1] for row in rows if row[1] > 0}, reverse=True)),
    )
