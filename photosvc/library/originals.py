"""Originals that the service itself renames, moves or deletes: changes of the disk, and the rows that follow.

Functions take names of the library, follow no link, and raise the errors of `library.storage_errors` if the disk
refuses a change. Rows follow in the same transaction and keep their identity: the photo of a moved file keeps its UID,
albums and edits; the photo of a deleted file is hidden, and is found again when a file with the same content returns.
"""

import errno
import os
import stat
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, delete, func, insert, literal, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from photosvc.core.files import clean_name, disk_name, open_folder
from photosvc.core.problems import Reason
from photosvc.index.exclusions import is_hidden, is_left_out, is_rule
from photosvc.index.requests import enqueue
from photosvc.index.scan import MAX_DEPTH, STAGING_FOLDER, aside_folder, is_too_long
from photosvc.index.sidecar_names import is_read
from photosvc.index.store import Store
from photosvc.library.edits import FILES, Difference
from photosvc.library.journal import Author, Change, record
from photosvc.library.storage_errors import NameRefusedError, NameTakenError, typed_errors
from photosvc.models import ORIGINALS_ROOT, File, Photo, RejectedFile, Sidecar, UploadedFile
from photosvc.models.statements import UNLOADED, in_portions, is_below
from photosvc.settings import Settings

#: Errors of file systems without hard links.
NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_LONGEST_PART: Final = 255
#: Files of a folder whose rows change in one transaction, which blocks other writers. For a larger folder, the index
#: follows in batches, and recognises the files by their content.
MOST_FILES: Final = 5000
#: Files stored at a time, and the remaining files of the last photo.
_PORTION: Final = 200
#: A modification time that no file has, so that the index takes a file for changed.
_NO_TIME: Final = -1
_JUNK: Final = frozenset({"desktop.ini", "thumbs.db"})


def is_staging_folder(part: str) -> bool:
    """Return whether a part of a name is that of the staging folder, also on file systems that ignore case."""
    return part.casefold() == STAGING_FOLDER


def checked_name(name: str) -> tuple[str, ...]:
    """Return the parts of a name for a file or folder to be written, relative to the originals.

    Raises:
        NameRefusedError: it is empty, absolute, climbs out, lies in the staging folder, contains bytes that are not
            UTF-8, control characters or line separators, or is longer or deeper than scans read.
    """
    parts = tuple(name.split("/"))
    if any(part in {"", ".", ".."} for part in parts) or any(map(is_staging_folder, parts)) or clean_name(name) != name:
        raise NameRefusedError(field="name")
    if any(len(part.encode()) > _LONGEST_PART for part in parts) or len(parts) > MAX_DEPTH or is_too_long(name):
        raise NameRefusedError("The name is too long.", field="name")
    return parts


@contextmanager
def undo_on_error() -> Iterator[ExitStack]:
    """Yield a stack of functions that are called if the block fails, or the commit within it."""
    with ExitStack() as undo:
        yield undo
        undo.pop_all()


def rename(originals: Path, source: str, target: str, *, make_folders: bool = False) -> None:
    """Rename a file or folder; replace a file or an empty folder at the target, but never a link or a device.

    Args:
        originals: the folder that both names are relative to.
        make_folders: make the missing folders around the target.
    """
    with _at(originals, source) as (folder, last), _at(originals, target, create=make_folders) as (inner, name):
        with suppress(FileNotFoundError):
            mode = os.stat(name, dir_fd=inner, follow_symlinks=False).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise NameTakenError
        os.rename(last, name, src_dir_fd=folder, dst_dir_fd=inner)
        os.fsync(inner)


def rename_new(originals: Path, source: str, target: str) -> None:
    """Rename a file, never over another one; make the missing folders around the new name.

    A process that is killed while it renames leaves one file with both names.
    """
    with _at(originals, source) as (folder, last), _at(originals, target, create=True) as (inner, name):
        try:
            is_linked = link_new(last, folder, name, inner)
        except FileExistsError:
            status = os.stat(last, dir_fd=folder, follow_symlinks=False)
            if status.st_nlink == 1 or not has_name(status, name, inner):
                raise
            is_linked = True
        if not is_linked:
            os.replace(last, name, src_dir_fd=folder, dst_dir_fd=inner)
        os.fsync(inner)
        if is_linked:
            os.unlink(last, dir_fd=folder)


