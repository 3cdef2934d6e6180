"""The video inside a motion photo (Motion Photo format 1.0; MicroVideo; Samsung trailers; `mpvd` boxes of HEIC)."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from photosvc.media.containers import read_jpeg
from photosvc.media.decode import guarded
from photosvc.media.errors import DecodeError, has_extra
from photosvc.media.isobmff import boxes
from photosvc.media.slices import Slice, open_slices
from photosvc.media.video import duration_of, open_video
from photosvc.media.xmp_tree import attribute, parse_packet, properties, tag

_MAX_ITEMS: Final = 64
_MAX_DIRECTORY: Final = 4096
#: Type of the video in the directory of a Samsung trailer, and the name before its bytes.
_SAMSUNG_VIDEO: Final = 0x0A30
_LEAST: Final = 16


def find_embedded(source: BinaryIO, size: int) -> Slice | None:
    """Find the MP4 of a motion photo in a JPEG, HEIC or AVIF of `size` bytes; None when there is none."""
    source.seek(0)
    head = source.read(12)
    if head.startswith(b"\xff\xd8"):
        candidates = [*_by_xmp(read_jpeg(source).xmp, size), *_by_trailer(source, 0, size)]
    elif head[4:8] == b"ftyp":
        candidates = list(_in_boxes(source, size))
    else:
        return None
    return next((part for part in candidates if _is_mp4(source, part, size)), None)


def embedded_duration(source: BinaryIO, size: int) -> int | None:
    """Return the duration in nanoseconds of the video in a motion photo, 0 when unknown; None for a plain picture.

    Data that av cannot open do not count as a video; without av, the `ftyp` box at their beginning decides.
    """
    part = find_embedded(source, size)
    if part is None:
        return None
    if not has_extra("video"):
        return 0
    try:
        with guarded(), open_video(open_slices(source, [part])) as (container, stream):
            return duration_of(container, stream)
    except DecodeError:
        return None


def _is_mp4(source: BinaryIO, part: Slice, size: int) -> bool:
    if not 0 < part.start < part.stop <= size or part.stop - part.start < _LEAST:
        return False
    source.seek(part.start + 4)
    return source.read(4) == b"ftyp"


def _in_boxes(source: BinaryIO, size: int) -> Iterator[Slice]:
    for kind, begin, end in boxes(source, 0, size):
        if kind == b"mpvd":
            yield Slice(begin, min(end, size))
        elif kind == b"sefd":
            yield from _by_trailer(source, begin, min(end, size))


def _by_xmp(packet: bytes, size: int) -> Iterator[Slice]:
    root = parse_packet(packet) if b"MotionPhoto" in packet or b"MicroVideo" in packet else None
    if root is None:
        return
    after = 0  # bytes from the beginning of the current item to the end of the file
    elements = list(root.iter(tag("Container:Item")))[:_MAX_ITEMS]
    for element in reversed(elements):
        length, padding = (_number(attribute(element, f"Item:{name}")) for name in ("Length", "Padding"))
        after += length + padding
        if attribute(element, "Item:Semantic") == "MotionPhoto":
            start = size - after
            yield Slice(start, start + length)
            break
    offset = _number("".join(properties(root).get("GCamera:MicroVideoOffset", ())[:1]))
    if offset:
        yield Slice(size - offset, size)


def _by_trailer(source: BinaryIO, start: int, stop: int) -> Iterator[Slice]:
    """Yield the video that the directory at the end of a Samsung trailer points at."""
    if stop - start < 24:
        return
    source.seek(stop - 8)
    tail = source.read(8)
    length = int.from_bytes(tail[:4], "little")
    begin = stop - 8 - length
    if tail[4:] != b"SEFT" or length > _MAX_DIRECTORY or begin < start:
        return
    source.seek(begin)
    directory = source.read(length)
    if not directory.startswith(b"SEFH"):
        return
    count = min(int.from_bytes(directory[8:12], "little"), (length - 12) // 12)
    for at in range(12, 12 + 12 * count, 12):
        kind = int.from_bytes(directory[at + 2 : at + 4], "little")
        back, total = (int.from_bytes(directory[at + i : at + i + 4], "little") for i in (4, 8))
        if kind == _SAMSUNG_VIDEO and start <= begin - back:
            source.seek(begin - back + 4)
            name = int.from_bytes(source.read(4), "little")
            yield Slice(begin - back + 8 + name, begin - back + total)


def _number(written: str) -> int:
    return int(written) if written.isascii() and written.isdigit() and len(written) <= 12 else 0
