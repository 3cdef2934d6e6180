"""One process at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from photosvc.core.errors import ConflictError


@contextmanager
def held_alone(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock file `path`; it is let go with its process, however that ends.

    Raises:
        ConflictError: another process holds it; with the sentence `refusal`.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConflictError(refusal) from None
        yield
