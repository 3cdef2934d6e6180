"""Camera raws: LibRaw opens their embedded preview, or else develops them at half size.

The preview of a raw that LibRaw does not know is read without LibRaw, from TIFF directories (TIFF/EP, DNG) or from a
Fuji RAF. ExifTool's tag tables document the layouts.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import Any, BinaryIO, Final

from PIL import Image

from photosvc.core.problems import Reason
from photosvc.core.process import available_memory
from photosvc.media.errors import DecodeError, PictureTooLargeError, load_extra
from photosvc.media.exif import JPEG_OF_PANASONIC, MAX_HEAD, Exif, read_exif_file
from photosvc.media.slices import Slice, read_at
from photosvc.media.tiff import Directory, TiffReader, open_tiff

_RAF: Final = b"FUJIFILMCCD-RAW"
_SUB_DIRECTORIES: Final = 0x014A
_COMPRESSION, _STRIP_OFFSETS, _STRIP_SIZES = 0x0103, 0x0111, 0x0117
_JPEG_OFFSET, _JPEG_SIZE = 0x0201, 0x0202
_ORIENTATION: Final = 0x0112
_MAX_DIRECTORIES: Final = 8
_MAX_PREVIEW: Final = 64 << 20
#: Frames that every JPEG decoder knows: baseline, extended, progressive. Data of the sensor may be lossless JPEG.
_FRAMES: Final = (0xC0, 0xC1, 0xC2)
#: A preview with a longer side below this is too small to show; the raw is developed instead.
MIN_PREVIEW: Final = 480
#: Bytes of memory that a pixel of the sensor takes while the raw is developed at half size.
_BYTES_EACH: Final = 12


def read_raf(source: BinaryIO) -> Exif | None:
    """Return the head of the preview of a Fuji RAF, which holds the metadata; None for another file."""
    place = _preview_of_raf(source)
    if place is None:
        return None
    head = read_at(source, place.start, min(place.stop - place.start, MAX_HEAD))
    return Exif(preview_head=head if head.startswith(b"\xff\xd8") else b"")


def _preview_of_raf(source: BinaryIO) -> Slice | None:
    if read_at(source, 0, len(_RAF)) != _RAF:
        return None
    start, size = struct.unpack(">II", read_at(source, 84, 8).ljust(8, b"\0"))
    return Slice(start, start + size)


def find_preview(source: BinaryIO) -> Image.Image | None:
    """Find the embedded JPEG with the most bytes, its pixels not decoded; None when there is none."""
    for offset, size in sorted(_places(source), key=lambda place: -place[1]):
        if offset > 0 and 0 < size <= _MAX_PREVIEW:
            data = read_at(source, offset, size)
            if not _is_picture(data):
                continue
            with suppress(OSError, SyntaxError):  # damaged; a smaller one may be intact
                return Image.open(BytesIO(data), formats=("JPEG", "MPO"))
    return None


def _places(source: BinaryIO) -> Iterator[tuple[int, int]]:
    """Yield offset and size of each possible preview."""
    if (preview := _preview_of_raf(source)) is not None:
        yield preview.start, preview.stop - preview.start
    opened = open_tiff(source)
    for directory in _directories(*opened) if opened else ():
        yield directory.integer(_JPEG_OFFSET), directory.integer(_JPEG_SIZE)
        if directory.integer(_COMPRESSION) in (6, 7) and len(directory.numbers(_STRIP_OFFSETS)) == 1:
            yield directory.integer(_STRIP_OFFSETS), directory.integer(_STRIP_SIZES)
        if (offset := directory.offsets.get(JPEG_OF_PANASONIC)) is not None:
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
    """Return whether this is a JPEG that can be shown, by its first frame header (ISO/IEC 10918-1 section B.2.2)."""
    place = 2
    while data.startswith(b"\xff\xd8") and place + 4 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return marker in _FRAMES
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return False


@contextmanager
def open_raw(source: BinaryIO, longest: int = 0) -> Iterator[Image.Image]:
    """Open a picture of the raw; the pixels of a JPEG preview are not decoded yet.

    Its `info` contains `whole_size`, the size of the whole upright picture, `upright` if the pixels are upright
    already, and the `exif` of the preview if it has any.

    Args:
        longest: pixels the longer side should have, if a development at half size has as many.

    Raises:
        MissingExtraError: rawpy is not installed, and there is no preview.
        DecodeError: LibRaw cannot read it, and there is no preview.
        PictureTooLargeError: it must be developed, which takes more memory than is available.
    """
    try:
        picture = _by_libraw(source, longest)
    except DecodeError:
        if (shown := find_preview(source)) is None:
            raise
        picture = shown
        exif = read_raf(source) or read_exif_file(source)
        turned = exif.orientation if exif.says_orientation else picture.getexif().get(_ORIENTATION, 1)
        if min(exif.size) >= min(picture.size):
            picture.info["whole_size"] = exif.size[::-1] if turned in range(5, 9) else exif.size
    with picture:
        yield picture


def _by_libraw(source: BinaryIO, longest: int) -> Image.Image:
    rawpy = load_extra("raw")
    source.seek(0)
    try:
        with rawpy.imread(source) as raw:
            sizes = raw.sizes
            width, height = (sizes.height, sizes.width) if sizes.flip in (5, 6) else (sizes.width, sizes.height)
            if not width * height:
                raise DecodeError(Reason.UNDECODABLE_RAW)
            picture = _preview(rawpy, raw, min(longest, max(width, height) // 2)) or _development(raw)
            picture.info["whole_size"] = (width, height)
            return picture
    except rawpy.LibRawError as error:
        raise DecodeError(Reason.UNDECODABLE_RAW) from error


def _preview(rawpy: Any, raw: Any, longest: int) -> Image.Image | None:  # noqa: ANN401
    try:
        thumb = raw.extract_thumb()
    except rawpy.LibRawError:
        return None
    if thumb.format != rawpy.ThumbFormat.JPEG:
        return None
    picture = Image.open(BytesIO(thumb.data), formats=("JPEG", "MPO"))
    return picture if max(picture.size) >= max(MIN_PREVIEW, longest) else None


def _development(raw: Any) -> Image.Image:  # noqa: ANN401
    """Develop the raw at half size, one pixel for each 2x2 block of the sensor: several times faster than full size."""
    memory = _BYTES_EACH * raw.sizes.raw_width * raw.sizes.raw_height
    if memory > available_memory():
        raise PictureTooLargeError(Reason.OVER_MEMORY, memory // 1_000_000)
    pixels = raw.postprocess(half_size=True, use_camera_wb=True, output_bps=8)
    if pixels.ndim != 3:
        raise DecodeError(Reason.RAW_WITHOUT_COLORS)
    picture = Image.fromarray(pixels)
    picture.info["upright"] = True
    return picture
