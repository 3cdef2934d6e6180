"""Deleting photos and files with their originals: these move into the trash, and their rows wait to be restored."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, not_, select, update
from sqlalchemy.orm import Session

from photosvc.core.paths import disk_name
from photosvc.index.estimates.due import mark_due, stored_sightings
from photosvc.index.running.wishes import wish
from photosvc.library.edits.journal import Change, record
from photosvc.library.files.removal import lost_with, reject_copies
from photosvc.library.trash.deletion import Deletion
from photosvc.library.trash.empty import forget_sidecars
from photosvc.library.trash.names import GONE_FOLDER
from photosvc.models import ORIGINALS_ROOT, File, Photo, Sidecar, UploadedFile, file_sidecars
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
    """Give the rows of these files names of the trash, and mark them as missing; their sidecars go with them."""
    if not files:
        return
    sidecars = _own_sidecars(session, [file.id for file in files])
    kept = deletion.take([*(file.name for file in files), *sidecars.values()])
    _set_sidecars_aside(session, sidecars, kept)
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
    names |= {name: kept.get(name, f"{gone}/{name}") for name in sidecars.values()}
    connection.execute(counted, [{"old_name": name, "path": path} for name, path in names.items()])


def _own_sidecars(session: Session, file_ids: Sequence[int]) -> dict[int, str]:
    """Id -> name of the sidecars that belong to these files and to no other one that stays."""
    of_files = select(file_sidecars.c.sidecar_id).where(file_sidecars.c.file_id.in_(file_ids))
    stays = (
        select(file_sidecars.c.sidecar_id)
        .join(File, File.id == file_sidecars.c.file_id)
        .where(file_sidecars.c.sidecar_id == Sidecar.id, not_(File.missing), File.id.not_in(file_ids))
        .exists()
    )
    query = select(Sidecar.id, Sidecar.name).where(Sidecar.id.in_(of_files), not_(stays))
    rows = session.execute(query.where(Sidecar.root == ORIGINALS_ROOT).order_by(Sidecar.id))
    return {row.id: row.name for row in rows}


def _set_sidecars_aside(session: Session, sidecars: Mapping[int, str], kept: Mapping[str, str]) -> None:
    """Give the rows of sidecars their names in the trash; those of files that are gone are deleted."""
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
    """Let the indexer look at the folders: a run that is going on may have read a file before it was deleted."""
    for folder in sorted(folders) if len(folders) <= _MOST_WISHES else [""]:
        wish(session, now, disk_name(folder))
