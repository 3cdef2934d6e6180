"""Estimated places of photos: between the located photos that the same camera took before and after.

A place that the files of a photo name is no estimate of this module, and stays.

Contributed photos, sent by visitors of a link or contributors of an album, neither give nor get an estimate: made-up
files would move photos of others, or find out where their cameras were.

A change of photos marks their cameras (`index.photo_changes`), and the end of a run looks at all photos of the marked
cameras. A run that is killed leaves the marks to the next one.
"""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.geo import distance_m, unit_vector
from photosvc.core.vocabulary import AUTO, DEFAULT, ESTIMATE, META, XMP
from photosvc.index.file_columns import load_metadata
from photosvc.index.photo_changes import PhotoChanges
from photosvc.index.shared_rows import SharedRows
from photosvc.jobs.lease import Lease
from photosvc.models import (
    ESTIMATES,
    UNKNOWN_ID,
    UNKNOWN_PLACE,
    Camera,
    File,
    Photo,
    Place,
    read_counter,
    set_counters,
)
from photosvc.models.batch_size import BatchSize
from photosvc.models.engine import begin_write
from photosvc.models.photo import WITH_ALL
from photosvc.models.statements import UNLOADED, in_portions

#: The largest distance in time of a photo from which a place is estimated.
WINDOW: Final = timedelta(hours=36)
#: Two neighbours less than this number of metres apart give a position; others give only the place of the nearer one.
NEAR_M: Final = 100_000.0
_FIRST_BATCH: Final = 20
_MOST: Final = 200
_GUESSED: Final = frozenset((AUTO, DEFAULT, ESTIMATE))
_COLUMNS: Final = (
    Photo.id, Photo.camera_serial, Photo.taken_at_local, Photo.taken_at, Photo.taken_src, Photo.day, Photo.place_src,
    Photo.cell_id, Photo.quality, Photo.lat, Photo.lng, Photo.place_id, Photo.type,
    exists().where(File.photo_id == Photo.id, File.contributed).label("is_sent"),
)  # fmt: skip


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


def located_neighbours(located: Sequence[Located], at: datetime) -> tuple[Located | None, Located | None]:
    """Return the last photo before or at this time, and the first photo after it; `located` is sorted by time."""
    time = attrgetter("at")
    end = bisect_right(located, at, key=time)
    before = located[bisect_left(located, located[end - 1].at, key=time)] if end else None
    return before, located[end] if end < len(located) else None


def estimate(at: datetime, before: Located | None, after: Located | None) -> Estimate | None:
    """Return the estimate of a photo taken at this wall time; None when nothing is known.

    Args:
        before: the last located photo before it, or at the same time.
        after: the first one after it.
    """
    known = [photo for photo in (before, after) if photo is not None and abs(photo.at - at) <= WINDOW]
    if not known:
        return None
    nearest = min(known, key=lambda photo: abs(photo.at - at))
    if len(known) == 2 and distance_m(known[0].lat, known[0].lng, known[1].lat, known[1].lng) < NEAR_M:
        first, last = known
        return Estimate(_between(first, last, (at - first.at) / ((last.at - first.at) or WINDOW)), nearest.place_id)
    return None if nearest.place_id == UNKNOWN_PLACE else Estimate(None, nearest.place_id)


def _between(first: Located, last: Located, share: float) -> tuple[float, float]:
    """Return the point at this share of the chord: exact enough below 100 km, also at poles and at 180 degrees."""
    ends = zip(unit_vector(first.lat, first.lng), unit_vector(last.lat, last.lng), strict=True)
    x, y, z = (one + (other - one) * share for one, other in ends)
    return round(math.degrees(math.atan2(z, math.hypot(x, y))), 6), round(math.degrees(math.atan2(y, x)), 6)


def estimate_places(session: Session, clock: Clock, zone: str, lease: Lease, *, wanted: bool) -> int:
    """Bring the estimated places of all photos of marked cameras up to date, and return how many changed.

    Args:
        session: outside of a transaction; each batch is committed.
        zone: the zone of photos without a zone and a position of their own.
        wanted: false when the setting is off: estimates are removed.
    """
    is_switched = read_counter(session, ESTIMATES) != wanted
    if not (wanted or is_switched):
        return 0
    marked = select(Camera.id, Camera.changes).order_by(Camera.id)
    cameras = session.execute(marked if is_switched else marked.where(Camera.changes > 0)).all()
    count, batch_size = 0, BatchSize(_FIRST_BATCH, _MOST, clock)
    for camera_id, changes in cameras:
        new = dict(_differing(session, camera_id, wanted=wanted))
        session.rollback()
        ids = list(new)
        while ids:
            some, ids = ids[: batch_size.items], ids[batch_size.items :]
            with batch_size.writing(session, len(some)):
                lease.check(session)
                count += _write(session, {photo_id: new[photo_id] for photo_id in some}, zone, clock())
            session.expunge_all()
        begin_write(session, library=True)
        lease.check(session)
        done = update(Camera).where(Camera.id == camera_id, Camera.changes == changes).values(changes=0)
        session.execute(done, execution_options=UNLOADED)
        session.commit()
    if is_switched:
        begin_write(session)
        set_counters(session, {ESTIMATES: int(wanted)})
        session.commit()
    return count


