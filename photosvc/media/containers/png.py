"""Metadata chunks of PNG, before and after the pixels (PNG third edition, section 11.3).

Older programs write Exif, IPTC and XMP as hexadecimal text in chunks named `Raw profile type …`, after ImageMagick.
"""

import struct
import zlib
from binascii import Error, unhexlify
from datetime import datetime
from typing import BinaryIO, Final

from photosvc.media.containers.packets import IPTC_RESOURCE, MAX_BLOCK, Packets, resource

_MAX_CHUNKS: Final = 100_000
#: Bytes of all texts together, unpacked.
_MAX_TEXTS: Final = 1 << 23
_XMP: Final = "XML:com.adobe.xmp"
_PROFILE: Final = "Raw profile type "
_TEXTS: Final = frozenset((b"tEXt", b"zTXt", b"iTXt"))


def read_png(source: BinaryIO) -> Packets:
    """The metadata of all chunks; of two of a kind the first."""
    exif = b""
    changed = None
    texts: dict[str, bytes] = {}
    left = _MAX_TEXTS
    position = 8
    for _ in range(_MAX_CHUNKS):
        source.seek(position)
        head = source.read(8)
        size, kind = int.from_bytes(head[:4], "big"), head[4:]
        if len(head) < 8 or kind == b"IEND":
            break
        if kind == b"eXIf" and not exif and size <= MAX_BLOCK:
            exif = source.read(size)
        elif kind == b"tIME" and size == 7:
            changed = _moment(source.read(7))
        elif kind in _TEXTS and size <= MAX_BLOCK < left:
            keyword, value = _text(kind, source.read(size))
            texts.setdefault(keyword, value)
            left -= size + len(value)
        position += 12 + size
    return Packets(
        exif=exif or _profile(texts, "exif") or _exif_of_app1(_profile(texts, "APP1")),
        xmp=texts.get(_XMP, b"") or _profile(texts, "xmp"),
        iptc=_iptc(_profile(texts, "iptc") or _profile(texts, "8bim")),
        texts={name: value.decode(errors="replace") for name, value in texts.items() if _is_plain(name)},
        changed_utc=changed,
    )


def _text(kind: bytes, body: bytes) -> tuple[str, bytes]:
    """Keyword and UTF-8 text of a chunk; an empty text when it cannot be unpacked."""
    name, _, rest = body.partition(b"\0")
    keyword = name[:79].decode("latin-1")
    if kind == b"tEXt":
        return keyword, rest.decode("latin-1").encode()
    if kind == b"zTXt":
        return keyword, _unpacked(rest[1:]).decode("latin-1").encode()
    packed, rest = rest[:1] == b"\1", rest[2:].partition(b"\0")[2].partition(b"\0")[2]  # language, translated keyword
    return keyword, _unpacked(rest) if packed else rest


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, MAX_BLOCK)
    except zlib.error:
        return b""


def _profile(texts: dict[str, bytes], name: str) -> bytes:
    """The bytes of a raw profile: its name, its length and hexadecimal digits, each on lines of their own."""
    lines = texts.get(_PROFILE + name, b"").strip().split(maxsplit=2)
    try:
        return unhexlify(b"".join(lines[2].split())) if len(lines) == 3 else b""
    except Error:
        return b""


def _exif_of_app1(block: bytes) -> bytes:
    """`APP1` profiles contain Exif or XMP as JPEG has it; of these, Exif."""
    return block if block.startswith(b"Exif\0\0") else b""


def _iptc(block: bytes) -> bytes:
    return resource(block, IPTC_RESOURCE) if block.startswith(b"8BIM") else block


def _is_plain(keyword: str) -> bool:
    return keyword != _XMP and not keyword.startswith(_PROFILE)


def _moment(body: bytes) -> datetime | None:
    try:
        year, month, day, hour, minute, second = struct.unpack(">H5B", body)
        return datetime(year, month, day, hour, minute, min(second, 59))  # noqa: DTZ001 - naive UTC
    except (struct.error, ValueError):
        return None
