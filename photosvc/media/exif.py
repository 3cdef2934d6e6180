"""The Exif of pictures and camera raws in the units of `Metadata` (CIPA DC-008, Exif 2.32).

MakerNotes complete it: they hold serial number and lens of cameras that do not store them in Exif tags, and the
identifiers that files of one Live Photo or burst share. Each maker has a layout of its own; the tag numbers are facts
documented by ExifTool's tag tables and others.
"""

import re
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any, BinaryIO, Final

from photosvc.media import text
from photosvc.media.iptc import IPTC_RESOURCE, resource
from photosvc.media.isobmff import canon_parts
from photosvc.media.metadata import (
    Metadata,
    WrittenDate,
    lens_name,
    lens_of_range,
    make_name,
    model_name,
    read_date,
    valid_altitude,
    valid_f_number,
    valid_focal_length,
    valid_iso,
    valid_position,
    valid_rating,
)
from photosvc.media.text import (
    LATITUDE,
    LONGITUDE,
    clean,
    clean_text,
    decimal_degrees,
    parse_date,
    parse_degrees,
    parse_offset,
)
from photosvc.media.tiff import Directory, TiffReader, open_tiff
from photosvc.records import limits

# Tags of a date, its sub-seconds and its offset: when the photo was taken or, without that date, digitized.
_TAKEN: Final = ((0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012))
_MODIFIED: Final = (0x0132, 0x9290, 0x9010)
_LAT_REF, _LAT, _LNG_REF, _LNG, _ALT_REF, _ALT, _TIME, _STATUS, _DATE = 1, 2, 3, 4, 5, 6, 7, 9, 29
_APPLE: Final = b"Apple iOS\0"
_NIKON: Final = b"Nikon\0\x02"
_PANASONIC: Final = b"Panasonic\0\0\0"
_OLYMPUS: Final = (b"OLYMPUS\0", b"OM SYSTEM\0")
#: Most bytes between the directory of a MakerNote and its first value.
_GAP: Final = 8
#: Bits of the type of a lens in a Nikon note, and how Nikon writes them behind the aperture; of D, G and E the first.
_NIKON_LETTERS: Final = ((6, "E"), (2, "G"), (1, "D"))
_NIKON_STABILIZED: Final = 3
#: What a Nikon note says of a lens -> its name. A name is here if no other lens, nor one of another maker, is known to
#: say the same: the note has no name, and only an encrypted number tells such lenses apart.
_NIKON_LENSES: Final = {
    "10.5mm f/2.8G": "AF DX Fisheye-NIKKOR 10.5mm f/2.8G ED",
    "16-35mm f/4G VR": "AF-S NIKKOR 16-35mm f/4G ED VR",
    "16-80mm f/2.8-4E VR": "AF-S DX NIKKOR 16-80mm f/2.8-4E ED VR",
    "16-85mm f/3.5-5.6G VR": "AF-S DX NIKKOR 16-85mm f/3.5-5.6G ED VR",
    "17-55mm f/2.8G": "AF-S DX Zoom-NIKKOR 17-55mm f/2.8G IF-ED",
    "18-70mm f/3.5-4.5G": "AF-S DX Zoom-NIKKOR 18-70mm f/3.5-4.5G IF-ED",
    "18-105mm f/3.5-5.6G VR": "AF-S DX NIKKOR 18-105mm f/3.5-5.6G ED VR",
    "18-135mm f/3.5-5.6G": "AF-S DX Zoom-NIKKOR 18-135mm f/3.5-5.6G IF-ED",
    "18-140mm f/3.5-5.6G VR": "AF-S DX NIKKOR 18-140mm f/3.5-5.6G ED VR",
    "18-300mm f/3.5-5.6G VR": "AF-S DX NIKKOR 18-300mm f/3.5-5.6G ED VR",
    "24-85mm f/3.5-4.5G VR": "AF-S NIKKOR 24-85mm f/3.5-4.5G ED VR",
    "24-120mm f/3.5-5.6G VR": "AF-S VR Zoom-NIKKOR 24-120mm f/3.5-5.6G IF-ED",
    "24-120mm f/4G VR": "AF-S NIKKOR 24-120mm f/4G ED VR",
    "28-300mm f/3.5-5.6G VR": "AF-S NIKKOR 28-300mm f/3.5-5.6G ED VR",
    "40mm f/2.8G": "AF-S DX Micro NIKKOR 40mm f/2.8G",
    "50mm f/1.8D": "AF NIKKOR 50mm f/1.8D",
    "55-300mm f/4.5-5.6G VR": "AF-S DX NIKKOR 55-300mm f/4.5-5.6G ED VR",
    "58mm f/1.4G": "AF-S NIKKOR 58mm f/1.4G",
    "60mm f/2.8G": "AF-S Micro NIKKOR 60mm f/2.8G ED",
    "70-200mm f/4G VR": "AF-S NIKKOR 70-200mm f/4G ED VR",
    "70-300mm f/4.5-5.6G VR": "AF-S VR Zoom-NIKKOR 70-300mm f/4.5-5.6G IF-ED",
    "80-400mm f/4.5-5.6G VR": "AF-S NIKKOR 80-400mm f/4.5-5.6G ED VR",
    "85mm f/3.5G VR": "AF-S DX Micro NIKKOR 85mm f/3.5G ED VR",
    "200-500mm f/5.6E VR": "AF-S NIKKOR 200-500mm f/5.6E ED VR",
}
#: A lens that the Exif tag for its name describes by numbers alone, as cameras of Nikon do: `18.0-105.0 mm f/3.5-5.6`.
_NUMBERS_ALONE: Final = re.compile(r"[\d.-]{1,20} ?mm(?: f/[\d.-]{1,20})?", re.ASCII)
_MAX_THUMBNAIL: Final = 1 << 19
_MAKER_NOTE: Final = 0x927C
MAX_HEAD: Final = 1 << 17
#: Tag of the JPEG in an RW2, whose first segment is Exif of its own.
JPEG_OF_PANASONIC: Final = 0x002E


