"""Metadata segments of JPEG (ITU-T T.81 annex B; Exif 2.32 section 4.7; XMP part 3 section 1.1.3)."""

from collections.abc import Mapping
from typing import BinaryIO, Final

from photosvc.media.containers.packets import IPTC_RESOURCE, MAX_BLOCK, Packets, resource

#: Long colour profiles, depth maps and previews take hundreds; so many are read in some hundredths of a second.
_MAX_SEGMENTS: Final = 10_000
_EXIF: Final = b"Exif\0\0"
_XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
_EXTENSION: Final = b"http://ns.adobe.com/xmp/extension/\0"
#: Bytes of an identifier, the length of the whole, and the place of a portion, before that portion.
_PORTION_HEAD: Final = 32 + 4 + 4
_PHOTOSHOP: Final = b"Photoshop 3.0\0"
_APP1, _APP13, _SCAN, _END = 0xE1, 0xED, 0xDA, 0xD9
_WITHOUT_LENGTH: Final = frozenset((0x01, *range(0xD0, 0xD9)))


def read_jpeg(source: BinaryIO) -> Packets:
    """The first Exif and XMP, the extension of that XMP, and the Photoshop resources of all segments before the pixels.

    An extension that is longer than `MAX_BLOCK`, such as the depth map of a phone, is left out.
    """
    exif = xmp = b""
    resources = bytearray()
    extensions: dict[bytes, dict[int, bytes]] = {}
    position = 2
    for _ in range(_MAX_SEGMENTS):
        source.seek(position)
        head = source.read(4)
        if len(head) < 4 or (head[0] == 0xFF and head[1] in (_SCAN, _END)):
            break
        if head[0] != 0xFF or head[1] in (0, 0xFF):  # fill bytes; some cameras put a few others between segments
            position += 1
            continue
        if head[1] in _WITHOUT_LENGTH:
            position += 2
            continue
        length = int.from_bytes(head[2:], "big")
        if length < 2:
            break
        if head[1] in (_APP1, _APP13):
            body = source.read(length - 2)
            if body.startswith(_PHOTOSHOP):
                resources += body[len(_PHOTOSHOP) :]  # a long list of resources continues in the next segment
            elif body.startswith(_EXIF):
                exif = exif or body
            elif body.startswith(_XMP):
                xmp = xmp or body[len(_XMP) :]
            elif body.startswith(_EXTENSION):
                _add_portion(extensions, body[len(_EXTENSION) :])
        position += 2 + length
    iptc = resource(bytes(resources), IPTC_RESOURCE)
    return Packets(exif=exif, xmp=xmp, more_xmp=_extension(extensions, xmp), iptc=iptc)


def _add_portion(extensions: dict[bytes, dict[int, bytes]], body: bytes) -> None:
    """Keep a portion of an extension by the identifier of that and by its place."""
    if len(body) > _PORTION_HEAD and int.from_bytes(body[32:36], "big") <= MAX_BLOCK:
        extensions.setdefault(body[:32], {})[int.from_bytes(body[36:40], "big")] = body[_PORTION_HEAD:]


def _extension(extensions: Mapping[bytes, Mapping[int, bytes]], xmp: bytes) -> bytes:
    """The extension that the packet names (xmpNote:HasExtendedXMP); empty without it, or when a portion is missing."""
    whole = bytearray()
    for place, portion in sorted(next((found for name, found in extensions.items() if name in xmp), {}).items()):
        if place != len(whole) or place > MAX_BLOCK:
            return b""
        whole += portion
    return bytes(whole)
