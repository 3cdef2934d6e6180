"""When a photo was taken: the sources of its time in their order, its time zone, and how much of its date is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from photosvc.core.values.sources import AUTO, ESTIMATE, META, NAME
from photosvc.index.describing.compose import StackedFile
from photosvc.index.describing.dated_names import date_in
from photosvc.index.places import to_local, to_utc, zone_at
from photosvc.media.dates import DAY
from photosvc.media.metadata import SAME_MOMENT, Metadata

#: The time of a file that changed shortly before it was indexed is more likely that of a copy than of the picture.
_FRESH: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Taken:
    """When the photo was taken, and the source of that time."""

    at: datetime
    local: datetime
    """Wall time, written as if it were UTC."""
    zone: str
    source: str
    parts: int = DAY
    """How much of the date is known, see `media.dates`; 0 for none of it."""


def taken(metadata: Metadata, files: Sequence[StackedFile], indexed_at: datetime) -> Taken:
    """When the photo was taken.

    From the metadata (source `meta`); else from the names of files and folders (`name`); else the time at which a
    program last changed the picture (`estimate`); else the oldest modification time of its files (empty).

    The zone comes from the position, else from the offset that the camera wrote. Without either, the wall time counts
    as UTC and the zone is empty.
    """
    zone = zone_at(metadata.lat, metadata.lng) if metadata.lat is not None and metadata.lng is not None else ""
    if metadata.taken_local is not None:
        return _from_wall_time(metadata, metadata.taken_local, zone)
    if metadata.taken_utc is not None:
        local = to_local(metadata.taken_utc, zone) if zone else metadata.taken_utc
        return Taken(metadata.taken_utc, local.replace(tzinfo=UTC), zone or "UTC", META)
    for file in files:
        named = date_in(file.name.rpartition("/")[2]) or date_in(file.name)
        if named is not None:
            moment = named.replace(tzinfo=UTC)
            return Taken(moment, moment, "", NAME)
    if metadata.modified_local is not None:
        at, zone = _in_zone(metadata.modified_local, metadata.modified_offset, zone)
        return Taken(at, metadata.modified_local.replace(tzinfo=UTC), zone, ESTIMATE)
    return _from_file_time(files, indexed_at)


def _from_wall_time(metadata: Metadata, local: datetime, zone: str) -> Taken:
    """The wall time stays what the camera shows; the satellite clock knows UTC better when the two disagree."""
    at, named = _in_zone(local, metadata.utc_offset, zone)
    satellite = metadata.taken_utc
    if satellite is not None and metadata.date_parts == DAY and abs(at - satellite) >= SAME_MOMENT:
        at, named = satellite, zone
    return Taken(at, local.replace(tzinfo=UTC), named, META, metadata.date_parts)


def _in_zone(local: datetime, offset: int | None, zone: str) -> tuple[datetime, str]:
    """UTC time and name of the zone of a wall time."""
    if offset is not None:
        return _shifted(local, offset), zone or _fixed_zone(offset)
    return (to_utc(local, zone), zone) if zone else (local.replace(tzinfo=UTC), "")


def _from_file_time(files: Sequence[StackedFile], indexed_at: datetime) -> Taken:
    oldest = min(file.extraction.mtime_ns for file in files)
    try:
        moment = datetime.fromtimestamp(oldest / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        moment = indexed_at
    return Taken(moment, moment, "", AUTO, DAY if indexed_at - moment > _FRESH else 0)


def _shifted(local: datetime, minutes: int) -> datetime:
    try:
        return local.replace(tzinfo=timezone(timedelta(minutes=minutes))).astimezone(UTC)
    except (OverflowError, ValueError):
        return local.replace(tzinfo=UTC)


def _fixed_zone(minutes: int) -> str:
    """The IANA name of a whole-hour offset; POSIX counts its sign the other way round."""
    hours, rest = divmod(minutes, 60)
    if rest or not -12 <= hours <= 14:
        return ""
    return "UTC" if hours == 0 else f"Etc/GMT{-hours:+d}"
