"""The library as a whole: its state, as entity tags (RFC 9110 section 8.8.3), and its figures."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import ColumnElement, Connection, bindparam, func, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.models import CHANGES, PROJECTION_VERSION, STATE, Album, File, LibraryState, Photo, SearchRow
from photosvc.models.prepared import Prepared, prepare_statement
from photosvc.query.canonical import canonical_text
from photosvc.search.reading.conditions.visible import visible, visible_albums
from photosvc.search.reading.request import SearchRequest


@lru_cache(maxsize=8)
def _state(dialect: Dialect) -> Prepared:
    return prepare_statement(select(LibraryState.value).where(LibraryState.name == bindparam("name")), dialect)


def page_tag(connection: Connection, request: SearchRequest, *, sees_private: bool) -> str | None:
    """The entity tag of a page; None for a page in an order that was drawn for this request alone."""
    if not request.repeats:
        return None
    made_of = (
        canonical_text(request.node),
        request.album,
        request.order.name,
        request.seed,
        request.count,
        request.offset,
        str(request.cursor or ""),
        request.merged,
        request.total,
    )
    return state_tag(connection, *made_of, sees_private=sees_private)


def library_state(connection: Connection) -> int:
    """A random number that is another one after each change of the library."""
    ((state,),) = _state(connection.dialect).run(connection, {"name": STATE}) or [(0,)]
    return int(state)


def state_tag(connection: Connection, *made_of: object, sees_private: bool) -> str:
    """The entity tag of an answer made from the library's state, the right to private photos, and `made_of`."""
    text = repr((library_state(connection), PROJECTION_VERSION, sees_private, *made_of))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def years(session: Session, *, sees_private: bool) -> list[int]:
    """The years in which photos were taken, latest first, without the unknown year."""
    query = select(SearchRow.year).where(visible(sees_private=sees_private), SearchRow.year > 0).distinct()
    return sorted(session.scalars(query), reverse=True)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much of the library somebody may see: photos by type, and how many of all are favourite or private."""

    all: int
    photos: int
    live: int
    videos: int
    favorites: int
    private: int
    files: int
    albums: int


def counts(connection: Connection, *, sees_private: bool) -> Counts:
    """What a search without filters finds, counted."""
    one = SearchRow.is_primary
    query = select(
        SearchRow.photo_type,
        func.count(),
        func.count().filter(one),
        func.count().filter(one, SearchRow.favorite),
        func.count().filter(one, SearchRow.private),
    )
    rows = connection.execute(query.where(visible(sees_private=sees_private)).group_by(SearchRow.photo_type)).all()
    by_type = {row[0]: row[2] for row in rows}
    albums = select(func.count()).select_from(Album).where(visible_albums(sees_private=sees_private))
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


@dataclass(frozen=True, slots=True)
class Figures:
    """How large the library is."""

    photos: dict[str, int]
    """By type; hidden and archived ones are not counted."""
    files: int
    missing: int
    broken: int
    albums: int
    changes: int


def figures(session: Session) -> Figures:
    """The figures of the library, private photos included."""

    def count(*conditions: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).select_from(File).where(*conditions)) or 0

    shown = select(Photo.type, func.count()).where(Photo.quality >= 0, Photo.archived_at.is_(None))
    albums = select(func.count()).select_from(Album).where(Album.deleted_at.is_(None))
    changes = select(LibraryState.value).where(LibraryState.name == CHANGES)
    return Figures(
        photos={kind: number for kind, number in session.execute(shown.group_by(Photo.type))},  # noqa: C416 - typed rows
        files=count(File.missing.is_(False), File.error == ""),
        missing=count(File.missing.is_(True)),
        broken=count(File.missing.is_(False), File.error != ""),
        albums=session.scalar(albums) or 0,
        changes=session.scalar(changes) or 0,
    )
