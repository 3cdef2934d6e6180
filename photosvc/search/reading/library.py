"""The library as a whole: its state, as entity tags (RFC 9110 section 8.8.3), and its figures."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import ColumnElement, Connection, bindparam, func, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.models import CHANGES, PROJECTION_VERSION, STATE, Album, File, LibraryState, Photo
from photosvc.models.database.prepared import Prepared, prepare_statement
from photosvc.query.canonical import canonical_text
from photosvc.search.reading.conditions.visible import visible_albums
from photosvc.search.reading.request import SearchRequest


@lru_cache(maxsize=8)
def _state(dialect: Dialect) -> Prepared:
    return prepare_statement(select(LibraryState.value).where(LibraryState.name == bindparam("name")), dialect)


def page_tag(state: int, request: SearchRequest, *, sees_private: bool) -> str | None:
    """The entity tag of a page of the library in this state; None in an order that was drawn for one request alone."""
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
    return _tag(state, *made_of, sees_private=sees_private)


def library_state(connection: Connection) -> int:
    """A random number that is another one after each change of the library."""
    ((state,),) = _state(connection.dialect).run(connection, {"name": STATE}) or [(0,)]
    return int(state)


def state_tag(connection: Connection, *made_of: object, sees_private: bool) -> str:
    """The entity tag of an answer made from the library's state, the right to private photos, and `made_of`."""
    return _tag(library_state(connection), *made_of, sees_private=sees_private)


def _tag(state: int, *made_of: object, sees_private: bool) -> str:
    text = repr((state, PROJECTION_VERSION, sees_private, *made_of))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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


def figures(session: Session, *, sees_private: bool) -> Figures:
    """The figures of the library, with or without private photos."""
    seen = [] if sees_private else [Photo.private.is_(False)]

    def count(*conditions: ColumnElement[bool]) -> int:
        files = select(func.count()).select_from(File)
        files = files if sees_private else files.join(Photo, Photo.id == File.photo_id)
        return session.scalar(files.where(*conditions, *seen)) or 0

    shown = select(Photo.type, func.count()).where(Photo.quality >= 0, Photo.archived_at.is_(None), *seen)
    albums = select(func.count()).select_from(Album).where(visible_albums(sees_private=sees_private))
    changes = select(LibraryState.value).where(LibraryState.name == CHANGES)
    return Figures(
        photos={kind: number for kind, number in session.execute(shown.group_by(Photo.type))},  # noqa: C416 - typed rows
        files=count(File.missing.is_(False), File.error == ""),
        missing=count(File.missing.is_(True)),
        broken=count(File.missing.is_(False), File.error != ""),
        albums=session.scalar(albums) or 0,
        changes=session.scalar(changes) or 0,
    )