def link(originals: Path, source: str, target: str) -> bool:
    """Give a file a second name, and return whether the file system has hard links; make the missing folders."""
    with _at(originals, source) as (folder, last), _at(originals, target, create=True) as (inner, name):
        try:
            os.link(last, name, src_dir_fd=folder, dst_dir_fd=inner, follow_symlinks=False)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            return False
    return True


def make_folder(originals: Path, name: str) -> None:
    """Make a folder in one that exists."""
    with _at(originals, name) as (folder, last):
        os.mkdir(last, dir_fd=folder)
        os.fsync(folder)


def make_empty(originals: Path, name: str) -> None:
    """Make an empty file of a free name."""
    with _at(originals, name) as (folder, last):
        os.close(os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder))


def set_modified(originals: Path, name: str, time: float) -> None:
    """Set the time of the last change of a file or folder, in seconds since 1970."""
    with _at(originals, name) as (folder, last):
        os.utime(last, (time, time), dir_fd=folder, follow_symlinks=False)


def remove_file(originals: Path, name: str) -> None:
    """Remove a file."""
    with _at(originals, name) as (folder, last):
        os.unlink(last, dir_fd=folder)


def remove_folder(originals: Path, name: str) -> None:
    """Remove an empty folder."""
    with _at(originals, name) as (folder, last):
        os.rmdir(last, dir_fd=folder)


def remove_empty_folders(originals: Path, name: str) -> None:
    """Remove all empty folders in a folder, and the folder if it is empty then."""
    for folder, _, _ in os.walk(originals / disk_name(name), topdown=False):
        with suppress(OSError):  # it is not empty
            os.rmdir(folder)  # noqa: PTH106 - as `os.walk` gives it


@contextmanager
def _at(originals: Path, name: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """Yield a descriptor of the folder around a file, and the file's name in that folder."""
    *folders, last = disk_name(name).split("/")
    with typed_errors():
        folder = open_folder(originals, folders, create=create)
        try:
            yield folder, last
        finally:
            os.close(folder)


def link_new(name: str, folder: int, target: str, inner: int) -> bool:
    """Give a file a second, free name; without hard links, reserve the name by an empty file, and return False.

    If the process is killed, the empty file stays; it is never indexed.
    """
    try:
        os.link(name, target, src_dir_fd=folder, dst_dir_fd=inner, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, dir_fd=inner))
        return False
    return True


