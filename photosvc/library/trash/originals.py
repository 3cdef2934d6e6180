"""Deleting photos and files with their originals: these move into the trash, and their rows wait to be restored."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from photosvc.core.paths import disk_name
from photosvc.index.estimates.due import mark_due, stored_sightings
from photosvc.index.wishes import wish
from photosvc.library.journal import Change, record
from photosvc.library.removal import lost_with, reject_copies
from photosvc.library.trash.deletion import Deletion
from photosvc.library.trash.names import GONE_FOLDER
from photosvc.models import File, Photo, UploadedFile
from photosvc.search.projection.project import remove

#: Photos in one statement.
_PORTION: Final = 500
#: Folders that the indexer is asked to look at; instead of more, it looks at all originals.
_MOST_WISHES: Final = 50
_UNLOADED: Final = {"synchronize_session": False}


def delete_photos(session: Session, photo_ids: Sequence[int], deletion: Deletion, change: Change, now: datetime) -> int:
    """Move the originals of these photos into the trash and hide the photos; gives their number.

    They keep their UIDs, values and albums, which they have again when the originals return.

    Args:
        session: in a write transaction, within the block of `deletion`.
        photo_ids: of photos that are not hidden.
        deletion: takes the originals.
        change: for the journal.
        now: the present.

    Raises:
        PhotosvcError: the disk refuses it.

    """
    total, folders = 0, set()
    for start in range(0, len(photo_ids), _PORTION):
        locked = select(Photo.id).where(Photo.id.in_(photo_ids[start : start + _PORTION])).order_by(Photo.id)
        portion = session.scalars(locked.with_for_update()).all()
        files = select(File.id, File.name).where(File.photo_id.in_(portion), File.missing.is_(False))
        rows = session.execute(files.order_by(File.id).with_for_update()).all()
        sightings = stored_sightings(session, portion)
        record(session, change, now, {uid: (lost, {}) for uid, lost in lost_with(session, portion).items()})
        _set_aside(session, rows, deletion)
        hidden = update(Photo).where(Photo.id.in_(portion)).values(quality=-1, updated_at=now, checked_at=now)
        session.execute(hidden, execution_options=_UNLOADED)
        remove(session, portion)
        mark_due(session, sightings, {})
        folders |= {row.name.rpartition("/")[0] for row in rows}
        total += len(portion)
    _wish(session, folders, now)
    session.expire_all()
    return total


def delete_file(session: Session, file: File, deletion: Deletion, now: datetime) -> None:
    """Move the original of one file into the trash; the caller describes, journals and projects its photo.

    Raises:
        PhotosvcError: the disk refuses it.

    """
    session.flush()
    name = file.name
    _set_aside(session, [file], deletion)
    session.refresh(file, ["name", "missing"])
    _wish(session, {name.rpartition("/")[0]}, now)


def _set_aside(session: Session, files: Sequence[Any], deletion: Deletion) -> None:
    """Give the rows of these files names of the trash, and mark them as missing."""
    if not files:
        return
    kept = deletion.take(file.name for file in files)
    gone = f"{GONE_FOLDER}/{secrets.token_hex(8)}"
    connection = session.connection()
    table: Any = File.__table__
    rows = update(table).where(table.c.id == bindparam("row")).values(name=bindparam("new_name"), missing=True)
    names = {file.name: kept.get(file.name, f"{gone}/{file.name}") for file in files}
    connection.execute(rows, [{"row": file.id, "new_name": names[file.name]} for file in files])
    reject_copies(session, list(names))
    table = UploadedFile.__table__
    counted = update(table).where(table.c.name == bindparam("old_name"))
    counted = counted.values(hash=bindparam("path"), name=bindparam("path"), albums="")
    connection.execute(counted, [{"old_name": name, "path": path} for name, path in names.items()])


def _wish(session: Session, folders: set[str], now: datetime) -> None:
    """Let the indexer look at the folders: a run that is going on may have read a file before it was deleted."""
    for folder in sorted(folders) if len(folders) <= _MOST_WISHES else [""]:
        wish(session, now, disk_name(folder))
