"""The recording time and position that AVCHD camcorders write into each picture of their H.264 stream.

They stand in a message of user data (ISO/IEC 14496-10 annex D.1.6) named `MDPM`, whose entries ExifTool documents.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import BinaryIO, Final

from photosvc.media.metadata import Metadata, valid_position
from photosvc.media.text import is_plausible

_READ: Final = 1 << 21
_MAX_STREAMS: Final = 32
_MESSAGE: Final = bytes.fromhex("17ee8c60f84d11d98cd60800200c9a66") + b"MDPM"
#: Bytes of the message that are looked at, and of one entry: its number and four bytes.
_LENGTH, _ENTRY = 512, 5
_DATE, _TIME, _MAKE = 0x18, 0x19, 0xE0
#: Entries of the hemisphere, then those of degrees, minutes and seconds.
_LAT_REF, _LAT, _LNG_REF, _LNG = 0xB1, (0xB2, 0xB3, 0xB4), 0xB5, (0xB6, 0xB7, 0xB8)
_MAKES: Final = {0x0103: "Panasonic", 0x0108: "Sony", 0x1011: "Canon", 0x1104: "JVC"}
_SYNC: Final = ord("G")


def read_avchd(source: BinaryIO) -> Metadata:
    """Wall time, offset, position and maker from the beginning of a transport stream; empty without the message."""
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
    """The contents of each stream; Blu-ray puts a time stamp of four bytes before each packet."""
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
    """Naive wall time and its offset in minutes; None where unknown."""
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
    """Decimal degrees from fractions of 16 bits each; None when one is missing."""
    value = 0.0
    for power, tag in enumerate(tags):
        part = entries.get(tag, b"")
        above, below = int.from_bytes(part[:2], "big"), int.from_bytes(part[2:], "big")
        if len(part) < 4 or not below:
            return None
        value += above / below / 60**power
    return -value if entries.get(ref, b"")[:1] == negative else value


def _offset(zone: int) -> int | None:
    """Minutes east of UTC: sign, hours and a half; None for 0, which also means that no zone is set."""
    minutes = (zone >> 1 & 15) * 60 + (zone & 1) * 30
    if zone & 0x80 or not minutes:
        return None
    return -minutes if zone & 0x20 else minutes
