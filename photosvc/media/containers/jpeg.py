"""Metadata segments of JPEG (ITU-T T.81 annex B; Exif 2.32 section 4.7; XMP part 3 section 1.1.3)."""

from typing import BinaryIO, Final

from photosvc.media.containers.packets import IPTC_RESOURCE, Packets, resource

_MAX_SEGMENTS: Final = 500
_EXIF: Final = b"Exif\0\0"
_XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
_PHOTOSHOP: Final = b"Photoshop 3.0\0"
_APP1, _APP13, _SCAN, _END = 0xE1, 0xED, 0xDA, 0xD9
_WITHOUT_LENGTH: Final = frozenset((0x01, *range(0xD0, 0xD9)))


def read_jpeg(source: BinaryIO) -> Packets:
    """The first Exif and XMP, and the Photoshop resources of all segments before the pixels."""
    exif = xmp = b""
    resources = bytearray()
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
        position += 2 + length
    return Packets(exif=exif, xmp=xmp, iptc=resource(bytes(resources), IPTC_RESOURCE))
