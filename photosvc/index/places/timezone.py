"""Time zones: which one a position is in, and wall time to and from UTC.

A wall time that occurs twice (in autumn) means its first occurrence; one that the clock skips (in spring) moves forward
by the gap. A result outside the years 1 to 9999 is clipped to them. An empty or unknown zone counts as UTC.
"""

from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

import tzfpy

from photosvc.core.geo import is_position

_EARLIEST, _LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def zone_at(lat: float, lng: float) -> str:
    """The IANA zone name at a position, `Etc/GMT…` on the open sea; empty off the globe."""
    return str(tzfpy.get_tz(lng, lat)) if is_position(lat, lng) else ""


def to_utc(local: datetime, zone: str) -> datetime:
    """The aware UTC time when clocks in `zone` show the naive time `local`."""
    aware = local.replace(tzinfo=_zone(zone[:64]) or UTC, fold=0)
    try:
        return aware.astimezone(UTC)
    except OverflowError:
        return _EARLIEST if local.year == 1 else _LATEST


def to_local(utc: datetime, zone: str) -> datetime:
    """The naive time that clocks in `zone` show at the aware time `utc`."""
    try:
        local = utc.astimezone(_zone(zone[:64]) or UTC)
    except OverflowError:
        local = _EARLIEST if utc.year == 1 else _LATEST
    return local.replace(tzinfo=None, fold=0)


@lru_cache(maxsize=1024)
def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, LookupError):  # ZoneInfo opens files: a folder, a hostile path, no such file
        return None
