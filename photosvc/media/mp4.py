"""Metadata and codecs of MP4 and QuickTime files, read from their boxes without a decoder, and tags of videos.

Metadata are user data and keys (QuickTime File Format; ISO/IEC 14496-12 section 8.10) and XMP (XMP part 3 section
1.2.6). Codecs stand in the sample entries of tracks (ISO/IEC 14496-12 section 8.5.2). Tags have the same names whether
they come from boxes or from FFmpeg, which reads AVI info and other containers as well.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import BinaryIO, Final

from photosvc.media import text
from photosvc.media.isobmff import XMP_BOX, boxes, boxes_within
from photosvc.media.metadata import Metadata, make_name, model_name, valid_altitude, valid_position
from photosvc.media.text import LATITUDE, LONGITUDE, clean, clean_text, decimal_degrees, parse_date, utc_of
from photosvc.records import limits

_MAX_XMP: Final = 1 << 21
_MAX_VALUE: Final = 1 << 16
_MAX_KEYS: Final = 1000
_EPOCH: Final = datetime(1904, 1, 1, tzinfo=UTC)
#: Types of the values in a list (QuickTime File Format, well-known types).
_TEXT, _UTF16, _SIGNED, _UNSIGNED, _FLOAT = 1, 2, 21, 22, 23
#: Most boxes that are read in one file, however they are nested.
_MAX_BOXES: Final = 4000
_PATH: Final = (b"mdia", b"minf", b"stbl", b"stsd")
#: Bytes of a visual sample entry before the boxes in it.
_VISUAL: Final = 78
_HANDLERS: Final = {b"vmhd": "video", b"smhd": "audio"}
#: `profile_idc` of H.264 that browsers play: baseline, main, extended and high, all of 8 bits and 4:2:0.
_PROFILES: Final = frozenset((66, 77, 88, 100))
_H264: Final = frozenset(("avc1", "avc3"))
_SOUNDS: Final = frozenset(("mp4a", ".mp3", "Opus", "fLaC"))
_APPLE: Final = "com.apple.quicktime."
#: Tags of a description, in the order in which they count.
_DESCRIPTIONS: Final = (
    _APPLE + "description", "description", "comment", _APPLE + "comment", _APPLE + "information",
)  # fmt: skip
# ISO 6709: `+43.4674+011.8851+312.000/`, in degrees, degrees and minutes (`+4328.04`), or with seconds; after the
# altitude it may name the reference system: `CRSWGS_84/`.
_LOCATION: Final = re.compile(
    r"\s*([+-])(\d{1,6})(\.\d{1,20})?([+-])(\d{1,7})(\.\d{1,20})?"
    r"([+-]\d{1,6}(?:\.\d{1,20})?)?(?:CRS[\w.:-]{0,40})?\s*/?\D*",
    re.ASCII,
)
#: Boxes of user data and of iTunes lists -> names of tags that `read_tags` knows.
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


@dataclass(slots=True)
class BoxMetadata:
    """The metadata in the boxes of a file."""

    tags: dict[str, str] = field(default_factory=dict)
    """Tags by the names that FFmpeg also uses; the first tag of a name counts."""
    xmp: bytes = b""
    is_cut: bool = False
    """True if the media data or their index continue beyond the end of the file."""


def read_boxes(source: BinaryIO) -> BoxMetadata:
    """Return the metadata of an MP4 or QuickTime file; empty for another file."""
    size = source.seek(0, 2)
    metadata = BoxMetadata()
    for kind, begin, end in boxes(source, 0, size):
        metadata.is_cut |= end > size and kind in (b"mdat", b"moov")
        if kind == b"moov":
            _read_movie(source, begin, min(end, size), metadata)
        elif kind == b"uuid":
            _read_uuid(source, begin, min(end, size), metadata)
        elif kind == b"meta":
            _read_meta(source, begin, min(end, size), metadata)
    return metadata


def _read_movie(source: BinaryIO, start: int, stop: int, metadata: BoxMetadata) -> None:
    for kind, begin, last in boxes_within(source, start, stop):
        if kind == b"mvhd":
            # Seconds since 1904; 0 means unknown.
            header = _read(source, begin, last, 16)
            seconds = int.from_bytes(header[4:12] if header[:1] == b"\1" else header[4:8], "big")
            if 0 < seconds < 1 << 40:
                _add(metadata, "creation_time", (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ"))
        elif kind == b"udta":
            _read_user_data(source, begin, last, metadata)
        elif kind == b"meta":
            _read_meta(source, begin, last, metadata)
        elif kind == b"uuid":
            _read_uuid(source, begin, last, metadata)


def _read_uuid(source: BinaryIO, start: int, stop: int, metadata: BoxMetadata) -> None:
    if _read(source, start, stop, 16) == XMP_BOX:
        metadata.xmp = metadata.xmp or _read(source, start + 16, stop, _MAX_XMP)


def _read_user_data(source: BinaryIO, start: int, stop: int, metadata: BoxMetadata) -> None:
    for kind, begin, last in boxes_within(source, start, stop):
        if kind == b"XMP_":
            metadata.xmp = metadata.xmp or _read(source, begin, last, _MAX_XMP)
        elif kind == b"meta":
            _read_meta(source, begin, last, metadata)
        elif kind in _NAMES:
            body = _read(source, begin, last, _MAX_VALUE)
            # QuickTime puts length and language before each text; ISO files a version, flags and a language.
            skipped = 4 if kind[:1] == b"\xa9" else 6
            length = int.from_bytes(body[:2], "big") if skipped == 4 else len(body)
            _add(metadata, _NAMES[kind], _decoded(body[skipped : skipped + length]))


def _read_meta(source: BinaryIO, start: int, stop: int, metadata: BoxMetadata) -> None:
    """Add the values of a list, whose items are named by their type or by the number of a key."""
    # In QuickTime the box has no version and begins with the handler at once.
    inner = start if _read(source, start + 4, stop, 4) == b"hdlr" else start + 4
    names: list[str] = []
    for kind, begin, last in boxes_within(source, inner, stop):
        if kind == b"keys":
            names = list(_keys(_read(source, begin, last, 1 << 20)))
        elif kind == b"ilst":
            for item, item_begin, item_end in boxes_within(source, begin, last):
                number = int.from_bytes(item, "big")
                name = names[number - 1] if 0 < number <= len(names) else _NAMES.get(item, "")
                if name:
                    _add(metadata, name, _value(source, item_begin, item_end))


def _keys(body: bytes) -> Iterator[str]:
    position = 8
    for _ in range(min(int.from_bytes(body[4:8], "big"), _MAX_KEYS)):
        size = int.from_bytes(body[position : position + 4], "big")
        if size < 8:
            return
        yield body[position + 8 : position + size].decode("utf-8", "replace")
        position += size


def _value(source: BinaryIO, start: int, stop: int) -> str:
    """Return the first value of an item as text."""
    for kind, begin, end in boxes_within(source, start, stop):
        if kind == b"data":
            body = _read(source, begin, end, _MAX_VALUE)
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


def _add(metadata: BoxMetadata, name: str, value: str) -> None:
    if value.strip("\0 "):
        metadata.tags.setdefault(name, value)


def _read(source: BinaryIO, start: int, stop: int, longest: int) -> bytes:
    source.seek(start)
    return source.read(max(0, min(stop - start, longest)))


@dataclass(frozen=True, slots=True)
class Tracks:
    """The tracks of an MP4 or QuickTime file."""

    brand: str = ""
    """`qt  ` for QuickTime; empty when the file has no `ftyp` box."""
    video: tuple[str, ...] = ()
    """Four-character codes of the sample entries, such as `avc1`."""
    audio: tuple[str, ...] = ()
    h264_profiles: tuple[int, ...] = ()

    @property
    def play_everywhere(self) -> bool:
        """Return whether every browser plays the file: MP4, one track of H.264 in 8 bits, known sound or none."""
        return (
            self.brand not in ("", "qt  ")
            and len(self.video) == 1
            and _H264.issuperset(self.video)
            and _PROFILES.issuperset(self.h264_profiles)
            and _SOUNDS.issuperset(self.audio)
        )


def read_tracks(source: BinaryIO, start: int, stop: int) -> Tracks:
    """Return the tracks of the file between two offsets of `source`; empty when it is not MP4 or QuickTime."""
    counted = _Counted(source)
    brand = ""
    video: list[str] = []
    audio: list[str] = []
    profiles: list[int] = []
    for kind, begin, end in counted.boxes(start, stop):
        if kind == b"ftyp":
            brand = counted.read(begin, 4).decode("latin-1")
        elif kind == b"moov":
            for inner, inner_begin, inner_end in counted.boxes(begin, end):
                if inner == b"trak":
                    media, codes, profile = _track(counted, inner_begin, inner_end)
                    {"video": video, "audio": audio}.get(media, []).extend(codes)
                    profiles += profile
            break
    return Tracks(brand, tuple(video), tuple(audio), tuple(profiles))


class _Counted:
    """A file of which at most `_MAX_BOXES` boxes are read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._left = _MAX_BOXES

    def boxes(self, start: int, stop: int) -> Iterator[tuple[bytes, int, int]]:
        for box in boxes_within(self._source, start, stop):
            self._left -= 1
            if self._left < 0:
                return
            yield box

    def read(self, start: int, length: int) -> bytes:
        self._source.seek(start)
        return self._source.read(length)


def _track(source: _Counted, start: int, stop: int) -> tuple[str, list[str], list[int]]:
    """Return kind, codes and H.264 profiles of a track; the kind is empty unless it is video or audio."""
    media = ""
    for name in _PATH:
        inner = None
        for kind, begin, end in source.boxes(start, stop):
            media = _HANDLERS.get(kind, media)
            if kind == name:
                inner = begin, end
        if inner is None:
            return media, [], []
        start, stop = inner
    codes: list[str] = []
    profiles: list[int] = []
    for kind, begin, end in source.boxes(start + 8, stop):
        codes.append(kind.decode("latin-1"))
        if media == "video" and codes[-1] in _H264:
            for name, at, last in source.boxes(begin + _VISUAL, end):
                if name == b"avcC" and last - at > 1:
                    profiles += source.read(at + 1, 1)  # one number; none where the file was cut
    return media, codes, profiles


def read_tags(tags: Mapping[str, str]) -> Metadata:
    """Return the metadata in the tags of a video; the case of their keys is ignored."""
    values = {key.casefold(): value for key, value in tags.items()}

    def first(*names: str) -> str:
        return next((values[name] for name in names if values.get(name)), "")

    local, offset, utc = _taken(first(_APPLE + "creationdate", "date"), first("creation_time"))
    lat, lng, altitude = _place(first(_APPLE + "location.iso6709", "location", "location-eng"))
    written_make = first(_APPLE + "make", "make", "com.android.manufacturer")
    make = make_name(written_make)
    return Metadata(
        taken_local=local,
        utc_offset=offset,
        taken_utc=utc,
        camera_make=make,
        camera_model=model_name(first(_APPLE + "model", "model", "com.android.model"), make, written_make),
        lat=lat,
        lng=lng,
        altitude=altitude,
        title=clean(first(_APPLE + "title", _APPLE + "displayname", "title"), limits.TITLE),
        description=clean_text(first(*_DESCRIPTIONS)),
        keywords=text.keywords([first(_APPLE + "keywords", "keywords")], split=True),
        artist=clean(first(_APPLE + "author", _APPLE + "artist", "artist")),
        copyright=clean(first(_APPLE + "copyright", "copyright")),
        software=clean(first(_APPLE + "software", "software")),
        document_id=clean(first(_APPLE + "content.identifier")),
        content_id=clean(first(_APPLE + "content.identifier"), 64),
    )


