"""Boxes of ISO media files (ISO/IEC 14496-12 section 4.2): HEIC, CR3, MP4."""

from collections.abc import Iterator
from typing import BinaryIO, Final

MAX_BOXES: Final = 1000
# Canon's metadata within `moov`: TIFF structures for the main, Exif and GPS directories.
_CANON: Final = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_MAX_PART: Final = 1 << 20


def boxes(source: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Type, start of content and end of each box between two places; a box may claim to end beyond `end`."""
    for _ in range(MAX_BOXES):
        if start + 8 > end:
            return
        source.seek(start)
        head = source.read(16)
        size, begin = int.from_bytes(head[:4], "big"), start + 8
        if size == 1:
            size, begin = int.from_bytes(head[8:16], "big"), start + 16
        elif size == 0:  # up to the end of the file
            size = end - start
        if size < begin - start:
            return
        yield head[4:8], begin, start + size
        start += size


def is_whole(source: BinaryIO, size: int) -> bool:
    """Whether every top-level box ends within a file of `size` bytes: a cut file's last box does not."""
    return all(end <= size for _, _, end in boxes(source, 0, size))


def canon_parts(source: BinaryIO, size: int) -> dict[bytes, bytes]:
    """The TIFF structures `CMT1` (main), `CMT2` (Exif) and `CMT4` (GPS) of a CR3."""
    parts: dict[bytes, bytes] = {}
    for kind, begin, end in boxes(source, 0, size):
        if kind != b"moov":
            continue
        for inner, place, stop in boxes(source, begin, min(end, size)):
            source.seek(place)
            if inner == b"uuid" and source.read(16) == _CANON:
                for name, at, until in boxes(source, place + 16, min(stop, size)):
                    source.seek(at)
                    parts[name] = source.read(max(0, min(until - at, _MAX_PART)))
        break
    return parts
