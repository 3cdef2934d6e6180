"""Camera raws: opened by LibRaw as their embedded preview or else developed at half size, and read without it.

Metadata and previews of raws with a container of their own, and the preview of a raw that LibRaw does not know, are
found without LibRaw: in TIFF directories (TIFF/EP, DNG), in Minolta MRW, Sigma X3F, Canon CRW and Fuji RAF. The layouts
are documented by ExifTool's tag tables, by Canon's CIFF specification 1.0 and by the X3F specification of Foveon.
"""

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, BinaryIO, Final, Literal

from PIL import Image

from photosvc.core.machine import available_memory
from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError, PictureTooLargeError, load_extra
from photosvc.media.exif import JPEG_OF_PANASONIC, MAX_HEAD, Exif, exposure, read_exif_file
from photosvc.media.metadata import (
    Metadata,
    lens_name,
    make_name,
    model_name,
    valid_f_number,
    valid_focal_length,
    valid_iso,
)
from photosvc.media.slices import Slice, read_at
from photosvc.media.text import clean, is_plausible
from photosvc.media.tiff import Directory, TiffReader, open_tiff

_MAX_BLOCKS: Final = 64
_MAX_ENTRIES: Final = 512
_MAX_HEAPS: Final = 32
_MAX_RECORD: Final = 1 << 16
_MAX_PROPERTIES: Final = 1 << 18
_TURNED: Final = {90: 6, 180: 3, 270: 8}
_MINOLTA_PREVIEW: Final = (0x0088, 0x0089)
_RAF: Final = b"FUJIFILMCCD-RAW"
_MRW: Final = b"\0MRM"
_X3F: Final = b"FOVb"
_CIFF: Final = b"HEAPCCDR"
_JPEG_OF_X3F: Final = 0x12
# Records of CIFF.
_CAMERA, _FIRMWARE, _SERIAL, _TIME, _SIZE, _EXPOSURE, _ISO = 0x080A, 0x080B, 0x180B, 0x180E, 0x1810, 0x1818, 0x101C
_JPEGS_OF_CIFF: Final = (0x2007, 0x2008)
_SUB_DIRECTORIES: Final = 0x014A
_COMPRESSION, _STRIP_OFFSETS, _STRIP_SIZES = 0x0103, 0x0111, 0x0117
_JPEG_OFFSET, _JPEG_SIZE = 0x0201, 0x0202
_MAX_DIRECTORIES: Final = 8
_MAX_PREVIEW: Final = 64 << 20
#: Frames that every JPEG decoder knows: baseline, extended, progressive. Data of the sensor may be lossless JPEG.
_FRAMES: Final = (0xC0, 0xC1, 0xC2)
#: A preview with a longer side below this is too small to show; the raw is developed instead.
MIN_PREVIEW: Final = 480
#: Bytes of memory that a pixel of the sensor takes while the raw is developed at half size.
_BYTES_EACH: Final = 12


def read_container(source: BinaryIO) -> Exif | None:
    """Return the metadata of a raw with a container of its own, with the head of its preview; None for another file."""
    kind = _kind(source)
    if kind == _MRW:
        found = _read_mrw(source)
    elif kind == _X3F:
        found = _read_x3f(source)
    elif kind == _CIFF:
        found = _read_ciff(source)
    elif kind == _RAF:
        found = Exif()
    else:
        return None
    largest = max(container_previews(source), key=lambda part: part.stop - part.start, default=None)
    head = read_at(source, largest.start, min(largest.stop - largest.start, MAX_HEAD)) if largest else b""
    return replace(found, preview_head=head if head.startswith(b"\xff\xd8") else b"")


def container_previews(source: BinaryIO) -> Iterator[Slice]:
    """Yield the places of JPEG previews in a raw with a container of its own."""
    kind = _kind(source)
    if kind == _RAF:
        start, size = struct.unpack(">II", read_at(source, 84, 8).ljust(8, b"\0"))
        yield Slice(start, start + size)
    elif kind == _MRW:
        yield from _previews_of_mrw(source)
    elif kind == _X3F:
        for name, part in _sections(source):
            if name in (b"IMAG", b"IMA2") and read_at(source, part.start + 12, 4) == struct.pack("<I", _JPEG_OF_X3F):
                yield Slice(part.start + 28, part.stop)
    elif kind == _CIFF:
        records = _records(source)
        yield from (records[tag] for tag in _JPEGS_OF_CIFF if tag in records)


