"""Originals, opened read-only and only if they are unchanged since they were indexed."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from io import BufferedReader, FileIO
from pathlib import Path
from typing import BinaryIO, Final

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.files import is_as_known, open_inside

#: Errors of files that are gone or reached by a link. Other errors, of system, disk or permissions, may pass.
_CHANGED: Final = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG))


class OriginalChangedError(PhotosvcError):
    """The file has changed since it was indexed; an index run is due."""

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
    """Path relative to the root, as the library writes it."""
    hash: str
    size: int
    """Bytes."""
    mtime_ns: int
    width: int = 0
    """Pixels, upright; 0 when unknown."""
    height: int = 0
    turn: int = 1
    """Exif orientation that the library applies on top of the file's own; `width` and `height` count after it."""


@contextmanager
def open_original(original: Original) -> Iterator[BinaryIO]:
    """Open the file for reading, and check at the end of the block that it has not changed meanwhile.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time has changed, also during the block.
        OriginalUnreadableError: no descriptor is left, the disk does not answer, or permission is denied.
    """
    raw = open_unbuffered(original)
    with BufferedReader(raw) as file:
        yield file
        if not is_unchanged(raw, original):
            raise OriginalChangedError


def open_unbuffered(original: Original) -> FileIO:
    """Open the file for reading without a buffer; the caller closes it.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time has changed.
        OriginalUnreadableError: no descriptor is left, the disk does not answer, or permission is denied.
    """
    return FileIO(descriptor_of(original))


def is_unchanged(file: FileIO, original: Original) -> bool:
    """Return whether an open file has the size and time that the library knows."""
    return is_as_known(os.fstat(file.fileno()), original.size, original.mtime_ns)


def descriptor_of(original: Original) -> int:
    """Return a descriptor of the file to read from; the caller closes it.

    The checks look at the open file, not at its name, so that no other file can be read instead.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time has changed.
        OriginalUnreadableError: no descriptor is left, the disk does not answer, or permission is denied.
    """
    try:
        descriptor = open_inside(original.root, original.name)
    except NotFoundError:
        raise OriginalChangedError from None
    except OSError as error:
        raise (OriginalChangedError if error.errno in _CHANGED else OriginalUnreadableError) from None
    if not is_as_known(os.fstat(descriptor), original.size, original.mtime_ns):
        os.close(descriptor)
        raise OriginalChangedError
    return descriptor
