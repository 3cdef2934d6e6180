"""Originals: opened read-only, through one door, and only as the library knows them."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from io import BufferedReader
from pathlib import Path
from typing import Final

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.paths import clamped_time, open_inside

#: The file is gone, a link leads to it, or the service may not read it. Other errors are of the system or the disk.
_CHANGED: Final = frozenset(
    (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM)
)


class OriginalChangedError(PhotosvcError):
    """The file is no longer as the library knows it; an index run is due."""

    status = HTTPStatus.GONE


class OriginalUnreadableError(PhotosvcError):
    """The file cannot be read at present; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 30


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
    turn: int = 1
    """Exif orientation to apply to the picture as the file shows it, before `width` and `height` are right."""


@contextmanager
def open_original(original: Original) -> Iterator[BufferedReader]:
    """The file, open for reading. It is checked again at the end: what was made of it may be of other bytes.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time is another, also at the end.
        OriginalUnreadableError: the system has no descriptor left, or the disk does not answer.

    """
    with open(descriptor_of(original), "rb") as file:
        yield file
        if not _is_known(os.fstat(file.fileno()), original):
            raise OriginalChangedError


def descriptor_of(original: Original) -> int:
    """A descriptor of the file to read from; the caller closes it.

    What was checked is what is read: the checks look at the open file, not at its name.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time is another.
        OriginalUnreadableError: the system has no descriptor left, or the disk does not answer.

    """
    try:
        descriptor = open_inside(original.root, original.name)
    except NotFoundError:
        raise OriginalChangedError from None
    except OSError as error:
        raise (OriginalChangedError if error.errno in _CHANGED else OriginalUnreadableError) from None
    if not _is_known(os.fstat(descriptor), original):
        os.close(descriptor)
        raise OriginalChangedError
    return descriptor


def _is_known(status: os.stat_result, original: Original) -> bool:
    known = status.st_size == original.size and clamped_time(status) == original.mtime_ns
    return known and stat.S_ISREG(status.st_mode)
