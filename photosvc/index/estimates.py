"""Estimated places of photos: between the located photos that the same camera took before and after.

Photos that visitors of a link or contributors of an album sent neither give nor get one: made-up files would move
photos of others, or ask where their cameras were.

The end of a run estimates the photos that changes marked (`index.sightings`), a few in each transaction; a run that is
killed leaves the marks to the next one.
"""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.geo import distance_m, unit_vector
from photosvc.core.times import shifted
from photosvc.core.vocabulary import AUTO, ESTIMATE
from photosvc.index.catalog import Catalog
from photosvc.index.lease import Lease
from photosvc.index.photo_changes import LOADED, PhotoChanges
from photosvc.index.places import Gazetteer
from photosvc.index.sightings import LOCATED, SENT, WINDOW, Sighting, sighting
from photosvc.models import ESTIMATES, UNKNOWN_ID, UNKNOWN_PLACE, Photo, Place, named_number, set_named_numbers
from photosvc.models.engine import begin_write
from photosvc.models.pace import Pace
from photosvc.models.statements import UNLOADED

#: Two photos closer to each other than this give a position, others only the place of the nearer one.
NEAR_M: Final = 100_000.0
_FIRST_BATCH: Final = 20
_MOST: Final = 200
_MANY: Final = 5_000


@dataclass(frozen=True, slots=True)
class Located:
    """A photo with a position."""

    at: datetime
    """Wall time: both photos come from the same clock, whose zone may be unknown."""
    lat: float
    lng: float
    place_id: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated place, with a position or, if that is None, without one."""

    position: tuple[float, float] | None
    place_id: str


def estimate(at: datetime, before: Located | None, after: Located | None) -> Estimate | None:
    """Return the estimate of a photo taken at this wall time; None when nothing is known.

    Args:
        before: the last located photo before it, or at the same time.
        after: the first one after it.
    """
    known = [one for one in (before, after) if one is not None and abs(one.at - at) <= WINDOW]
    if not known:
        return None
    nearest = min(known, key=lambda one: abs(one.at - at))
    if len(known) == 2 and distance_m(known[0].lat, known[0].lng, known[1].lat, known[1].lng) < NEAR_M:
        first, last = known
        return Estimate(_between(first, last, (at - first.at) / ((last.at - first.at) or WINDOW)), nearest.place_id)
    return Estimate(None, nearest.place_id)


def _between(first: Located, last: Located, share: float) -> tuple[float, float]:
    """Return the point at this share of the chord: exact enough below 100 km, also at poles and at 180 degrees."""
    ends = zip(unit_vector(first.lat, first.lng), unit_vector(last.lat, last.lng), strict=True)
    x, y, z = (one + (other - one) * share for one, other in ends)
    return round(math.degrees(math.atan2(z, math.hypot(x, y))), 6), round(math.degrees(math.atan2(y, x)), 6)


@dataclass(slots=True)
class _Gap:
    """A time without located photos: between two of them, or as far as was searched."""

    start: datetime
    end: datetime
    before: Located | None = None
    """The photo at `start`; None when there is none."""
    after: Located | None = None
    """The photo at `end`; None when there is none until then."""

    def holds(self, at: datetime) -> bool:
        return self.start <= at and (at < self.end if self.after else at <= self.end)


class Neighbours:
    """The located neighbours of photos, found in the transaction of the session.

    The pictures of a time lapse have the same neighbours, and there may be thousands between these: the last gap
    of each camera is remembered, so that no row is looked at twice for photos in the order of their time.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._gaps: dict[tuple[int, str, bool], _Gap] = {}

    def around(self, seen: Sighting) -> tuple[Located | None, Located | None]:
        """Return the last located photo before or at this time, and the first one after it, within `WINDOW`."""
        key = (seen.camera_id, seen.serial, seen.in_utc)
        at, first, last = seen.at, shifted(seen.at, -WINDOW), shifted(seen.at, WINDOW)
        gap = self._gaps.get(key)
        if gap is None or not gap.holds(at):
            gap = self._gaps[key] = _Gap(at, at, before=self._last(seen, first, at, with_end=True))
            gap.start = gap.before.at if gap.before else first
        elif gap.before is None and first < gap.start:
            gap.before = self._last(seen, first, gap.start)
            gap.start = gap.before.at if gap.before else first
        if gap.after is None and gap.end < last:
            gap.after = self._first(seen, gap.end, last)
            gap.end = gap.after.at if gap.after else last
        before = gap.before if gap.before and gap.before.at >= first else None
        return before, gap.after if gap.after and gap.after.at <= last else None

    def _last(self, seen: Sighting, start: datetime, end: datetime, *, with_end: bool = False) -> Located | None:
        at = _time(seen)
        within = at.between(start, end) if with_end else (at >= start) & (at < end)
        return self._one(seen, within, start, end, at.desc())

    def _first(self, seen: Sighting, start: datetime, end: datetime) -> Located | None:
        at = _time(seen)
        return self._one(seen, (at > start) & (at <= end), start, end, at)

    def _one(
        self, seen: Sighting, within: ColumnElement[bool], start: datetime, end: datetime, order: ColumnElement[Any]
    ) -> Located | None:
        if seen.in_utc:  # the index has wall times; no zone, and no clock that is believed, is further off
            start, end = shifted(start, -WINDOW), shifted(end, WINDOW)
        query = select(_time(seen), Photo.lat, Photo.lng, Photo.place_id).where(
            Photo.camera_id == seen.camera_id,
            Photo.camera_serial == seen.serial,
            LOCATED,
            Photo.taken_at_local.between(start, end),
            within,
        )
        with self._session.no_autoflush:  # located photos are not changed by estimates
            row: Any = self._session.execute(query.order_by(order, Photo.id).limit(1)).first()
        return None if row is None else Located(*row)


