"""The metadata embedded in picture files of every format, read without decoding a pixel.

They stand in segments of JPEG (ITU-T T.81 annex B; Exif 2.32 section 4.7; XMP part 3 section 1.1.3), in chunks of WebP
(RFC 9649 section 2.7) and PNG (third edition, section 11), and in an application extension of GIF that ends in a magic
trailer (XMP part 3 section 1.1.2). Older programs write Exif, IPTC and XMP into a PNG as hexadecimal text, in chunks
named `Raw profile type …` after ImageMagick. Pillow gets a PNG without the chunks that it refuses.
"""

import re
import struct
import zlib
from binascii import Error, unhexlify
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from typing import BinaryIO, Final

from photosvc.media.exif import Exif, read_canon_exif, read_exif, read_exif_file
from photosvc.media.formats import Format
from photosvc.media.iptc import IPTC_RESOURCE, read_iptc, resource
from photosvc.media.isobmff import read_heif, read_jp2, read_jxl
from photosvc.media.metadata import MAX_BLOCK, Metadata, Packets, WrittenDate, merge, merge_file, read_date
from photosvc.media.psd import read_psd
from photosvc.media.raw import read_raf
from photosvc.media.slices import Slice, open_slices
from photosvc.media.text import clean, clean_text, is_plausible
from photosvc.media.xmp import Xmp, joined, read_xmp
from photosvc.records import limits

