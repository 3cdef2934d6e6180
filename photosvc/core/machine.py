"""The machine: its processors, its memory, and locks shared by its processes."""

import ctypes
import errno
import fcntl
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from photosvc.core.errors import ConflictError

#: Available bytes of a process without a limit: the default of the setting `index_memory`.
_UNLIMITED: Final = 2 << 30
#: Most characters of names to keep and read, because the file may hold anything.
_LONGEST = 4096


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def address_space() -> int:
    """Return the number of bytes that this process has mapped."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError):  # not Linux: picture decoders with their libraries map less than this
        return 1 << 30
    return pages * resource.getpagesize()


def available_memory() -> int:
    """Return the number of bytes that this process can still map before it reaches its limit; workers have one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _UNLIMITED if limit == resource.RLIM_INFINITY else max(0, limit - address_space())


def give_back() -> None:
    """Give freed memory back to the system; the C library keeps all that is not at the end of an arena."""
    with suppress(AttributeError, OSError, TypeError):  # the C library is not glibc
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Leave the present objects out of garbage collection inside the block: modules and compiled SQL stay anyway.

    Objects that the program has frozen itself stay frozen.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def exclusive_lock(path: Path, refusal: str, name: str = "") -> Iterator[list[str]]:
    """Hold the lock file `path`; the kernel releases it when the process ends, even after a crash.

    The block gets the name of the previous holder, then the names of holders before it that were killed, the latest
    first: it can clear up after all of them, also after one whose successor was killed before it had done so. On a
    full disk no new name is stored.

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
    """Locks on single bytes of one file, one byte for each key; the kernel releases them when a process dies.

    Threads of one process do not exclude each other: the caller must do that. If the file cannot be made, as on a full
    or read-only disk, processes do not exclude each other either.

    Args:
        path: the file, the same for all processes; made on first use.
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
    """Return the number of the byte for a key, which begins with 12 hexadecimal digits."""
    return int(key[:12], 16)
