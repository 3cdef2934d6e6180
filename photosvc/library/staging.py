"""The staging folder of a folder of originals, the parts in it, and the addition of whole ones to the originals.

Nothing is replaced.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from photosvc.core.paths import open_folder
from photosvc.index.scan import STAGING_FOLDER
from photosvc.library import disk
from photosvc.library.staging_part import (
    Part,
    PartLockedError,
    PartMissingError,
    ReadOnlyError,
    StorageFailedError,
    StorageFullError,
    TooLargeError,
    has_name,
    new_hash,
    typed_errors,
)
from photosvc.settings import Settings

#: Parts that no process writes to are deleted after these seconds, and kept parts after the longer time.
ABANDONED_SECONDS: Final = 3600
KEPT_SECONDS: Final = 14 * 86_400
#: The same for kept parts that no row of the database names: those of requests that were killed, or still go on.
UNKNOWN_SECONDS: Final = 86_400
_TOKEN: Final = re.compile("[0-9a-f]{32}")
_KEPT, _UNKEPT = ".kept", ".part"
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Staging:
    """The staging folder of a folder of originals."""

    originals: Path

    @contextmanager
    def receive(self, *, most_bytes: int, expected_length: int | None = None, keep: bool = False) -> Iterator[Part]:
        """Make a new, empty part; it is deleted at the end of the block unless it was placed.

        Args:
            most_bytes: the largest file allowed.
            expected_length: the announced length, when there is one.
            keep: leave the part for `resume` when the block ends without an exception.

        Raises:
            TooLargeError: the announced length is more than allowed.
            StorageFullError: it is more than the free space.
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
                given = (self.originals, folder, name, file, expected_length, most_bytes)
                part = Part(*given, _hash=new_hash())  # computed while the file is written
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
        """Open a kept part, to append to or to place; its size is that on the disk. It stays after the block.

        Raises:
            PartMissingError: there is none.
            PartLockedError: another request has it.
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
                    raise PartMissingError  # it is an original by now: never write to it
                size = status.st_size
                part = Part(self.originals, folder, name, file, expected_length, most_bytes, size)
                yield part

    def path_of(self, token: str) -> Path:
        """Return the path of the bytes of a kept part, for readers of its content.

        Raises:
            PartMissingError: the token has another form.
        """
        return self.originals / STAGING_FOLDER / _kept_name(token)

    def size_of(self, token: str) -> int:
        """Return the number of bytes of a kept part.

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
        """Delete a kept part, if it exists, also while another request writes to it."""
        missing = suppress(PartMissingError)
        with missing, self._folder(create=False) as folder, typed_errors(), suppress(FileNotFoundError):
            os.unlink(_kept_name(token), dir_fd=folder)

    def sweep(self, now: datetime, known: Callable[[Sequence[str]], Collection[str]] | None = None) -> int:
        """Delete the parts that no process has written to for long, and return their number.

        Args:
            known: returns the tokens, of some tokens of kept parts, that are still needed; without it all of them are.
        """
        deleted = 0
        with suppress(PartMissingError), self._folder(create=False) as folder:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries]
            kept = [name.partition(".")[0] for name in names if not name.endswith(_UNKEPT)]
            waited = set(kept if known is None else known(kept))
            for name in names:
                longest = KEPT_SECONDS if name.partition(".")[0] in waited else UNKNOWN_SECONDS
                longest = ABANDONED_SECONDS if name.endswith(_UNKEPT) else longest
                with suppress(OSError, PartLockedError):
                    file = os.open(name, _FLAGS, dir_fd=folder)
                    with _locked(file):
                        # Programs cannot set this time, unlike the modification time.
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
    """Hold the lock of an open part, unless another request has it, and close the part at the end."""
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
        undo: gets a function to call if the rest of the change fails: the part then waits as before.

    Raises:
        IncompleteError: the part is shorter than announced.
        NameRefusedError: no file can have this name.
        NameTakenError: there is a file or folder of this name.
        PhotosvcError: the disk refuses the file, or fails; the part waits.
    """
    part.place(name, replace=False)
    undo.callback(disk.rename, settings.originals, name, f"{STAGING_FOLDER}/{part.path.name}")
