"""Locks between processes, as many as there are keys, in one file."""

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path


class ByteLocks:
    """A byte of one file for each key; the kernel releases them when a process dies.

    Threads of one process do not exclude each other: the caller sees to that. Where the file cannot be made, on a full
    disk or one that is read-only, processes do not exclude each other either.

    Args:
        path: the file, the same for all processes; made on first use.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._process = 0

    def take(self, key: str) -> bool:
        """Lock the key; False when another process has it."""
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
        """Close the file, which releases every lock of the process."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _file(self) -> int:
        # Closing any descriptor of the file would release all locks of the process, so it stays open.
        if self._descriptor is None or self._process != os.getpid():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._process = os.getpid()
        return self._descriptor


def _offset(key: str) -> int:
    """The byte for a key that begins with 12 hexadecimal digits."""
    return int(key[:12], 16)
