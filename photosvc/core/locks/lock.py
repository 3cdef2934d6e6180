"""A lock file that one process holds at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from photosvc.core.errors import ConflictError


@contextmanager
def exclusive_lock(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock file `path`; the kernel releases it when the process ends, even after a crash.

    Raises:
        ConflictError: another process holds the lock; its message is `refusal`.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConflictError(refusal) from None
        yield
