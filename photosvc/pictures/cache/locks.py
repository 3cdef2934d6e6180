"""Temporary files that processes which make derived pictures are writing."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def being_written(path: str) -> Iterator[None]:
    """Make a temporary file, locked until the end of the block: no eviction removes it, even if its time looks old.

    Raises:
        OSError: it cannot be made.

    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        with suppress(OSError):  # a file system without locks: its age decides
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def is_abandoned(path: str) -> bool:
    """Whether no process writes the temporary file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return True
