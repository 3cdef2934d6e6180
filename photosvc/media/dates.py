"""Dates as people and cameras write them: whole ones, and those of which only the year or the month is known."""

import re
from datetime import datetime
from typing import Final, NamedTuple

from photosvc.media.text import is_plausible, parse_date

#: Parts of a date that are known: year, month and day; year and month; the year alone.
DAY, MONTH, YEAR = 3, 2, 1
# `1954`, `2020-01`, and the forms in which Exif and IPTC leave parts open: `1954:00:00 00:00:00`, `20200100`.
_PARTIAL: Final = re.compile(r"\s*(\d{4})(?:[:\-/.]?(\d{2}|  )(?:[:\-/.]?(?:00|  ))?)?(?:[T ][0: ]*)?Z?\s*", re.ASCII)


class WrittenDate(NamedTuple):
    """A date as written; `local` is None when there is none."""

    local: datetime | None = None
    """Naive wall time; the first day of a month or year whose day is unknown."""
    offset: int | None = None
    """Minutes east of UTC; None when unknown."""
    parts: int = DAY
    """`DAY`, `MONTH` or `YEAR`: how much of the date is known."""


def read_date(text: str, *, subseconds: str = "") -> WrittenDate:
    """The date of a text in the notation of Exif, XMP or IPTC, which may be partial.

    An impossible or implausible date gives an empty one, see `parse_date`.
    """
    local, offset = parse_date(text, subseconds=subseconds)
    if local is not None:
        return WrittenDate(local, offset)
    match = _PARTIAL.fullmatch(text[:64])
    if match is None:
        return WrittenDate()
    month = int((match[2] or "").strip() or 0)
    try:
        first = datetime(int(match[1]), month or 1, 1)  # noqa: DTZ001 - wall time
    except ValueError:
        return WrittenDate()
    return WrittenDate(first, None, MONTH if month else YEAR) if is_plausible(first) else WrittenDate()
