"""Deletions: files move into the trash together or not at all, and the rows of their photos follow.

The files move into a folder whose name says that it is unfinished. The rows follow in the transaction of the request;
after its commit, one rename finishes the folder. A killed process may leave an unfinished folder: `finish_deletions`
finishes it if rows of the library have names in it, and otherwise moves its files back.

The rows are hidden and keep their UIDs and all edits until the originals return. Originals that stay in place become
rejected files, so that only an index run with `--force` adds them again.
"""

import fcntl
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import ColumnElement, bindparam, delete, not_, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.core.files import TRANSIENT_ERRNOS, disk_name, open_folder
from photosvc.core.problems import Reason
from photosvc.index.photo_changes import mark_cameras
from photosvc.index.quality import hide_photos
from photosvc.index.requests import enqueue, gathered, parent
from photosvc.index.scan import TRASH_FOLDER, UNFINISHED, aside_folder
from photosvc.library import originals
from photosvc.library.journal import Change, record
from photosvc.library.storage_errors import NameTakenError, StorageFailedError, typed_errors
from photosvc.library.trash.folder import Trash, deletion_prefix, is_deletion, new_deletion
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
from photosvc.models.engine import Writing
from photosvc.models.statements import UNLOADED, Updates, among, begins, in_portions, insert_of, run_many
from photosvc.settings import Settings

_MOVE_UPLOADED: Final = (
    update(UploadedFile.__table__)  # type: ignore[arg-type]
    .where(UploadedFile.name == bindparam("old_name"))
    .values(hash=None, name=bindparam("path"))
)
#: Columns of files that are read.
_FILE: Final = (File.id, File.root, File.name, File.size, File.mtime_ns, File.reader_version)


