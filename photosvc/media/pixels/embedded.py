"""Exif, XMP and IPTC of formats of which Pillow gives only the pixels: JPEG XL, JPEG 2000, PSD."""

from collections.abc import Iterable
from typing import Any, BinaryIO, Final

from PIL import Image
from PIL.PsdImagePlugin import PsdImageFile

from photosvc.media.isobmff import boxes

#: ISO/IEC 18181-2 section 9: boxes of JPEG XL; `Exif` begins with the offset of the TIFF header.
_EXIF_OFFSET: Final = 4
#: Identifiers of `uuid` boxes in JPEG 2000: XMP (ISO 16684-3), Exif and IPTC as Adobe and ExifTool write them.
_UUIDS: Final = {
    bytes.fromhex("be7acfcb97a942e89c71999491e3afac"): "xmp",
    b"JpgTiffExif->JP2": "exif",
    bytes.fromhex("33c7a4d2b81d4723a0baf1a3e097ad38"): "iptc",
}
#: Adobe Photoshop File Formats Specification, image resource IDs.
_RESOURCES: Final = {1058: "exif", 1060: "xmp", 1028: "iptc"}
_MAX_PART: Final = 16 << 20
_PHOTOSHOP_IPTC: Final = 1028


def add_metadata(picture: Image.Image, source: BinaryIO, size: int) -> None:
    """Put the blocks of metadata of a file of `size` bytes into the `info` of its picture, as Pillow does for JPEG.

    Metadata that JPEG XL compresses is only readable after the pixels, so `compressed_metadata` is set in their place.
    """
    if isinstance(picture, PsdImageFile):
        found: Iterable[tuple[str, bytes]] = (
            (_RESOURCES[number], data) for number, _, data in picture.resources if number in _RESOURCES
        )
    else:
        found = _in_boxes(source, size)
    for name, data in found:
        if name == "iptc":
            picture.info.setdefault("photoshop", {_PHOTOSHOP_IPTC: data})
        else:
            picture.info.setdefault(name, data)


def _in_boxes(source: BinaryIO, size: int) -> Iterable[tuple[str, Any]]:
    for kind, begin, end in boxes(source, 0, size):
        if kind not in (b"Exif", b"xml ", b"uuid", b"brob") or not 0 < end - begin <= _MAX_PART:
            continue
        source.seek(begin)
        data = source.read(end - begin)
        if kind == b"Exif":
            yield "exif", data[_EXIF_OFFSET + int.from_bytes(data[:_EXIF_OFFSET], "big") :]
        elif kind == b"xml ":
            yield "xmp", data
        elif kind == b"brob":
            yield "compressed_metadata", data[:4] in (b"Exif", b"xml ")
        elif data[:16] in _UUIDS:
            yield _UUIDS[data[:16]], data[16:]
