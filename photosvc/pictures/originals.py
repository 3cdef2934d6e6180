"""Originals: opened read-only, through one door, and only as the library knows them."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from io import BufferedReader
from pathlib import Path

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.paths import clamped_time, open_inside


class OriginalChangedError(PhotosvcError):
    """The file is no longer as the library knows it; an index run is due."""

    status = HTTPStatus.GONE


@dataclass(frozen=True, slots=True)
class Original:
    """A file of the library."""

    root: Path
    """The folder of originals."""
    name: str
    """Relative to the root, as the library writes it."""
    hash: str
    size: int
    """Bytes."""
    mtime_ns: int
    width: int = 0
    """Pixels, upright; 0 when unknown."""
    height: int = 0


@contextmanager
def open_original(original: Original) -> Iterator[BufferedReader]:
    """The file, open for reading.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time is another.

    """
    with open(descriptor_of(original), "rb") as file:
        yield file


def descriptor_of(original: Original) -> int:
    """A descriptor of the file to read from; the caller closes it.

    What was checked is what is read: the checks look at the open file, not at its name.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time is another.

    """
    try:
        descriptor = open_inside(original.root, original.name)
    except (NotFoundError, OSError):
        raise OriginalChangedError from None
    status = os.fstat(descriptor)
    known = status.st_size == original.size and clamped_time(status) == original.mtime_ns
    if not (stat.S_ISREG(status.st_mode) and known):
        os.close(descriptor)
        raise OriginalChangedError
    return descriptor