def _date(exif: Directory, date: int, subseconds: int, offset: int) -> WrittenDate:
    parsed = read_date(clean(exif.data(date)), subseconds=clean(exif.data(subseconds), 9))
    east = parse_offset(clean(exif.data(offset)))
    return parsed if east is None or parsed.local is None else parsed._replace(offset=east)


def iso(exif: Directory) -> int:
    """Return the sensitivity; 0 when unknown."""
    value = exif.integer(0x8827)
    if value in (0, 65535):  # other tags hold the values that do not fit 16 bits
        value = exif.integer(0x8832) or exif.integer(0x8831) or exif.integer(0x8833)
    return valid_iso(value)


def f_number(exif: Directory) -> float:
    """Return the aperture by FNumber or else by its APEX value (Exif annex C: N = 2^(Av/2)); 0.0 when unknown."""
    value = exif.number(0x829D) or 0.0
    apex = exif.number(0x9202)
    if not value and apex is not None and 0 < apex < 20:
        value = 2.0 ** (apex / 2)
    return valid_f_number(value)


def exposure(fraction: tuple[int, int] | None) -> str:
    """Return the shutter time in seconds, in the usual notation: `1/160`, `2.5`, `0.4`; empty when unknown."""
    if fraction is None or fraction[0] <= 0 or fraction[1] <= 0:
        return ""
    seconds = fraction[0] / fraction[1]
    if not 1e-7 < seconds < 1e6:
        return ""
    denominator = round(1 / seconds)
    # Below a quarter of a second, rounding to a whole denominator is as exact as shutters are.
    if seconds < 0.25 or (seconds < 1 and abs(1 / seconds - denominator) < 0.02):
        return f"1/{denominator}"
    return f"{round(seconds, 1):.1f}".removesuffix(".0")


def utf16(written: bytes) -> str:
    """Return the text of a tag that Windows Explorer writes (UTF-16, little endian)."""
    return written[: limits.TEXT * 4].decode("utf-16-le", "ignore")


