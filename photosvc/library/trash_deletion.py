"""Deletions: files move into the trash together or not at all; emptying the trash deletes them permanently.

They move into a folder whose name says that it is unfinished. The rows of the library follow in the transaction of the
request; once that is committed, one rename finishes the folder. A killed process may leave an unfinished folder: if
rows of the library are in it, `finish_deletions` finishes it, else its files go back.

If the originals are in a bucket, their placeholders move so; the objects are copied before the transaction, and deleted
after it.
"""

import fcntl
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Final

from sqlalchemy import ColumnElement, delete, func, literal, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, PermissionDeniedError, PhotosvcError
from photosvc.core.paths import disk_name, open_folder
from photosvc.core.words import in_portions
from photosvc.index.requested import parent
from photosvc.index.scan import GONE_FOLDER, TRASH_FOLDER, UNFINISHED, disk_path
from photosvc.library import disk, trash_bucket
from photosvc.library.staging import require_writable
from photosvc.library.staging_part import NameTakenError, typed_errors
from photosvc.library.trash_bucket import Moves
from photosvc.library.trash_folder import Kept, Trash, is_deletion, new_deletion, time_of, within
from photosvc.models import File, Sidecar, UploadedFile, file_sidecars
from photosvc.models.engine import Writing
from photosvc.models.statements import UNLOADED
from photosvc.settings import Settings
from photosvc.storage.objects import ObjectChangedError

#: Seconds after which a request begins no further deletion or restoration.
_PATIENCE: Final = 20.0
#: The age of a deletion from which a copy in the trash is no longer that of a process at work.
_COPY_STAYS: Final = timedelta(days=1)
#: A time later than everything in the trash.
END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Deletion:
    """The files that are being deleted; from `deleting`."""

    trash: Trash
    name: str
    """The name of its folder, once it is finished."""
    _moved: list[str] = field(default_factory=list, init=False)
    _lock: ExitStack = field(default_factory=ExitStack, init=False)
    _objects: Moves | None = field(default=None, init=False)
    """The moved objects, if the files are in a bucket."""

    def prepare(self, names: Collection[str]) -> None:
        """Copy the objects of these files into the trash, if they are in a bucket; called before the transaction.

        Raises:
            ObjectChangedError: one was replaced since the last index run.
            PhotosvcError: the store refuses it, or fails.
        """
        bucket, originals = self.trash.bucket, self.trash.originals
        present = [name for name in dict.fromkeys(names) if os.path.lexists(disk_path(originals, name))]
        if bucket is None or not present:
            return
        trash_bucket.require_right(bucket, present[0])
        self._begin()
        self._objects = Moves(bucket)
        targets = {name: within(self.name) + name for name in present}
        self._objects.copy(targets, partial(trash_bucket.is_version, self.trash))

    def take(self, names: Iterable[str]) -> dict[str, str]:
        """Move these files into the trash, and return the name in the trash of each that exists.

        Raises:
            ObjectChangedError: one is in a bucket, and was not prepared: it is new, or no longer there.
            PhotosvcError: the disk refuses it.
        """
        kept: dict[str, str] = {}
        for folder, some in groupby(sorted(names, key=parent), key=parent):
            self._take(folder, list(some), kept)
        return kept

    def _take(self, folder: str, names: list[str], kept: dict[str, str]) -> None:
        originals = self.trash.originals
        try:
            source = open_folder(originals, _parts(folder))
        except OSError:
            return  # the folder is gone, or is a link by now
        with ExitStack() as opened, typed_errors():
            opened.callback(os.close, source)
            present = [name for name in names if _is_file(name, source)]
            if not present:
                return
            if self.trash.bucket is not None:
                if self._objects is None or not self._objects.copied.keys() >= set(present):
                    raise ObjectChangedError
            elif not self._moved:
                self._begin()
            target = open_folder(originals, _parts(f"{TRASH_FOLDER}/{self.name}{UNFINISHED}/{folder}"), create=True)
            opened.callback(os.close, target)
            for name in present:
                last = disk_name(name).rpartition("/")[2]
                os.rename(last, last, src_dir_fd=source, dst_dir_fd=target)
                self._moved.append(name)
                kept[name] = within(self.name) + name
            os.fsync(target)

    def _begin(self) -> None:
        """Make the folder, and hold its lock for as long as this process lives."""
        parts = _parts(f"{TRASH_FOLDER}/{self.name}{UNFINISHED}")
        folder = open_folder(self.trash.originals, parts, create=True)
        self._lock.callback(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)

    def finish(self) -> None:
        """Keep the files that were taken, after the commit; what the store refuses is left to `finish_deletions`."""
        with self._lock:
            if (objects := self._objects) is not None:
                is_done = objects.finish(self._moved)
                if not (objects.take_back(objects.copied.keys() - set(self._moved)) and is_done):
                    return
            if self._moved:
                _finish(self.trash, self.name)
            else:
                self.trash.drop_empty(self.name + UNFINISHED)

    def undo(self, error: BaseException) -> None:
        """Give the files their names back after an error."""
        with self._lock:
            for name in reversed(self._moved):
                with suppress(PhotosvcError):  # `finish_deletions` tries again
                    disk.rename_new(self.trash.originals, within(self.name + UNFINISHED) + name, name)
            if self._objects is not None and not self._objects.undo(error):
                return  # `finish_deletions` goes on
            self.trash.drop_empty(self.name + UNFINISHED)