def has_name(status: os.stat_result, name: str, folder: int) -> bool:
    """Return whether the file with this status has this name in a folder."""
    try:
        return os.path.samestat(status, os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return False


@dataclass(frozen=True, slots=True)
class Relocation:
    """The changes of rows after originals changed on disk.

    Names are relative to the originals, without a slash at the end.
    """

    session: Session
    settings: Settings
    now: datetime
    actor: Author | None = None

    def moved(self, source: str, target: str, *, is_folder: bool) -> None:
        """Follow a file or folder that was renamed; hide the files that the library had under the new name."""
        moved_rows = self._files(source, is_folder=is_folder)
        replaced_rows = self._files(target, is_folder=is_folder) if moved_rows else ()
        is_large = max(len(moved_rows), len(replaced_rows)) > MOST_FILES
        one_type = is_folder or PurePosixPath(source).suffix.lower() == PurePosixPath(target).suffix.lower()
        if is_large or is_hidden(target) or not one_type:
            self.gone(source, is_folder=is_folder)
        else:
            if replaced_rows:
                self.gone(target, is_folder=is_folder)
            self._rename_rejected(source, target, is_folder=is_folder)
            if is_folder:
                self._rename_sidecars(source, target)
            counted = update(UploadedFile).where(_named(UploadedFile.name, source, is_folder=is_folder))
            counted = counted.values(name=renamed(UploadedFile.name, source, target))
            self.session.execute(counted, execution_options=UNLOADED)
            self._rename_files([(row, target + row.name[len(source) :]) for row in moved_rows])
            if not is_folder and is_read(source):
                self._hide([source])
        self.changed(target, is_folder=is_folder)
        if is_rule(source):
            self.changed(source, is_folder=is_folder)

    def gone(self, name: str, *, is_folder: bool, kept: str | None = None) -> None:
        """Hide the files that were deleted, and free their names.

        Args:
            is_folder: true if the name is of a folder around the files.
            kept: the name in the trash to which they moved.
        """
        rows = self._files(name, is_folder=is_folder)
        if len(rows) <= MOST_FILES:
            if kept is not None:
                self._record(rows)
            self._hide([*(row.name for row in rows), *self._duplicates(name)] if is_folder else [name])
            self._set_aside(name, is_folder=is_folder, kept=kept)
        self.changed(name, is_folder=is_folder)

    def changed(self, name: str, *, is_folder: bool = False) -> None:
        """Ask the indexer to look at a file or folder that was added, changed or removed."""
        if is_rule(name) or not (is_hidden(name) or is_junk(name)):  # a rule changes the other files of its folder
            enqueue(self.session, self.now, disk_name(name if is_folder else name.rpartition("/")[0]))

    def replaced(self, name: str, kept: str | None) -> None:
        """Follow a file that will be replaced: the index reads it again, even if size and time stay the same.

        Args:
            kept: the name of the former content in the trash, where quotas still count it.
        """
        replaced = update(File).where(File.root == ORIGINALS_ROOT, File.name == name).values(mtime_ns=_NO_TIME)
        self.session.execute(replaced, execution_options=UNLOADED)
        if kept is None:
            return
        columns = (UploadedFile.user_id, UploadedFile.size)
        for row in self.session.execute(select(*columns).where(UploadedFile.name == name)).all():
            values = {"hash": None, "user_id": row.user_id, "name": kept, "size": row.size, "original_name": ""}
            self.session.execute(insert(UploadedFile).values(**values, created_at=self.now))

    def knows(self, name: str) -> bool:
        """Return whether the library has a file of this name."""
        query = select(File.id).where(File.root == ORIGINALS_ROOT, File.name == name, File.missing.is_(False))
        return self.session.scalar(query) is not None

    def _files(self, name: str, *, is_folder: bool) -> Sequence[Any]:
        """Return the ids, photos and names of existing files, at most `MOST_FILES` + 1."""
        query = select(File.id, File.photo_id, File.name, Photo.uid.label("photo_uid")).join(Photo)
        query = query.where(File.root == ORIGINALS_ROOT, File.missing.is_(False))
        query = query.where(_named(File.name, name, is_folder=is_folder)).order_by(File.photo_id, File.id)
        return self.session.execute(query.limit(MOST_FILES + 1)).all()

    def _duplicates(self, folder: str) -> Sequence[str]:
        """Return the names of duplicates in a folder, because the stacks of their originals depend on them."""
        query = select(RejectedFile.name).where(RejectedFile.reason == Reason.DUPLICATE.value)
        return self.session.scalars(query.where(_named(RejectedFile.name, folder, is_folder=True))).all()

    def _rename_files(self, moves: Sequence[tuple[Any, str]]) -> None:
        for portion in _portions(moves):
            store = Store.of(self.session, self.settings, self.now)
            store.load([name for row, target in portion for name in (row.name, target)])
            moved = select(File).where(File.id.in_([row.id for row, _ in portion]))
            files = {file.id: file for file in self.session.scalars(moved)}
            for row, name in portion:
                store.rename(files[row.id], name)
            store.finish()

    def _rename_rejected(self, source: str, target: str, *, is_folder: bool) -> None:
        """Rename the rejections of files that people removed; delete others, so that the index reads their files."""
        at_source = _named(RejectedFile.name, source, is_folder=is_folder)
        at_target = _named(RejectedFile.name, target, is_folder=is_folder)
        removed = RejectedFile.reason == Reason.REMOVED.value
        self.session.execute(delete(RejectedFile).where(at_target), execution_options=UNLOADED)
        self.session.execute(delete(RejectedFile).where(at_source, ~removed), execution_options=UNLOADED)
        moved = update(RejectedFile).where(at_source).values(name=renamed(RejectedFile.name, source, target))
        self.session.execute(moved, execution_options=UNLOADED)
        copies = update(RejectedFile).where(_is_copy_of(source, is_folder=is_folder))
        copies = copies.values(detail=renamed(RejectedFile.detail, source, target))
        self.session.execute(copies, execution_options=UNLOADED)

    def _rename_sidecars(self, source: str, target: str) -> None:
        at_target = _named(Sidecar.name, target, is_folder=True)
        self.session.execute(delete(Sidecar).where(at_target), execution_options=UNLOADED)
        for sidecar in self.session.scalars(select(Sidecar).where(_named(Sidecar.name, source, is_folder=True))):
            sidecar.name = target + sidecar.name[len(source) :]
            sidecar.folder = sidecar.name.rpartition("/")[0]
        self.session.flush()

    def _hide(self, names: Sequence[str]) -> None:
        for portion in in_portions(names, _PORTION):
            store = Store.of(self.session, self.settings, self.now)
            store.mark_missing(portion)
            store.finish()
        self.session.expire_all()

    def _record(self, rows: Sequence[Any]) -> None:
        """Record the files that photos lost in the journal."""
        if self.actor is None or not rows:
            return
        lost = defaultdict(list)
        for row in rows:
            lost[row.photo_uid].append(row.name)
        differences: dict[str, Difference] = {uid: ({FILES: sorted(names)}, {}) for uid, names in lost.items()}
        record(self.session, Change("photos.delete", self.actor), self.now, differences)

    def _set_aside(self, name: str, *, is_folder: bool, kept: str | None) -> None:
        """Give the rows of deleted files names in the trash, or names that no file has; delete their rejections."""
        aside = kept.removesuffix(f"/{name}") if kept is not None else aside_folder()
        at_upload = _named(UploadedFile.name, name, is_folder=is_folder)
        trashed = update(UploadedFile).values(hash=None, name=literal(f"{aside}/") + UploadedFile.name)
        counted = (delete(UploadedFile) if kept is None else trashed).where(at_upload)
        self.session.execute(counted, execution_options=UNLOADED)
        at_name = _named(File.name, name, is_folder=is_folder)
        moved = update(File).where(File.root == ORIGINALS_ROOT, at_name).values(name=literal(f"{aside}/") + File.name)
        self.session.execute(moved, execution_options=UNLOADED)
        rejected = delete(RejectedFile).where(_named(RejectedFile.name, name, is_folder=is_folder))
        self.session.execute(rejected, execution_options=UNLOADED)
        # A copy elsewhere was rejected as a duplicate of the deleted file; now it takes its place.
        copies = delete(RejectedFile).where(_is_copy_of(name, is_folder=is_folder)).returning(RejectedFile.name)
        for folder in {left_out.rpartition("/")[0] for left_out in self.session.scalars(copies)}:
            enqueue(self.session, self.now, disk_name(folder))


def is_junk(name: str) -> bool:
    """Return whether operating systems make files of this name, which are never indexed."""
    last = name.rpartition("/")[2]
    return not is_rule(name) and (is_left_out(last) or last.lower() in _JUNK)


def _named(column: InstrumentedAttribute[str], name: str, *, is_folder: bool) -> ColumnElement[bool]:
    """Return the condition that a column has the name of this original, or of an original in this folder."""
    named = is_below(column, name) if is_folder else column == name
    root = getattr(column.class_, "root", None)  # the first column of the indexes over names
    return named if root is None else (root == ORIGINALS_ROOT) & named


def _is_copy_of(name: str, *, is_folder: bool) -> ColumnElement[bool]:
    return (RejectedFile.reason == Reason.DUPLICATE.value) & _named(RejectedFile.detail, name, is_folder=is_folder)


def renamed(column: InstrumentedAttribute[str], source: str, target: str) -> ColumnElement[str]:
    """Return the new value of a column whose value is `source`, or begins with it, after `source` was renamed."""
    return literal(target) + func.substr(column, len(source) + 1)


def _portions(moves: Sequence[tuple[Any, str]]) -> Iterator[list[tuple[Any, str]]]:
    """Yield some moves at a time; moves of one photo stay together, so that its files are not restacked twice."""
    portion: list[tuple[Any, str]] = []
    for _, of_photo in groupby(moves, key=lambda move: cast("int", move[0].photo_id)):
        portion += of_photo
        if len(portion) >= _PORTION:
            yield portion
            portion = []
    if portion:
        yield portion
