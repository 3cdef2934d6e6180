"""The JPEG that a camera put into a raw, found without LibRaw: in TIFF directories (TIFF/EP, DNG) and in Fuji's RAF."""

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO, Final

from PIL import Image

from photosvc.media.exif.tiff import Directory, TiffReader, open_tiff

_SUB_DIRECTORIES: Final = 0x014A
_COMPRESSION, _STRIP_OFFSETS, _STRIP_SIZES = 0x0103, 0x0111, 0x0117
_JPEG_OFFSET, _JPEG_SIZE = 0x0201, 0x0202
#: RW2: the whole preview is one value of this tag.
_JPEG_OF_PANASONIC: Final = 0x002E
_MAX_DIRECTORIES: Final = 8
_MAX_PREVIEW: Final = 64 << 20
_RAF: Final = b"FUJIFILMCCD-RAW"
#: Frames that every JPEG decoder knows: baseline, extended, progressive. The sensor's own data may be lossless JPEG.
_FRAMES: Final = (0xC0, 0xC1, 0xC2)


def find_preview(source: BinaryIO) -> Image.Image | None:
    """The embedded JPEG with the most bytes, its pixels not decoded; None when there is none."""
    for offset, size in sorted(_places(source), key=lambda place: -place[1]):
        if offset > 0 and 0 < size <= _MAX_PREVIEW:
            source.seek(offset)
            data = source.read(size)
            if not _is_picture(data):
                continue
            with suppress(OSError, SyntaxError):  # damaged; a smaller one may be intact
                return Image.open(BytesIO(data), formats=("JPEG", "MPO"))
    return None


def _places(source: BinaryIO) -> Iterator[tuple[int, int]]:
    """Offset and bytes of what may be a preview."""
    source.seek(0)
    head = source.read(92)
    if head.startswith(_RAF):
        yield int.from_bytes(head[84:88], "big"), int.from_bytes(head[88:92], "big")
    opened = open_tiff(source)
    for directory in _directories(*opened) if opened else ():
        yield directory.integer(_JPEG_OFFSET), directory.integer(_JPEG_SIZE)
        if directory.integer(_COMPRESSION) in (6, 7) and len(directory.numbers(_STRIP_OFFSETS)) == 1:
            yield directory.integer(_STRIP_OFFSETS), directory.integer(_STRIP_SIZES)
        if _JPEG_OF_PANASONIC in directory.offsets:
            offset = directory.offsets[_JPEG_OF_PANASONIC]
            yield offset, min(source.seek(0, 2) - offset, _MAX_PREVIEW)


def _directories(reader: TiffReader, first: Directory) -> Iterator[Directory]:
    pending = [first]
    for _ in range(_MAX_DIRECTORIES):
        if not pending:
            return
        directory = pending.pop(0)
        yield directory
        pending += [reader.directory(int(offset or 0)) for offset in directory.numbers(_SUB_DIRECTORIES)]
        if directory.following:
            pending.append(reader.directory(directory.following))


def _is_picture(data: bytes) -> bool:
    """Whether this is a JPEG of pixels, by its first frame header (ISO/IEC 10918-1 section B.2.2)."""
    place = 2
    while data.startswith(b"\xff\xd8") and place + 4 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return marker in _FRAMES
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return False