def user_comment(written: bytes) -> str:
    """Return the text of UserComment, which begins with eight bytes of character code."""
    code, body = written[:8], written[8 : 8 + limits.TEXT * 4]
    if code == b"UNICODE\0":
        # Nothing states the byte order; the zero bytes of ASCII text show it.
        order = "utf-16-be" if body[:1] == b"\0" else "utf-16-le"
        return clean_text(body.decode(order, "ignore"))
    if code in (b"ASCII\0\0\0", b"\0\0\0\0\0\0\0\0"):
        value = clean_text(body)
        return value if clean(value, limits.TEXT).isprintable() else ""
    return ""


def altitude(gps: Directory) -> int:
    """Return the altitude in metres above sea level, negative below; 0 when unknown."""
    metres = gps.number(_ALT) or 0.0
    below = gps.data(_ALT_REF)[:1] == b"\x01"
    return valid_altitude(-metres if below else metres)


def gps_moment(gps: Directory) -> datetime | None:
    """Return the UTC time of the GPS receiver; None unless both date and time are written."""
    day, _ = parse_date(gps.data(_DATE).partition(b"\0")[0].decode("ascii", "replace"))
    parts = gps.numbers(_TIME)
    if day is None or len(parts) != 3:
        return None
    hours, minutes, seconds = (part if part is not None else -1.0 for part in parts)
    if not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 61):
        return None
    return day.replace(tzinfo=UTC) + timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _degrees(gps: Directory, tag: int, ref: int, axis: str) -> float | None:
    side = clean(gps.data(ref), 8)
    if written := gps.data(tag):  # a text, which Exif does not allow
        return parse_degrees(clean(written, 64), side, axis)
    return decimal_degrees(gps.numbers(tag)[:3], side, axis)


@dataclass(frozen=True, slots=True)
class MakerNote:
    """Values of a MakerNote that Exif lacks."""

    serial: str = ""
    lens: str = ""
    content_id: str = ""
    """Shared by the picture and the video of a Live Photo."""
    burst_id: str = ""
    """Shared by the pictures of a burst."""


def read_makernote(reader: TiffReader, note: bytes, offset: int, make: str) -> MakerNote:
    """Read the MakerNote of a camera of this make; empty for makes that are not supported.

    Args:
        reader: reader of the Exif structure that holds the note.
        note: its bytes.
        offset: where it begins in the structure.
        make: cleaned name of the maker.
    """
    if make == "Canon":
        entries = _entries_of_note(reader, note, offset)
        serial = entries.integer(0x000C)
        return MakerNote(str(serial) if serial else "", lens_name(entries.data(0x0095)))
    if note.startswith(_APPLE):  # its offsets count from its start; the byte order stands before the directory
        entries = TiffReader(BytesIO(note), 0, "<" if note[12:14] == b"II" else ">").directory(14)
        return MakerNote(content_id=clean(entries.data(0x0011), 64), burst_id=clean(entries.data(0x000B), 64))
    if note.startswith(_NIKON):  # it contains a TIFF structure of its own
        _, entries = open_tiff(BytesIO(note), 10) or (None, Directory())
        return MakerNote(clean(entries.data(0x001D)), _nikon_lens(entries))
    if note.startswith(_PANASONIC):
        entries = _entries_of_note(reader, note, offset, len(_PANASONIC))
        return MakerNote("", lens_name(entries.data(0x0051)))
    if note.startswith(_OLYMPUS):
        return _olympus(note)
    return MakerNote()


def _entries_of_note(reader: TiffReader, note: bytes, offset: int, skipped: int = 0) -> Directory:
    """Read the directory of a note whose offsets count from the start of the Exif structure.

    A program that rewrote the structure may have moved the note without changing the offsets in it. Canon states the
    former place of a note at its end; in other notes, the first value is taken to follow the directory.

    Args:
        skipped: bytes of the note before its directory.
    """
    entries = reader.directory(offset + skipped)
    table = offset + skipped + 2
    count = int.from_bytes(note[skipped : skipped + 2], "big" if reader.order == ">" else "little")
    places = set(entries.offsets.values()).difference(range(table + 8, table + 12 * count, 12))
    behind = table + 12 * count + 4 - offset

    def fits(origin: int) -> bool:
        return all(origin + behind - 4 <= place < origin + len(note) for place in places)

    origin = offset
    if note[-8:-4] in (b"II*\0", b"MM\0*"):
        origin = int.from_bytes(note[-4:], "big" if note[-8:-4] == b"MM\0*" else "little")
    if not (fits(origin) and min(places, default=0) <= origin + behind + _GAP):
        origin = offset if fits(offset) else min(places) - behind
    if origin == offset or origin <= 0 or not fits(origin):
        return entries
    return TiffReader(BytesIO(note), -origin, reader.order).directory(origin + skipped)


