"""The blocks of metadata that a picture file contains, not interpreted yet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

#: Longest block that is read.
MAX_BLOCK: Final = 1 << 21
MAX_RESOURCES: Final = 500
IPTC_RESOURCE: Final = 0x0404


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """Blocks of metadata; empty where the file has none."""

    exif: bytes = b""
    r"""A TIFF structure, with or without `Exif\0\0` before it."""
    xmp: bytes = b""
    more_xmp: bytes = b""
    """The extension of an XMP that does not fit into one block: a packet of its own."""
    iptc: bytes = b""
    """IPTC-IIM records."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Text chunks of a PNG, by keyword."""
    changed_utc: datetime | None = None
    """Naive UTC time of the last change."""


def resource(block: bytes, number: int) -> bytes:
    """Return the data of a Photoshop image resource (Photoshop file format, Image Resource Blocks); empty if absent."""
    return next((data for found, data in _resources(block) if found == number), b"")


def _resources(block: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    for _ in range(MAX_RESOURCES):
        if block[start : start + 4] != b"8BIM" or start + 12 > len(block):
            return
        number = int.from_bytes(block[start + 4 : start + 6], "big")
        begin = start + 6 + (block[start + 6] + 2) // 2 * 2  # a name with its length, padded to an even number
        size = int.from_bytes(block[begin : begin + 4], "big")
        yield number, block[begin + 4 : begin + 4 + size]
        start = begin + 4 + size + size % 2