@dataclass(slots=True)
class Deletion:
    """A deletion in progress, made by `deleting`."""

    trash: Trash
    name: str
    """The name of its folder after it is finished."""
    _moved: list[str] = field(default_factory=list, init=False)
    _lock: ExitStack = field(default_factory=ExitStack, init=False)

    def take(self, names: Iterable[str]) -> dict[str, str]:
        """Move the existing ones of these files into the trash; return name -> name in the trash.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        trashed: dict[str, str] = {}
        for folder, of_folder in groupby(sorted(names, key=parent), key=parent):
            self._take(folder, list(of_folder), trashed)
        return trashed

    def _take(self, folder: str, names: list[str], trashed: dict[str, str]) -> None:
        originals = self.trash.originals
        try:
            source = open_folder(originals, _parts(folder))
        except OSError as error:
            if error.errno in TRANSIENT_ERRNOS:
                raise StorageFailedError from None
            return  # the folder was removed, or replaced by a link
        with ExitStack() as opened, typed_errors():
            opened.callback(os.close, source)
            present = [name for name in names if _is_file(name, source)]
            if not present:
                return
            if not self._moved:
                self._begin()
            target = open_folder(originals, _parts(f"{TRASH_FOLDER}/{self.name}{UNFINISHED}/{folder}"), create=True)
            opened.callback(os.close, target)
            for name in present:
                last = disk_name(name).rpartition("/")[2]
                os.rename(last, last, src_dir_fd=source, dst_dir_fd=target)
                self._moved.append(name)
                trashed[name] = deletion_prefix(self.name) + name
            os.fsync(target)

    def _begin(self) -> None:
        """Make the folder, and lock it until the deletion ends or this process dies."""
        parts = _parts(f"{TRASH_FOLDER}/{self.name}{UNFINISHED}")
        folder = open_folder(self.trash.originals, parts, create=True)
        self._lock.callback(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)

    def finish(self) -> None:
        """Finish the folder after the commit."""
        with self._lock:
            if self._moved:
                _finish(self.trash, self.name)
            else:
                self.trash.drop_empty(self.name + UNFINISHED)

    def undo(self) -> None:
        """Move the files back after an error."""
        with self._lock:
            for name in reversed(self._moved):
                with suppress(PhotosvcError):  # `finish_deletions` tries again
                    originals.rename_new(self.trash.originals, deletion_prefix(self.name + UNFINISHED) + name, name)
            self.trash.drop_empty(self.name + UNFINISHED)


@contextmanager
def deleting(trash: Trash, now: datetime) -> Iterator[Deletion]:
    """Finish a deletion after the block, which commits its rows, or undo it if the block fails."""
    deletion = Deletion(trash, new_deletion(now))
    try:
        yield deletion
    except BaseException:
        deletion.undo()
        raise
    deletion.finish()


def finish_deletions(writing: Writing, settings: Settings) -> int:
    """Finish or undo the deletions of processes that ended, and return their number; 0 for read-only originals."""
    done, trash = 0, Trash(settings.originals)
    for folder in () if settings.readonly else trash.folders():
        deletion = folder.removesuffix(UNFINISHED)
        if folder.endswith(UNFINISHED) and is_deletion(deletion):
            done += _recover(writing, trash, deletion)
    return done


def _recover(writing: Writing, trash: Trash, deletion: str) -> bool:
    unfinished = deletion + UNFINISHED
    try:
        folder = open_folder(trash.originals, _parts(f"{TRASH_FOLDER}/{unfinished}"))
    except OSError:
        return False
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False  # its process is at work
    else:
        # This waits for a transaction that the process may have been committing when it was killed.
        with writing(library=True) as session:
            in_library = select(File.id).where(begins(File.name, deletion_prefix(deletion))).limit(1)
            has_rows = session.scalar(in_library) is not None
        if not has_rows:
            for file in list(trash.files(unfinished)):
                with suppress(NameTakenError):  # the file stays in the trash
                    originals.rename_new(trash.originals, deletion_prefix(unfinished) + file.name, file.name)
            trash.drop_empty(unfinished)
        if unfinished in trash.folders():
            _finish(trash, deletion)
        return True
    finally:
        os.close(folder)


def _finish(trash: Trash, deletion: str) -> None:
    originals.rename(trash.originals, f"{TRASH_FOLDER}/{deletion}{UNFINISHED}", f"{TRASH_FOLDER}/{deletion}")


def _is_file(name: str, folder: int) -> bool:
    try:
        status = os.stat(disk_name(name).rpartition("/")[2], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode)


def _parts(folder: str) -> list[str]:
    return [part for part in disk_name(folder).split("/") if part]


def trash_photos(
    session: Session, photo_ids: Sequence[int], deletion: Deletion | None, change: Change, now: datetime
) -> int:
    """Hide these photos, move their originals into the trash, and return their number.

    They keep their UIDs, values and albums for the return of the originals.

    Args:
        session: in a write transaction, within the block of `deletion`.
        photo_ids: of photos that are not hidden.
        deletion: takes the originals; None leaves them in place.

    Raises:
        PhotosvcError: the disk refuses it.
    """
    total, folders = 0, set()
    for ids in in_portions(photo_ids):
        # Another request may have deleted some photos since they were selected.
        shown = Photo.files.any(File.missing.is_(False))
        of_portion = among(session, Photo.id, ids)
        portion = session.scalars(select(Photo.id).where(of_portion, shown).order_by(Photo.id).with_for_update()).all()
        files = select(*_FILE).where(among(session, File.photo_id, portion), File.missing.is_(False))
        rows = session.execute(files.order_by(File.id).with_for_update()).all()
        record(session, change, now, {uid: (lost, {}) for uid, lost in _lost_with(session, portion).items()})
        _hide_files(session, rows, deletion, now)
        hide_photos(session, portion, now)
        mark_cameras(session, select(Photo.camera_id).where(among(session, Photo.id, portion)))
        folders |= {row.name.rpartition("/")[0] for row in rows}
        total += len(portion)
    _request_index(session, folders, now)
    session.expire_all()
    return total


def trash_file(session: Session, file: File, deletion: Deletion | None, now: datetime) -> None:
    """Hide one file, as `trash_photos` does; the caller describes, journals and projects its photo.

    Raises:
        PhotosvcError: the disk refuses it.
    """
    session.flush()
    name = file.name
    _hide_files(session, [file], deletion, now)
    session.refresh(file, ["name", "missing"])
    _request_index(session, {name.rpartition("/")[0]}, now)


def _lost_with(session: Session, photo_ids: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Return UID -> values for the journal, of each of these photos."""
    connection = session.connection()
    photos = select(Photo.id, Photo.uid, Photo.title, Photo.taken_at_local)
    rows = connection.execute(photos.where(among(session, Photo.id, photo_ids))).all()
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


