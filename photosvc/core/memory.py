"""How much memory this process may still use, and how often it looks for garbage."""

import gc
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

#: For a process without a limit: the default of the setting `index_memory`.
_UNLIMITED: Final = 2 << 30


def address_space() -> int:
    """Bytes that this process has mapped."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError):  # not Linux: picture decoders with their libraries map less than this
        return 1 << 30
    return pages * resource.getpagesize()


def available_memory() -> int:
    """Bytes that this process can still map before it reaches its limit, as workers have one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _UNLIMITED if limit == resource.RLIM_INFINITY else max(0, limit - address_space())


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Leave the objects that exist now out of garbage collection: each one would look at modules and compiled SQL.

    A program that has frozen its objects itself keeps them so.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
