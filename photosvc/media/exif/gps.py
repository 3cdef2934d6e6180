"""Positions in Exif: the GPS directory (Exif 2.32 section 4.6.6); the checks are those of every source."""

import math
from datetime import UTC, datetime, timedelta
from typing import Final

from photosvc.media.exif.tiff import Directory
from photosvc.media.metadata.dates import parse_date

_LAT_REF, _LAT, _LNG_REF, _LNG, _ALT_REF, _ALT, _TIME, _STATUS, _DATE = 1, 2, 3, 4, 5, 6, 7, 9, 29
_MAX_ALTITUDE: Final = 100_000


def position(gps: Directory) -> tuple[float, float] | None:
    """Latitude and longitude in decimal degrees (6 decimals, 0.1 m); None when absent, void or impossible."""
    if gps.data(_STATUS)[:1] == b"V":  # void: the receiver had no fix
        return None
    return valid_position(_degrees(gps, _LAT, _LAT_REF, negative=b"S"), _degrees(gps, _LNG, _LNG_REF, negative=b"W"))


def valid_position(lat: float | None, lng: float | None) -> tuple[float, float] | None:
    """The pair if it lies on the globe, else None; also None for exactly 0, 0, which receivers without a fix write."""
    if lat is None or lng is None or not (math.isfinite(lat) and math.isfinite(lng)):
        return None
    if not (-90 <= lat <= 90 and -180 <= lng <= 180) or (lat == 0 and lng == 0):
        return None
    return round(lat, 6), round(lng, 6)


def altitude(gps: Directory) -> int:
    """Metres above sea level, negative below, 0 when unknown."""
    metres = gps.number(_ALT) or 0.0
    below = gps.data(_ALT_REF)[:1] == b"\x01"
    return valid_altitude(-metres if below else metres)


def valid_altitude(metres: float) -> int:
    """Whole metres, 0 when beyond 100 km."""
    return round(metres) if math.isfinite(metres) and abs(metres) <= _MAX_ALTITUDE else 0


def moment(gps: Directory) -> datetime | None:
    """The UTC time of the receiver; None unless both date and time are there."""
    day, _ = parse_date(gps.data(_DATE).partition(b"\0")[0].decode("ascii", "replace"))
    parts = gps.numbers(_TIME)
    if day is None or len(parts) != 3:
        return None
    hours, minutes, seconds = (part if part is not None else -1.0 for part in parts)
    if not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 61):
        return None
    return day.replace(tzinfo=UTC) + timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _degrees(gps: Directory, tag: int, ref: int, *, negative: bytes) -> float | None:
    parts = gps.numbers(tag)[:3]
    # Some writers store the seconds as 0/0; only the degrees are required.
    if not parts or parts[0] is None:
        return None
    degrees, minutes, seconds = (*(part or 0.0 for part in parts), 0.0, 0.0)[:3]
    if min(degrees, minutes, seconds) < 0 or minutes > 60 or seconds > 60:
        return None
    value = degrees + minutes / 60 + seconds / 3600
    return -value if gps.data(ref)[:1].upper() == negative else value