@contextmanager
def deleting(trash: Trash, now: datetime, names: Collection[str] = ()) -> Iterator[Deletion]:
    """Finish a deletion after the block with the write transaction of its rows, or undo it if the block fails.

    Args:
        names: of the files that will be deleted, if they are in a bucket.

    Raises:
        PhotosvcError: one of `Deletion.prepare`.
    """
    deletion = Deletion(trash, new_deletion(now))
    try:
        deletion.prepare(names)
        yield deletion
    except BaseException as error:
        deletion.undo(error)
        raise
    deletion.finish()


def open_trash(writing: Writing, settings: Settings) -> Trash:
    """Return the trash of originals that may be changed, after `finish_deletions`.

    Raises:
        PermissionDeniedError: the originals are read-only.
        BucketError: they are in a bucket, and the store fails.
    """
    require_writable(settings)
    finish_deletions(writing, settings)
    return Trash(settings.originals, settings.bucket)


def finish_deletions(writing: Writing, settings: Settings) -> int:
    """Finish or undo the deletions of processes that ended, and return their number; none of read-only originals.

    Raises:
        BucketError: the originals are in a bucket, and the store fails.
    """
    done, trash = 0, Trash(settings.originals, settings.bucket)
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
        # The transaction waits for one that the process may have been committing when it was killed.
        with writing(library=True) as session:
            in_library = select(File.id).where(File.name.startswith(within(deletion), autoescape=True)).limit(1)
            is_noted = session.scalar(in_library) is not None
        try:
            gone = trash_bucket.settle(trash, trash.bucket, deletion, is_noted=is_noted) if trash.bucket else []
        except PermissionDeniedError:
            return False  # it waits for the right; everything else goes on
        if not is_noted:
            for kept in [kept for kept in trash.files(unfinished) if kept.name not in gone]:
                with suppress(NameTakenError):  # it stays in the trash
                    disk.rename_new(trash.originals, within(unfinished) + kept.name, kept.name)
            trash.drop_empty(unfinished)
        if unfinished in trash.folders():
            _finish(trash, deletion)
        return True
    finally:
        os.close(folder)


def _finish(trash: Trash, deletion: str) -> None:
    disk.rename(trash.originals, f"{TRASH_FOLDER}/{deletion}{UNFINISHED}", f"{TRASH_FOLDER}/{deletion}")


def _is_file(name: str, folder: int) -> bool:
    try:
        status = os.stat(disk_name(name).rpartition("/")[2], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode)


def _parts(folder: str) -> list[str]:
    return [part for part in disk_name(folder).split("/") if part]


@dataclass(slots=True)
class Emptied:
    """The result of emptying the trash."""

    files: int = 0
    size: int = 0
    """Bytes."""
    is_complete: bool = True
    """False if deletions that were to be emptied are left."""


def older(trash: Trash, before: datetime) -> Iterator[str]:
    """Return the deletions from before this time."""
    return (deletion for deletion in trash.deletions() if time_of(deletion) < before)


def count(trash: Trash, before: datetime) -> Emptied:
    """Return the numbers of files and bytes that `empty` would delete."""
    total = Emptied()
    for deletion in older(trash, before):
        for kept in trash.files(deletion):
            total.files, total.size = total.files + 1, total.size + kept.size
    return total


