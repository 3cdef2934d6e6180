"""One deletion under way: its files move into the trash together or not at all, also when the process is killed.

They move into a folder whose name says that it is unfinished. The rows of the library follow in the transaction of the
request; once that is committed, one rename finishes the folder. `recover` finds what a killed process left: with rows
of the library it is finished, without them the files go back.
"""

import fcntl
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.core.paths import disk_name, open_folder
from photosvc.library.files import disk
from photosvc.library.staging.errors import NameTakenError, ReadOnlyError, typed_errors
from photosvc.library.trash.folder import Trash
from photosvc.library.trash.names import TRASH_FOLDER, UNFINISHED, is_deletion, new_deletion, within
from photosvc.models import File
from photosvc.settings import Settings

#: Begins a write transaction.
Writing = Callable[[], AbstractContextManager[Session]]


@dataclass(slots=True)
class Deletion:
    """The files that are being deleted; from `deleting`."""

    trash: Trash
    name: str
    """Of its folder, once it is finished."""
    _moved: list[str] = field(default_factory=list, init=False)
    _lock: ExitStack = field(default_factory=ExitStack, init=False)

    def take(self, names: Iterable[str]) -> dict[str, str]:
        """Move these files into the trash; gives the name in the trash for each that there is.

        Raises:
            PhotosvcError: the disk refuses it.

        """
        kept: dict[str, str] = {}
        for folder, some in groupby(sorted(names, key=_folder_of), key=_folder_of):
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
            if not self._moved:
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
        """Keep what was taken, after the commit."""
        with self._lock:
            if self._moved:
                _finish(self.trash, self.name)

    def undo(self) -> None:
        """Give the files their names back."""
        with self._lock:
            for name in reversed(self._moved):
                with suppress(PhotosvcError):  # `recover` tries again
                    disk.rename_new(self.trash.originals, within(self.name + UNFINISHED) + name, name)
            self.trash.drop_empty(self.name + UNFINISHED)


@contextmanager
def deleting(trash: Trash, now: datetime) -> Iterator[Deletion]:
    """A deletion around the write transaction in which the rows follow: an exception, also of its commit, undoes it."""
    deletion = Deletion(trash, new_deletion(now))
    try:
        yield deletion
    except BaseException:
        deletion.undo()
        raise
    deletion.finish()


def open_trash(writing: Writing, settings: Settings) -> Trash:
    """The trash of originals that may be changed, after `finish_deletions`.

    Raises:
        ReadOnlyError: the originals are read-only.

    """
    if settings.readonly:
        raise ReadOnlyError
    finish_deletions(writing, settings)
    return Trash(settings.originals)


def finish_deletions(writing: Writing, settings: Settings) -> None:
    """Finish or undo the deletions of processes that were killed; originals that are read-only stay as they are."""
    trash = Trash(settings.originals)
    if not settings.readonly and any(folder.endswith(UNFINISHED) for folder in trash.folders()):
        with writing() as session:
            recover(session, trash)


def recover(session: Session, trash: Trash) -> int:
    """Finish or undo, in the session's write transaction, the deletions of processes that ended; gives their number."""
    done = 0
    for folder in trash.folders():
        deletion = folder.removesuffix(UNFINISHED)
        if folder.endswith(UNFINISHED) and is_deletion(deletion):
            done += _recover(session, trash, deletion)
    return done


def _recover(session: Session, trash: Trash, deletion: str) -> bool:
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
        in_library = select(File.id).where(File.name.startswith(within(deletion), autoescape=True)).limit(1)
        if session.scalar(in_library) is None:
            for kept in list(trash.files(unfinished)):
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


def _folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def _parts(folder: str) -> list[str]:
    return [part for part in disk_name(folder).split("/") if part]