def _time(seen: Sighting) -> Any:  # noqa: ANN401 - a column
    return Photo.taken_at if seen.in_utc else Photo.taken_at_local


#: The order in which the gaps that `Neighbours` remembers are used best.
_BY_TIME: Final = (Photo.camera_id, Photo.camera_serial, Photo.taken_at_local, Photo.id)


def estimate_places(session: Session, clock: Clock, zone: str, lease: Lease | None, *, wanted: bool) -> int:
    """Bring the places of all photos that are due up to date, and return how many changed.

    Args:
        session: outside of a transaction; each batch is committed.
        zone: that of photos which tell neither a zone nor a position.
        wanted: false when the setting is off: estimates are removed.
    """
    _mark_all_after_switch(session, wanted=wanted)
    count, last, pace = 0, 0, Pace(_FIRST_BATCH, _MOST, clock)
    while ids := session.scalars(
        select(Photo.id).where(Photo.place_due, Photo.id > last).order_by(Photo.id).limit(pace.size)
    ).all():
        with pace.writing(session, len(ids)):
            if lease:
                lease.check(session)
            photos = session.scalars(select(Photo).where(Photo.id.in_(ids)).options(*LOADED).order_by(*_BY_TIME)).all()
            catalog = Catalog(session, Gazetteer.load(), zone)
            neighbours = Neighbours(session)
            sent = set(session.scalars(select(Photo.id).where(Photo.id.in_(ids), SENT)))
            changed = [
                photo
                for photo in photos
                if _renew(session, photo, catalog, neighbours if wanted and photo.id not in sent else None)
            ]
            for photo in photos:
                photo.place_due = False
            changes = PhotoChanges(session, catalog, clock())
            changes.describe(changed)
            changes.project_estimated(changed)
        session.expunge_all()
        count, last = count + len(changed), max(ids)
    session.rollback()
    return count


def _renew(session: Session, photo: Photo, catalog: Catalog, neighbours: Neighbours | None) -> bool:
    """Set or replace the estimate of a photo, or remove it without neighbours; return whether anything changed."""
    if photo.place_src not in {AUTO, ESTIMATE} or photo.quality < 0:
        return False
    before = (photo.place_src, photo.lat, photo.lng, photo.place_id)
    found = _estimate(photo, neighbours) if neighbours else None
    if found is None:
        photo.place_src = AUTO  # `describe` removes what belongs to it
        return before[0] == ESTIMATE
    cell = catalog.cell(*found.position) if found.position else catalog.nowhere()
    place = cell.place if found.position else session.get_one(Place, found.place_id)
    lat, lng = found.position or (0.0, 0.0)
    if before == (ESTIMATE, lat, lng, place.id):
        return False
    photo.lat, photo.lng, photo.altitude, photo.cell_id = lat, lng, 0, cell.id
    photo.place, photo.country, photo.place_src = place, place.country, ESTIMATE
    return True


def _estimate(photo: Photo, neighbours: Neighbours) -> Estimate | None:
    seen = sighting(photo)
    if seen is None:
        return None
    found = estimate(seen.at, *neighbours.around(seen))
    return None if found is None or (found.position is None and found.place_id == UNKNOWN_PLACE) else found


def _mark_all_after_switch(session: Session, *, wanted: bool) -> None:
    """Mark every photo that may get or lose an estimate, if the setting was switched."""
    if named_number(session, ESTIMATES) == wanted:
        return
    last = 0
    while True:
        begin_write(session, library=True)
        ids = session.scalars(select(Photo.id).where(Photo.id > last).order_by(Photo.id).limit(_MANY)).all()
        if not ids:
            break
        guessed = Photo.place_src.in_((AUTO, ESTIMATE) if wanted else (ESTIMATE,))
        session.execute(
            update(Photo).where(Photo.id.between(ids[0], ids[-1]), guessed, Photo.camera_id != UNKNOWN_ID)
            .values(place_due=True),
            execution_options=UNLOADED,
        )  # fmt: skip
        last = ids[-1]
        session.commit()
    set_named_numbers(session, {ESTIMATES: int(wanted)})
    session.commit()
