"""Files that are gone from the disk: a mark in their rows; photos without other files are hidden.

Statements for all files at once: a mark needs neither the objects of the photos nor their search rows rendered.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import case, select, update
from sqlalchemy.orm import Session

from photosvc.index.estimates.due import Sighting, stored_sightings
from photosvc.models import ORIGINALS_ROOT, File, Photo
from photosvc.models.database.among import among
from photosvc.search.projection.project import remove

#: Statements whose rows no object in the session stands for.
_UNLOADED: Final = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class Marked:
    """What became of files that are gone."""

    names: list[str]
    """Those of the library that were not marked before."""
    shown: set[int]
    """Ids of their photos that have other files: to be described again."""
    sightings: Mapping[int, Sighting | None]
    """What the hidden photos said about their cameras."""


def mark_files(session: Session, names: Sequence[str], now: datetime) -> Marked:
    """Mark the files of these names, some thousands at most, and hide the photos of which no file is left."""
    connection = session.connection()
    stored = select(File.id, File.name, File.photo_id).where(
        File.root == ORIGINALS_ROOT, among(session, File.name, names), File.missing.is_(False)
    )
    rows = connection.execute(stored.order_by(File.id)).all()
    files = update(File).where(among(session, File.id, [row.id for row in rows])).values(missing=True)
    session.execute(files, execution_options=_UNLOADED)
    photo_ids = {row.photo_id for row in rows}
    present = select(File.photo_id).where(among(session, File.photo_id, photo_ids), File.missing.is_(False))
    shown = set(connection.execute(present).scalars())
    return Marked([row.name for row in rows], shown, _hide(session, photo_ids - shown, now))


def _hide(session: Session, photo_ids: Collection[int], now: datetime) -> Mapping[int, Sighting | None]:
    if not photo_ids:
        return {}
    sightings = stored_sightings(session, photo_ids)
    hidden = update(Photo).where(among(session, Photo.id, photo_ids))
    updated_at = case((Photo.quality == -1, Photo.updated_at), else_=now)
    hidden = hidden.values(quality=-1, updated_at=updated_at, checked_at=now)
    session.execute(hidden, execution_options=_UNLOADED)
    remove(session, photo_ids)
    return sightings
