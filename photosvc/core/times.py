"""Times: durations and moments as people write them, and wall times in time zones with IANA names.

A wall time that occurs twice (in autumn) means its first occurrence; one that the clock skips (in spring) moves forward
by the gap. A result outside the years 1 to 9999 is clipped to them. An empty or unknown zone counts as UTC.
"""

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import InvalidValueError
from photosvc.core.message import Message

#: The timestamp of records for an unset time.
ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)
#: Seconds of each unit.
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}
_WRITTEN: Final = re.compile(r"([0-9]{1,6})([smhdwy])", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)
_EARLIEST, _LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
#: Characters of the name of a zone.
LONGEST_ZONE: Final = 64
#: The name of UTC, which is also the zone of a machine without another zone.
UTC_ZONE: Final = "UTC"
#: Other names of UTC.
_SAME: Final = frozenset(("Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu"))

#: Folders and names of the zone database that are no zones: variants with leap seconds, and placeholders.
_VARIANTS: Final = ("right/", "posix/")
_PLACEHOLDERS: Final = frozenset(("localtime", "posixrules", "Factory"))


def shifted(at: datetime, by: timedelta) -> datetime:
    """Return the moment moved by a duration, limited to the first and last moment that `datetime` can represent."""
    try:
        return at + by
    except OverflowError:
        zone = at.tzinfo
        return datetime.min.replace(tzinfo=zone) if by < timedelta() else datetime.max.replace(tzinfo=zone)


def parse_duration(text: str) -> int | None:
    """Return the seconds in `90m`, `12h`, `30d`, `2w` or `1y` (365 days), with at most six digits; else None."""
    match = _WRITTEN.fullmatch(text)
    return int(match[1]) * _UNITS[match[2]] if match else None


def parse_since(text: str, now: datetime, *, field: str = "since") -> datetime:
    """Return the moment of a text: a time ago such as `90m`, `12h`, `2d` or `1w`, a day in UTC, or an RFC 3339 time.

    Raises:
        InvalidValueError: the text has none of these forms.
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
    """Return the end of a period from a text in a form of `parse_since`; a day is included as a whole.

    Raises:
        InvalidValueError: the text has none of these forms.
    """
    moment = parse_since(text, now, field=field)
    return shifted(moment, timedelta(days=1)) if _DAY.fullmatch(text.strip()) else moment


def to_utc(local: datetime, zone: str) -> datetime:
    """Return the aware time in UTC at which clocks in `zone` show the naive time `local`."""
    aware = local.replace(tzinfo=_zone(zone[:LONGEST_ZONE]) or UTC, fold=0)
    try:
        return aware.astimezone(UTC)
    except OverflowError:
        return _EARLIEST if local.year == 1 else _LATEST


def to_local(utc: datetime, zone: str) -> datetime:
    """Return the naive time that clocks in `zone` show at the aware time `utc`."""
    try:
        local = utc.astimezone(_zone(zone[:LONGEST_ZONE]) or UTC)
    except OverflowError:
        local = _EARLIEST if utc.year == 1 else _LATEST
    return local.replace(tzinfo=None, fold=0)


def is_zone(name: str) -> bool:
    """Return whether the text is the IANA name of a zone, or empty for an unknown zone."""
    if name.startswith(_VARIANTS) or name in _PLACEHOLDERS:
        return False
    return not name or (len(name) <= LONGEST_ZONE and _zone(name) is not None)


def fixed_zone(minutes: int) -> str:
    """Return the IANA name of an offset in whole hours, else an empty text; in `Etc/GMT-2` the sign is reversed."""
    hours, rest = divmod(minutes, 60)
    if rest or not -12 <= hours <= 14:
        return ""
    return UTC_ZONE if hours == 0 else f"Etc/GMT{-hours:+d}"


def machine_zone(environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")) -> str:
    """Return the IANA name of the machine's zone, from `TZ`, else from `/etc/localtime` or `/etc/timezone`.

    If they name none, as in some containers, return the zone of the present offset if that is whole hours, else UTC.
    """
    if "TZ" in environ:
        names = [environ["TZ"].removeprefix(":").rpartition("zoneinfo/")[2] or UTC_ZONE]
    else:
        names = [os.path.realpath(etc / "localtime").rpartition("/zoneinfo/")[2], _first_line(etc / "timezone")]
    for name in names:
        if name and is_zone(name):
            return UTC_ZONE if name in _SAME else name
    offset = SYSTEM_CLOCK().astimezone().utcoffset() or timedelta()
    return fixed_zone(round(offset.total_seconds() / 60)) or UTC_ZONE


def _first_line(path: Path) -> str:
    try:
        return path.read_text("ascii")[:LONGEST_ZONE].partition("\n")[0].strip()
    except (OSError, ValueError):
        return ""


def _zone(name: str) -> tzinfo | None:
    try:
        return _known_zone(name)
    except OSError:  # ZoneInfo opens files: the name is that of a folder, or no descriptor is free at present
        return None


@lru_cache(maxsize=1024)
def _known_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, LookupError):  # a hostile path, no such file
        return None
