"""Exif values converted to the units of `Metadata`; positions from the GPS directory (Exif 2.32 section 4.6.6)."""

from datetime import UTC, datetime, timedelta
from typing import Final

from photosvc.media.dates import WrittenDate, read_date
from photosvc.media.exif.tiff import Directory
from photosvc.media.metadata import valid_altitude, valid_position
from photosvc.media.text import DESCRIPTION, LINE, clean, parse_date, parse_offset

# Tags of a date, its sub-seconds and its offset; of the first two, taken and digitized, the first that is set counts.
_TAKEN: Final = ((0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012))
_MODIFIED: Final = (0x0132, 0x9290, 0x9010)
_UNKNOWN_ISO: Final = 65535  # other tags hold the values that do not fit 16 bits
MAX_ISO: Final = 10_000_000
MAX_FOCAL_LENGTH: Final = 100_000
MAX_F_NUMBER: Final = 1000
_LAT_REF, _LAT, _LNG_REF, _LNG, _ALT_REF, _ALT, _TIME, _STATUS, _DATE = 1, 2, 3, 4, 5, 6, 7, 9, 29


def taken(exif: Directory) -> WrittenDate:
    """When the picture was taken, or else digitized; empty when unknown."""
    return next((date for tags in _TAKEN if (date := _date(exif, *tags)).local is not None), WrittenDate())


def modified(exif: Directory) -> WrittenDate:
    """When the file was last changed; empty when unknown."""
    return _date(exif, *_MODIFIED)


def _date(exif: Directory, date: int, subseconds: int, offset: int) -> WrittenDate:
    found = read_date(clean(exif.data(date)), subseconds=clean(exif.data(subseconds), 9))
    east = parse_offset(clean(exif.data(offset)))
    return found if east is None or found.local is None else found._replace(offset=east)


def iso(exif: Directory) -> int:
    """Sensitivity, 0 when unknown."""
    value = exif.integer(0x8827)
    if value in (0, _UNKNOWN_ISO):
        value = exif.integer(0x8832) or exif.integer(0x8831) or exif.integer(0x8833)
    return value if 0 < value <= MAX_ISO else 0


def focal_length(exif: Directory) -> int:
    """Millimetres: the 35 mm equivalent if known, else the real focal length; 0 when unknown."""
    value = exif.number(0xA405) or exif.number(0x920A) or 0.0
    return round(value) if 0 < value < MAX_FOCAL_LENGTH else 0


def f_number(exif: Directory) -> float:
    """Aperture, from FNumber or else from the APEX value (Exif annex C: N = 2^(Av/2)); 0.0 when unknown."""
    value = exif.number(0x829D) or 0.0
    apex = exif.number(0x9202)
    if not value and apex is not None and 0 < apex < 20:
        value = 2.0 ** (apex / 2)
    return round(value, 2) if 0 < value < MAX_F_NUMBER else 0.0


def exposure(fraction: tuple[int, int] | None) -> str:
    """Shutter time in seconds, in the usual notation: `1/160`, `2.5`, `0.4`; empty when unknown."""
    if fraction is None or fraction[0] <= 0 or fraction[1] <= 0:
        return ""
    seconds = fraction[0] / fraction[1]
    if not 1e-7 < seconds < 1e6:
        return ""
    denominator = round(1 / seconds)
    # Below a quarter of a second, rounding to a whole denominator is as exact as shutters are.
    if seconds < 0.25 or (seconds < 1 and abs(1 / seconds - denominator) < 0.02):
        return f"1/{denominator}"
    return f"{round(seconds, 1):.1f}".removesuffix(".0")


def rating(image: Directory) -> int:
    """Stars 0 to 5, 0 when unknown."""
    value = image.integer(0x4746)
    return value if 0 <= value <= 5 else 0


def unique_id(written: bytes) -> str:
    """ImageUniqueID; empty when it consists of zeros."""
    value = clean(written)
    return value if value.strip("0 -") else ""


def utf16(written: bytes, limit: int = LINE) -> str:
    """The text of a tag that Windows Explorer writes (UTF-16, little endian)."""
    return clean(written[: limit * 4].decode("utf-16-le", "ignore"), limit)


def user_comment(written: bytes) -> str:
    """UserComment: eight bytes of character code, then the text."""
    code, body = written[:8], written[8 : 8 + DESCRIPTION * 4]
    if code == b"UNICODE\0":
        # Nothing states the byte order; the zero bytes of ASCII text show it.
        order = "utf-16-be" if body[:1] == b"\0" else "utf-16-le"
        return clean(body.decode(order, "ignore"), DESCRIPTION)
    if code in (b"ASCII\0\0\0", b"\0\0\0\0\0\0\0\0"):
        value = clean(body, DESCRIPTION)
        return value if value.isprintable() else ""
    return ""


def position(gps: Directory) -> tuple[float, float] | None:
    """Latitude and longitude in decimal degrees (6 decimals, 0.1 m); None when absent, void or impossible."""
    if gps.data(_STATUS)[:1] == b"V":  # void: the receiver had no fix
        return None
    return valid_position(_degrees(gps, _LAT, _LAT_REF, negative=b"S"), _degrees(gps, _LNG, _LNG_REF, negative=b"W"))


def altitude(gps: Directory) -> int:
    """Metres above sea level, negative below, 0 when unknown."""
    metres = gps.number(_ALT) or 0.0
    below = gps.data(_ALT_REF)[:1] == b"\x01"
    return valid_altitude(-metres if below else metres)


def gps_moment(gps: Directory) -> datetime | None:
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