def _differing(session: Session, camera_id: int, *, wanted: bool) -> Iterator[tuple[int, Estimate | None]]:
    """Yield the photos of a camera whose stored estimate is not up to date, each with its new estimate."""
    query = select(*_COLUMNS).where(Photo.camera_id == camera_id, Photo.quality >= 0, Photo.place_named.is_(False))
    if camera_id == UNKNOWN_ID or not wanted:
        query = query.where(Photo.place_src == ESTIMATE)
    by_serial = defaultdict(list)
    for row in session.execute(query.order_by(Photo.camera_serial, Photo.taken_at_local, Photo.id)):
        by_serial[row.camera_serial].append(row)
    for rows in by_serial.values():
        sure = [row for row in rows if row.taken_src not in _GUESSED and row.day > 0 and not row.is_sent]
        located = [row for row in sure if row.place_src not in _GUESSED and row.cell_id != UNKNOWN_PLACE]
        local = [Located(row.taken_at_local, row.lat, row.lng, row.place_id) for row in located]
        datable = {row.id for row in sure} if wanted and camera_id != UNKNOWN_ID else set()
        videos = {row.id for row in sure if row.type == "video" and row.taken_src in {META, XMP}}
        videos = _with_utc_alone(session, videos & datable)
        moments = [Located(row.taken_at, row.lat, row.lng, row.place_id) for row in located] if videos else []
        in_utc = sorted(moments, key=attrgetter("at"))
        for row in rows:
            if row.place_src in {AUTO, ESTIMATE}:
                at, known = (row.taken_at, in_utc) if row.id in videos else (row.taken_at_local, local)
                new = estimate(at, *located_neighbours(known, at)) if row.id in datable else None
                position = None if row.cell_id == UNKNOWN_PLACE else (row.lat, row.lng)
                stored = Estimate(position, row.place_id) if row.place_src else None
                is_same_position = new and stored and new.position == stored.position is not None
                if new != stored and not is_same_position:  # the place of a position needs no comparison
                    yield row.id, new


def _with_utc_alone(session: Session, videos: set[int]) -> set[int]:
    """Return the videos whose files have no wall time, so that their UTC is compared."""
    local = set()
    for some in in_portions(list(videos)):
        files = select(File.photo_id, File.details).where(File.photo_id.in_(some), File.missing.is_(False))
        local |= {row.photo_id for row in session.execute(files) if load_metadata(row.details).taken_local is not None}
    return videos - local


def _write(session: Session, new: dict[int, Estimate | None], zone: str, now: datetime) -> int:
    """Set, replace or remove the estimates of photos, and return the number of these photos."""
    query = select(Photo).where(Photo.id.in_(new), Photo.place_src.in_((AUTO, ESTIMATE)), Photo.quality >= 0)
    photos = session.scalars(query.options(*WITH_ALL).order_by(Photo.id)).all()
    shared_rows = SharedRows(session, zone)
    with session.no_autoflush:  # looking up a cell would write the photos before it one by one
        shared_rows.load_cells(one.position for one in new.values() if one and one.position)
        for photo in photos:
            _renew(session, photo, shared_rows, new[photo.id])
    changes = PhotoChanges(session, shared_rows, now)
    changes.describe(photos)
    changes.project_estimated(photos)
    return len(photos)


def _renew(session: Session, photo: Photo, shared_rows: SharedRows, new: Estimate | None) -> None:
    if new is None:
        photo.place_src = AUTO  # `describe` removes what belongs to it
        return
    cell = shared_rows.cell(*new.position) if new.position else shared_rows.nowhere()
    place = cell.place if new.position else session.get_one(Place, new.place_id)
    photo.lat, photo.lng = new.position or (0.0, 0.0)
    photo.altitude, photo.cell_id, photo.place = 0, cell.id, place
    photo.country, photo.place_src = place.country, ESTIMATE
