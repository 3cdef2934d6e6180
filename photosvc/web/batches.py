"""The slot of requests that change many photos, and the photos that such a request selects for an album."""

from collections.abc import Iterator
from contextlib import contextmanager

from photosvc.library.album_photos import select_photos
from photosvc.library.albums import PhotosChange, album_of_people, change_members
from photosvc.models.engine import session_on
from photosvc.search.reading.selection import Selection
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.sending import ServerBusyError, TooManyAtOnceError, take_slot


class BatchesBusyError(ServerBusyError):
    """The server is changing too many selections of photos: try again in a moment."""


class TooManyBatchesError(TooManyAtOnceError):
    """You are changing many photos already: wait until that is complete."""


@contextmanager
def one_batch() -> Iterator[None]:
    """Hold the only slot of the principal for changes that take many transactions.

    Raises:
        BatchesBusyError: this process has no slot left.
        TooManyBatchesError: another such change of the principal goes on.
    """
    free = take_slot(current_service().batches, BatchesBusyError, TooManyBatchesError)
    try:
        yield
    finally:
        free()


def change_photos(album_uid: str, selection: Selection, change: PhotosChange) -> tuple[dict[int, str], list[int]]:
    """Add the selected photos to an album or remove them.

    Return id -> UID of all selected photos, and the ids of the changed ones.

    Raises:
        NotFoundError: there is no such album, or no selected photo exists or may be seen.
        ConflictError: the album follows from the library.
        InvalidValueError: the selection stands for too many files.
    """
    service, who = current_service(), principal()
    with searching(who.owner_uid) as connection, session_on(connection) as session:
        album_of_people(session, album_uid, sees_private=who.sees_private)
        photos = select_photos(session, selection, sees_private=who.sees_private)
    changed = change_members(
        service.writing, album_uid, list(photos), change, service.now(), sees_private=who.sees_private
    )
    return photos, changed
