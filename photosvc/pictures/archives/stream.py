"""Zip archives of originals, made while they are sent: stored, never compressed, in bounded memory.

The size cannot be promised: a file that changes or vanishes meanwhile is left out or cut, and the archive's last
entry says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from photosvc.pictures.names import UniqueNames
from photosvc.pictures.originals import Original, OriginalChangedError, open_original

#: Name of the entry that lists what is missing.
NOTE: Final = "NOT INCLUDED.txt"

_CHUNK: Final = 256 << 10
#: Zip knows no time before 1980 and none from 2108 on.
_YEARS: Final = range(1980, 2108)


@dataclass(frozen=True, slots=True)
class Entry:
    """An original under the name it shall have in the archive."""

    name: str
    original: Original
    modified: datetime
    """Shown by programs that unpack; wall time."""


def stream_zip(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The archive in pieces of at most some 256 KiB."""
    sink = _Sink()
    names = UniqueNames()
    missing: list[str] = []
    with ZipFile(sink, "w", ZIP_STORED) as archive:
        for entry in entries:
            yield from _add(archive, sink, entry, names, missing)
        if missing:
            text = "These files changed or vanished while the archive was made:\n\n" + "\n".join(missing) + "\n"
            archive.writestr(ZipInfo(names.take(NOTE)), text)
    yield sink.take()


def _add(archive: ZipFile, sink: "_Sink", entry: Entry, names: "UniqueNames", missing: list[str]) -> Iterator[bytes]:
    try:
        with open_original(entry.original) as file:
            name = names.take(entry.name)
            with archive.open(_info(name, entry.modified), "w", force_zip64=True) as target:
                left = entry.original.size
                while left and (chunk := file.read(min(_CHUNK, left))):
                    left -= len(chunk)
                    target.write(chunk)
                    yield sink.take()
            if left:
                missing.append(f"{name} (cut)")
    except (OriginalChangedError, OSError):
        missing.append(entry.original.name)
    if piece := sink.take():
        yield piece


def _info(name: str, modified: datetime) -> ZipInfo:
    info = ZipInfo(name, modified.timetuple()[:6] if modified.year in _YEARS else (1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    return info


class _Sink:
    """What `ZipFile` writes to: it keeps the bytes until they are taken, and cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        """Keep bytes."""
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is buffered elsewhere."""

    def close(self) -> None:
        """Nothing is open."""

    def take(self) -> bytes:
        """The bytes since the last call."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken
