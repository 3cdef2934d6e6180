"""Times and durations in the form in which people write them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from photosvc.core.errors import InvalidValueError
from photosvc.core.message import Message

#: The timestamp that records have for an unset time.
ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)
#: Seconds of each unit.
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}
_WRITTEN: Final = re.compile(r"([0-9]{1,6})([smhdwy])", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)


def shifted(at: datetime, by: timedelta) -> datetime:
    """Return the moment this much later, limited to the first and last one that `datetime` can represent."""
    try:
        return at + by
    except OverflowError:
        zone = at.tzinfo
        return datetime.min.replace(tzinfo=zone) if by < timedelta() else datetime.max.replace(tzinfo=zone)


def parse_duration(text: str) -> int | None:
    """Return the seconds in `90m`, `12h`, `30d`, `2w` or `1y` (365 days), with at most six digits; else None."""
    found = _WRITTEN.fullmatch(text)
    return int(found[1]) * _UNITS[found[2]] if found else None


def parse_since(text: str, now: datetime, *, field: str = "since") -> datetime:
    """Return the moment of a text: a time ago such as `90m`, `12h`, `2d` or `1w`, a day in UTC, or an RFC 3339 time.

    Raises:
        InvalidValueError: it is none of these.
    """
    text = text.strip()
    if (age := parse_duration(text)) is not None:
        return shifted(now, -timedelta(seconds=age))
    try:
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        if _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day or time, or beyond the year 9999 in UTC
        pass
    msg = Message(
        "{field} must be a time ago as 90m, 12h, 2d or 1w, a day as 2026-02-28, or a time as 2026-02-28T12:00:00Z",
        field=field,
    )
    raise InvalidValueError(msg, field=field)


def parse_until(text: str, now: datetime, *, field: str = "until") -> datetime:
    """Return the end of a period from a text, read as by `parse_since`; a day is included as a whole.

    Raises:
        InvalidValueError: it is none.
    """
    moment = parse_since(text, now, field=field)
    return shifted(moment, timedelta(days=1)) if _DAY.fullmatch(text.strip()) else moment
