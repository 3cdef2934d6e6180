"""The machine: its name, its processors, its memory, and locks and slots shared by its processes."""

import ctypes
import errno
import fcntl
import gc
import hashlib
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final

from photosvc.core.errors import ConflictError

#: Available bytes of a process without a limit: the default of the setting `index_memory`.
_UNLIMITED: Final = 2 << 30
#: The number of the option in malloc.h, and the most arenas.
_ARENA_MAX: Final = -8
_ARENAS: Final = 2
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


def share_arenas() -> None:
    """Let all threads take memory from two arenas of the C library; call it before there are threads.

    By default there are eight for each core, and other threads cannot use the memory that a thread frees in its own.
    """
    if (mallopt := _of_glibc("mallopt")) is not None:
        mallopt(_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Give freed memory back to the system; the C library keeps all that is not at the end of an arena."""
    if (trim := _of_glibc("malloc_trim")) is not None:
        trim(0)


def _of_glibc(name: str) -> Callable[..., object] | None:
    """Return a function of the C library, or None if that is not glibc."""
    try:
        found: Callable[..., object] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return found


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


class Slots:
    """Slots that limit transfers, archives, uploads, long lists and changes: per owner across processes, and in total.

    The slots of a process that dies become free.

    Args:
        path: path of the file with the locks, the same for all processes; made on first use.
        each: slots of one owner, over all processes.
        total: slots of all owners in this process; None for no limit.
    """

    def __init__(self, path: Path, *, each: int, total: int | None = None) -> None:
        self._locks = ByteLocks(path)
        self._each = each
        self._total = total
        self._mutex = Lock()
        self._taken: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Return whether all slots of this process are taken."""
        return self._total is not None and len(self._taken) >= self._total

    def take(self, owner: str) -> Callable[[], None] | None:
        """Take a slot and return the function that frees it, to be called once; None when all are taken."""
        with self._mutex:
            for number in range(0 if self.is_full else self._each):
                key = hashlib.sha256(f"{owner}/{number}".encode()).hexdigest()
                # A lock excludes other processes, the set excludes other threads of this one.
                if key not in self._taken and self._locks.take(key):
                    self._taken.add(key)
                    return partial(self._free, key)
        return None

    def _free(self, key: str) -> None:
        with self._mutex:
            self._taken.remove(key)
            self._locks.release(key)
