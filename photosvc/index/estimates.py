"""Estimated places of photos: between the located photos that the same camera took before and after.

A change marks the photos between the located neighbours of what changed, in its own transaction. The marked photos are
estimated at the end of the run, a few in each transaction; a run that is killed leaves the marks to the next one.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Update, and_, bindparam, func, not_, or_, select, update
from sqlalchemy.orm import Session, aliased, joinedload, selectinload

from photosvc.core.geo import distance_m, unit_vector
from photosvc.core.times import Clock, shifted
from photosvc.core.vocabulary import AUTO, DEFAULT, ESTIMATE
from photosvc.index.catalog import Catalog
from photosvc.index.describe import describe
from photosvc.index.lease import Lease
from photosvc.index.places import Gazetteer
from photosvc.index.sidecar_links import sidecars_of
from photosvc.models import ESTIMATES, UNKNOWN_ID, UNKNOWN_PLACE, File, LibraryState, Photo, Place
from photosvc.models.engine import begin_write, lock_library
from photosvc.models.pace import Pace
from photosvc.models.statements import among, run_many
from photosvc.search.rows.write import project

#: Photos further away in time say nothing.
WINDOW: Final = timedelta(hours=36)
#: Two photos closer to each other than this give a position, others only the place of the nearer one.
NEAR_M: Final = 100_000.0
_VIDEO: Final = "video"
_UTC_ZONE: Final = "UTC"
_GUESSED: Final = frozenset((AUTO, DEFAULT, ESTIMATE))
#: The furthest that wall times are from UTC.
_FURTHEST: Final = timedelta(hours=14)
_COLUMNS: Final = (
    Photo.id, Photo.camera_id, Photo.camera_serial, Photo.taken_at_local, Photo.taken_src, Photo.day, Photo.place_src,
    Photo.cell_id, Photo.quality, Photo.lat, Photo.lng, Photo.place_id, Photo.time_zone, Photo.type,
)  # fmt: skip
_FIRST_BATCH: Final = 20
_MOST: Final = 200
_MANY: Final = 5_000
_UNLOADED: Final = {"synchronize_session": False}
_NEEDED: Final = (
    joinedload(Photo.camera),
    joinedload(Photo.lens),
    joinedload(Photo.place),
    selectinload(Photo.keywords),
    selectinload(Photo.files).selectinload(File.markers),
)


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
        at: wall time of the photo.
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


class Sighting(NamedTuple):
    """The time and place of a camera, as far as one photo tells."""

    camera_id: int
    serial: str
    at: datetime
    """Wall time, or UTC when `in_utc`."""
    located: bool
    shown: bool
    """True if the photo has files."""
    lat: float
    lng: float
    place_id: str
    in_utc: bool = False
    """True for a video without position and zone: its container has UTC alone, which is compared with others' UTC."""


def _is_located(photo: Any) -> ColumnElement[bool]:  # noqa: ANN401 - `Photo` or an alias of it
    known = not_(_is_guessed(photo.place_src)), not_(_is_guessed(photo.taken_src))
    return and_(*known, photo.cell_id != UNKNOWN_PLACE, photo.day > 0, photo.quality >= 0)


def _is_guessed(source: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a column
    return or_(*(source == guess for guess in sorted(_GUESSED)))  # an IN cannot be executed for many parameters


#: Photos whose position other photos are estimated from.
LOCATED: Final[ColumnElement[bool]] = _is_located(Photo)


def sighting(photo: Any) -> Sighting | None:  # noqa: ANN401 - a photo or a row of its columns
    """Return the sighting of a photo; None when camera or time are unknown."""
    if photo.camera_id in {None, UNKNOWN_ID} or photo.taken_src in _GUESSED or photo.day < 1:
        return None
    located = photo.place_src not in _GUESSED and photo.cell_id != UNKNOWN_PLACE and photo.quality >= 0
    lat, lng, place_id = (photo.lat, photo.lng, photo.place_id) if located else (0.0, 0.0, "")
    in_utc = not located and photo.type == _VIDEO and photo.time_zone == _UTC_ZONE
    at, shown = photo.taken_at_local, photo.quality >= 0
    return Sighting(photo.camera_id, photo.camera_serial, at, located, shown, lat, lng, place_id, in_utc)


def stored_sightings(session: Session, photo_ids: Collection[int]) -> dict[int, Sighting | None]:
    """Return the sightings of these photos, at most some hundreds, as they are in the database."""
    query = select(*_COLUMNS).where(among(session, Photo.id, photo_ids))
    return {row.id: sighting(row) for row in session.connection().execute(query)}


def mark_due(session: Session, before: Mapping[int, Sighting | None], after: Mapping[int, Sighting | None]) -> None:
    """Mark the photos whose place depends on sightings that differ. The session is flushed; no other column changes."""
    cameras: dict[tuple[int, str], list[tuple[datetime, bool]]] = defaultdict(list)
    for photo_id in before.keys() | after.keys():
        one, other = before.get(photo_id), after.get(photo_id)
        if one != other:
            for seen in filter(None, (one, other)):
                cameras[seen.camera_id, seen.serial].append((seen.at, seen.located))
    spans = [
        _span(camera_id, serial, first, last, WINDOW if located else timedelta())
        for (camera_id, serial), moments in cameras.items()
        for first, last, located in _spans(moments)
    ]
    run_many(session.connection(), _MARK, spans)


def _spans(moments: Iterable[tuple[datetime, bool]]) -> list[tuple[datetime, datetime, bool]]:
    """Return first and last moment of runs without a gap as long as the window, and whether any has a position."""
    spans: list[tuple[datetime, datetime, bool]] = []
    for at, located in sorted(moments):
        if spans and at - spans[-1][1] <= WINDOW:
            spans[-1] = (spans[-1][0], at, spans[-1][2] or located)
        else:
            spans.append((at, at, located))
    return spans


def _span(camera_id: int, serial: str, first: datetime, last: datetime, window: timedelta) -> dict[str, object]:
    """Return the parameters of `_MARK` for the moments from `first` to `last`."""
    before, after = shifted(first, -window), shifted(last, window)
    span = {"camera": camera_id, "serial": serial, "first": first, "last": last, "before": before, "after": after}
    return span | {"earliest": shifted(before, -_FURTHEST), "latest": shifted(after, _FURTHEST)}


def _mark_span() -> Update:
    """Return the statement that marks the photos whose estimate depends on a span, and videos in UTC.

    These lie between the located photos before and after the span, at most a window away: photos beyond have other
    neighbours. For a span without a position the window is 0, and nothing lies between.
    """
    near = aliased(Photo)
    located = (_same_camera(near), _is_located(near))
    at, first, last = near.taken_at_local, _moment("first"), _moment("last")
    before, after = _moment("before"), _moment("after")
    previous = select(func.max(at)).where(*located, at >= before, at < first).scalar_subquery()
    following = select(func.min(at)).where(*located, at > last, at <= after).scalar_subquery()
    between = Photo.taken_at_local.between(func.coalesce(previous, before), func.coalesce(following, after))
    in_utc = and_(Photo.type == _VIDEO, Photo.time_zone == _UTC_ZONE)
    at_most = Photo.taken_at_local.between(_moment("earliest"), _moment("latest"))
    marked = update(Photo).where(_same_camera(Photo), at_most, or_(in_utc, between), _is_guessed(Photo.place_src))
    return marked.where(Photo.place_due.is_(False), Photo.quality >= 0).values(place_due=True)


def _same_camera(photo: Any) -> ColumnElement[bool]:  # noqa: ANN401 - `Photo` or an alias of it
    return and_(photo.camera_id == bindparam("camera"), photo.camera_serial == bindparam("serial"))


def _moment(name: str) -> BindParameter[datetime]:
    return bindparam(name, type_=Photo.taken_at_local.type)


_MARK: Final = _mark_span()


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


def estimate_places(session: Session, clock: Clock, lease: Lease | None, *, wanted: bool) -> int:
    """Bring the places of all photos that are due up to date, and return how many changed.

    Args:
        session: outside of a transaction; each batch is committed.
        clock: the time of changes.
        lease: of the index run.
        wanted: false when the setting is off: estimates are removed.

    """
    _mark_all_after_switch(session, wanted=wanted)
    count, last, pace = 0, 0, Pace(_FIRST_BATCH, _MOST)
    while ids := session.scalars(
        select(Photo.id).where(Photo.place_due, Photo.id > last).order_by(Photo.id).limit(pace.size)
    ).all():
        with pace.writing(session, len(ids)):
            if lease:
                lease.check(session)
            photos = session.scalars(select(Photo).where(Photo.id.in_(ids)).options(*_NEEDED).order_by(*_BY_TIME)).all()
            catalog = Catalog(session, Gazetteer.load())
            neighbours = Neighbours(session)
            changed = [photo for photo in photos if _renew(session, photo, catalog, neighbours if wanted else None)]
            sidecars = sidecars_of(session, [photo.id for photo in changed])
            for photo in changed:
                describe(photo, sidecars, catalog, clock())
            for photo in photos:
                photo.place_due = False
            session.flush()
            if changed:
                project(session, [photo.id for photo in changed])
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
    state = session.get(LibraryState, ESTIMATES)
    if state is not None and state.value == wanted:
        return
    last = 0
    while True:
        begin_write(session)
        lock_library(session)
        ids = session.scalars(select(Photo.id).where(Photo.id > last).order_by(Photo.id).limit(_MANY)).all()
        if not ids:
            break
        guessed = Photo.place_src.in_((AUTO, ESTIMATE) if wanted else (ESTIMATE,))
        session.execute(
            update(Photo).where(Photo.id.between(ids[0], ids[-1]), guessed, Photo.camera_id != UNKNOWN_ID)
            .values(place_due=True),
            execution_options=_UNLOADED,
        )  # fmt: skip
        last = ids[-1]
        session.commit()
    session.merge(LibraryState(name=ESTIMATES, value=int(wanted)))
    session.commit()