def _nikon_lens(entries: Directory) -> str:
    """Return the name of a lens, or else what the note says of it: `18-55mm f/3.5-5.6G VR`."""
    described = lens_of_range(entries.numbers(0x0084))
    if " f/" not in described:
        return described
    kind = int.from_bytes(entries.data(0x0083)[:1], "big")
    described += next((letter for bit, letter in _NIKON_LETTERS if kind >> bit & 1), "")
    described += " VR" if kind >> _NIKON_STABILIZED & 1 else ""
    return _NIKON_LENSES.get(described, described)


def _olympus(note: bytes) -> MakerNote:
    """Read body and lens from the equipment directory of an Olympus note, whose offsets count from its start."""
    start = 16 if note.startswith(_OLYMPUS[1]) else 12
    reader = TiffReader(BytesIO(note), 0, "<" if note[start - 4 : start - 2] == b"II" else ">")
    equipment = reader.directory(reader.directory(start).integer(0x2010))
    return MakerNote(clean(equipment.data(0x0101)), lens_name(equipment.data(0x0203)))


@dataclass(frozen=True, slots=True)
class Exif:
    """The Exif of one picture."""

    metadata: Metadata = Metadata()
    orientation: int = 1
    says_orientation: bool = False
    """True if the file states the orientation, False if it is the default."""
    thumbnail: bytes = b""
    """The embedded JPEG preview, empty when there is none."""
    preview_head: bytes = b""
    """The beginning of the JPEG in an RW2: its Exif has values that the raw lacks, such as lens and position."""
    xmp: bytes = b""
    """The XMP packet in the TIFF structure."""
    iptc: bytes = b""
    """The IPTC records in the TIFF structure."""
    size: tuple[int, int] = (0, 0)
    """Width and height as stored, of the largest picture in the TIFF structure."""


def read_exif(block: bytes) -> Exif:
    r"""Read an Exif block as pictures contain it, with or without its `Exif\0\0` mark; empty when it is not Exif."""
    return read_exif_file(BytesIO(block), 6 if block.startswith(b"Exif\0\0") else 0)


def read_exif_file(source: BinaryIO, base: int = 0) -> Exif:
    """Read the Exif of the TIFF structure at `base` of a file (TIFF, DNG, most camera raws); empty without one."""
    opened = open_tiff(source, base)
    if opened is None:
        return Exif()
    reader, image = opened
    exif = reader.directory(image.integer(0x8769)).completed(image)
    gps = reader.directory(image.integer(0x8825))
    note = MakerNote()
    if written := exif.data(_MAKER_NOTE):
        note = read_makernote(reader, written, exif.offsets[_MAKER_NOTE], make_name(image.data(0x010F)))
    return Exif(
        metadata=_metadata(image, exif, gps, note),
        **_orientation(image),
        thumbnail=_thumbnail(reader, image),
        preview_head=_preview_head(reader, image),
        xmp=image.data(0x02BC),
        iptc=_iptc(image),
        size=_size(reader, image),
    )


def read_canon_exif(source: BinaryIO) -> Exif:
    """Read the Exif of a CR3, which stores each directory as a TIFF structure of its own."""
    parts = canon_parts(source)
    main, exif, gps = (open_tiff(BytesIO(parts.get(name, b""))) for name in (b"CMT1", b"CMT2", b"CMT4"))
    image, camera, position = (opened[1] if opened else Directory() for opened in (main, exif, gps))
    return Exif(metadata=_metadata(image, camera.completed(image), position, MakerNote()), **_orientation(image))


