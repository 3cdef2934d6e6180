"""Metadata chunks of WebP (RFC 9649 section 2.7)."""

from typing import BinaryIO, Final

from photosvc.media.containers.packets import MAX_BLOCK, Packets

_MAX_CHUNKS: Final = 100_000


def read_webp(source: BinaryIO) -> Packets:
    """The Exif and the XMP chunk, in any place."""
    found: dict[bytes, bytes] = {}
    position = 12
    for _ in range(_MAX_CHUNKS):
        source.seek(position)
        head = source.read(8)
        if len(head) < 8:
            break
        kind, size = head[:4], int.from_bytes(head[4:], "little")
        if kind in (b"EXIF", b"XMP ") and size <= MAX_BLOCK:
            found.setdefault(kind, source.read(size))
        position += 8 + size + size % 2
    return Packets(exif=found.get(b"EXIF", b""), xmp=found.get(b"XMP ", b""))
