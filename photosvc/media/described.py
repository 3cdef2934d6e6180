"""The metadata of a video file, read from its own structure and completed by tags that a decoder found.

AVCHD camcorders write time and position of the recording into each picture of their H.264 stream: in a message of user
data (ISO/IEC 14496-10 annex D.1.6) named `MDPM`, whose entries ExifTool documents.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Final

from photosvc.media.formats import is_sequence
from photosvc.media.metadata import Metadata, merge, merge_file, valid_position
from photosvc.media.mp4 import describe, read_tags
from photosvc.media.slices import read_at
from photosvc.media.text import is_plausible
from photosvc.media.xmp import read_xmp

_READ: Final = 1 << 21
_MAX_STREAMS: Final = 32
_MESSAGE: Final = bytes.fromhex("17ee8c60f84d11d98cd60800200c9a66") + b"MDPM"
#: Bytes of the message that are read, and bytes of one entry: its number and four bytes.
_LENGTH, _ENTRY = 512, 5
_DATE, _TIME, _MAKE = 0x18, 0x19, 0xE0
#: Numbers of the entries: hemisphere, then degrees, minutes and seconds.
_LAT_REF, _LAT, _LNG_REF, _LNG = 0xB1, (0xB2, 0xB3, 0xB4), 0xB5, (0xB6, 0xB7, 0xB8)
_MAKES: Final = {0x0103: "Panasonic", 0x0108: "Sony", 0x1011: "Canon", 0x1104: "JVC"}
_SYNC: Final = ord("G")
_BOXES: Final = frozenset((b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"))
# Object identifiers of ASF (Advanced Systems Format specification, section 10).
_ASF: Final = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
_FILE_PROPERTIES: Final = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_MAX_OBJECTS: Final = 200
_ASF_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)


def read_avchd(source: BinaryIO) -> Metadata:
    """Return wall time, offset, position and maker from the beginning of a transport stream; empty when not found."""
    source.seek(0)
    for stream in _streams(source.read(_READ)):
        at = stream.find(_MESSAGE)
        if at >= 0:
            # Three bytes of an H.264 stream that would look like a start code carry a 3 between them.
            body = re.sub(b"\0\0\3", b"\0\0", bytes(stream[at + len(_MESSAGE) : at + _LENGTH]))
            entries = {
                body[i]: body[i + 1 : i + _ENTRY] for i in range(1, 1 + _ENTRY * body[0], _ENTRY) if i < len(body)
            }
            return _metadata(entries)
    return Metadata()


def _streams(data: bytes) -> list[bytearray]:
    """Return the contents of each stream; Blu-ray puts a time stamp of four bytes before each packet."""
    start, step = (0, 188) if data[:1] == b"G" else (4, 192)
    streams: dict[int, bytearray] = {}
    for at in range(start, len(data) - 187, step):
        if data[at] != _SYNC:
            break
        stream = (data[at + 1] & 0x1F) << 8 | data[at + 2]
        control = data[at + 3] >> 4 & 3
        begin = at + (5 + data[at + 4] if control == 3 else 4)
        if control & 1 and (stream in streams or len(streams) < _MAX_STREAMS):
            streams.setdefault(stream, bytearray()).extend(data[begin : at + 188])
    return list(streams.values())


def _metadata(entries: Mapping[int, bytes]) -> Metadata:
    local, offset = _moment(entries)
    position = valid_position(
        _degrees(entries, _LAT, _LAT_REF, negative=b"S"), _degrees(entries, _LNG, _LNG_REF, negative=b"W")
    )
    return Metadata(
        taken_local=local,
        utc_offset=offset,
        lat=position[0] if position else None,
        lng=position[1] if position else None,
        camera_make=_MAKES.get(int.from_bytes(entries.get(_MAKE, b"")[:2], "big"), ""),
    )


def _moment(entries: Mapping[int, bytes]) -> tuple[datetime | None, int | None]:
    """Return naive wall time and its offset in minutes; None where unknown."""
    date, time = entries.get(_DATE, b""), entries.get(_TIME, b"")
    if len(date) < 4 or len(time) < 4:
        return None, None
    try:  # each byte holds two decimal digits
        century, year, month, day, hour, minute, second = (int(f"{byte:x}") for byte in date[1:] + time)
        local = datetime(century * 100 + year, month, day, hour, minute, second)  # noqa: DTZ001 - wall time
    except ValueError:
        return None, None
    return (local, _offset(date[0])) if is_plausible(local) else (None, None)


def _degrees(entries: Mapping[int, bytes], tags: Sequence[int], ref: int, *, negative: bytes) -> float | None:
    """Return decimal degrees from fractions of 16-bit numbers; None when one is missing."""
    value = 0.0
    for power, tag in enumerate(tags):
        part = entries.get(tag, b"")
        above, below = int.from_bytes(part[:2], "big"), int.from_bytes(part[2:], "big")
        if len(part) < 4 or not below:
            return None
        value += above / below / 60**power
    return -value if entries.get(ref, b"")[:1] == negative else value


def _offset(zone: int) -> int | None:
    """Return minutes east of UTC from the bits of sign, hours and half an hour; None for 0, which also means unset."""
    minutes = (zone >> 1 & 15) * 60 + (zone & 1) * 30
    if zone & 0x80 or not minutes:
        return None
    return -minutes if zone & 0x20 else minutes


def read_video_metadata(source: BinaryIO, tags: Mapping[str, str] | None = None) -> tuple[Metadata, bool]:
    """Return the metadata of a video, and whether the file is cut off before the end of its media data.

    Args:
        source: the file, open for reading.
        tags: tags that a decoder found; they complete the metadata.
    """
    source.seek(0)
    head = source.read(200)
    decoded = read_tags(tags or {})
    if head[4:8] in _BOXES:
        boxed = describe(source)
        found = merge([read_tags(boxed.tags), decoded])
        if is_sequence(head):  # its header has the time of the encoder, often that of a conversion
            found = replace(found, taken_utc=None)
        return merge_file(found, Metadata(), read_xmp(boxed.xmp).metadata), boxed.is_cut
    if head.startswith(_ASF):
        return merge([decoded, Metadata(taken_utc=_asf_creation(source))]), False
    if ord("G") in (head[:1] + head[4:5]):
        return merge([read_avchd(source), decoded]), False
    return decoded, False


def _asf_creation(source: BinaryIO) -> datetime | None:
    """Return the creation date of the ASF file properties, which count 100 nanoseconds since 1601."""
    position = 30  # the header object begins with its own identifier, size and number of objects
    for _ in range(_MAX_OBJECTS):
        head = read_at(source, position, 56)
        size = int.from_bytes(head[16:24], "little")
        if len(head) < 56 or not 24 <= size < 1 << 40:
            return None
        if head.startswith(_FILE_PROPERTIES):
            steps = int.from_bytes(head[48:56], "little")
            if not 0 < steps < 1 << 62:
                return None
            try:
                moment = _ASF_EPOCH + timedelta(microseconds=steps // 10)
            except OverflowError:
                return None
            return moment if is_plausible(moment) and moment.year > 1980 else None
        position += size
    return None