def _kind(source: BinaryIO) -> bytes:
    head = read_at(source, 0, 15)
    if head[6:14] == _CIFF:
        return _CIFF
    return next((kind for kind in (_RAF, _MRW, _X3F) if head.startswith(kind)), b"")


def _blocks(source: BinaryIO) -> dict[bytes, Slice]:
    """Return the blocks at the beginning of an MRW."""
    found: dict[bytes, Slice] = {}
    end, position = 8 + int.from_bytes(read_at(source, 4, 4), "big"), 8
    for _ in range(_MAX_BLOCKS):
        head = read_at(source, position, 8)
        if len(head) < 8 or position >= end:
            break
        size = int.from_bytes(head[4:], "big")
        found.setdefault(head[:4], Slice(position + 8, position + 8 + size))
        position += 8 + size
    return found


def _read_mrw(source: BinaryIO) -> Exif:
    blocks = _blocks(source)
    found = read_exif_file(source, blocks[b"\0TTW"].start) if b"\0TTW" in blocks else Exif()
    sizes = read_at(source, blocks[b"\0PRD"].start + 12, 4) if b"\0PRD" in blocks else b""
    height, width = struct.unpack(">HH", sizes.ljust(4, b"\0"))
    return replace(found, size=(width, height))


def _previews_of_mrw(source: BinaryIO) -> Iterator[Slice]:
    base = _blocks(source).get(b"\0TTW", Slice(0, 0)).start
    opened = open_tiff(source, base) if base else None
    if opened is None:
        return
    reader, image = opened
    note = reader.directory(reader.directory(image.integer(0x8769)).offsets.get(0x927C, 0))
    start, size = (note.integer(tag) for tag in _MINOLTA_PREVIEW)
    if start > 0 and size > 0:
        yield Slice(base + start, base + start + size)


