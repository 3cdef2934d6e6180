"""Metadata among the image resources of a Photoshop file (Photoshop file format, Image Resources section)."""

from typing import BinaryIO, Final

from photosvc.media.containers.packets import IPTC_RESOURCE, Packets, resource

_MAX_RESOURCES: Final = 1 << 24
_EXIF_RESOURCE: Final = 0x0422
_XMP_RESOURCE: Final = 0x0424


def read_psd(source: BinaryIO) -> Packets:
    """The Exif, XMP and IPTC resources."""
    source.seek(26)
    source.seek(int.from_bytes(source.read(4), "big"), 1)  # the palette
    block = source.read(min(int.from_bytes(source.read(4), "big"), _MAX_RESOURCES))
    exif, xmp, iptc = (resource(block, number) for number in (_EXIF_RESOURCE, _XMP_RESOURCE, IPTC_RESOURCE))
    return Packets(exif=exif, xmp=xmp, iptc=iptc)
