"""Boxes of files in the ISO base media format (ISO/IEC 14496-12 section 4.2): HEIC and CR3."""

from collections.abc import Iterator
from typing import BinaryIO, Final

MAX_BOXES: Final = 1000
# The box within `moov` that holds Canon's TIFF structures: the main, Exif and GPS directories.
_CANON: Final = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_MAX_PART: Final = 1 << 20


def boxes(source: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Type, start of content and end of each box between two offsets; the end of a damaged box may exceed `end`."""
    for _ in range(MAX_BOXES):
        if start + 8 > end:
            return
        source.seek(start)
        head = source.read(16)
        size, begin = int.from_bytes(head[:4], "big"), start + 8
        if size == 1:
            size, begin = int.from_bytes(head[8:16], "big"), start + 16
        elif size == 0:  # the box extends to the end of the file
            size = end - start
        if size < begin - start:
            return
        yield head[4:8], begin, start + size
        start += size


def is_whole(source: BinaryIO, size: int) -> bool:
    """Whether every top-level box ends within a file of `size` bytes; in a truncated file the last one does not."""
    return all(end <= size for _, _, end in boxes(source, 0, size))


def canon_parts(source: BinaryIO, size: int) -> dict[bytes, bytes]:
    """The TIFF structures `CMT1` (main), `CMT2` (Exif) and `CMT4` (GPS) of a CR3."""
    parts: dict[bytes, bytes] = {}
    for kind, begin, end in boxes(source, 0, size):
        if kind != b"moov":
            continue
        for inner, inner_begin, inner_end in boxes(source, begin, min(end, size)):
            source.seek(inner_begin)
            if inner == b"uuid" and source.read(16) == _CANON:
                for name, start, stop in boxes(source, inner_begin + 16, min(inner_end, size)):
                    source.seek(start)
                    parts[name] = source.read(max(0, min(stop - start, _MAX_PART)))
        break
    return parts
