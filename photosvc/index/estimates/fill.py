"""Estimate the places of the photos that are due, a few in each transaction."""

from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session, joinedload, selectinload

from photosvc.core.clock import Clock
from photosvc.core.values.sources import AUTO, ESTIMATE
from photosvc.index.describing.describe import describe
from photosvc.index.estimates.due import sighting
from photosvc.index.estimates.neighbours import Neighbours
from photosvc.index.estimates.positions import Estimate, estimate
from photosvc.index.places import Gazetteer
from photosvc.index.running.run_lock import Lease
from photosvc.index.sidecars.links import sidecars_of
from photosvc.index.storing.catalog import Catalog
from photosvc.models import ESTIMATES, UNKNOWN_ID, UNKNOWN_PLACE, File, LibraryState, Photo, Place
from photosvc.models.database.pace import Pace
from photosvc.models.database.transactions import begin_write, lock_library
from photosvc.search.projection.project import project

_FIRST_BATCH: Final = 20
_MOST: Final = 200
_MANY: Final = 5_000
#: As `Neighbours` remembers best.
_BY_TIME: Final = (Photo.camera_id, Photo.camera_serial, Photo.taken_at_local, Photo.id)
_UNLOADED: Final = {"synchronize_session": False}
_NEEDED: Final = (
    joinedload(Photo.camera),
    joinedload(Photo.lens),
    joinedload(Photo.place),
    selectinload(Photo.keywords),
    selectinload(Photo.files).selectinload(File.markers),
)


def estimate_places(session: Session, clock: Clock, lease: Lease | None, *, wanted: bool) -> int:
    """Bring the places of all photos that are due up to date; gives how many changed.

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
    """Set or replace the estimate of a photo, or remove it without neighbours; gives whether anything changed."""
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
    """When the setting was switched, mark every photo that may get or lose an estimate."""
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
