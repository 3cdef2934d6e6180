"""A part: the bytes of a file while it is being received, until it gets its name among the originals.

The errors tell why bytes cannot be stored there, and which names files may have.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from photosvc.core.errors import ConflictError, InvalidValueError, NeverPermittedError, PhotosvcError
from photosvc.core.paths import clean_name, open_folder
from photosvc.index.scan import MAX_DEPTH, STAGING_FOLDER, is_too_long

#: Errors of file systems without hard links.
NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_LONGEST_PART: Final = 255
_PIECE: Final = 1 << 20
#: Times that every file system stores, in seconds since 1970.
_FIRST_TIME, _LAST_TIME = -(1 << 31), 1 << 33


class ReadOnlyError(NeverPermittedError):
    """The originals of this service are read-only (PHOTOSVC_READONLY)."""


class TooLargeError(PhotosvcError):
    """The file is larger than allowed."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class IncompleteError(PhotosvcError):
    """The length of the file is not the announced one."""

    status = HTTPStatus.BAD_REQUEST


class NameRefusedError(InvalidValueError):
    """No file can be stored under this name."""


class NameTakenError(ConflictError):
    """A file or folder of this name exists already."""


class ParentMissingError(ConflictError):
    """The folder around the file does not exist, or is no folder."""


class PartLockedError(PhotosvcError):
    """Another request is writing to this upload."""

    status = HTTPStatus.LOCKED


class PartMissingError(PhotosvcError):
    """There is no such upload."""

    status = HTTPStatus.NOT_FOUND


class StorageFullError(PhotosvcError):
    """There is no space left for the file."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


class StorageReadOnlyError(NeverPermittedError):
    """The folder of originals cannot be written to."""


class StorageFailedError(PhotosvcError):
    """The disk of the originals is missing or does not respond; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 30


_BY_NUMBER: Final[dict[int, type[PhotosvcError]]] = {
    errno.ENOSPC: StorageFullError,
    errno.EDQUOT: StorageFullError,
    errno.EFBIG: TooLargeError,
    errno.EROFS: StorageReadOnlyError,
    errno.EACCES: StorageReadOnlyError,
    errno.EPERM: StorageReadOnlyError,
    errno.ENAMETOOLONG: NameRefusedError,
    errno.EILSEQ: NameRefusedError,
    errno.EINVAL: NameRefusedError,
    errno.EEXIST: NameTakenError,
    errno.EISDIR: NameTakenError,
    errno.ENOTEMPTY: NameTakenError,
    errno.ENOENT: ParentMissingError,
    errno.ENOTDIR: ParentMissingError,
    errno.ELOOP: ParentMissingError,
}


@contextmanager
def typed_errors() -> Iterator[None]:
    """Turn errors of the operating system within the block into those of this module."""
    try:
        yield
    except OSError as error:
        raise _BY_NUMBER.get(error.errno or errno.EIO, StorageFailedError) from error


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


def new_hash() -> "hashlib._Hash":
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
    """None for bytes that another process received: it is computed when needed."""
    is_placed: bool = False

    @property
    def path(self) -> Path:
        """Return the path of the bytes, for readers of the content."""
        return self._root / STAGING_FOLDER / self._name

    @property
    def token(self) -> str:
        """Return the token by which `Staging.resume` finds a kept part."""
        return self._name.partition(".")[0]

    @property
    def hash(self) -> str:
        """Return the hash of all bytes so far, in lower-case hexadecimal digits, as the library writes it."""
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
            replace: true if a file of this name is replaced; the change is atomic either way.
            modified_at: its modification time in seconds since 1970; by default that of the last byte.
            make_folders: make the folders around it that do not exist.
            undo: gets a function to call, while the part is open, if the rest of the change fails: the file then has no
                name again, and the file that it replaced has its own.

        Raises:
            IncompleteError: it is shorter than announced.
            NameRefusedError: no file can have this name.
            NameTakenError: there is a file of this name and `replace` is false, or something that is no file.
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
                    raise NameRefusedError(field="name")  # the staging folder by another name
                if undo is not None and (not replace or self._keep_former(last, folder)):
                    undo.callback(self._take_back, folders, last)
                self._rename(last, folder, replace=replace)
                os.fsync(folder)
            finally:
                os.close(folder)
            return os.fstat(self._file)

    def _keep_former(self, last: str, folder: int) -> bool:
        """Give the file to be replaced a second name until this part is closed; return whether it can be brought back.

        It cannot on file systems without hard links: a file without its name could be lost in a crash.
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
        """Undo `place`, unless the name is that of another file by now."""
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


def link_new(name: str, folder: int, target: str, inner: int) -> bool:
    """Give a file a second name that no file has; where there are no hard links, only reserve it, and return false.

    At worst the empty file that reserves it stays, which is never indexed.
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
