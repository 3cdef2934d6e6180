"""Changes of photos by a person, as the API and the pages make them: of one, with its record and tag, and of many."""

import hashlib
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

import orjson
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.index.catalog import PlainCatalog
from photosvc.index.places import Gazetteer
from photosvc.library.album_photos import select_photos
from photosvc.library.albums import PhotosChange, album_of_people, change_members
from photosvc.library.changing import LoadedPhotos, changing
from photosvc.library.changing import load_photo as load_for_change
from photosvc.library.journal import Actor, Change
from photosvc.models import Photo
from photosvc.models.engine import session_on
from photosvc.records.fields import compile_schema
from photosvc.records.photo import PhotoSchema, without_empty
from photosvc.search.reading.files import SeenFile, files_of_photo, load_photo
from photosvc.search.reading.selection import Selection
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.sending import ServerBusyError, TooManyAtOnceError, take_slot

_dump = compile_schema(PhotoSchema())


class PhotoChangedError(PhotosvcError):
    """The photo changed meanwhile: read it again, and repeat the change if it still fits."""

    status = HTTPStatus.PRECONDITION_FAILED


@dataclass(frozen=True, slots=True)
class Editing:
    """A photo with the write transaction that changes it."""

    session: Session
    catalog: PlainCatalog
    loaded: LoadedPhotos

    @property
    def photo(self) -> Photo:
        """Return the photo."""
        return self.loaded.photos[0]


#: Changes the photo; returns the number of the change that it undoes, if any.
EditingChange: TypeAlias = Callable[[Editing], int | None]


def read_record(photo_uid: str) -> tuple[bytes, str]:
    """Return the record of a photo as JSON, and its entity tag.

    Raises:
        NotFoundError: the photo does not exist, or may not be seen.

    """
    service, sees_private = current_service(), principal().sees_private
    with service.reading() as connection:
        # PostgreSQL refuses texts with NUL, so only valid UIDs are looked up.
        valid = is_uid(photo_uid, PHOTO)
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) if valid else ()
        if not seen:
            raise NotFoundError("there is no such photo", field="uid")
    with service.reading(orm=True) as session:
        return _record_of(session, seen, sees_private=sees_private)


def _record_of(
    session: Session, seen: Sequence[SeenFile], photo: Photo | None = None, *, sees_private: bool
) -> tuple[bytes, str]:
    """Return the record of the photo with these files as JSON, and its entity tag.

    The tag depends on the record alone, so that changes of other photos keep it.
    """
    found = load_photo(session, seen, photo, sees_private=sees_private)
    body = orjson.dumps(without_empty(_dump(found)))
    return body, hashlib.blake2b(body, digest_size=16).hexdigest()


def change_one(
    photo_uid: str, action: str, change: EditingChange, expected: Container[str] | None = None
) -> tuple[bytes, str]:
    """Change one photo in a write transaction; return its new record and entity tag.

    Args:
        photo_uid: the photo.
        action: the action for the journal.
        change: the change.
        expected: the entity tags of states that may be changed; None: any state.

    Raises:
        NotFoundError: the photo does not exist, or may not be seen.
        PhotoChangedError: the photo has another state than those expected.

    """
    service, who = current_service(), principal()
    now = service.now()
    valid = is_uid(photo_uid, PHOTO)  # PostgreSQL refuses texts with NUL
    with service.writing(library=True) as session:
        connection, sees_private = session.connection(), who.sees_private
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) if valid else ()
        loaded = load_for_change(session, photo_uid) if seen else None
        if loaded is None or not loaded.photos:
            raise NotFoundError("there is no such photo", field="uid")
        (photo,) = loaded.photos
        if expected is not None and _record_of(session, seen, photo, sees_private=sees_private)[1] not in expected:
            raise PhotoChangedError
        catalog = PlainCatalog(session, Gazetteer.load())
        catalog.remember(loaded.photos)
        entry = Change(action, Actor.of(who))
        with changing(session, catalog, loaded, entry, now):
            entry.undoes = change(Editing(session, catalog, loaded))
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) or seen
        return _record_of(session, seen, photo, sees_private=sees_private)


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
