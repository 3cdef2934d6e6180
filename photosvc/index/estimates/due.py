"""Which photos need another estimate: those between the located neighbours of what changed.

They are marked in the transaction of the change and estimated at the end of the run, a few at a time; a run that is
killed leaves the marks to the next one.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.orm import Session

from photosvc.core.sources import AUTO, DEFAULT, ESTIMATE
from photosvc.index.estimates.positions import WINDOW
from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, Photo

_VIDEO: Final = "video"
_UTC_ZONE: Final = "UTC"
_GUESSED: Final = frozenset((AUTO, DEFAULT, ESTIMATE))
_UNLOADED: Final = {"synchronize_session": False}


class Sighting(NamedTuple):
    """Where and when a camera was, as far as one photo says."""

    camera_id: int
    serial: str
    at: datetime
    """Wall time, or UTC when `in_utc`."""
    located: bool
    shown: bool
    """The photo has files."""
    lat: float
    lng: float
    place_id: str
    in_utc: bool = False
    """A video without position and zone: its container has UTC alone, which is compared with the UTC of others."""


#: The furthest that wall times are from UTC.
_FURTHEST: Final = timedelta(hours=14)
#: Photos whose position other photos are estimated from.
LOCATED: Final[ColumnElement[bool]] = and_(
    Photo.place_src.not_in(_GUESSED),
    Photo.cell_id != UNKNOWN_PLACE,
    Photo.taken_src.not_in(_GUESSED),
    Photo.day > 0,
    Photo.quality >= 0,
)
_COLUMNS: Final = (
    Photo.id, Photo.camera_id, Photo.camera_serial, Photo.taken_at_local, Photo.taken_src, Photo.day, Photo.place_src,
    Photo.cell_id, Photo.quality, Photo.lat, Photo.lng, Photo.place_id, Photo.time_zone, Photo.type,
)  # fmt: skip


def sighting(photo: Any) -> Sighting | None:  # noqa: ANN401 - a photo or a row of its columns
    """What the photo says about its camera; None when camera or time are unknown."""
    if photo.camera_id in {None, UNKNOWN_ID} or photo.taken_src in _GUESSED or photo.day < 1:
        return None
    located = photo.place_src not in _GUESSED and photo.cell_id != UNKNOWN_PLACE and photo.quality >= 0
    lat, lng, place_id = (photo.lat, photo.lng, photo.place_id) if located else (0.0, 0.0, "")
    in_utc = not located and photo.type == _VIDEO and photo.time_zone == _UTC_ZONE
    at, shown = photo.taken_at_local, photo.quality >= 0
    return Sighting(photo.camera_id, photo.camera_serial, at, located, shown, lat, lng, place_id, in_utc)


def stored_sightings(session: Session, photo_ids: Collection[int]) -> dict[int, Sighting | None]:
    """The sightings of these photos, at most some hundreds, as they are in the database."""
    return {row.id: sighting(row) for row in session.execute(select(*_COLUMNS).where(Photo.id.in_(photo_ids)))}


def mark_due(session: Session, before: Mapping[int, Sighting | None], after: Mapping[int, Sighting | None]) -> None:
    """Mark the photos whose place depends on the sightings that differ. Flushed; writes no other column."""
    cameras: dict[tuple[int, str], list[tuple[datetime, bool]]] = defaultdict(list)
    for photo_id in before.keys() | after.keys():
        one, other = before.get(photo_id), after.get(photo_id)
        if one != other:
            for seen in filter(None, (one, other)):
                cameras[seen.camera_id, seen.serial].append((seen.at, seen.located))
    for (camera_id, serial), moments in cameras.items():
        camera = and_(Photo.camera_id == camera_id, Photo.camera_serial == serial)
        for first, last, located in _spans(moments):
            start, end = _neighbours(session, camera, first, last) if located else (first, last)
            in_utc = and_(Photo.type == _VIDEO, Photo.time_zone == _UTC_ZONE)
            session.execute(
                update(Photo)
                .where(camera, Photo.taken_at_local.between(start - _FURTHEST, end + _FURTHEST))
                .where(or_(in_utc, Photo.taken_at_local.between(start, end)), Photo.place_src.in_(_GUESSED))
                .where(Photo.place_due.is_(False), Photo.quality >= 0)
                .values(place_due=True),
                execution_options=_UNLOADED,
            )


def _spans(moments: Iterable[tuple[datetime, bool]]) -> list[tuple[datetime, datetime, bool]]:
    """First and last moment of runs without a gap as long as the window, and whether one of them has a position."""
    spans: list[tuple[datetime, datetime, bool]] = []
    for at, located in sorted(moments):
        if spans and at - spans[-1][1] <= WINDOW:
            spans[-1] = (spans[-1][0], at, spans[-1][2] or located)
        else:
            spans.append((at, at, located))
    return spans


def _neighbours(
    session: Session, camera: ColumnElement[bool], first: datetime, last: datetime
) -> tuple[datetime, datetime]:
    """The time of the located photos around a span, at most a window away: what lies beyond has other neighbours."""
    at = Photo.taken_at_local
    start, end = first - WINDOW, last + WINDOW
    found = select(func.max(at)).where(camera, LOCATED, at >= start, at < first)
    following = select(func.min(at)).where(camera, LOCATED, at > last, at <= end)
    return session.scalar(found) or start, session.scalar(following) or end
