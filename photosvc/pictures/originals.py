"""Originals, opened read-only and only if they are unchanged, and the names under which they are downloaded.

The names are valid on every system and unique within an archive.
"""

import errno
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from io import BufferedReader, FileIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.files import is_as_known, open_inside

_LONGEST_NAME: Final = 200
#: Control and direction characters, and characters that Windows does not allow in names.
_UNSAFE: Final = re.compile('[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"*/:<>?\\\\|\ud800-\udfff]')
#: Names of Windows devices, with any extension and with blanks before it.
_RESERVED: Final = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?")
#: Errors of files that are gone or reached by a link. Other errors, of system, disk or permissions, may pass.
_CHANGED: Final = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG))


def download_name(kind: str, *, name: str, original_name: str, title: str, taken_at_local: datetime) -> str:
    """Return the name under which a file of a photo is saved.

    Args:
        kind: `file` for the name in the library, `original` for the name it was imported under, anything else for
            the time and title of the photo: `20240501-120000-At the lake.jpg`.
        name: path of the file in the library.
        original_name: empty when the library does not know it.
        title: title of the photo; may be empty.
        taken_at_local: wall time of the photo.
    """
    path = PurePosixPath(name)
    if kind == "file":
        return safe_name(path.name)
    if kind == "original":
        return safe_name(PurePosixPath(original_name or path.name).name)
    return safe_name("-".join(filter(None, (f"{taken_at_local:%Y%m%d-%H%M%S}", title or path.stem))) + path.suffix)


class UniqueNames:
    """The names of an archive, each used once; names that differ only in case or accents count as equal."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take(self, name: str) -> str:
        """Return the name made safe, with a number before its extension if an equal one was taken before."""
        safe = safe_name(name)
        path, own = PurePosixPath(safe), _folded(safe)
        while (key := _folded(safe)) in self._counts:
            self._counts[own] += 1
            safe = f"{path.stem} ({self._counts[own]}){path.suffix}"
        self._counts[key] = 1
        return safe


def _folded(name: str) -> str:
    """Return the name without case and compatibility forms, as some file systems treat such names as equal."""
    return unicodedata.normalize("NFKD", name).casefold()


def safe_name(name: str) -> str:
    """Return a safe file name of at most 200 bytes: no separators, no control characters, no reserved names."""
    safe = _UNSAFE.sub("_", name).strip(". ") or "file"
    if _RESERVED.fullmatch(safe):
        safe = f"_{safe}"
    stem, dot, extension = safe.rpartition(".")
    if not dot or len(extension) > 20:
        stem, extension = safe, ""
    room = _LONGEST_NAME - len(extension.encode()) - 1
    stem = stem.encode()[:room].decode(errors="ignore")
    return f"{stem}.{extension}" if extension else stem.rstrip(". ")


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
        OriginalChangedError: it is gone, a link leads to it, or its size or time has changed, also at the end.
        OriginalUnreadableError: no descriptor is left, the disk does not answer, or permission is denied.
    """
    raw = open_file(original)
    with BufferedReader(raw) as file:
        yield file
        if not is_unchanged(raw, original):
            raise OriginalChangedError


def open_file(original: Original) -> FileIO:
    """Open the file for reading without a buffer; the caller closes it.

    Raises:
        OriginalChangedError: it is gone, a link leads to it, or its size or time has changed.
        OriginalUnreadableError: no descriptor is left, the disk does not answer, or permission is denied.
    """
    return FileIO(descriptor_of(original))


def is_unchanged(file: FileIO, original: Original) -> bool:
    """Return whether an open file is still as the library knows it."""
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
