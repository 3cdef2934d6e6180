"""Removal: files and photos leave the library because a person says so; the originals stay where they are.

Where originals may be deleted, `library.trash.originals` moves them into the trash instead.

Their names are kept as rejected files, so that an index run does not add them again, except one with `--force`.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from photosvc.core.portions import in_portions
from photosvc.core.problems import Reason
from photosvc.index.estimates.due import mark_due, stored_sightings
from photosvc.index.running.purge import delete_rows
from photosvc.library.edits.journal import Change, record
from photosvc.models import Album, AlbumPhoto, File, Photo, RejectedFile
from photosvc.models.database.among import among
from photosvc.models.database.plain import insert_of
from photosvc.models.database.prepared import run_many
from photosvc.search.projection.project import remove

#: Photos in one statement.
_PORTION: Final = 2000
_FILE: Final = (File.id, File.root, File.name, File.size, File.mtime_ns, File.reader_version, File.missing)


def remove_photos(session: Session, photo_ids: Sequence[int], change: Change, now: datetime) -> int:
    """Remove these photos with all that belongs to them, in the session's write transaction; gives their number.

    Their history stays.
    """
    total = 0
    ids = iter(photo_ids)
    while portion := list(islice(ids, _PORTION)):
        sightings = stored_sightings(session, portion)
        record(session, change, now, {uid: (lost, {}) for uid, lost in lost_with(session, portion).items()})
        remove(session, portion)
        remove_files(session, session.execute(select(*_FILE).where(among(session, File.photo_id, portion))).all(), now)
        delete_rows(session, Photo.__table__, portion)
        mark_due(session, sightings, {})
        total += len(sightings)
    return total


def lost_with(session: Session, photo_ids: Sequence[int]) -> dict[str, dict[str, Any]]:
    """UID of each of these photos -> what the journal keeps of it."""
    connection = session.connection()
    columns = (Photo.id, Photo.uid, Photo.title, Photo.taken_at_local)
    rows = connection.execute(select(*columns).where(among(session, Photo.id, photo_ids))).all()
    files, albums = defaultdict(list), defaultdict(list)
    named = select(File.photo_id, File.name).where(among(session, File.photo_id, photo_ids))
    for photo_id, name in connection.execute(named):
        files[photo_id].append(name)
    members = select(AlbumPhoto.photo_id, Album.uid).join(Album, Album.id == AlbumPhoto.album_id)
    members = members.where(among(session, AlbumPhoto.photo_id, photo_ids), ~AlbumPhoto.hidden)
    for photo_id, uid in connection.execute(members):
        albums[photo_id].append(uid)
    return {
        row.uid: {
            "title": row.title,
            "taken_at_local": row.taken_at_local.isoformat(),
            "files": sorted(files[row.id]),
            "albums": sorted(albums[row.id]),
        }
        for row in rows
    }


def remove_file(session: Session, file: File, now: datetime) -> None:
    """Remove one file; the caller describes and projects its photo."""
    session.flush()
    remove_files(session, session.execute(select(*_FILE).where(File.id == file.id)).all(), now)
    session.expire(file.photo, ["files"])
    session.expunge(file)


def remove_files(session: Session, files: Sequence[Any], now: datetime) -> None:
    """Delete the rows of these files, and reject their names and those of files with the same content."""
    delete_rows(session, File.__table__, [file.id for file in files])
    for some in in_portions(files, _PORTION):
        reject_copies(session, [file.name for file in some])
    rejected = [
        {
            "root": file.root,
            "name": file.name,
            "size": file.size,
            "mtime_ns": file.mtime_ns,
            "reason": Reason.REMOVED.value,
            "detail": "",
            "reader_version": file.reader_version,
            "created_at": now,
        }
        for file in files
        if not file.missing
    ]
    run_many(session.connection(), insert_of(RejectedFile), rejected)


def reject_copies(session: Session, names: Sequence[str]) -> None:
    """Reject the copies of these files permanently, and delete the reasons why the files themselves were rejected."""
    unloaded = {"synchronize_session": False}
    rejected = delete(RejectedFile).where(among(session, RejectedFile.name, names))
    session.execute(rejected, execution_options=unloaded)
    duplicates = update(RejectedFile).where(RejectedFile.reason == Reason.DUPLICATE.value)
    duplicates = duplicates.where(among(session, RejectedFile.detail, names))
    session.execute(duplicates.values(reason=Reason.REMOVED.value, detail=""), execution_options=unloaded)
