"""The block in which photos are changed: afterwards they are described, journalled and projected."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy.orm import Session

from photosvc.index.describing.describe import describe, score_again
from photosvc.index.estimates.due import mark_due, sighting
from photosvc.index.sidecars.links import sidecars_of
from photosvc.index.storing.catalog import PlainCatalog
from photosvc.library.edits.journal import Change, record
from photosvc.library.edits.loading import LoadedPhotos
from photosvc.library.edits.values import difference, has_effects, snapshot
from photosvc.models import Photo
from photosvc.search.projection.project import project
from photosvc.search.projection.update import project_values


@contextmanager
def changing(
    session: Session, catalog: PlainCatalog, loaded: LoadedPhotos, change: Change, now: datetime
) -> Iterator[list[Photo]]:
    """A block that changes these photos: afterwards they are described, journalled and projected where they differ.

    Gives a list that contains those afterwards.

    Args:
        session: in a write transaction.
        catalog: of that session.
        loaded: the photos.
        change: for the journal.
        now: the present.

    """
    photos = loaded.photos
    before = {photo.id: snapshot(photo) for photo in photos}
    sightings = {photo.id: sighting(photo) for photo in photos}
    touched: list[Photo] = []
    yield touched
    changes = {photo.id: difference(before[photo.id], snapshot(photo)) for photo in photos}
    touched += [photo for photo in photos if changes[photo.id][1]]
    if not touched:
        return
    wider = {photo.id for photo in touched if has_effects(*changes[photo.id])}
    sidecars = sidecars_of(session, wider) if wider else {}
    for photo in touched:
        photo.edited_at = now
        if photo.id in wider:
            describe(photo, sidecars, catalog, now)
            photo.updated_at = now
        else:
            score_again(photo, now)
    changes |= {photo.id: difference(before[photo.id], snapshot(photo)) for photo in touched if photo.id in wider}
    for photo in [photo for photo in touched if not changes[photo.id][1]]:  # the files say the same
        loaded.reload(photo)
        touched.remove(photo)
    if not touched:
        return
    marked = [photo for photo in touched if loaded.has_other_markers(photo)]
    loaded.store(touched)
    record(session, change, now, {photo.uid: changes[photo.id] for photo in touched})
    mark_due(session, sightings, {photo.id: sighting(photo) for photo in photos})
    project_values(session, [photo for photo in touched if photo not in marked])
    if marked:
        project(session, [photo.id for photo in marked])
