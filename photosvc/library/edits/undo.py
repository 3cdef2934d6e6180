"""Undo: write back what a change of a photo replaced."""

from photosvc.core.errors import ConflictError
from photosvc.index.storing.catalog import Catalog
from photosvc.library.journal import values_of
from photosvc.library.values import decided, restore, restore_marks, snapshot, wire_name
from photosvc.models import Photo, PhotoChange


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
