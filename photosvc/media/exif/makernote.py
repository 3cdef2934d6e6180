"""MakerNotes: serial number and lens of cameras that do not store them in Exif tags, identifiers of Apple's captures.

Each maker has a layout of its own; the tag numbers are facts documented by ExifTool's tag tables and others.
"""

from dataclasses import dataclass
from io import BytesIO
from typing import Final

from photosvc.media.cameras import lens_name, lens_of_range
from photosvc.media.exif.tiff import Directory, TiffReader, open_tiff
from photosvc.media.text import clean

_APPLE: Final = b"Apple iOS\0"
_NIKON: Final = b"Nikon\0\x02"
_PANASONIC: Final = b"Panasonic\0\0\0"
_OLYMPUS: Final = (b"OLYMPUS\0", b"OM SYSTEM\0")
_EQUIPMENT: Final = 0x2010


@dataclass(frozen=True, slots=True)
class MakerNote:
    """The values of a MakerNote that Exif lacks."""

    serial: str = ""
    lens: str = ""
    content_id: str = ""
    """Shared by the picture and the video of a Live Photo."""
    burst_id: str = ""
    """Shared by the pictures of a burst."""


def read_makernote(reader: TiffReader, note: bytes, offset: int, make: str) -> MakerNote:
    """The values in the note of a camera of this make; empty for makes that are not supported.

    Args:
        reader: of the Exif structure that holds the note.
        note: its bytes.
        offset: where it begins in the structure.
        make: cleaned name of the maker.

    """
    if make == "Canon":
        entries = reader.directory(offset)
        serial = entries.integer(0x000C)
        return MakerNote(str(serial) if serial else "", lens_name(entries.data(0x0095)))
    if note.startswith(_APPLE):
        return _apple(note)
    if note.startswith(_NIKON):
        return _nikon(note)
    if note.startswith(_PANASONIC):
        entries = reader.directory(offset + len(_PANASONIC))
        return MakerNote("", lens_name(entries.data(0x0051)))
    if note.startswith(_OLYMPUS):
        return _olympus(note)
    return MakerNote()


def _apple(note: bytes) -> MakerNote:
    """Offsets in an Apple note count from its start; the byte order stands before the directory."""
    entries = TiffReader(BytesIO(note), 0, "<" if note[12:14] == b"II" else ">").directory(14)
    return MakerNote(content_id=clean(entries.data(0x0011), 64), burst_id=clean(entries.data(0x000B), 64))


def _nikon(note: bytes) -> MakerNote:
    """Nikon's note contains a TIFF structure of its own."""
    opened = open_tiff(BytesIO(note), 10)
    if opened is None:
        return MakerNote()
    _, entries = opened
    return MakerNote(clean(entries.data(0x001D)), lens_of_range(entries.numbers(0x0084)))


def _olympus(note: bytes) -> MakerNote:
    """Offsets in an Olympus note count from its start; its equipment directory names body and lens."""
    start = 16 if note.startswith(_OLYMPUS[1]) else 12
    reader = TiffReader(BytesIO(note), 0, "<" if note[start - 4 : start - 2] == b"II" else ">")
    equipment: Directory = reader.directory(reader.directory(start).integer(_EQUIPMENT))
    return MakerNote(clean(equipment.data(0x0101)), lens_name(equipment.data(0x0203)))
