"""Moments in the past, as people write them."""

import re
from datetime import UTC, datetime, timedelta

from photosvc.core.clock import shifted
from photosvc.core.errors import InvalidValueError
from photosvc.core.texts.durations import parse_duration

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)


def parse_since(text: str, now: datetime, *, field: str = "since") -> datetime:
    """The moment that a text means: how long ago, as `90m`, `12h`, `2d` or `1w`; a day in UTC; or a time of RFC 3339.

    Args:
        text: what a person wrote.
        now: the present.
        field: its name, for the error.

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
    msg = f"{field} must be a time ago as 90m, 12h, 2d or 1w, a day as 2026-02-28, or a time as 2026-02-28T12:00:00Z"
    raise InvalidValueError(msg, field=field)


def parse_until(text: str, now: datetime, *, field: str = "until") -> datetime:
    """The moment before which something was, as `parse_since` reads it; a day counts whole.

    Raises:
        InvalidValueError: it is none.

    """
    moment = parse_since(text, now, field=field)
    return shifted(moment, timedelta(days=1)) if _DAY.fullmatch(text.strip()) else moment