def _metadata(image: Directory, exif: Directory, gps: Directory, note: MakerNote) -> Metadata:
    taken = next((date for tags in _TAKEN if (date := _date(exif, *tags)).local is not None), WrittenDate())
    modified = _date(exif, *_MODIFIED)
    lat, lng = valid_position(_degrees(gps, _LAT, _LAT_REF, LATITUDE), _degrees(gps, _LNG, _LNG_REF, LONGITUDE))
    rating, unique_id = image.integer(0x4746), clean(exif.data(0xA420))
    focal_length = exif.number(0xA405) or exif.number(0x920A) or 0.0  # the equivalent for 35 mm, if known
    lens = lens_name(exif.data(0xA434))
    if not lens or (note.lens and _NUMBERS_ALONE.fullmatch(lens)):
        lens = note.lens or lens_of_range(exif.numbers(0xA432))
    # A few cameras write their name into the Exif directory.
    written_make, written_model = (image.data(tag) or exif.data(tag) for tag in (0x010F, 0x0110))
    make = make_name(written_make)
    return Metadata(
        taken_local=taken.local,
        taken_utc=gps_moment(gps),
        utc_offset=taken.offset,
        date_parts=taken.parts,
        modified_local=modified.local,
        modified_offset=modified.offset,
        camera_make=make,
        camera_model=model_name(written_model, make, written_make),
        camera_serial=clean(exif.data(0xA431)) or clean(image.data(0xC62F)) or note.serial,
        lens_make=make_name(exif.data(0xA433)),
        lens_model=lens,
        iso=iso(exif),
        focal_length=valid_focal_length(focal_length),
        f_number=f_number(exif),
        exposure=exposure(exif.fraction(0x829A)),
        lat=lat,
        lng=lng,
        altitude=altitude(gps),
        unfixed=lat is not None and gps.data(_STATUS)[:1] == b"V",  # void
        title=clean(utf16(image.data(0x9C9B)), limits.TITLE),
        description=clean_text(image.data(0x010E)),
        keywords=text.keywords([utf16(image.data(0x9C9E))], split=True),
        subject=clean(utf16(image.data(0x9C9F))),
        artist=clean(image.data(0x013B)) or clean(utf16(image.data(0x9C9D))),
        copyright=clean(image.data(0x8298)),
        notes=user_comment(exif.data(0x9286)) or clean_text(utf16(image.data(0x9C9C))),
        software=clean(image.data(0x0131)),
        rating=max(valid_rating(rating), 0),
        document_id=unique_id if unique_id.strip("0 -") else "",
        content_id=note.content_id,
        burst_id=note.burst_id,
    )


def _orientation(image: Directory) -> dict[str, Any]:
    value = image.integer(0x0112) or int.from_bytes(image.data(0x0112)[:1], "big")  # some scanners write one byte
    return {"orientation": value, "says_orientation": True} if 1 <= value <= 8 else {}


def _iptc(image: Directory) -> bytes:
    """Return the IPTC records, from their own tag or from the Photoshop resources."""
    records = image.data(0x83BB)
    if records[3:4] == b"\x1c" != records[:1]:  # the byte that begins a record: numbers in the other byte order
        whole = len(records) // 4
        return struct.pack(f"<{whole}I", *struct.unpack_from(f">{whole}I", records))
    return records or resource(image.data(0x8649), IPTC_RESOURCE)


def _size(reader: TiffReader, image: Directory) -> tuple[int, int]:
    inner = (reader.directory(int(offset or 0)) for offset in image.numbers(0x014A)[:8])
    sizes = ((directory.integer(0x0100), directory.integer(0x0101)) for directory in (image, *inner))
    return max(sizes, key=lambda size: size[0] * size[1])


def _thumbnail(reader: TiffReader, image: Directory) -> bytes:
    preview = reader.directory(image.following)
    offset, size = preview.integer(0x0201), preview.integer(0x0202)
    data = reader.read(offset, size) if 0 < size <= _MAX_THUMBNAIL and offset > 0 else b""
    return data if data.startswith(b"\xff\xd8") else b""


def _preview_head(reader: TiffReader, image: Directory) -> bytes:
    offset = image.offsets.get(JPEG_OF_PANASONIC)
    data = b"" if offset is None else reader.read(offset, MAX_HEAD)
    return data if data.startswith(b"\xff\xd8") else b""
