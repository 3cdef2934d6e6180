"""The present process: its cores, its memory, and its garbage collection."""

import ctypes
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

#: Available bytes of a process without a limit: the default of the setting `index_memory`.
_UNLIMITED: Final = 2 << 30


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def address_space() -> int:
    """Return the number of bytes that this process has mapped."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError):  # not Linux; decoders of pictures with their libraries map less than this
        return 1 << 30
    return pages * resource.getpagesize()


def available_memory() -> int:
    """Return the number of bytes that this process can still map before it reaches its limit; workers have one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _UNLIMITED if limit == resource.RLIM_INFINITY else max(0, limit - address_space())


def release_memory() -> None:
    """Give freed memory back to the system: the C library does so by itself only at the end of an arena."""
    with suppress(AttributeError, OSError, TypeError):  # the C library is not glibc
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Exclude the present objects, most of them modules and compiled SQL, from garbage collection inside the block.

    Objects that the program has frozen before stay frozen.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
