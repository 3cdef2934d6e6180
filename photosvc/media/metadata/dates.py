"""Dates as cameras, editors and sidecars write them."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from photosvc.core.clock import system_clock

#: The year of the oldest photograph.
FIRST_YEAR: Final = 1826

_DATE = re.compile(
    r"\s*(\d{4})[:\-/.]?(\d{2})[:\-/.]?(\d{2})"
    r"(?:[T ]\s?(\d{2})[:.]?(\d{2})(?:[:.]?(\d{2})(?:[.,](\d{1,9}))?)?)?"
    r"\s*(Z|UTC|[+-]\d{2}:?\d{2})?\s*",
    re.ASCII,
)
_OFFSET = re.compile(r"\s*(?:(Z|UTC)|([+-])(\d{2}):?(\d{2}))\s*", re.ASCII)


def parse_date(text: str, *, subseconds: str = "") -> tuple[datetime | None, int | None]:
    """Naive wall time, and its offset in minutes east of UTC, None when the text has none.

    Reads Exif (`2020:01:31 12:00:00`), XMP (ISO 8601, the time may be missing) and IPTC (`20200131 120000+0100`).
    An impossible or implausible date (year 0000, 9999, before 1826, after next year) gives (None, None).
    """
    match = _DATE.fullmatch(text[:64])
    if match is None:
        return None, None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    digits = (match[7] or subseconds.strip())[:6]
    fraction = int(digits.ljust(6, "0")) if digits.isascii() and digits.isdigit() else 0
    # A second of 60, be it a leap second or an error, becomes 59.
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), fraction)  # noqa: DTZ001 - wall time
    except ValueError:
        return None, None
    return (moment, parse_offset(match[8] or "")) if is_plausible(moment) else (None, None)


def parse_offset(text: str) -> int | None:
    """Minutes east of UTC of `+05:30`, `-0700` or `Z`; None for anything else or beyond 15 hours."""
    match = _OFFSET.fullmatch(text[:16])
    if match is None:
        return None
    if match[1]:
        return 0
    minutes = int(match[3]) * 60 + int(match[4])
    if minutes > 15 * 60 or int(match[4]) > 59:
        return None
    return -minutes if match[2] == "-" else minutes


def is_plausible(moment: datetime) -> bool:
    """Whether the year lies between the first photograph and next year."""
    return FIRST_YEAR <= moment.year <= system_clock().year + 1


def to_utc(local: datetime, offset: int) -> datetime:
    """The aware UTC time of a wall time at an offset in minutes."""
    return local.replace(tzinfo=timezone(timedelta(minutes=offset))).astimezone(UTC)
