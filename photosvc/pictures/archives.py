"""Zip archives of originals, written while they are sent: stored, not compressed, in bounded memory.

The length is not known in advance: a file that changed or vanished since it was selected is left out or cut, and the
last entry of the archive lists it.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from io import FileIO
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from photosvc.core.paths import clamped_time
from photosvc.pictures.originals import (
    Original,
    OriginalChangedError,
    OriginalUnreadableError,
    UniqueNames,
    descriptor_of,
)

#: Name of the entry that lists missing files.
NOTE: Final = "NOT INCLUDED.txt"
_HEADING: Final = (
    "These files are missing from the archive, or incomplete, because they changed, vanished or cannot be read:\n\n"
)
_CHUNK: Final = 256 << 10
#: Small files are sent together, in pieces of at least this many bytes.
_PIECE: Final = 64 << 10
#: The years that the format can express.
_YEARS: Final = range(1980, 2108)


@dataclass(frozen=True, slots=True)
class Entry:
    """An original and its name in the archive; `stream_zip` makes the name safe and unique."""

    name: str
    original: Original
    modified: datetime
    """Wall time, shown by programs that unpack the archive."""


def stream_zip(entries: Iterable[Entry | None]) -> Iterator[bytes]:
    """Yield the archive in pieces of about 64 to 320 KiB.

    Args:
        entries: in the order of the archive; None stands for a selected file whose name the caller may no longer read.
    """
    sink = _Sink()
    names = UniqueNames()
    missing: list[str] = []
    unnamed = 0
    with ZipFile(sink, "w", ZIP_STORED) as archive:
        for entry in entries:
            if entry is None:
                unnamed += 1
            else:
                yield from _add(archive, sink, entry, names, missing)
        if unnamed:
            missing.append(f"({unnamed} that are no longer in the library, or that you may no longer see)")
        if missing:
            archive.writestr(ZipInfo(names.take(NOTE)), _HEADING + "\n".join(missing) + "\n")
    yield sink.take()


def _add(archive: ZipFile, sink: "_Sink", entry: Entry, names: UniqueNames, missing: list[str]) -> Iterator[bytes]:
    original = entry.original
    try:
        with FileIO(descriptor_of(original)) as file:
            name = names.take(entry.name)
            left = original.size
            with archive.open(_info(name, left, entry.modified), "w") as target:
                # Read no more than the size in the database, so that a growing file does not lengthen the archive.
                while left and (chunk := file.read(min(_CHUNK, left))):
                    left -= len(chunk)
                    target.write(chunk)
                    if sink.size >= _PIECE:
                        yield sink.take()
            if left:
                missing.append(f"{name} (cut)")
            elif clamped_time(os.fstat(file.fileno())) != original.mtime_ns:
                missing.append(f"{name} (changed while it was read)")
    except (OriginalChangedError, OriginalUnreadableError, OSError):
        missing.append(original.name)


def _info(name: str, size: int, modified: datetime) -> ZipInfo:
    info = ZipInfo(name, modified.timetuple()[:6] if modified.year in _YEARS else (1980, 1, 1, 0, 0, 0))
    info.file_size = size  # ZipFile uses the 64-bit form if this size needs it
    info.external_attr = 0o644 << 16
    return info


class _Sink:
    """The output of `ZipFile`, which keeps bytes until they are taken and cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0
        """Bytes kept."""

    def write(self, data: bytes, /) -> int:
        """Keep bytes."""
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing, as no bytes are buffered elsewhere."""

    def close(self) -> None:
        """Do nothing, as no file is open."""

    def take(self) -> bytes:
        """Return the bytes since the last call."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return taken
