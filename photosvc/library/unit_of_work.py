"""The block in which photos are changed by a person: then described, journalled, written and projected."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.times import ZERO_TIME
from photosvc.index.catalog import Catalog
from photosvc.index.describe import describe
from photosvc.index.photo_changes import mark_cameras
from photosvc.index.sidecar_links import sidecars_of
from photosvc.library.journal import (
    Change,
    changes_of_batch,
    decided,
    difference,
    record,
    restore,
    snapshot,
    values_of,
    wire_name,
)
from photosvc.models import Photo, PhotoChange
from photosvc.models.photo import WITH_ALL
from photosvc.models.statements import among
from photosvc.query.fold import fold
from photosvc.records.edits import MOST_KEYWORDS
from photosvc.search.rows.write import renew

#: Sources of the values from which index runs estimate those of other photos of a camera.
_ESTIMATED_FROM: Final = frozenset(("taken_src", "place_src", "camera_src"))


def load_photo(session: Session, photo_uid: str) -> Photo | None:
    """Load the photo with this UID to be changed, as `load_photos` does; None when there is none."""
    return next(iter(_load(session, Photo.uid == photo_uid)), None)


def load_photos(session: Session, photo_ids: Collection[int]) -> Sequence[Photo]:
    """Load photos to be changed, some hundreds at most, in a write transaction; until its end, others cannot."""
    return _load(session, among(session, Photo.id, photo_ids))


def _load(session: Session, which: ColumnElement[bool]) -> Sequence[Photo]:
    query = select(Photo).where(which).options(*WITH_ALL).order_by(Photo.id).with_for_update(of=Photo)
    return session.scalars(query.execution_options(populate_existing=True)).all()


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
        if len(kept) > MOST_KEYWORDS:
            raise InvalidValueError(f"{photo.uid} would have more than {MOST_KEYWORDS} keywords", field="add_keywords")
        return list(kept.values())


@contextmanager
def changing(
    session: Session, catalog: Catalog, photos: Sequence[Photo], change: Change, now: datetime
) -> Iterator[list[Photo]]:
    """Describe, journal and project these photos after the block, as far as they differ.

    The list that the block gets contains the changed photos afterwards.
    """
    catalog.remember(photos)
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
            describe(photo, sidecars, catalog, now)
    session.flush()
    changes |= {photo.id: difference(before[photo.id], snapshot(photo)) for photo in touched}
    for photo in [photo for photo in touched if not changes[photo.id][1]]:  # the files say the same
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


def undo_batch(
    session: Session, photo_ids: Sequence[int], first: PhotoChange, change: Change, now: datetime, zone: str
) -> tuple[int, int]:
    """Take an edit of many photos back.

    Args:
        photo_ids: of edited photos, some hundreds at most.
        first: the edit's first change in the journal, of which the others have the time and the actor.

    Returns:
        the number of photos that have their former values, and of those that changed since and stay as they are.
    """
    catalog, photos, left = Catalog(session, zone), load_photos(session, photo_ids), 0
    entries = changes_of_batch(session, [photo.uid for photo in photos], first)
    with changing(session, catalog, photos, change, now) as touched:
        for photo in photos:
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
        raise ConflictError(f"changed since then: {', '.join(changed)}", field=changed[0])
    if not names:
        raise ConflictError("this change cannot be undone")
    restore(photo, {name: before[name] for name in names}, catalog)
