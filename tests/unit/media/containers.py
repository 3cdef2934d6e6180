"""Pictures made here byte by byte, whose metadata stand in unusual places; formats and colours to compare with."""

import struct
import zlib
from collections.abc import Sequence
from io import BytesIO
from itertools import chain

from photosvc.media.formats import Format, by_extension
from tests.helpers.pictures import encoded, quarters


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_after_pixels(*chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG with these chunks between its pixels and its end."""
    data = encoded(quarters(), "PNG")
    return data[:-12] + b"".join(png_chunk(*chunk) for chunk in chunks) + data[-12:]


def raw_profile(name: str, data: bytes, *, title: str = "") -> tuple[bytes, bytes]:
    """A chunk as ImageMagick writes profiles: a compressed text of hexadecimal digits below a title."""
    digits = data.hex()
    lines = "\n".join(digits[at : at + 72] for at in range(0, len(digits), 72))
    text = f"\n{title or name}\n{len(data):8}\n{lines}\n".encode()
    return b"zTXt", f"Raw profile type {name}".encode() + b"\0\0" + zlib.compress(text)


def international_text(keyword: str, text: bytes, *, packed: bool = False) -> tuple[bytes, bytes]:
    return b"iTXt", keyword.encode() + b"\0" + bytes([packed]) + b"\0\0\0" + (zlib.compress(text) if packed else text)


def photoshop_resource(number: int, data: bytes) -> bytes:
    return b"8BIM" + struct.pack(">HHI", number, 0, len(data)) + data + b"\0" * (len(data) % 2)


def gif_with_xmp(packet: bytes, *, after: bool = True) -> bytes:
    """A GIF with the packet in an application extension, after or before its frame."""
    data = encoded(quarters(), "GIF")
    trailer = b"\x01" + bytes(range(255, -1, -1)) + b"\0"
    extension = b"\x21\xff\x0bXMP DataXMP" + packet + trailer
    if after:
        return data[:-1] + extension + b";"
    at = 13 + 3 * 2 ** ((data[10] & 7) + 1)
    return data[:at] + extension + data[at:]


def psd(resources: bytes = b"", size: tuple[int, int] = (8, 6)) -> bytes:
    """A grey Photoshop file without layers."""
    width, height = size
    head = b"8BPS" + struct.pack(">H6xHIIHH", 1, 1, height, width, 8, 1)
    parts = struct.pack(">I", 0) + struct.pack(">I", len(resources)) + resources + struct.pack(">I", 0)
    return head + parts + struct.pack(">H", 0) + b"\x80" * (width * height)


def box(kind: bytes, *contents: bytes) -> bytes:
    body = b"".join(contents)
    return struct.pack(">I", 8 + len(body)) + kind + body


def row(extension: str) -> Format:
    """The format of an extension."""
    known = by_extension(f"a.{extension}")
    assert known is not None
    return known


def near(colours: Sequence[Sequence[int]], expected: Sequence[Sequence[int]], tolerance: int = 12) -> bool:
    """Return whether no band of a colour differs from the expected one by more than the tolerance."""
    pairs = zip(chain(*colours), chain(*expected), strict=True)
    return all(abs(shown - wanted) <= tolerance for shown, wanted in pairs)


def bigtiff(**options: object) -> bytes:
    """A BigTIFF of four quarters; options as `tifffile.imwrite` takes them."""
    import numpy as np
    import tifffile

    out = BytesIO()
    tifffile.imwrite(out, np.asarray(quarters()), bigtiff=True, metadata=None, **options)
    return out.getvalue()
