"""The staging folder: parts of files that arrive, until whole files get names among the originals."""

import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from photosvc.core.files import open_folder
from photosvc.index.scan import STAGING_FOLDER
from photosvc.library import originals
from photosvc.library.originals import NO_LINKS, checked_name, has_name, link_new
from photosvc.library.storage_errors import (
    IncompleteError,
    NameRefusedError,
    NameTakenError,
    PartLockedError,
    PartMissingError,
    ReadOnlyError,
    StorageFailedError,
    StorageFullError,
    TooLargeError,
    typed_errors,
)
from photosvc.settings import Settings

_PIECE: Final = 1 << 20
#: Times that every file system stores, in seconds since 1970.
_FIRST_TIME, _LAST_TIME = -(1 << 31), 1 << 33
#: Seconds after which parts are deleted that no process writes to: parts of one request, resumable parts, and resumable
#: parts that no row of the database names, because their request was killed or has not ended.
ABANDONED_SECONDS: Final = 3600
KEPT_SECONDS: Final = 14 * 86_400
UNKNOWN_SECONDS: Final = 86_400
_TOKEN: Final = re.compile("[0-9a-f]{32}")
_KEPT, _UNKEPT = ".kept", ".part"
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def _new_hash() -> "hashlib._Hash":
    """Return a new hash of the kind by which the library knows files."""
    return hashlib.sha1(usedforsecurity=False)


