"""What a photo is, worked out from its files: a pure function, the same answer whenever it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from photosvc.core.sources import AUTO, META, NAME
from photosvc.index.extraction import Extraction
from photosvc.index.names import date_in
from photosvc.index.places.timezone import to_local, to_utc, zone_at
from photosvc.media.metadata.merge import merge
from photosvc.media.metadata.record import Metadata

#: A still and a video no longer than this are a Live Photo.
_LIVE_NS = 3_100_000_000
_LIVE_TYPES = ("jpg", "heic")
#: A file younger than this when indexed says nothing about when the picture was taken.
_FRESH = timedelta(hours=24)

#: Which file shows the photo: what every viewer reads comes first.
_SHOWN_FIRST = ("jpg", "png", "webp", "gif", "avif", "tiff", "bmp", "heic")
#: Whose metadata counts: what the camera wrote comes before what was made from it.
_TOLD_FIRST = {"raw": 0, "image": 1, "animated": 2, "video": 3}


@dataclass(frozen=True, slots=True)
class Part:
    """One file of the photo."""

    name: str
    extraction: Extraction


@dataclass(frozen=True, slots=True)
class Taken:
    """When the photo was taken, and who says so."""

    at: datetime
    local: datetime
    """Wall time, written as if it were UTC."""
    zone: str
    source: str
    known: bool


def primary_index(parts: Sequence[Part]) -> int:
    """Which part shows the photo: sound before broken, stills before videos, common formats first, then the widest."""

    def rank(index: int) -> tuple[bool, bool, int, int, int]:
        part = parts[index].extraction
        order = _SHOWN_FIRST.index(part.file_type) if part.file_type in _SHOWN_FIRST else len(_SHOWN_FIRST)
        return (part.problem is not None, part.media_type == "video", order, -part.width, index)

    return min(range(len(parts)), key=rank)


def photo_type(parts: Sequence[Part]) -> str:
    """`live raw video animated image`: the most telling its files allow."""
    kinds = {part.extraction.media_type for part in parts}
    if "raw" in kinds:
        return "raw"
    if "video" in kinds:
        if kinds == {"video"}:
            return "video"
        short = all(
            0 < part.extraction.duration_ns <= _LIVE_NS for part in parts if part.extraction.media_type == "video"
        )
        still = any(part.extraction.file_type in _LIVE_TYPES for part in parts)
        return "live" if short and still else "video"
    return "animated" if kinds == {"animated"} else "image"


def merged_metadata(parts: Sequence[Part]) -> Metadata:
    """One record of what the files tell: the camera's own file first, others fill what it leaves empty."""
    ordered = sorted(parts, key=lambda part: (_TOLD_FIRST.get(part.extraction.media_type, 9), part.name))
    return merge([part.extraction.metadata for part in ordered])


def taken(metadata: Metadata, parts: Sequence[Part], indexed_at: datetime) -> Taken:
    """When the photo was taken: from metadata, else its names, else the oldest file time.

    The zone comes from the position, else from the offset the camera wrote. Without either the wall time is taken
    for UTC, and the zone stays empty.
    """
    zone = zone_at(metadata.lat, metadata.lng) if metadata.lat is not None and metadata.lng is not None else ""
    if metadata.taken_local is not None:
        return _from_wall_time(metadata, metadata.taken_local, zone)
    if metadata.taken_utc is not None:
        local = to_local(metadata.taken_utc, zone) if zone else metadata.taken_utc
        return Taken(metadata.taken_utc, _as_written(local), zone or "UTC", META, known=True)
    for part in parts:
        spelled = date_in(part.name.rpartition("/")[2]) or date_in(part.name)
        if spelled is not None:
            moment = spelled.replace(tzinfo=UTC)
            return Taken(moment, moment, "", NAME, known=True)
    oldest = min(part.extraction.mtime_ns for part in parts)
    try:
        moment = datetime.fromtimestamp(oldest / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        moment = indexed_at
    return Taken(moment, moment, "", AUTO, known=indexed_at - moment > _FRESH)


def _from_wall_time(metadata: Metadata, local: datetime, zone: str) -> Taken:
    written = local.replace(tzinfo=UTC)
    if metadata.utc_offset is not None:
        at = _shifted(local, metadata.utc_offset)
        return Taken(at, written, zone or _fixed_zone(metadata.utc_offset), META, known=True)
    if zone:
        return Taken(to_utc(local, zone), written, zone, META, known=True)
    if metadata.taken_utc is not None:
        return Taken(metadata.taken_utc, written, "", META, known=True)
    return Taken(written, written, "", META, known=True)


def _shifted(local: datetime, minutes: int) -> datetime:
    try:
        return local.replace(tzinfo=timezone(timedelta(minutes=minutes))).astimezone(UTC)
    except (OverflowError, ValueError):
        return local.replace(tzinfo=UTC)


def _as_written(local: datetime) -> datetime:
    return local.replace(tzinfo=UTC)


def _fixed_zone(minutes: int) -> str:
    """The IANA name of a whole-hour offset; POSIX counts its sign the other way round."""
    hours, rest = divmod(minutes, 60)
    if rest or not -12 <= hours <= 14:
        return ""
    return "UTC" if hours == 0 else f"Etc/GMT{-hours:+d}"
