"""The block in which photos are changed: afterwards they are described, journalled and projected.

A batch may also change each photo by its own values: keywords that come and go, and times that are moved. Undoing
writes back the values that a change of a photo replaced.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.times import ZERO_TIME
from photosvc.index.catalog import Catalog, PlainCatalog
from photosvc.index.describe import describe, rate_again
from photosvc.index.places import Gazetteer
from photosvc.index.sidecar_links import sidecars_of
from photosvc.index.sightings import mark_due, sighting
from photosvc.library.journal import Change, changes_of_batch, record, values_of
from photosvc.library.loading import LoadedPhotos, load_photos
from photosvc.library.values import decided, difference, has_effects, restore, snapshot, wire_name
from photosvc.models import Photo, PhotoChange
from photosvc.query.fold import fold
from photosvc.search.rows.write import project, project_values

_MOST_KEYWORDS: Final = 256


@dataclass(frozen=True, slots=True)
class Each:
    """Changes that start from the values of each photo."""

    add_keywords: Sequence[str] = ()
    remove_keywords: Sequence[str] = ()
    shift: int = 0
    """Seconds by which times are moved; unknown times stay unknown."""

    def values(self, photo: Photo, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values for this photo: the same for all photos, and those that depend on its own.

        Raises:
            InvalidValueError: the photo would have too many keywords, or a time that no calendar has.
        """
        found = dict(values)
        if self.add_keywords or self.remove_keywords:
            found["keywords"] = self._keywords(photo, values.get("keywords"))
        if self.shift and (local := values.get("taken_at_local") or photo.taken_at_local) != ZERO_TIME:
            try:
                found["taken_at_local"] = local + timedelta(seconds=self.shift)
            except OverflowError:
                msg = f"the time of {photo.uid} would be outside of the calendar"
                raise InvalidValueError(msg, field="shift") from None
        return found

    def _keywords(self, photo: Photo, given: Sequence[str] | None) -> list[str]:
        words = [keyword.word for keyword in photo.keywords] if given is None else given
        gone = {fold(word) for word in self.remove_keywords}
        kept = {fold(word): word for word in (*self.add_keywords, *words)}
        kept = {folded: word for folded, word in kept.items() if folded not in gone}
        if len(kept) > _MOST_KEYWORDS:
            msg = f"{photo.uid} would have more than {_MOST_KEYWORDS} keywords"
            raise InvalidValueError(msg, field="add_keywords")
        return list(kept.values())


@contextmanager
def changing(
    session: Session, catalog: PlainCatalog, loaded: LoadedPhotos, change: Change, now: datetime
) -> Iterator[list[Photo]]:
    """Describe, journal and project these photos after the block, as far as they differ.

    The list that the block gets contains the changed photos afterwards.

    Args:
        session: in a write transaction.
        loaded: the photos.
        change: for the journal.
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
    wider = {photo.id for photo in touched if has_effects(changes[photo.id][1])}
    sidecars = sidecars_of(session, wider) if wider else {}
    for photo in touched:
        photo.edited_at = now
        if photo.id in wider:
            describe(photo, sidecars, catalog, now)
            photo.updated_at = now
        else:
            rate_again(photo, now)
    changes |= {photo.id: difference(before[photo.id], snapshot(photo)) for photo in touched if photo.id in wider}
    for photo in [photo for photo in touched if not changes[photo.id][1]]:  # the files say the same
        loaded.reload(photo)
        touched.remove(photo)
    if not touched:
        return
    store_and_project(session, loaded, touched)
    record(session, change, now, {photo.uid: changes[photo.id] for photo in touched})
    mark_due(session, sightings, {photo.id: sighting(photo) for photo in photos})


def store_and_project(session: Session, loaded: LoadedPhotos, photos: Sequence[Photo]) -> None:
    """Write changes of photos that are no edits of a person, and the search rows of these photos.

    Args:
        session: in a write transaction.
        loaded: the photos.
        photos: those of them that changed, or to whose search rows something else has changed.
    """
    marked = [photo for photo in photos if loaded.has_other_markers(photo)]
    loaded.store(photos)
    project_values(session, [photo for photo in photos if photo not in marked])
    if marked:
        project(session, [photo.id for photo in marked])


def undo_batch(
    session: Session, photo_ids: Sequence[int], first: PhotoChange, change: Change, now: datetime
) -> tuple[int, int]:
    """Take an edit of many photos back.

    Args:
        session: in a write transaction.
        photo_ids: of edited photos, some hundreds at most.
        first: the edit's first change in the journal, of which the others have the time and the actor.
        change: for the journal.

    Returns:
        the number of photos that have their former values, and of those that changed since and stay as they are.
    """
    catalog, left = PlainCatalog(session, Gazetteer.load()), 0
    loaded = load_photos(session, photo_ids)
    catalog.remember(loaded.photos)
    entries = changes_of_batch(session, [photo.uid for photo in loaded.photos], first)
    with changing(session, catalog, loaded, change, now) as touched:
        for photo in loaded.photos:
            if photo.uid in entries:
                try:
                    undo(catalog, photo, entries[photo.uid])
                except ConflictError:  # raised before anything is written
                    left += 1
    return len(touched), left


def undo(catalog: Catalog, photo: Photo, change: PhotoChange) -> None:
    """Write the values from before a change back, inside `changing`.

    Values that only followed from those that a person set, such as a title from the place, are found again.

    Raises:
        ConflictError: the values changed since, or the change is of a kind that cannot be undone; it names the fields.
    """
    before, after = values_of(change.before), values_of(change.after)
    names, present = list(decided(before, after)), snapshot(photo)
    if changed := [wire_name(name) for name in names if present[name] != after[name]]:
        msg = f"changed since then: {', '.join(changed)}"
        raise ConflictError(msg, field=changed[0])
    if not names:
        msg = "this change cannot be undone"
        raise ConflictError(msg)
    restore(photo, {name: before[name] for name in names}, catalog)