@dataclass(slots=True)
class Part:
    """A file that is being received; use it within the block that gave it."""

    _root: Path
    _folder: int
    _name: str
    _file: int
    _expected: int | None
    _most: int
    size: int = 0
    """Bytes so far."""
    _hash: "hashlib._Hash | None" = None
    """The hash of the bytes so far; None if it must be computed, because another process received them."""
    is_placed: bool = False

    @property
    def path(self) -> Path:
        """Return the path of the bytes."""
        return self._root / STAGING_FOLDER / self._name

    @property
    def token(self) -> str:
        """Return the token by which `Staging.resume` finds a resumable part."""
        return self._name.partition(".")[0]

    @property
    def hash(self) -> str:
        """Return the hash of all bytes so far, in lower-case hexadecimal digits, as the library writes it."""
        if self._hash is None:
            self._hash = _new_hash()
            with typed_errors():
                position = 0
                while piece := os.pread(self._file, _PIECE, position):
                    self._hash.update(piece)
                    position += len(piece)
        return self._hash.hexdigest()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append bytes.

        Raises:
            TooLargeError: the file would be larger than allowed.
            IncompleteError: it would be longer than announced.
            StorageFullError: the disk is full, or a quota of the system is used up.
            StorageFailedError: another error of the disk.
        """
        view = memoryview(data)
        if self.size + len(view) > self._most:
            raise TooLargeError
        if self._expected is not None and self.size + len(view) > self._expected:
            raise IncompleteError
        with typed_errors():
            while view:
                written = os.write(self._file, view)
                if self._hash is not None:
                    self._hash.update(view[:written])
                self.size += written
                view = view[written:]

    def cut(self, size: int) -> None:
        """Drop all bytes after the first `size`."""
        with typed_errors():
            os.ftruncate(self._file, size)
        self.size, self._hash = size, None

    def date(self, mtime_ns: int) -> None:
        """Set the modification time, in nanoseconds since 1970, if the disk can store it."""
        with suppress(OSError, OverflowError):
            os.utime(self._file, ns=(mtime_ns, mtime_ns))

    def flush(self) -> None:
        """Write the bytes to the disk, so that `place` is quick within a transaction.

        Raises:
            StorageFullError: the disk is full.
            StorageFailedError: another error of the disk.
        """
        with typed_errors():
            os.fsync(self._file)

    def require_whole(self) -> None:
        """Raise `IncompleteError` if the part is shorter than announced."""
        if self._expected is not None and self.size != self._expected:
            raise IncompleteError

    def place(
        self,
        name: str,
        *,
        replace: bool,
        modified_at: float | None = None,
        make_folders: bool = True,
        undo: ExitStack | None = None,
    ) -> os.stat_result:
        """Give the whole file its name among the originals, durably, and return its status there.

        Args:
            name: on disk, relative to the originals.
            replace: replace a file of this name; the change is atomic either way.
            modified_at: the modification time in seconds since 1970; by default the time of the last write.
            make_folders: make the missing folders around the file.
            undo: gets a function to call, while the part is open, if the rest of the change fails: it takes the name
                back, and restores the replaced file.

        Raises:
            IncompleteError: it is shorter than announced.
            NameRefusedError: no file can have this name.
            NameTakenError: a file has the name and `replace` is false, or a folder, link or device has it.
            ParentMissingError: a folder around it is missing, a link or a file.
            PhotosvcError: the disk is full, read-only or fails.
        """
        *folders, last = checked_name(name)
        self.require_whole()
        with typed_errors():
            if modified_at is not None:
                if not _FIRST_TIME <= modified_at <= _LAST_TIME:
                    raise NameRefusedError("The modification time is out of range.", field="modified_at")
                os.utime(self._file, (modified_at, modified_at))
            os.fsync(self._file)
            folder = open_folder(self._root, folders, create=make_folders)
            try:
                if os.path.samestat(os.fstat(folder), os.fstat(self._folder)):
                    raise NameRefusedError(field="name")  # a link or mount leads to the staging folder
                if undo is not None and (not replace or self._keep_former(last, folder)):
                    undo.callback(self._take_back, folders, last)
                self._rename(last, folder, replace=replace)
                os.fsync(folder)
            finally:
                os.close(folder)
            return os.fstat(self._file)

    def _keep_former(self, last: str, folder: int) -> bool:
        """Give the file to be replaced a second name until this part is closed; return whether it can be restored.

        It cannot be restored on file systems without hard links, where a crash could lose a file that was moved away.
        """
        try:
            os.link(last, self._former, src_dir_fd=folder, dst_dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            return False
        return True

    def _take_back(self, folders: Sequence[str], last: str) -> None:
        """Undo `place`, unless another file has the name by now."""
        with typed_errors():
            folder = open_folder(self._root, folders)
            try:
                if self.is_placed and not has_name(os.fstat(self._file), last, folder):
                    return
                try:
                    os.replace(self._former, last, src_dir_fd=self._folder, dst_dir_fd=folder)
                except FileNotFoundError:
                    if self.is_placed:
                        os.unlink(last, dir_fd=folder)
                os.fsync(folder)
            finally:
                os.close(folder)

    def forget_former(self) -> None:
        """Remove the second name of the file that was replaced."""
        with suppress(OSError):
            os.unlink(self._former, dir_fd=self._folder)

    @property
    def _former(self) -> str:
        return f"{self.token}.former.part"

    def _rename(self, last: str, folder: int, *, replace: bool) -> None:
        if replace:
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise NameTakenError
        elif link_new(self._name, self._folder, last, folder):
            self.is_placed = True
            os.unlink(self._name, dir_fd=self._folder)
            return
        os.replace(self._name, last, src_dir_fd=self._folder, dst_dir_fd=folder)
        self.is_placed = True


@dataclass(frozen=True, slots=True)
class Staging:
    """The staging folder of a folder of originals."""

    originals: Path

    @contextmanager
    def receive(self, *, most_bytes: int, expected_length: int | None = None, keep: bool = False) -> Iterator[Part]:
        """Make a new, empty part; it is deleted at the end of the block unless it was placed.

        Args:
            most_bytes: the largest file allowed.
            expected_length: the announced length in bytes, if any.
            keep: leave the part for `resume` if the block ends without an exception.

        Raises:
            TooLargeError: the announced length exceeds `most_bytes`.
            StorageFullError: the announced length exceeds the free space.
            StorageReadOnlyError: the folder of originals cannot be written to.
        """
        if expected_length is not None and expected_length > most_bytes:
            raise TooLargeError
        name = secrets.token_hex(16) + (_KEPT if keep else _UNKEPT)
        with self._folder(create=True) as folder:
            with typed_errors():
                if expected_length is not None:
                    free = os.fstatvfs(folder)
                    if expected_length > free.f_bavail * free.f_frsize:
                        raise StorageFullError
                file = os.open(name, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
            with _locked(file):
                part = Part(self.originals, folder, name, file, expected_length, most_bytes, _hash=_new_hash())
                try:
                    yield part
                except BaseException:
                    keep = False
                    raise
                finally:
                    part.forget_former()
                    if not keep and not part.is_placed:
                        with suppress(OSError):
                            os.unlink(name, dir_fd=folder)

    @contextmanager
    def resume(self, token: str, *, most_bytes: int, expected_length: int | None = None) -> Iterator[Part]:
        """Open a resumable part of the size that it has on the disk; it stays after the block.

        Raises:
            PartMissingError: there is none.
            PartLockedError: another request writes to it.
        """
        with self._folder(create=False) as folder:
            name = _kept_name(token)
            try:
                file = os.open(name, _FLAGS, dir_fd=folder)
            except OSError:
                raise PartMissingError from None
            with _locked(file):
                status = os.fstat(file)
                if status.st_nlink != 1 or not has_name(status, name, folder):
                    raise PartMissingError  # by now it is an original, which must not change
                size = status.st_size
                part = Part(self.originals, folder, name, file, expected_length, most_bytes, size)
                yield part

    def path_of(self, token: str) -> Path:
        """Return the path of the bytes of a resumable part.

        Raises:
            PartMissingError: the token is not valid.
        """
        return self.originals / STAGING_FOLDER / _kept_name(token)

    def size_of(self, token: str) -> int:
        """Return the number of bytes of a resumable part.

        Raises:
            PartMissingError: there is none.
        """
        with self._folder(create=False) as folder:
            try:
                size = os.stat(_kept_name(token), dir_fd=folder, follow_symlinks=False).st_size
            except OSError:
                raise PartMissingError from None
            return size

    def delete(self, token: str) -> None:
        """Delete a resumable part, if it exists, even while another request writes to it."""
        missing = suppress(PartMissingError)
        with missing, self._folder(create=False) as folder, typed_errors(), suppress(FileNotFoundError):
            os.unlink(_kept_name(token), dir_fd=folder)

    def sweep(self, now: datetime, known: Callable[[Sequence[str]], Collection[str]] | None = None) -> int:
        """Delete the parts that no process has written to for long, and return their number.

        Args:
            known: returns which tokens of resumable parts are still needed; by default all are.
        """
        deleted = 0
        with suppress(PartMissingError), self._folder(create=False) as folder:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries]
            tokens = [name.partition(".")[0] for name in names if not name.endswith(_UNKEPT)]
            needed = set(tokens if known is None else known(tokens))
            for name in names:
                longest = KEPT_SECONDS if name.partition(".")[0] in needed else UNKNOWN_SECONDS
                longest = ABANDONED_SECONDS if name.endswith(_UNKEPT) else longest
                with suppress(OSError, PartLockedError):
                    file = os.open(name, _FLAGS, dir_fd=folder)
                    with _locked(file):
                        # Programs can set the modification time, but not the time of the last change.
                        if now.timestamp() - os.fstat(file).st_ctime > longest:
                            os.unlink(name, dir_fd=folder)
                            deleted += 1
        return deleted

    @contextmanager
    def _folder(self, *, create: bool) -> Iterator[int]:
        """Open the staging folder, which only the service may read, and yield its descriptor."""
        try:
            folder = open_folder(self.originals, [STAGING_FOLDER], create=False)
        except OSError:
            if not create:
                raise PartMissingError from None
            if not self.originals.is_dir():
                raise StorageFailedError from None  # the disk is not mounted
            with typed_errors():
                folder = open_folder(self.originals, [STAGING_FOLDER], create=True)
                os.fchmod(folder, 0o700)
        try:
            yield folder
        finally:
            os.close(folder)


def _kept_name(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise PartMissingError
    return token + _KEPT


@contextmanager
def _locked(file: int) -> Iterator[None]:
    """Lock an open part for the block, or raise `PartLockedError`; close it at the end."""
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PartLockedError from None
        yield
    finally:
        os.close(file)


def require_writable(settings: Settings) -> None:
    """Check that originals may be replaced, moved, deleted and restored.

    Raises:
        ReadOnlyError: they are read-only.
    """
    if settings.readonly:
        raise ReadOnlyError


def add_original(settings: Settings, part: Part, name: str, undo: ExitStack) -> None:
    """Give a whole part a name that no original has, durably.

    Args:
        name: on disk, relative to the originals.
        undo: gets a function that makes it a part again, to call if the rest of the change fails.

    Raises:
        IncompleteError: the part is shorter than announced.
        NameRefusedError: no file can have this name.
        NameTakenError: there is a file or folder of this name.
        PhotosvcError: the disk refuses the file, or fails; the part stays.
    """
    part.place(name, replace=False)
    undo.callback(originals.rename, settings.originals, name, f"{STAGING_FOLDER}/{part.path.name}")