def _hide_files(session: Session, files: Sequence[Any], deletion: Deletion | None, now: datetime) -> None:
    """Mark the rows of these files as missing, and free their names; sidecars go with the originals."""
    if not files:
        return
    sidecars = _own_sidecars(session, [file.id for file in files]) if deletion is not None else {}
    trashed = deletion.take([*(file.name for file in files), *sidecars.values()]) if deletion is not None else {}
    _move_sidecars(session, sidecars, trashed)
    aside = aside_folder()
    former = [_rejected(file, now) for file in files]
    connection = session.connection()
    names = {file.name: trashed.get(file.name, f"{aside}/{file.name}") for file in files}
    updates = Updates()
    for file in files:
        updates.add(File, "id", file.id, {"name": names[file.name], "missing": True})
    updates.run(connection)
    _reject_copies(session, list(names))
    if deletion is None:
        run_many(connection, insert_of(RejectedFile), former)
        return
    names |= {name: trashed.get(name, f"{aside}/{name}") for name in sidecars.values()}
    run_many(connection, _MOVE_UPLOADED, [{"old_name": name, "path": path} for name, path in names.items()])


def _rejected(file: Any, now: datetime) -> dict[str, Any]:  # noqa: ANN401 - a file or a row of one
    """Return the row because of which index runs leave out an original that stays in place."""
    columns = ("root", "name", "size", "mtime_ns", "reader_version")
    same = {column: getattr(file, column) for column in columns}
    empty = {"detail": "", "attempts": 0, "retry_at": None}
    return {**same, **empty, "reason": Reason.REMOVED.value, "created_at": now}


def _reject_copies(session: Session, names: Sequence[str]) -> None:
    """Reject the copies of these files permanently, and delete the rejections of the files themselves."""
    rejected = delete(RejectedFile).where(among(session, RejectedFile.name, names))
    session.execute(rejected, execution_options=UNLOADED)
    duplicates = update(RejectedFile).where(RejectedFile.reason == Reason.DUPLICATE.value)
    duplicates = duplicates.where(among(session, RejectedFile.detail, names))
    session.execute(duplicates.values(reason=Reason.REMOVED.value, detail=""), execution_options=UNLOADED)


def _own_sidecars(session: Session, file_ids: Sequence[int]) -> dict[int, str]:
    """Return id -> name of the sidecars that belong to these files, and to no file that stays."""
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


def _move_sidecars(session: Session, sidecars: Mapping[int, str], trashed: Mapping[str, str]) -> None:
    """Give the rows of sidecars their names in the trash; delete the rows of missing sidecars."""
    forget_sidecars(
        session, Sidecar.id.in_([sidecar_id for sidecar_id, name in sidecars.items() if name not in trashed])
    )
    moved = [
        {"row": sidecar_id, "new_name": trashed[name], "new_folder": trashed[name].rpartition("/")[0]}
        for sidecar_id, name in sidecars.items()
        if name in trashed
    ]
    if moved:
        table: Any = Sidecar.__table__
        rows = update(table).where(table.c.id == bindparam("row"))
        rows = rows.values(name=bindparam("new_name"), folder=bindparam("new_folder"))
        session.connection().execute(rows, moved)


def forget_sidecars(session: Session, *which: ColumnElement[bool]) -> None:
    """Delete the rows of these sidecars, and their links to files."""
    ids = session.scalars(select(Sidecar.id).where(*which)).all()
    for some in in_portions(ids):
        linked = delete(file_sidecars).where(file_sidecars.c.sidecar_id.in_(some))
        session.execute(linked, execution_options=UNLOADED)
        session.execute(delete(Sidecar).where(Sidecar.id.in_(some)), execution_options=UNLOADED)


def _request_index(session: Session, folders: set[str], now: datetime) -> None:
    """Request an index of these folders: a run in progress may have read a file before it was deleted."""
    for folder in gathered(folders):
        enqueue(session, now, disk_name(folder))
