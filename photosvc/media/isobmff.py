"""Boxes of the ISO base media format (ISO/IEC 14496-12 section 4.2), and the metadata in them.

HEIC and AVIF have metadata items (ISO/IEC 23008-12 annex A, ISO/IEC 14496-12 section 8.11), JPEG 2000 and JPEG XL have
metadata boxes (XMP part 3 section 1.1.4, ISO/IEC 18181-2), and CR3 has a box with TIFF structures.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from photosvc.media.metadata import MAX_BLOCK, Packets
from photosvc.media.slices import read_at

MAX_BOXES: Final = 1000
# The box within `moov` that holds Canon's TIFF structures: the main, Exif and GPS directories.
_CANON: Final = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_MAX_PART: Final = 1 << 20
_MAX_META: Final = 1 << 22
_MAX_ITEMS: Final = 10_000
_MAX_EXTENTS: Final = 32
_XMP: Final = b"application/rdf+xml"
_JP2_EXIF: Final = b"JpgTiffExif->JP2"
#: Parts of the file, as (offset, length) pairs; a length of 0 goes to the end.
Extents = list[tuple[int, int]]


def boxes(source: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield type, start of content and end of each box between two offsets; a damaged box may end beyond `end`."""
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
    """Return whether every top-level box ends within a file of `size` bytes: in a truncated file the last does not."""
    return all(end <= size for _, _, end in boxes(source, 0, size))


