"""The deletion of photos and files: their originals move into the trash or stay in place; their rows wait, hidden.

The rows keep their UIDs and all that people entered until the originals return. The names of originals that stay are
kept as rejected files, so that an index run does not add them again, except one with `--force`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, not_, select, update
from sqlalchemy.orm import Session

from photosvc.core.paths import disk_name
from photosvc.core.problems import Reason
from photosvc.core.words import in_portions
from photosvc.index.quality import hide_photos
from photosvc.index.requested import gathered, wish
from photosvc.index.scan import aside_folder
from photosvc.index.sightings import mark_due, stored_sightings
from photosvc.library.journal import Change, record
from photosvc.library.trash_deletion import Deletion, forget_sidecars
from photosvc.models import (
    ORIGINALS_ROOT,
    Album,
    AlbumPhoto,
    File,
    Photo,
    RejectedFile,
    Sidecar,
    UploadedFile,
    file_sidecars,
)
from photosvc.models.plain import insert_of
from photosvc.models.statements import UNLOADED, Updates, among, run_many

_MOVE_UPLOADED: Final = (
    update(UploadedFile.__table__)  # type: ignore[arg-type]
    .where(UploadedFile.name == bindparam("old_name"))
    .values(hash=None, name=bindparam("path"))
)
#: Columns of files that are read.
_FILE: Final = (File.id, File.root, File.name, File.size, File.mtime_ns, File.reader_version)


def delete_photos(
    session: Session, photo_ids: Sequence[int], deletion: Deletion | None, change: Change, now: datetime
) -> int:
    """Hide these photos, move their originals into the trash, and return their number.

    They keep their UIDs, values and albums, which they have again when the originals return.

    Args:
        session: in a write transaction, within the block of `deletion`.
        photo_ids: of photos that are not hidden.
        deletion: takes the originals; None: they stay where they are.
        change: for the journal.

    Raises:
        PhotosvcError: the disk refuses it.
    """
    total, folders = 0, set()
    for ids in in_portions(photo_ids):
        # Another request may have deleted some since they were selected.
        shown = Photo.files.any(File.missing.is_(False))
        some = among(session, Photo.id, ids)
        portion = session.scalars(select(Photo.id).where(some, shown).order_by(Photo.id).with_for_update()).all()
        files = select(*_FILE).where(among(session, File.photo_id, portion), File.missing.is_(False))
        rows = session.execute(files.order_by(File.id).with_for_update()).all()
        sightings = stored_sightings(session, portion)
        record(session, change, now, {uid: (lost, {}) for uid, lost in _lost_with(session, portion).items()})
        _set_aside(session, rows, deletion, now)
        hide_photos(session, portion, now)
        mark_due(session, sightings, {})
        folders |= {row.name.rpartition("/")[0] for row in rows}
        total += len(portion)
    _wish(session, folders, now)
    session.expire_all()
    return total


def delete_file(session: Session, file: File, deletion: Deletion | None, now: datetime) -> None:
    """Hide one file, as `delete_photos` does; the caller describes, journals and projects its photo.

    Raises:
        PhotosvcError: the disk refuses it.
    """
    session.flush()
    name = file.name
    _set_aside(session, [file], deletion, now)
    session.refresh(file, ["name", "missing"])
    _wish(session, {name.rpartition("/")[0]}, now)


def _lost_with(session: Session, photo_ids: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Return the UID of each of these photos -> the values that the journal keeps of it."""
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


def _set_aside(session: Session, files: Sequence[Any], deletion: Deletion | None, now: datetime) -> None:
    """Give the rows of these files names that no original has, and mark them as missing; sidecars go with originals."""
    if not files:
        return
    sidecars = _own_sidecars(session, [file.id for file in files]) if deletion is not None else {}
    kept = deletion.take([*(file.name for file in files), *sidecars.values()]) if deletion is not None else {}
    _set_sidecars_aside(session, sidecars, kept)
    gone = aside_folder()
    former = [_rejected(file, now) for file in files]
    connection = session.connection()
    names = {file.name: kept.get(file.name, f"{gone}/{file.name}") for file in files}
    updates = Updates()
    for file in files:
        updates.add(File, "id", file.id, {"name": names[file.name], "missing": True})
    updates.run(connection)
    _reject_copies(session, list(names))
    if deletion is None:
        run_many(connection, insert_of(RejectedFile), former)
        return
    names |= {name: kept.get(name, f"{gone}/{name}") for name in sidecars.values()}
    run_many(connection, _MOVE_UPLOADED, [{"old_name": name, "path": path} for name, path in names.items()])


def _rejected(file: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401 - a file or a row of one
    """Return the row by which index runs leave out an original that stays."""
    columns = ("root", "name", "size", "mtime_ns", "reader_version")
    same = {column: getattr(file, column) for column in columns}
    empty = {"detail": "", "attempts": 0, "retry_at": None}
    return {**same, **empty, "reason": Reason.REMOVED.value, "created_at": now}


def _reject_copies(session: Session, names: Sequence[str]) -> None:
    """Reject the copies of these files permanently, and delete the reasons why the files themselves were rejected."""
    rejected = delete(RejectedFile).where(among(session, RejectedFile.name, names))
    session.execute(rejected, execution_options=UNLOADED)
    duplicates = update(RejectedFile).where(RejectedFile.reason == Reason.DUPLICATE.value)
    duplicates = duplicates.where(among(session, RejectedFile.detail, names))
    session.execute(duplicates.values(reason=Reason.REMOVED.value, detail=""), execution_options=UNLOADED)


def _own_sidecars(session: Session, file_ids: Sequence[int]) -> dict[int, str]:
    """Return id -> name of the sidecars that belong to these files and to no other one that stays."""
    of_files = select(file_sidecars.c.sidecar_id).where(among(session, file_sidecars.c.file_id, file_ids))
    stays = (
        select(file_sidecars.c.sidecar_id)
        .join(File, File.id == file_sidecars.c.file_id)
        .where(file_sidecars.c.sidecar_id == Sidecar.id, not_(File.missing), ~among(session, File.id, file_ids))
        .exists()
    )
    query = select(Sidecar.id, Sidecar.name).where(Sidecar.id.in_(of_files), not_(stays))
    rows = session.execute(query.where(Sidecar.root == ORIGINALS_ROOT).order_by(Sidecar.id))
    return {row.id: row.name for row in rows}


def _set_sidecars_aside(session: Session, sidecars: Mapping[int, str], kept: Mapping[str, str]) -> None:
    """Give the rows of sidecars their names in the trash; rows of sidecars that are gone are deleted."""
    lost = [sidecar_id for sidecar_id, name in sidecars.items() if name not in kept]
    forget_sidecars(session, Sidecar.id.in_(lost))
    moved = [
        {"row": sidecar_id, "new_name": kept[name], "new_folder": kept[name].rpartition("/")[0]}
        for sidecar_id, name in sidecars.items()
        if name in kept
    ]
    if moved:
        table: Any = Sidecar.__table__
        rows = update(table).where(table.c.id == bindparam("row"))
        rows = rows.values(name=bindparam("new_name"), folder=bindparam("new_folder"))
        session.connection().execute(rows, moved)


def _wish(session: Session, folders: set[str], now: datetime) -> None:
    """Ask the indexer to look at the folders: a run in progress may have read a file before it was deleted."""
    for folder in gathered(folders):
        wish(session, now, disk_name(folder))