def _taken(zoned: str, created: str) -> tuple[datetime | None, int | None, datetime | None]:
    """Return wall time, offset in minutes and UTC: Apple writes wall time and offset, MP4 UTC, AVI wall time alone."""
    local, offset = parse_date(zoned)
    if local is not None and offset is not None:
        return local, offset, utc_of(local, offset)
    moment, zone = parse_date(created)
    # Day zero of QuickTime and of Unix, written when the time is unknown.
    if moment is None or moment.date() in (date(1904, 1, 1), date(1970, 1, 1)):
        return None, None, None
    return (moment, None, None) if zone is None else (None, None, utc_of(moment, zone))


def _place(written: str) -> tuple[float | None, float | None, int]:
    match = _LOCATION.fullmatch(written[:128])
    if match is None:
        return None, None, 0
    lat, lng = valid_position(
        decimal_degrees(_parts(match[2], match[3] or "", 2), match[1], LATITUDE),
        decimal_degrees(_parts(match[5], match[6] or "", 3), match[4], LONGITUDE),
    )
    return lat, lng, 0 if lat is None else valid_altitude(float(match[7] or 0))


def _parts(digits: str, fraction: str, width: int) -> list[float]:
    """Split a number such as `4328.04` into degrees and, of two digits each, minutes and seconds if it has them.

    The standard asks for zeros before degrees of fewer digits than `width`; some programs leave them out.
    """
    parts: list[str] = []
    while len(digits) > width:
        digits, part = digits[:-2], digits[-2:]
        parts.insert(0, part)
    parts.insert(0, digits)
    parts[-1] += fraction
    return [float(part) for part in parts]
