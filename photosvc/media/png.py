"""The chunks of a PNG (third edition, section 11): its metadata, and the PNG without chunks that Pillow refuses.

Older programs write Exif, IPTC and XMP as hexadecimal text, in chunks named `Raw profile type …` after ImageMagick.
"""

import re
import struct
import zlib
from binascii import Error, unhexlify
from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO, Final

from photosvc.media.packets import IPTC_RESOURCE, MAX_BLOCK, Packets, resource
from photosvc.media.slices import Slice, open_slices

_MAX_CHUNKS: Final = 100_000
#: Bytes of all texts together, once decompressed.
_MAX_TEXTS: Final = 1 << 23
_PNG_XMP: Final = "XML:com.adobe.xmp"
_PROFILE: Final = "raw profile type "
# The name of the profile, its length and hexadecimal digits, on lines of their own.
_LINES: Final = re.compile(rb"\s*[^\n]{0,80}\n\s*\d{1,10}\s*\n([0-9A-Fa-f\s]*)")
_TEXTS: Final = frozenset((b"tEXt", b"zTXt", b"iTXt"))
#: The pixels of further frames, whose check sum Pillow does not compare.
_FRAME: Final = b"fdAT"


def _chunks(source: BinaryIO) -> Iterator[tuple[bytes, int, int]]:
    """Yield type, offset and size of the content of each chunk, without that of the end."""
    position = 8
    for _ in range(_MAX_CHUNKS):
        source.seek(position)
        head = source.read(8)
        size, kind = int.from_bytes(head[:4], "big"), head[4:]
        if len(head) < 8 or kind == b"IEND":
            return
        yield kind, position + 8, size
        position += 12 + size


def read_png(source: BinaryIO) -> Packets:
    """Return the metadata of all chunks; of two of the same kind, the first."""
    exif = b""
    changed = None
    texts: dict[str, bytes] = {}
    left = _MAX_TEXTS
    for kind, _, size in _chunks(source):
        if kind == b"eXIf" and not exif and size <= MAX_BLOCK:
            exif = source.read(size)
        elif kind == b"tIME" and size == 7:
            changed = _moment(source.read(7))
        elif kind in _TEXTS and size <= MAX_BLOCK < left:
            keyword, value = _text(kind, source.read(size))
            texts.setdefault(keyword, value)
            left -= size + len(value)
    return Packets(
        exif=exif or _profile(texts, "exif") or _exif_of_app1(_profile(texts, "APP1")),
        xmp=texts.get(_PNG_XMP, b"") or _profile(texts, "xmp"),
        iptc=_iptc(_profile(texts, "iptc") or _profile(texts, "8bim")),
        texts={name: value.decode(errors="replace") for name, value in texts.items() if _is_plain(name)},
        changed_utc=changed,
    )


def _text(kind: bytes, body: bytes) -> tuple[str, bytes]:
    """Return keyword and UTF-8 text of a chunk; the text is empty when it cannot be decompressed."""
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
    """Return the bytes of a raw profile; some programs call it `IPTC profile` rather than `iptc`."""
    wanted = (_PROFILE + name.casefold(), f"{_PROFILE}{name.casefold()} profile")
    match = next((_LINES.match(value) for keyword, value in texts.items() if keyword.casefold() in wanted), None)
    try:
        return unhexlify(b"".join(match[1].split())) if match else b""
    except Error:
        return b""


def _exif_of_app1(block: bytes) -> bytes:
    """Return the Exif of an `APP1` profile, which contains Exif or XMP as in JPEG; empty when it contains XMP."""
    return block if block.startswith(b"Exif\0\0") else b""


def _iptc(block: bytes) -> bytes:
    return resource(block, IPTC_RESOURCE) if block.startswith(b"8BIM") else block


def _is_plain(keyword: str) -> bool:
    return keyword != _PNG_XMP and not keyword.casefold().startswith(_PROFILE)


def _moment(body: bytes) -> datetime | None:
    try:
        year, month, day, hour, minute, second = struct.unpack(">H5B", body)
        return datetime(year, month, day, hour, minute, min(second, 59))  # noqa: DTZ001 - naive UTC
    except (struct.error, ValueError):
        return None


def open_shown_chunks(source: BinaryIO) -> BinaryIO:
    """Return the PNG for Pillow: without its texts, and without other ancillary chunks whose check sum is wrong.

    Pillow refuses the whole picture by a text that unpacks to more than a megabyte, such as the history of Photoshop,
    or by one wrong check sum; decoders are free to ignore such chunks (PNG third edition, section 13.2).
    """
    parts: list[Slice] = []
    begin = 0
    for kind, start, size in _chunks(source):
        if kind in _TEXTS or (kind[:1].islower() and kind != _FRAME and not _is_intact(source, kind, size)):
            parts.append(Slice(begin, start - 8))
            begin = start + size + 4
    return open_slices(source, [*parts, Slice(begin, source.seek(0, 2))]) if parts else source


def _is_intact(source: BinaryIO, kind: bytes, size: int) -> bool:
    """Return whether the check sum of a chunk is right, given the file at the beginning of its content."""
    if size > MAX_BLOCK:
        return False
    content = source.read(size)
    return zlib.crc32(kind + content).to_bytes(4, "big") == source.read(4)
