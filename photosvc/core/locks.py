"""Locks that processes of one machine share: lock files, and locks on single bytes of a file."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from photosvc.core.errors import ConflictError

#: The most characters of a lock file that are read and written, because the file may contain anything.
_LONGEST: Final = 4096


@contextmanager
def exclusive_lock(path: Path, refusal: str, name: str = "") -> Iterator[list[str]]:
    """Hold the lock file `path`; the kernel releases it when the process ends, even after a crash.

    The block gets the names of the previous holder and of all killed holders before it, the latest first, so that it
    can clear up after each of them. On a full disk no new name is stored.

    Raises:
        ConflictError: another process holds the lock; its message is `refusal`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with open(descriptor, errors="replace") as file:  # noqa: PTH123 - a mode that neither empties nor appends
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConflictError(refusal) from None
        former = file.read(_LONGEST).split()
        if not name:
            yield former
            return
        _write(descriptor, " ".join([name, *former])[:_LONGEST])
        try:
            yield former
        finally:
            _write(descriptor, name)


def _write(descriptor: int, text: str) -> None:
    with suppress(OSError):
        os.truncate(descriptor, os.pwrite(descriptor, text.encode(), 0))


class ByteLocks:
    """Locks on single bytes of one file, one byte for each key; the kernel releases them when a process ends.

    They exclude other processes, not other threads of the same process. If the file cannot be made, as on a full or
    read-only disk, they exclude nobody.

    Args:
        path: the file, the same for all processes; it is made when it is first needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._process = 0

    def take(self, key: str) -> bool:
        """Lock the key; return False if another process holds it."""
        try:
            file = self._file()
        except OSError:
            return True
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except OSError as error:
            return error.errno not in (errno.EAGAIN, errno.EACCES)
        return True

    def release(self, key: str) -> None:
        """Unlock the key."""
        with suppress(OSError):
            fcntl.lockf(self._file(), fcntl.LOCK_UN, 1, _offset(key))

    def close(self) -> None:
        """Close the file, and so release every lock of the process."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _file(self) -> int:
        # The descriptor stays open, because closing any descriptor of the file releases all locks of the process.
        if self._descriptor is None or self._process != os.getpid():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._process = os.getpid()
        return self._descriptor


def _offset(key: str) -> int:
    """Return the number of the byte for a key, which begins with 12 hexadecimal digits."""
    return int(key[:12], 16)
