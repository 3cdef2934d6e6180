"""Undo: write back what a change of a photo replaced."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError
from photosvc.index.places import Gazetteer
from photosvc.index.storing.catalog import Catalog, PlainCatalog
from photosvc.library.edits.changing import changing
from photosvc.library.edits.journal import Change, changes_of_batch, values_of
from photosvc.library.edits.loading import load_photos
from photosvc.library.edits.time_limit import timely
from photosvc.library.edits.values import decided, restore, restore_marks, snapshot, wire_name
from photosvc.models import Photo, PhotoChange

#: Photos that are loaded at once.
_PORTION: Final = 500


def undo_batch(
    session: Session, photo_ids: Sequence[int], first: PhotoChange, change: Change, now: datetime
) -> tuple[int, int]:
    """Take an edit of many photos back; gives how many became what they were, and how many changed since and stay.

    Args:
        session: in a write transaction.
        photo_ids: of the edited photos.
        first: the edit's first change in the journal, of which the others have the time and the actor.
        change: for the journal.
        now: the present.

    Raises:
        BatchTooLongError: others would have to wait for too long.

    """
    catalog, undone, left = PlainCatalog(session, Gazetteer.load()), 0, 0
    for portion in timely(photo_ids, _PORTION):
        loaded = load_photos(session, portion)
        catalog.remember(loaded.photos)
        entries = changes_of_batch(session, [photo.uid for photo in loaded.photos], first)
        with changing(session, catalog, loaded, change, now) as touched:
            for photo in loaded.photos:
                if photo.uid in entries:
                    try:
                        undo(catalog, photo, entries[photo.uid])
                    except ConflictError:  # raised before anything is written
                        left += 1
        undone += len(touched)
    return undone, left


def undo(catalog: Catalog, photo: Photo, change: PhotoChange) -> None:
    """Write the values from before a change back, inside `changing`.

    Values that only followed from what a person set, as a title from the place, are found again.

    Raises:
        ConflictError: the values changed since, or the change is of a kind that cannot be undone; names the fields.

    """
    before, after = values_of(change.before), values_of(change.after)
    names, present = list(decided(before, after)), snapshot(photo)
    if changed := [wire_name(name) for name in names if present[name] != after[name]]:
        msg = f"changed since then: {', '.join(changed)}"
        raise ConflictError(msg, field=changed[0])
    restore(photo, {name: before[name] for name in names}, catalog)
    if not restore_marks(photo, before, after) and not names:
        msg = "this change cannot be undone, or was undone already"
        raise ConflictError(msg)
