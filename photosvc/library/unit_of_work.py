"""The unit of work of people: photos change in a block, and are then described, recorded, written and projected."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from photosvc.index.describe import describe
from photosvc.index.photo_changes import mark_cameras
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_links import sidecars_of
from photosvc.library.edits import difference, snapshot
from photosvc.library.journal import Change, record
from photosvc.models import Photo
from photosvc.models.photo import WITH_ALL
from photosvc.models.statements import among
from photosvc.search.rows.write import renew

#: Sources of values from which index runs estimate times and places of other photos of the same camera.
_ESTIMATED_FROM: Final = frozenset(("taken_src", "place_src", "camera_src"))


def load_for_change(session: Session, photo_uid: str) -> Photo | None:
    """Load and lock the photo with this UID, as `load_photos` does; None if there is none."""
    return next(iter(_load(session, Photo.uid == photo_uid)), None)


def load_photos(session: Session, photo_ids: Collection[int]) -> Sequence[Photo]:
    """Load some hundreds of photos, and lock them until the write transaction ends."""
    return _load(session, among(session, Photo.id, photo_ids))


def _load(session: Session, which: ColumnElement[bool]) -> Sequence[Photo]:
    query = select(Photo).where(which).options(*WITH_ALL).order_by(Photo.id).with_for_update(of=Photo)
    return session.scalars(query.execution_options(populate_existing=True)).all()


@contextmanager
def changing(
    session: Session, shared_rows: SharedRows, photos: Sequence[Photo], change: Change, now: datetime
) -> Iterator[list[Photo]]:
    """Describe, record and project the photos that the block changes; after it, the list contains them."""
    shared_rows.remember(photos)
    before = {photo.id: snapshot(photo) for photo in photos}
    cameras = {photo.camera_id for photo in photos}
    former = {photo.id: (photo.edited_at, photo.updated_at, photo.quality) for photo in photos}
    touched: list[Photo] = []
    yield touched
    session.flush()
    changes = {photo.id: difference(before[photo.id], snapshot(photo)) for photo in photos}
    touched += [photo for photo in photos if changes[photo.id][1]]
    if not touched:
        return
    sidecars = sidecars_of(session, [photo.id for photo in touched])
    with session.no_autoflush:
        for photo in touched:
            photo.edited_at = photo.updated_at = now
            describe(photo, sidecars, shared_rows, now)
    session.flush()
    changes |= {photo.id: difference(before[photo.id], snapshot(photo)) for photo in touched}
    for photo in [photo for photo in touched if not changes[photo.id][1]]:  # descriptions undid the change
        photo.edited_at, photo.updated_at, photo.quality = former[photo.id]
        touched.remove(photo)
    if not touched:
        return
    store_and_project(session, [photo.id for photo in touched])
    record(session, change, now, {photo.uid: changes[photo.id] for photo in touched})
    if not all(_ESTIMATED_FROM.isdisjoint(changes[photo.id][1]) for photo in touched):
        mark_cameras(session, cameras | {photo.camera_id for photo in touched})


def store_and_project(session: Session, photo_ids: Collection[int]) -> None:
    """Write changes of photos, and the search rows of these photos."""
    session.flush()
    renew(session, photo_ids)
