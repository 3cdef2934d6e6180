"""Changes that a person asks for, as the API and the pages make them.

Of one photo, with its record and tag; of many photos; of files in the trash; and of one label or person in all photos
that have it.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import TypeAlias

import orjson
from flask import Response, request
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.index.shared_rows import SharedRows
from photosvc.library.album_photos import select_photos
from photosvc.library.albums import PhotosChange, album_of_people, change_members
from photosvc.library.journal import Author, Change
from photosvc.library.renames import RenameContext
from photosvc.library.staging import require_writable
from photosvc.library.trash.deletion import Deletion, deleting
from photosvc.library.trash.folder import Trash, TrashedFile
from photosvc.library.trash.own import delete_own
from photosvc.library.trash.restoring import PORTION, Emptied, Restored, empty_in_request, restore_in_request
from photosvc.library.unit_of_work import changing, load_for_change
from photosvc.models import Photo
from photosvc.models.engine import session_on
from photosvc.records.fields import compile_schema
from photosvc.records.photos import PhotoSchema, without_empty
from photosvc.search.reading.files import SeenFile, files_of_photo, load_photo
from photosvc.search.reading.people import read_labels, read_people
from photosvc.search.reading.selection import Selection
from photosvc.web.admission_gate import Cost
from photosvc.web.protector import principal
from photosvc.web.responses import json_text
from photosvc.web.searching import searching
from photosvc.web.service import current_service

_dump = compile_schema(PhotoSchema())


class PhotoChangedError(PhotosvcError):
    """The photo changed meanwhile: read it again, and repeat the change if it still fits."""

    status = HTTPStatus.PRECONDITION_FAILED


@dataclass(frozen=True, slots=True)
class Editing:
    """A photo with the write transaction that changes it."""

    session: Session
    shared_rows: SharedRows
    photo: Photo


#: Changes the photo; returns the number of the change that it undoes, if any.
EditingChange: TypeAlias = Callable[[Editing], int | None]


def read_record(photo_uid: str) -> tuple[bytes, str]:
    """Return the record of a photo as JSON and its entity tag; raise `NotFoundError` if it may not be seen."""
    service, sees_private = current_service(), principal().sees_private
    with service.reading() as connection:
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private)
        if not seen:
            raise NotFoundError("there is no such photo", field="uid")
    with service.reading(orm=True) as session:
        return _record_of(session, seen, sees_private=sees_private)


def _record_of(session: Session, seen: Sequence[SeenFile], *, sees_private: bool) -> tuple[bytes, str]:
    """Return the record of the photo with these files as JSON, and its entity tag.

    The tag depends on the record alone, so that changes of other photos keep it.
    """
    photo = load_photo(session, seen, sees_private=sees_private)
    body = orjson.dumps(without_empty(_dump(photo)))
    return body, hashlib.blake2b(body, digest_size=16).hexdigest()


def change_one(photo_uid: str, action: str, change: EditingChange) -> tuple[bytes, str]:
    """Change one photo in a write transaction; return its new record and entity tag.

    With the header `If-Match`, only a state with one of its entity tags is changed; an empty or unreadable header
    names no state.

    Raises:
        NotFoundError: the photo does not exist, or may not be seen.
        PhotoChangedError: the photo has another state than `If-Match` names.
    """
    service, who = current_service(), principal()
    now = service.now()
    with service.writing(library=True) as session:
        connection, sees_private = session.connection(), who.sees_private
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private)
        photo = load_for_change(session, photo_uid) if seen else None
        if photo is None:
            raise NotFoundError("there is no such photo", field="uid")
        if "If-Match" in request.headers:
            _, etag = _record_of(session, seen, sees_private=sees_private)
            if etag not in request.if_match:
                raise PhotoChangedError
        shared_rows = SharedRows(session, service.settings.timezone)
        entry = Change(action, Author.of(who))
        with changing(session, shared_rows, [photo], entry, now):
            entry.undoes = change(Editing(session, shared_rows, photo))
        session.flush()
        session.expire_all()
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) or seen
        return _record_of(session, seen, sees_private=sees_private)


def answer_changed(photo_uid: str, action: str, change: EditingChange) -> Response:
    """Change a photo as `change_one` does, and answer with its record."""
    return json_text(change_one(photo_uid, action, change)[0])


@contextmanager
def taking_originals() -> Iterator[Deletion | None]:
    """Yield the deletion that moves originals into the trash after a write transaction; None if originals stay.

    Raises:
        PermissionDeniedError: originals are to be deleted, but are read-only.
    """
    service = current_service()
    settings = service.settings
    if not settings.delete_originals:
        yield None
        return
    require_writable(settings)
    with deleting(Trash(settings.originals), service.now()) as deletion:
        yield deletion


def one_batch() -> AbstractContextManager[None]:
    """Hold the principal's only place for changes that take many transactions, or raise `NotAdmittedError`."""
    return current_service().gate.holding(Cost.BATCH, principal().owner_uid)


def restore_files(files: Sequence[TrashedFile]) -> Restored:
    """Restore files of the trash, as many as one request may; more than a portion take the principal's only slot.

    Raises:
        NotAdmittedError: the principal changes many photos already, or too many others do.
        PhotosvcError: the disk or the store refuses it.
    """
    service = current_service()
    service.end_reading()  # the store may take long
    with one_batch() if len(files) > PORTION else nullcontext():
        return restore_in_request(service.writing, service.settings, files, Author.of(principal()), service.clock)


def empty_files(trash: Trash, before: datetime, expected: int | None) -> Emptied:
    """Delete the files that went into the trash before this time for good, as many as one request may.

    Raises:
        ConflictError: there are more or fewer files than `expected`; nothing is deleted.
        NotAdmittedError: the principal changes many photos already, or too many others do.
        PhotosvcError: the disk or the store refuses it.
    """
    service = current_service()
    service.end_reading()  # the store may take long
    with one_batch():
        return empty_in_request(service.writing, trash, before, service.clock, expected=expected)


def delete_own_files(trash: Trash, photos: Sequence[str]) -> Emptied:
    """Delete photos of the trash for good that the principal deleted, as many as one request may.

    Raises:
        NotAdmittedError: the principal changes many photos already, or too many others do.
        PhotosvcError: the disk or the store refuses it.
    """
    service = current_service()
    service.end_reading()  # the store may take long
    with one_batch() if len(photos) > PORTION else nullcontext():
        return delete_own(service.writing, trash, Author.of(principal()).uid, photos, service.clock)


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
        photos = select_photos(session, selection, service.today(), sees_private=who.sees_private)
    changed = change_members(
        service.writing, album_uid, list(photos), change, service.now(), sees_private=who.sees_private
    )
    return photos, changed


def rename_context(part: str) -> RenameContext:
    """Return the context of a change by this request; the error of too long a search for its photos names `part`."""
    service, who = current_service(), principal()
    return RenameContext(
        reading=partial(searching, who.owner_uid, part),
        writing=service.writing,
        slot=one_batch,
        clock=service.clock,
        now=service.now(),
        zone=service.settings.timezone,
        actor=Author.of(who),
        user_id=who.user_id,
        sees_private=who.sees_private,
        labels=service.cached(read_labels),
        people=service.cached(read_people),
    )
