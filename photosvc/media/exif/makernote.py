"""MakerNotes: serial number and lens where makers keep them outside of Exif.

Each maker has its own layout; the tag numbers are common knowledge, as documented by ExifTool's tag tables and others.
"""

from dataclasses import dataclass
from io import BytesIO
from typing import Final

from photosvc.media.exif.tiff import Directory, TiffReader, open_tiff
from photosvc.media.metadata.cameras import lens_name, lens_of_range
from photosvc.media.metadata.text import clean

_NIKON: Final = b"Nikon\0\x02"
_PANASONIC: Final = b"Panasonic\0\0\0"
_OLYMPUS: Final = (b"OLYMPUS\0", b"OM SYSTEM\0")
_EQUIPMENT: Final = 0x2010


@dataclass(frozen=True, slots=True)
class MakerNote:
    """What a MakerNote adds to Exif."""

    serial: str = ""
    lens: str = ""


def read_makernote(reader: TiffReader, note: bytes, place: int, make: str) -> MakerNote:
    """The note of a camera of that make; empty for makes whose notes tell nothing we need.

    Args:
        reader: of the Exif structure that holds the note.
        note: its bytes.
        place: its offset in the structure.
        make: cleaned name of the maker.

    """
    if make == "Canon":
        entries = reader.directory(place)
        serial = entries.integer(0x000C)
        return MakerNote(str(serial) if serial else "", lens_name(entries.data(0x0095)))
    if note.startswith(_NIKON):
        return _nikon(note)
    if note.startswith(_PANASONIC):
        entries = reader.directory(place + len(_PANASONIC))
        return MakerNote("", lens_name(entries.data(0x0051)))
    if note.startswith(_OLYMPUS):
        return _olympus(note)
    return MakerNote()


def _nikon(note: bytes) -> MakerNote:
    """Nikon wraps a whole TIFF structure of its own."""
    opened = open_tiff(BytesIO(note), 10)
    if opened is None:
        return MakerNote()
    _, entries = opened
    return MakerNote(clean(entries.data(0x001D)), lens_of_range(entries.numbers(0x0084)))


def _olympus(note: bytes) -> MakerNote:
    """Olympus counts offsets from the start of the note; body and lens are in the equipment directory."""
    start = 16 if note.startswith(_OLYMPUS[1]) else 12
    reader = TiffReader(BytesIO(note), 0, "<" if note[start - 4 : start - 2] == b"II" else ">")
    equipment: Directory = reader.directory(reader.directory(start).integer(_EQUIPMENT))
    return MakerNote(clean(equipment.data(0x0101)), lens_name(equipment.data(0x0203)))
