"""Exif of pictures and camera raws (CIPA DC-008, Exif 2.32)."""

import struct
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO, Final

from photosvc.media import text
from photosvc.media.cameras import lens_name, lens_of_range, make_name, model_name
from photosvc.media.containers.packets import IPTC_RESOURCE, resource
from photosvc.media.exif import fields
from photosvc.media.exif.makernote import MakerNote, read_makernote
from photosvc.media.exif.tiff import Directory, TiffReader, open_tiff
from photosvc.media.isobmff import canon_parts
from photosvc.media.metadata import Metadata
from photosvc.media.text import clean

_MAX_THUMBNAIL: Final = 1 << 19
_MAKER_NOTE: Final = 0x927C
#: RW2: a JPEG, whose first segment is Exif of its own; this many bytes contain it.
_JPEG_OF_PANASONIC: Final = 0x002E
_MAX_HEAD: Final = 1 << 17
#: The byte that begins each IPTC record.
_RECORD: Final = b"\x1c"


@dataclass(frozen=True, slots=True)
class Exif:
    """The Exif of one picture."""

    metadata: Metadata = Metadata()
    orientation: int = 1
    says_orientation: bool = False
    """Whether the orientation is written, rather than the default."""
    thumbnail: bytes = b""
    """The embedded JPEG preview, empty when there is none."""
    preview_head: bytes = b""
    """The beginning of the JPEG in an RW2: its Exif has what that of the raw lacks, such as lens and position."""
    xmp: bytes = b""
    """The XMP packet in the TIFF structure."""
    iptc: bytes = b""
    """The IPTC records in the TIFF structure."""
    size: tuple[int, int] = (0, 0)
    """Width and height as stored, of the largest picture in the TIFF structure."""


def read_exif(block: bytes) -> Exif:
    r"""The Exif of a block as pictures contain it, with or without its `Exif\0\0` mark; empty when it is not Exif."""
    return read_exif_file(BytesIO(block), 6 if block.startswith(b"Exif\0\0") else 0)


def read_exif_file(source: BinaryIO, base: int = 0) -> Exif:
    """The Exif of the TIFF structure at `base` of a file (TIFF, DNG and most camera raws); empty without one."""
    opened = open_tiff(source, base)
    if opened is None:
        return Exif()
    reader, image = opened
    exif = reader.directory(image.integer(0x8769)).completed(image)
    gps = reader.directory(image.integer(0x8825))
    return Exif(
        metadata=_metadata(image, exif, gps, _note(reader, image, exif)),
        **_orientation(image),
        thumbnail=_thumbnail(reader, image),
        preview_head=_preview_head(reader, image),
        xmp=image.data(0x02BC),
        iptc=_iptc(image),
        size=_size(reader, image),
    )


def read_canon_exif(source: BinaryIO) -> Exif:
    """The Exif of a CR3, which stores each directory as a TIFF structure of its own."""
    parts = canon_parts(source, source.seek(0, 2))
    main, exif, gps = (open_tiff(BytesIO(parts.get(name, b""))) for name in (b"CMT1", b"CMT2", b"CMT4"))
    image, camera, position = (opened[1] if opened else Directory() for opened in (main, exif, gps))
    return Exif(metadata=_metadata(image, camera.completed(image), position, MakerNote()), **_orientation(image))


def _metadata(image: Directory, exif: Directory, gps: Directory, note: MakerNote) -> Metadata:
    taken, modified = fields.taken(exif), fields.modified(exif)
    position = fields.position(gps)
    # A few cameras write their name into the Exif directory.
    written_make, written_model = (image.data(tag) or exif.data(tag) for tag in (0x010F, 0x0110))
    make = make_name(written_make)
    return Metadata(
        taken_local=taken.local,
        taken_utc=fields.gps_moment(gps),
        utc_offset=taken.offset,
        date_parts=taken.parts,
        modified_local=modified.local,
        modified_offset=modified.offset,
        camera_make=make,
        camera_model=model_name(written_model, make, written_make),
        camera_serial=clean(exif.data(0xA431)) or clean(image.data(0xC62F)) or note.serial,
        lens_make=make_name(exif.data(0xA433)),
        lens_model=lens_name(exif.data(0xA434)) or note.lens or lens_of_range(exif.numbers(0xA432)),
        iso=fields.iso(exif),
        focal_length=fields.focal_length(exif),
        f_number=fields.f_number(exif),
        exposure=fields.exposure(exif.fraction(0x829A)),
        lat=position[0] if position else None,
        lng=position[1] if position else None,
        altitude=fields.altitude(gps),
        title=fields.utf16(image.data(0x9C9B), text.TITLE),
        description=clean(image.data(0x010E), text.DESCRIPTION),
        keywords=text.keywords([fields.utf16(image.data(0x9C9E), text.DESCRIPTION)], split=True),
        subject=fields.utf16(image.data(0x9C9F)),
        artist=clean(image.data(0x013B)) or fields.utf16(image.data(0x9C9D)),
        copyright=clean(image.data(0x8298)),
        notes=fields.user_comment(exif.data(0x9286)) or fields.utf16(image.data(0x9C9C), text.DESCRIPTION),
        software=clean(image.data(0x0131)),
        rating=fields.rating(image),
        document_id=fields.unique_id(exif.data(0xA420)),
        content_id=note.content_id,
        burst_id=note.burst_id,
    )


def _orientation(image: Directory) -> dict[str, Any]:
    value = image.integer(0x0112)
    return {"orientation": value, "says_orientation": True} if 1 <= value <= 8 else {}


def _iptc(image: Directory) -> bytes:
    """The IPTC records, from their own tag or from the Photoshop resources."""
    records = image.data(0x83BB)
    if records[3:4] == _RECORD != records[:1]:  # written as numbers in the other byte order
        whole = len(records) // 4
        return struct.pack(f"<{whole}I", *struct.unpack_from(f">{whole}I", records))
    return records or resource(image.data(0x8649), IPTC_RESOURCE)


def _size(reader: TiffReader, image: Directory) -> tuple[int, int]:
    inner = (reader.directory(int(offset or 0)) for offset in image.numbers(0x014A)[:8])
    sizes = ((one.integer(0x0100), one.integer(0x0101)) for one in (image, *inner))
    return max(sizes, key=lambda size: size[0] * size[1])


def _note(reader: TiffReader, image: Directory, exif: Directory) -> MakerNote:
    note = exif.data(_MAKER_NOTE)
    return (
        read_makernote(reader, note, exif.offsets[_MAKER_NOTE], make_name(image.data(0x010F))) if note else MakerNote()
    )


def _thumbnail(reader: TiffReader, image: Directory) -> bytes:
    preview = reader.directory(image.following)
    offset, size = preview.integer(0x0201), preview.integer(0x0202)
    data = reader.read(offset, size) if 0 < size <= _MAX_THUMBNAIL and offset > 0 else b""
    return data if data.startswith(b"\xff\xd8") else b""


def _preview_head(reader: TiffReader, image: Directory) -> bytes:
    data = (
        reader.read(image.offsets.get(_JPEG_OF_PANASONIC, 0), _MAX_HEAD) if _JPEG_OF_PANASONIC in image.offsets else b""
    )
    return data if data.startswith(b"\xff\xd8") else b""
