"""Metadata in the boxes of MP4 and QuickTime files, read without a decoder.

User data and keys (QuickTime File Format; ISO/IEC 14496-12 section 8.10), and XMP (XMP part 3 section 1.2.6).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Final

from photosvc.media.containers.heif import XMP_BOX
from photosvc.media.isobmff import boxes

_MAX_XMP: Final = 1 << 21
_MAX_VALUE: Final = 1 << 16
_MAX_KEYS: Final = 1000
_EPOCH: Final = datetime(1904, 1, 1, tzinfo=UTC)
#: Boxes of user data and of iTunes lists -> names of tags as `tags.read_tags` reads them.
_NAMES: Final = {
    b"\xa9xyz": "location",
    b"\xa9day": "date",
    b"\xa9mak": "make",
    b"\xa9mod": "model",
    b"\xa9swr": "software",
    b"\xa9too": "software",
    b"\xa9nam": "title",
    b"\xa9des": "description",
    b"\xa9inf": "description",
    b"desc": "description",
    b"\xa9cmt": "comment",
    b"\xa9key": "keywords",
    b"keyw": "keywords",
    b"\xa9ART": "artist",
    b"\xa9aut": "artist",
    b"\xa9cpy": "copyright",
    b"cprt": "copyright",
}
#: Type of a value in a list -> how it is read (QuickTime File Format, well-known types).
_TEXT, _UTF16, _SIGNED, _UNSIGNED, _FLOAT = 1, 2, 21, 22, 23


@dataclass(slots=True)
class Described:
    """What the boxes of a file say about it."""

    tags: dict[str, str] = field(default_factory=dict)
    """By name, as FFmpeg names them too; of two of a name the first."""
    xmp: bytes = b""
    is_cut: bool = False
    """The media data or their index go on beyond the end of the file."""


def describe(source: BinaryIO) -> Described:
    """The metadata of an MP4 or QuickTime file; empty for another file."""
    size = source.seek(0, 2)
    found = Described()
    for kind, begin, end in boxes(source, 0, size):
        found.is_cut |= end > size and kind in (b"mdat", b"moov")
        if kind == b"moov":
            _read_movie(source, begin, min(end, size), found)
        elif kind == b"uuid":
            _read_uuid(source, begin, min(end, size), found)
        elif kind == b"meta":
            _read_meta(source, begin, min(end, size), found)
    return found


def _read_movie(source: BinaryIO, start: int, stop: int, found: Described) -> None:
    for kind, begin, end in boxes(source, start, stop):
        last = min(end, stop)
        if kind == b"mvhd":
            _read_creation(_read(source, begin, last, 16), found)
        elif kind == b"udta":
            _read_user_data(source, begin, last, found)
        elif kind == b"meta":
            _read_meta(source, begin, last, found)
        elif kind == b"uuid":
            _read_uuid(source, begin, last, found)


def _read_uuid(source: BinaryIO, start: int, stop: int, found: Described) -> None:
    if _read(source, start, stop, 16) == XMP_BOX:
        found.xmp = found.xmp or _read(source, start + 16, stop, _MAX_XMP)


def _read_creation(header: bytes, found: Described) -> None:
    """The creation time of the movie header, seconds since 1904; 0 when unknown."""
    wide = header[:1] == b"\1"
    seconds = int.from_bytes(header[4:12] if wide else header[4:8], "big")
    if 0 < seconds < 1 << 40:
        _add(found, "creation_time", (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ"))


def _read_user_data(source: BinaryIO, start: int, stop: int, found: Described) -> None:
    for kind, begin, end in boxes(source, start, stop):
        last = min(end, stop)
        if kind == b"XMP_":
            found.xmp = found.xmp or _read(source, begin, last, _MAX_XMP)
        elif kind == b"meta":
            _read_meta(source, begin, last, found)
        elif kind in _NAMES:
            body = _read(source, begin, last, _MAX_VALUE)
            # QuickTime puts length and language before each text; ISO files a version, flags and a language.
            skipped = 4 if kind[:1] == b"\xa9" else 6
            length = int.from_bytes(body[:2], "big") if skipped == 4 else len(body)
            _add(found, _NAMES[kind], _decoded(body[skipped : skipped + length]))


def _read_meta(source: BinaryIO, start: int, stop: int, found: Described) -> None:
    """A list of values, whose items are named by their type or by the number of a key."""
    # In QuickTime the box has no version and begins with the handler at once.
    inner = start if _read(source, start + 4, stop, 4) == b"hdlr" else start + 4
    names: list[str] = []
    for kind, begin, end in boxes(source, inner, stop):
        last = min(end, stop)
        if kind == b"keys":
            names = list(_keys(_read(source, begin, last, 1 << 20)))
        elif kind == b"ilst":
            for item, item_begin, item_end in boxes(source, begin, last):
                number = int.from_bytes(item, "big")
                name = names[number - 1] if 0 < number <= len(names) else _NAMES.get(item, "")
                if name:
                    _add(found, name, _value(source, item_begin, min(item_end, last)))


def _keys(body: bytes) -> Iterator[str]:
    position = 8
    for _ in range(min(int.from_bytes(body[4:8], "big"), _MAX_KEYS)):
        size = int.from_bytes(body[position : position + 4], "big")
        if size < 8:
            return
        yield body[position + 8 : position + size].decode("utf-8", "replace")
        position += size


def _value(source: BinaryIO, start: int, stop: int) -> str:
    """The first value of an item as text."""
    for kind, begin, end in boxes(source, start, stop):
        if kind == b"data":
            body = _read(source, begin, min(end, stop), _MAX_VALUE)
            form, value = int.from_bytes(body[:4], "big"), body[8:]
            if form == _UTF16:
                return value.decode("utf-16-be", "replace")
            if form in (_SIGNED, _UNSIGNED) and len(value) <= 8:
                return str(int.from_bytes(value, "big", signed=form == _SIGNED))
            if form == _FLOAT and len(value) == 4:
                return str(struct.unpack(">f", value)[0])
            return _decoded(value) if form == _TEXT else ""
    return ""


def _decoded(value: bytes) -> str:
    if value[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return value.decode("utf-16", "replace")
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("mac-roman")


def _add(found: Described, name: str, value: str) -> None:
    if value.strip("\0 "):
        found.tags.setdefault(name, value)


def _read(source: BinaryIO, start: int, stop: int, longest: int) -> bytes:
    source.seek(start)
    return source.read(max(0, min(stop - start, longest)))
