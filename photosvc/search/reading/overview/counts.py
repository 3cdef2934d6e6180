"""The numbers of photos, albums and so on that a caller may see, for the configuration of clients."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from photosvc.models import Album, SearchRow
from photosvc.search.reading.conditions.visible import visible, visible_albums


@dataclass(frozen=True, slots=True)
class Counts:
    """Photos by type, and how many of all are favourite or private."""

    all: int
    photos: int
    live: int
    videos: int
    favorites: int
    private: int
    files: int
    albums: int


def count(connection: Connection, sees_private: bool) -> Counts:
    """What a search without filters finds; reads every search row."""
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
    """The years in which the photos were taken that a search without filters finds, latest first.

    Each is looked up in the index as the one before the last: that costs as many look-ups as there are years.
    """
    seen = select(SearchRow.year).where(visible(sees_private=sees_private), SearchRow.year > 0)
    latest = seen.order_by(SearchRow.year.desc()).limit(1)
    found = select(latest.scalar_subquery().label("year")).cte("found", recursive=True)
    before = latest.where(SearchRow.year < found.c.year).correlate(found).scalar_subquery()
    found = found.union_all(select(before).where(found.c.year.is_not(None)))
    return tuple(connection.scalars(select(found.c.year).where(found.c.year.is_not(None))))