def empty(writing: Writing, trash: Trash, before: datetime, *, goes_on: Callable[[], bool] = lambda: True) -> Emptied:
    """Delete the files that were deleted before this time for good; photos stay hidden until the same content returns.

    Args:
        writing: begins a write transaction, one for each deletion.
        goes_on: asked before each deletion; the others are left to another time.

    Raises:
        PhotosvcError: the disk or the store refuses it, or fails; what is left is still in the trash.
    """
    total = Emptied()
    deletions = list(older(trash, before))
    if trash.bucket is not None and deletions:
        trash_bucket.require_right(trash.bucket)
    for deletion in deletions:
        if not goes_on():
            total.is_complete = False
            break
        files = list(trash.files(deletion))
        with writing(library=True) as session:
            _forget(session, deletion)
        trash_bucket.delete_objects(trash, deletion)
        trash.delete(deletion)
        total.files, total.size = total.files + len(files), total.size + sum(kept.size for kept in files)
    return total


def empty_in_request(writing: Writing, trash: Trash, before: datetime, *, expected: int | None = None) -> Emptied:
    """Empty the trash for at most 20 seconds, and only if it has the number of files that the page showed, if any.

    Raises:
        ConflictError: there are more or fewer by now; nothing is deleted.
        PhotosvcError: the disk refuses it.
    """
    if expected is not None and (found := count(trash, before).files) != expected:
        raise ConflictError(f"Nothing was deleted: there are {found} files by now, not {expected}.", field="expected")
    return empty(writing, trash, before, goes_on=patience())


def patience() -> Callable[[], bool]:
    """Return a function that returns whether the request may begin a further part of its work."""
    end = time.monotonic() + _PATIENCE
    return lambda: time.monotonic() < end


def _forget(session: Session, deletion: str) -> None:
    """Give the rows names that no file has, and count the files in no quota."""
    counted = delete(UploadedFile).where(UploadedFile.name.startswith(within(deletion), autoescape=True))
    session.execute(counted, execution_options=UNLOADED)
    gone = update(File).where(File.name.startswith(within(deletion), autoescape=True))
    forget_sidecars(session, Sidecar.name.startswith(within(deletion), autoescape=True))
    gone = gone.values(name=literal(GONE_FOLDER) + func.substr(File.name, len(TRASH_FOLDER) + 1))
    session.execute(gone, execution_options=UNLOADED)


def forget_sidecars(session: Session, *which: ColumnElement[bool]) -> None:
    """Delete the rows of these sidecars, and their links to files."""
    ids = session.scalars(select(Sidecar.id).where(*which)).all()
    for some in in_portions(ids):
        linked = delete(file_sidecars).where(file_sidecars.c.sidecar_id.in_(some))
        session.execute(linked, execution_options=UNLOADED)
        session.execute(delete(Sidecar).where(Sidecar.id.in_(some)), execution_options=UNLOADED)


def sweep(writing: Writing, settings: Settings, now: datetime) -> Emptied:
    """Recover unfinished deletions of killed processes, and delete the files for good that are old enough.

    Raises:
        BucketError: the originals are in a bucket, and the store fails.
    """
    finish_deletions(writing, settings)
    if settings.readonly:
        return Emptied()
    trash = Trash(settings.originals, settings.bucket)
    if trash.bucket is not None:
        _delete_copies(writing, trash, now - _COPY_STAYS)
    if not settings.trash_days:
        return Emptied()
    return empty(writing, trash, now - timedelta(days=settings.trash_days))


def _delete_copies(writing: Writing, trash: Trash, before: datetime) -> None:
    """Delete the objects in the trash that a killed or interrupted process copied: their originals are there."""
    for deletion in older(trash, before):
        for some in in_portions(list(trash.files(deletion))):
            with writing() as session:
                names = [kept.path for kept in some]
                known = {*session.scalars(select(File.name).where(File.name.in_(names)))}
                known |= {*session.scalars(select(Sidecar.name).where(Sidecar.name.in_(names)))}
            for kept in some:
                if kept.path not in known and trash_bucket.delete_copy(trash, kept.path, kept.name):
                    disk.remove(trash.originals, kept.path)
                    with writing() as session:
                        counted = update(UploadedFile).where(UploadedFile.name == kept.path).values(name=kept.name)
                        session.execute(counted, execution_options=UNLOADED)
        trash.drop_empty(deletion)


def kept_until(kept: Kept, settings: Settings) -> datetime | None:
    """Return the time from which `sweep` deletes a file; None if it stays until the trash is emptied."""
    if settings.readonly or not settings.trash_days:
        return None
    return kept.deleted_at + timedelta(days=settings.trash_days)
