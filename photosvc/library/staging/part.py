"""A part: the bytes of a file while it is being received."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from photosvc.core.paths import open_folder
from photosvc.library.staging.errors import (
    NO_LINKS,
    IncompleteError,
    NameRefusedError,
    NameTakenError,
    TooLargeError,
    typed_errors,
)
from photosvc.library.staging.names import STAGING_FOLDER, checked_name

_PIECE: Final = 1 << 20
#: Ending of a file with the size of a kept part before bytes that are not verified yet.
TRIAL: Final = ".trial"
#: Times that every file system stores, in seconds since 1970.
_FIRST_TIME, _LAST_TIME = -(1 << 31), 1 << 33


def new_hash() -> "hashlib._Hash":
    """The hash by which the library knows files."""
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
    """None: of bytes that another process received, and to be computed when needed."""
    is_placed: bool = False

    @property
    def path(self) -> Path:
        """Where the bytes are, for those who look at the content."""
        return self._root / STAGING_FOLDER / self._name

    @property
    def token(self) -> str:
        """What `Staging.resume` finds a kept part by."""
        return self._name.partition(".")[0]

    @property
    def sha1(self) -> str:
        """The SHA-1 of all bytes so far, in lower-case hexadecimal digits, as the library writes it."""
        if self._hash is None:
            self._hash = new_hash()
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
        """Give the file the modification time of the one that it was copied from, where the disk can store it."""
        with suppress(OSError, OverflowError):
            os.utime(self._file, ns=(mtime_ns, mtime_ns))

    def flush(self) -> None:
        """Write the bytes to the disk, so that `place` takes little time within a transaction.

        Raises:
            StorageFullError: the disk is full.
            StorageFailedError: another error of the disk.

        """
        with typed_errors():
            os.fsync(self._file)

    @contextmanager
    def on_trial(self) -> Iterator[None]:
        """Bytes written in this block stay only if it ends without an exception, also when the process is killed."""
        begin, mark = self.size, f"{self.token}{TRIAL}"
        with typed_errors():
            mark_file = os.open(mark, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=self._folder)
            try:
                os.write(mark_file, str(begin).encode())
            finally:
                os.close(mark_file)
        try:
            yield
        except BaseException:
            self.cut(begin)
            raise
        finally:
            os.unlink(mark, dir_fd=self._folder)

    def place(
        self, name: str, *, replace: bool, modified_at: float | None = None, make_folders: bool = True
    ) -> os.stat_result:
        """Give the whole file its name among the originals, durably; gives its status there.

        Args:
            name: on disk, relative to the originals.
            replace: whether a file of this name is replaced; the change is atomic either way.
            modified_at: its modification time in seconds since 1970; by default that of the last byte.
            make_folders: make the folders around it that do not exist.

        Raises:
            IncompleteError: it is shorter than announced.
            NameRefusedError: no file can have this name.
            NameTakenError: there is a file of this name and `replace` is false, or something that is no file.
            ParentMissingError: a folder around it is missing, a link or a file.
            StorageFullError: the disk is full.
            StorageReadOnlyError: the folder cannot be written to.
            StorageFailedError: another error of the disk.

        """
        *folders, last = checked_name(name)
        if self._expected is not None and self.size != self._expected:
            raise IncompleteError
        with typed_errors():
            if modified_at is not None:
                if not _FIRST_TIME <= modified_at <= _LAST_TIME:
                    msg = "The modification time is out of range."
                    raise NameRefusedError(msg, field="modified_at")
                os.utime(self._file, (modified_at, modified_at))
            os.fsync(self._file)
            folder = open_folder(self._root, folders, create=make_folders)
            try:
                if os.path.samestat(os.fstat(folder), os.fstat(self._folder)):
                    raise NameRefusedError(field="name")  # the staging folder by another name
                self._rename(last, folder, replace=replace)
                os.fsync(folder)
            finally:
                os.close(folder)
            return os.fstat(self._file)

    def _rename(self, last: str, folder: int, *, replace: bool) -> None:
        if not replace:
            try:
                os.link(self._name, last, src_dir_fd=self._folder, dst_dir_fd=folder, follow_symlinks=False)
            except OSError as error:
                if error.errno not in NO_LINKS:
                    raise
                # At worst an empty file stays, which is never indexed.
                os.close(os.open(last, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder))
            else:
                self.is_placed = True
                os.unlink(self._name, dir_fd=self._folder)
                return
        else:
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise NameTakenError
        os.replace(self._name, last, src_dir_fd=self._folder, dst_dir_fd=folder)
        self.is_placed = True