#: Long colour profiles, depth maps and previews take hundreds of segments; 10,000 are read in hundredths of a second.
_MAX_SEGMENTS: Final = 10_000
_EXIF: Final = b"Exif\0\0"
_XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
_EXTENSION: Final = b"http://ns.adobe.com/xmp/extension/\0"
#: Bytes before a portion: identifier, length of the whole extension, offset of the portion in it.
_PORTION_HEAD: Final = 32 + 4 + 4
_PHOTOSHOP: Final = b"Photoshop 3.0\0"
_APP1, _APP13, _SCAN, _END = 0xE1, 0xED, 0xDA, 0xD9
_WITHOUT_LENGTH: Final = frozenset((0x01, *range(0xD0, 0xD9)))
_MAX_CHUNKS: Final = 100_000
_MARK: Final = b"\x21\xff\x0bXMP DataXMP"
#: The trailer begins with these bytes and counts down to 0: a reader that takes any byte of the packet for a length
#: ends there.
_TRAILER: Final = b"\x01\xff\xfe\xfd"
_STEP: Final = 1 << 20
#: Bytes of a GIF that are searched for the mark. Its frames are not walked: they have too many blocks.
_MAX_SEARCHED: Final = 1 << 28
#: Formats whose orientation comes from XMP when Exif has none; the containers of other formats state an orientation.
_TURNED_BY_XMP: Final = frozenset(("jpg", "png", "webp", "gif"))
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
    """Yield type, offset of the content and size of the content of each chunk before the end chunk."""
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
    """Return the metadata of all chunks; the first of several chunks of one kind counts."""
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
    in_app1 = _profile(texts, "APP1")  # Exif or XMP, as in JPEG
    iptc = _profile(texts, "iptc") or _profile(texts, "8bim")
    plain = (name for name in texts if name != _PNG_XMP and not name.casefold().startswith(_PROFILE))
    return Packets(
        exif=exif or _profile(texts, "exif") or (in_app1 if in_app1.startswith(_EXIF) else b""),
        xmp=texts.get(_PNG_XMP, b"") or _profile(texts, "xmp"),
        iptc=resource(iptc, IPTC_RESOURCE) if iptc.startswith(b"8BIM") else iptc,
        texts={name: texts[name].decode(errors="replace") for name in plain},
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


def _moment(body: bytes) -> datetime | None:
    try:
        year, month, day, hour, minute, second = struct.unpack(">H5B", body)
        return datetime(year, month, day, hour, minute, min(second, 59))  # noqa: DTZ001 - naive UTC
    except (struct.error, ValueError):
        return None


def open_shown_chunks(source: BinaryIO) -> BinaryIO:
    """Return the PNG for Pillow: without its texts, and without other ancillary chunks whose check sum is wrong.

    Pillow refuses the whole picture because of a text that unpacks to more than a megabyte, such as the history of
    Photoshop, or because of a wrong check sum. Decoders may ignore such chunks (PNG third edition, section 13.2).
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


def read_jpeg(source: BinaryIO) -> Packets:
    """Return the first Exif and XMP, the extension of that XMP, and the IPTC of all segments before the pixels.

    An extension longer than `MAX_BLOCK`, such as the depth map of a phone, is left out.
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
                portion = body[len(_EXTENSION) :]
                if len(portion) > _PORTION_HEAD and int.from_bytes(portion[32:36], "big") <= MAX_BLOCK:
                    place = int.from_bytes(portion[36:40], "big")
                    extensions.setdefault(portion[:32], {})[place] = portion[_PORTION_HEAD:]
        position += 2 + length
    iptc = resource(bytes(resources), IPTC_RESOURCE)
    return Packets(exif=exif, xmp=xmp, more_xmp=_extension(extensions, xmp), iptc=iptc)


def _extension(extensions: Mapping[bytes, Mapping[int, bytes]], xmp: bytes) -> bytes:
    """Return the extension that the packet names (xmpNote:HasExtendedXMP); empty if it or a portion is missing."""
    portions: Mapping[int, bytes] = next((extensions[name] for name in extensions if name in xmp), {})
    whole = bytearray()
    for place, portion in sorted(portions.items()):
        if place != len(whole) or place > MAX_BLOCK:
            return b""
        whole += portion
    return bytes(whole)


def read_gif(source: BinaryIO) -> Packets:
    """Return the XMP packet, which stands before, between or after the frames."""
    start = 0
    while start < _MAX_SEARCHED:
        source.seek(start)
        data = source.read(_STEP + len(_MARK))
        at = data.find(_MARK)
        if at >= 0:
            source.seek(start + at + len(_MARK))
            return Packets(xmp=source.read(MAX_BLOCK).partition(_TRAILER)[0])
        if len(data) <= _STEP:
            break
        start += _STEP
    return Packets()


def read_webp(source: BinaryIO) -> Packets:
    """Return the Exif and the XMP chunk, wherever they stand."""
    contents: dict[bytes, bytes] = {}
    position = 12
    for _ in range(_MAX_CHUNKS):
        source.seek(position)
        head = source.read(8)
        if len(head) < 8:
            break
        kind, size = head[:4], int.from_bytes(head[4:], "little")
        if kind in (b"EXIF", b"XMP ") and size <= MAX_BLOCK:
            contents.setdefault(kind, source.read(size))
        position += 8 + size + size % 2
    return Packets(exif=contents.get(b"EXIF", b""), xmp=contents.get(b"XMP ", b""))


_READERS: Final[Mapping[str, Callable[[BinaryIO], Packets]]] = {
    "jpg": read_jpeg,
    "png": read_png,
    "webp": read_webp,
    "gif": read_gif,
    "heic": read_heif,
    "avif": read_heif,
    "jp2": read_jp2,
    "jxl": read_jxl,
    "psd": read_psd,
}


@dataclass(frozen=True, slots=True)
class Embedded:
    """The metadata in a picture file."""

    exif: Exif = Exif()
    """Its orientation comes from the XMP when the Exif states none."""
    xmp: Xmp = Xmp()
    other: Metadata = Metadata()
    """IPTC and texts of the container."""

    @property
    def metadata(self) -> Metadata:
        """Return the facts of all standards as one record."""
        return merge_file(self.exif.metadata, self.other, self.xmp.metadata)


def read_embedded(source: BinaryIO, row: Format) -> Embedded:
    """Return the metadata in a picture or camera raw; empty when there are none or they are damaged."""
    packets = _READERS[row.name](source) if row.name in _READERS else Packets()
    fuji = read_raf(source) if row.media_type == "raw" and not row.is_tiff else None
    if row.is_tiff:
        exif = _completed_by_preview(read_exif_file(source))
    elif fuji is not None:
        exif = _completed_by_preview(fuji)
    elif "cr3" in row.families:
        exif, packets = read_canon_exif(source), read_jp2(source)  # both formats have the XMP in the same box
    else:
        exif = read_exif(packets.exif)
    xmp = read_xmp(packets.xmp or exif.xmp)
    if packets.more_xmp:
        xmp = joined(xmp, read_xmp(packets.more_xmp))
    if xmp.orientation and not exif.says_orientation and row.name in _TURNED_BY_XMP:
        exif = replace(exif, orientation=xmp.orientation)
    return Embedded(exif, xmp, merge([read_iptc(packets.iptc or exif.iptc), _texts(packets)]))


def _completed_by_preview(exif: Exif) -> Exif:
    """Return the Exif of a raw, completed by the Exif of the JPEG in it."""
    if not exif.preview_head:
        return exif
    more = read_exif(read_jpeg(BytesIO(exif.preview_head)).exif)
    turned = exif if exif.says_orientation else more
    return replace(
        exif,
        metadata=merge([exif.metadata, more.metadata]),
        orientation=turned.orientation,
        says_orientation=turned.says_orientation,
    )


def _texts(packets: Packets) -> Metadata:
    """Return the text chunks of a PNG with the usual keywords (PNG third edition, section 11.3.3.1)."""
    texts = packets.texts
    if not texts and packets.changed_utc is None:
        return Metadata()
    taken = _creation_time(texts.get("Creation Time", ""))
    changed = packets.changed_utc if packets.changed_utc and is_plausible(packets.changed_utc) else None
    return Metadata(
        taken_local=taken.local,
        utc_offset=taken.offset,
        date_parts=taken.parts,
        modified_local=changed,
        modified_offset=None if changed is None else 0,
        title=clean(texts.get("Title", ""), limits.TITLE),
        description=clean_text(texts.get("Description", "")),
        artist=clean(texts.get("Author", "")),
        copyright=clean(texts.get("Copyright", "")),
        software=clean(texts.get("Software", "")),
        notes=clean_text(texts.get("Comment", "")),
    )


def _creation_time(written: str) -> WrittenDate:
    """Return the date of a `Creation Time` text in the format of RFC 1123, which PNG suggests, of Exif or of XMP."""
    date = read_date(written[:64])
    if date.local is not None:
        return date
    from email.utils import parsedate_tz  # two dozen modules that only this needs

    parts = parsedate_tz(clean(written, 64))
    try:
        moment = datetime(*parts[:6]) if parts else None  # noqa: DTZ001 - wall time
    except ValueError:
        return WrittenDate()
    if parts is None or moment is None or not is_plausible(moment):
        return WrittenDate()
    seconds = parts[9]
    return WrittenDate(moment, seconds // 60 if seconds is not None and abs(seconds) <= 15 * 3600 else None)
