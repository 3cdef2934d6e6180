"""XMP values converted to the units of `Metadata`."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from photosvc.media.exif.gps import valid_altitude, valid_position
from photosvc.media.metadata.dates import parse_date, to_utc
from photosvc.media.xmp.tree import Properties

# Dates on which a photo may have been taken, in order of preference.
_DATES: Final = ("exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate", "exif:DateTimeDigitized")
# `39,6.9N` or `39,6,54N` (XMP part 2, GPSCoordinate), or a plain signed number.
_COORDINATE: Final = re.compile(
    r"\s*(\d{1,3})(?:,(\d{1,2}(?:\.\d{1,12})?))?(?:,(\d{1,2}(?:\.\d{1,12})?))?\s*([NSEW])\s*", re.ASCII | re.IGNORECASE
)
_NUMBER: Final = re.compile(r"\s*[+-]?\d{1,9}(?:\.\d{1,15})?\s*", re.ASCII)
_FRACTION: Final = re.compile(r"\s*(-?\d{1,12})(?:/(\d{1,12}))?\s*", re.ASCII)


def first(found: Properties, *names: str) -> str:
    """The first value of the first property that has one, else empty."""
    return next((found[name][0] for name in names if name in found), "")


def taken(found: Properties) -> tuple[datetime | None, int | None]:
    """Naive wall time and its offset in minutes east of UTC; None where unknown."""
    for name in _DATES:
        moment, offset = parse_date(first(found, name))
        if moment is not None:
            return moment, offset
    return None, None


def gps_moment(found: Properties) -> datetime | None:
    """The UTC time of the receiver."""
    moment, offset = parse_date(first(found, "exif:GPSTimeStamp", "exif:GPSDateTime"))
    return to_utc(moment, offset or 0) if moment is not None else None


def position(found: Properties) -> tuple[float, float] | None:
    """Latitude and longitude in decimal degrees; None when absent or impossible."""
    lat = _degrees(first(found, "exif:GPSLatitude"), "NS")
    return valid_position(lat, _degrees(first(found, "exif:GPSLongitude"), "EW"))


def altitude(found: Properties) -> int:
    """Metres above sea level, 0 when unknown."""
    match = _FRACTION.fullmatch(first(found, "exif:GPSAltitude")[:64])
    if match is None or int(match[2] or 1) == 0:
        return 0
    metres = int(match[1]) / int(match[2] or 1)
    return valid_altitude(-metres if first(found, "exif:GPSAltitudeRef").strip() == "1" else metres)


def rating(found: Properties) -> int:
    """Stars 0 to 5, -1 for rejected."""
    written = first(found, "xmp:Rating")
    value = round(float(written)) if _NUMBER.fullmatch(written) else 0
    return value if -1 <= value <= 5 else 0


def subject(values: Iterable[str]) -> list[str]:
    """The most specific word of each hierarchical subject: `Rome` of `Places|Italy|Rome`."""
    return [value.rpartition("|")[2] for value in values]


def _degrees(written: str, signs: str) -> float | None:
    match = _COORDINATE.fullmatch(written[:64])
    if match is None:
        return float(written) if _NUMBER.fullmatch(written[:64]) else None
    minutes, seconds = float(match[2] or 0), float(match[3] or 0)
    if match[4].upper() not in signs or minutes > 60 or seconds > 60:
        return None
    value = int(match[1]) + minutes / 60 + seconds / 3600
    return -value if match[4].upper() == signs[1] else value