def boxes_within(source: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the boxes between two offsets; none ends beyond the second."""
    yield from ((kind, begin, min(stop, end)) for kind, begin, stop in boxes(source, start, end))


def inner_boxes(source: BinaryIO, wanted: bytes, skipped: int = 0) -> Iterator[tuple[bytes, int, int]]:
    """Yield the boxes in the first top-level box of a type, behind its first `skipped` bytes; none ends beyond it."""
    size = source.seek(0, 2)
    for kind, begin, end in boxes_within(source, 0, size):
        if kind == wanted:
            yield from boxes_within(source, begin + skipped, end)
            return


def canon_parts(source: BinaryIO) -> dict[bytes, bytes]:
    """Return the TIFF structures `CMT1` (main), `CMT2` (Exif) and `CMT4` (GPS) of a CR3."""
    parts: dict[bytes, bytes] = {}
    for kind, begin, end in inner_boxes(source, b"moov"):
        if kind == b"uuid" and read_at(source, begin, 16) == _CANON:
            for name, start, stop in boxes_within(source, begin + 16, end):
                parts[name] = read_at(source, start, min(stop - start, _MAX_PART))
    return parts


#: The extended type of boxes that contain XMP.
XMP_BOX: Final = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")


def read_heif(source: BinaryIO) -> Packets:
    """Return the first Exif item and the first XMP item."""
    parts = {kind: (begin, end) for kind, begin, end in inner_boxes(source, b"meta", 4)}
    kinds = _kinds(source, *parts[b"iinf"]) if b"iinf" in parts else {}
    places = _places(_body(source, parts.get(b"iloc")), parts.get(b"idat", (0, 0))[0])
    items = {kind: _content(source, places[item]) for item, kind in reversed(kinds.items()) if item in places}
    return Packets(exif=_tiff_of(items.get("exif", b"")), xmp=items.get("xmp", b""))


def _tiff_of(block: bytes) -> bytes:
    """Return the TIFF structure in an item or box, which begins with the number of bytes before the structure."""
    start = 4 + int.from_bytes(block[:4], "big")
    return block[start:] if len(block) > start else block[4:]


def read_jp2(source: BinaryIO) -> Packets:
    """Return Exif and XMP from their boxes."""
    bodies: dict[bytes, bytes] = {}
    for kind, begin, end in boxes(source, 0, source.seek(0, 2)):
        if kind == b"uuid":
            body = _body(source, (begin, end))
            bodies.setdefault(body[:16], body[16:])
    return Packets(exif=bodies.get(_JP2_EXIF, b""), xmp=bodies.get(XMP_BOX, b""))


def read_jxl(source: BinaryIO) -> Packets:
    """Return Exif and XMP from their boxes; a bare codestream has none."""
    bodies: dict[bytes, bytes] = {}
    for kind, begin, end in boxes(source, 0, source.seek(0, 2)):
        if kind in (b"Exif", b"xml "):
            bodies.setdefault(kind, _body(source, (begin, end)))
    return Packets(exif=_tiff_of(bodies.get(b"Exif", b"")), xmp=bodies.get(b"xml ", b""))


def _body(source: BinaryIO, part: tuple[int, int] | None) -> bytes:
    begin, end = part or (0, 0)
    return read_at(source, begin, min(end - begin, _MAX_META))


def _kinds(source: BinaryIO, begin: int, end: int) -> dict[int, str]:
    """Return the Exif and XMP items: number -> `exif` or `xmp` (ISO/IEC 14496-12 section 8.11.6)."""
    body = _body(source, (begin, end))
    position = 6 if body[:1] == b"\0" else 8
    kinds = {}
    for _ in range(_MAX_ITEMS):
        size = int.from_bytes(body[position : position + 4], "big")
        entry = body[position + 8 : position + size]
        position += size
        if size < 20 or not entry:
            break
        wide = entry[0] >= 3  # the version, which also decides the length of the number
        kind = entry[10:14] if wide else entry[8:12]
        number = int.from_bytes(entry[4:8] if wide else entry[4:6], "big")
        if kind == b"Exif":
            kinds[number] = "exif"
        elif kind == b"mime" and _XMP in entry[12:256]:
            kinds[number] = "xmp"
    return kinds


def _places(body: bytes, data: int) -> dict[int, Extents]:
    """Return the places of all items: number -> extents (ISO/IEC 14496-12 section 8.11.3).

    Args:
        body: the item location box without its header.
        data: offset of the item data box, to which some items are relative.
    """
    version = body[0] if body else 0
    numbers = _Numbers(body, 4)
    sizes = numbers.read(2)
    offset_size, length_size, base_size, index_size = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    wide = 4 if version == 2 else 2
    places: dict[int, Extents] = {}
    for _ in range(min(numbers.read(wide), _MAX_ITEMS)):
        item = numbers.read(wide)
        method = numbers.read(2) & 15 if version else 0
        numbers.read(2)  # number of the file that holds the item: always this one
        base = numbers.read(base_size)
        extents = []
        for _ in range(min(numbers.read(2), _MAX_EXTENTS)):
            numbers.read(index_size if version else 0)
            offset, length = numbers.read(offset_size), numbers.read(length_size)
            extents.append((base + offset + (data if method == 1 else 0), length))
        if numbers.ended:
            break
        if method in (0, 1):
            places[item] = extents
    return places


def clean_aperture(source: BinaryIO, size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Return the box to cut out of the main item of this size (ISO/IEC 14496-12 section 12.1.4); None for all of it."""
    return next((_aperture(body, size) for body in main_properties(source, b"clap")), None)


def main_properties(source: BinaryIO, wanted: bytes) -> Iterator[bytes]:
    """Yield the bodies of the properties of the main item that have this type (ISO/IEC 23008-12 section 9.3)."""
    parts = {kind: (begin, end) for kind, begin, end in inner_boxes(source, b"meta", 4)}
    inner = {kind: (begin, end) for kind, begin, end in boxes_within(source, *parts.get(b"iprp", (0, 0)))}
    main = _body(source, parts.get(b"pitm"))
    number = int.from_bytes(main[4:6] if main[:1] == b"\0" else main[4:8], "big")
    properties = list(boxes_within(source, *inner.get(b"ipco", (0, 0))))
    for place in _associated(_body(source, inner.get(b"ipma")), number):
        if 0 < place <= len(properties) and properties[place - 1][0] == wanted:
            yield _body(source, properties[place - 1][1:])


def _associated(body: bytes, number: int) -> list[int]:
    """Return the places of the properties of an item (ISO/IEC 23008-12 section 9.3.1), counted from 1."""
    wide_item, wide_place = 4 if body[:1] != b"\0" else 2, 2 if body[3:4] and body[3] & 1 else 1
    numbers = _Numbers(body, 4)
    for _ in range(min(numbers.read(4), _MAX_ITEMS)):
        item = numbers.read(wide_item)
        places = [numbers.read(wide_place) & (0x7FFF if wide_place == 2 else 0x7F) for _ in range(numbers.read(1))]
        if item == number or numbers.ended:
            return places
    return []


def _aperture(body: bytes, size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    numbers = [int.from_bytes(body[at : at + 4], "big", signed=True) for at in range(0, 32, 4)]
    if len(body) < 32 or not all(numbers[1::2]):
        return None
    wide, high, right, down = (above / below for above, below in zip(numbers[::2], numbers[1::2], strict=True))
    left, top = (size[0] - wide) / 2 + right, (size[1] - high) / 2 + down
    box = round(left), round(top), round(left + wide), round(top + high)
    is_part = 0 <= box[0] < box[2] <= size[0] and 0 <= box[1] < box[3] <= size[1]
    return box if is_part and box != (0, 0, *size) else None


class _Numbers:
    """Big-endian numbers one after the other; 0 beyond the end."""

    def __init__(self, body: bytes, position: int) -> None:
        self._body = body
        self._position = position

    def read(self, size: int) -> int:
        value = int.from_bytes(self._body[self._position : self._position + size], "big")
        self._position += size
        return value

    @property
    def ended(self) -> bool:
        return self._position > len(self._body)


def _content(source: BinaryIO, extents: Extents) -> bytes:
    content = bytearray()
    for offset, length in extents:
        content += read_at(source, offset, min(length or MAX_BLOCK, MAX_BLOCK - len(content)))
    return bytes(content)
