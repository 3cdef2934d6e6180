"""Figures about the whole library."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from photosvc.models import CHANGES, Album, File, LibraryState, Photo, SearchRow
from photosvc.search.reading.conditions.visible import visible


def years(session: Session, *, sees_private: bool) -> list[int]:
    """The years in which photos were taken, latest first, without the unknown year."""
    query = select(SearchRow.year).where(visible(sees_private=sees_private), SearchRow.year > 0).distinct()
    return sorted(session.scalars(query), reverse=True)


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