def _sections(source: BinaryIO) -> Iterator[tuple[bytes, Slice]]:
    """Yield type and place of each section of an X3F, whose directory the last four bytes point at."""
    end = source.seek(0, 2)
    place = int.from_bytes(read_at(source, end - 4, 4), "little")
    head = read_at(source, place, 12)
    if not head.startswith(b"SECd"):
        return
    table = read_at(source, place + 12, 12 * min(int.from_bytes(head[8:12], "little"), _MAX_ENTRIES))
    for start, size, name in struct.iter_unpack("<II4s", table[: len(table) // 12 * 12]):
        yield name, Slice(start, start + size)


def _read_x3f(source: BinaryIO) -> Exif:
    columns, rows, turned = struct.unpack("<III", read_at(source, 28, 12).ljust(12, b"\0"))
    said = next((_properties(source, part) for name, part in _sections(source) if name == b"PROP"), {})
    make = make_name(said.get("CAMMANUF", ""))
    focal, aperture, iso = (_positive(said.get(name, "")) for name in ("FLEQ35MM", "APERTURE", "ISO"))
    focal = focal or _positive(said.get("FLENGTH", ""))
    metadata = Metadata(
        taken_local=_wall_time(round(_positive(said.get("TIME", "")))),
        camera_make=make,
        camera_model=model_name(said.get("CAMMODEL", ""), make),
        camera_serial=clean(said.get("CAMSERIAL", "")),
        iso=valid_iso(iso),
        focal_length=valid_focal_length(focal),
        f_number=valid_f_number(aperture),
        exposure=exposure((round(_positive(said.get("EXPTIME", ""))), 1_000_000)),
        lens_model=lens_name(said.get("LENSMODEL", "") if not said.get("LENSMODEL", "").isdigit() else ""),
    )
    return Exif(metadata, _TURNED.get(turned, 1), says_orientation=turned in _TURNED, size=(columns, rows))


def _properties(source: BinaryIO, part: Slice) -> Mapping[str, str]:
    """Return the properties of an X3F: pairs of texts in UTF-16, by their places counted in characters."""
    body = read_at(source, part.start, min(part.stop - part.start, _MAX_PROPERTIES))
    count = min(int.from_bytes(body[8:12], "little"), _MAX_ENTRIES)
    texts = 24 + 8 * count
    if not body.startswith(b"SECp") or len(body) < texts:
        return {}

    def text(at: int) -> str:
        return body[texts + 2 * at :][:512].decode("utf-16-le", "replace").partition("\0")[0]

    return {text(name): text(value) for name, value in struct.iter_unpack("<II", body[24:texts])}


def _records(source: BinaryIO) -> dict[int, Slice]:
    """Return the records of a CRW in all its heaps: tag without the bits of its place -> place of the value."""
    order = _order(source)
    end = source.seek(0, 2)
    heaps = [Slice(int.from_bytes(read_at(source, 2, 4), order), end)]
    found: dict[int, Slice] = {}
    for start, stop in heaps:
        table = start + int.from_bytes(read_at(source, stop - 4, 4), order)
        count = min(int.from_bytes(read_at(source, table, 2), order), _MAX_ENTRIES)
        for at in range(table + 2, table + 2 + 10 * count, 10):
            entry = read_at(source, at, 10)
            tag, size, place = (int.from_bytes(part, order) for part in (entry[:2], entry[2:6], entry[6:]))
            inside = Slice(at + 2, at + 10) if tag & 0xC000 else Slice(start + place, start + place + size)
            if not start <= inside.start <= inside.stop <= end:
                continue
            if tag & 0x3800 in (0x2800, 0x3000) and not tag & 0xC000:
                heaps += [inside] * (len(heaps) < _MAX_HEAPS)
            else:
                found.setdefault(tag & 0x3FFF, inside)
    return found


def _order(source: BinaryIO) -> Literal["big", "little"]:
    return "big" if read_at(source, 0, 2) == b"MM" else "little"


def _read_ciff(source: BinaryIO) -> Exif:
    records, order = _records(source), _order(source)

    def value(tag: int) -> bytes:
        part = records.get(tag, Slice(0, 0))
        return read_at(source, part.start, min(part.stop - part.start, _MAX_RECORD))

    def numbers(tag: int, layout: str) -> tuple[int | float, ...]:
        layout = (">" if order == "big" else "<") + layout
        body = value(tag)[: struct.calcsize(layout)]
        return struct.unpack(layout, body.ljust(struct.calcsize(layout), b"\0"))

    written_make, _, written_model = value(_CAMERA).partition(b"\0")
    make = make_name(written_make)
    width, height, _, turned = numbers(_SIZE, "IIfi")
    _, speed, aperture = numbers(_EXPOSURE, "fff")
    metadata = Metadata(
        taken_local=_wall_time(int(numbers(_TIME, "I")[0])),
        camera_make=make,
        camera_model=model_name(written_model, make, written_make),
        camera_serial=str(numbers(_SERIAL, "I")[0] or ""),
        software=clean(value(_FIRMWARE)),
        iso=valid_iso(numbers(_ISO, "I")[0]),
        f_number=round(2 ** (aperture / 2), 1) if 0 < aperture < 20 else 0.0,
        exposure=exposure((round(2**-speed * 1_000_000), 1_000_000)) if speed and -10 < speed < 20 else "",
    )
    size = int(width), int(height)
    return Exif(metadata, _TURNED.get(int(turned), 1), says_orientation=turned in _TURNED, size=size)


def _positive(written: str) -> float:
    """Return the number of a property; 0.0 when it has none."""
    whole = written.strip()[:32]
    return float(whole) if whole.replace(".", "", 1).isdecimal() and whole.isascii() else 0.0


def _wall_time(seconds: int) -> datetime | None:
    """Return the time of a camera's clock that counts seconds since 1970 without a zone; None when it is unset."""
    if not 0 < seconds < 1 << 32:
        return None
    moment = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    return moment if is_plausible(moment) else None


def find_preview(source: BinaryIO) -> Image.Image | None:
    """Find the embedded JPEG with the most bytes, its pixels not decoded; None when there is none."""
    for offset, size in sorted(_places(source), key=lambda place: -place[1]):
        if offset > 0 and 0 < size <= _MAX_PREVIEW:
            data = read_at(source, offset, size)
            if data[1:3] == b"\xd8\xff":  # Minolta overwrites the first byte
                data = b"\xff" + data[1:]
            if not _is_picture(data):
                continue
            with suppress(OSError, SyntaxError):  # damaged; a smaller one may be intact
                return Image.open(BytesIO(data), formats=("JPEG", "MPO"))
    return None


def _places(source: BinaryIO) -> Iterator[tuple[int, int]]:
    """Yield offset and size of each possible preview."""
    for start, stop in container_previews(source):
        yield start, stop - start
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
        exif = read_container(source) or read_exif_file(source)
        if min(exif.size) >= min(picture.size):
            picture.info["whole_size"] = exif.size[::-1] if exif.orientation >= 5 else exif.size
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
