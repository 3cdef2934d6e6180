"""Changes that a person asks for, as the API and the pages make them.

Of one photo, with its record and tag; of many photos; of files in the trash; and of one label or person in all photos
that have it.
"""

import hashlib
from collections.abc import Callable, Container, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import TypeAlias

import orjson
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.message import of_field
from photosvc.index.catalog import Catalog
from photosvc.library import labels, people
from photosvc.library.album_photos import select_photos
from photosvc.library.albums import PhotosChange, album_of_people, change_members
from photosvc.library.journal import Actor, Change
from photosvc.library.labels import LabelChange, check_name
from photosvc.library.renames import Asked, Terms, change_all, respell_label
from photosvc.library.renames import rename_person as rename_in_photos
from photosvc.library.trash.folder import Kept, Trash
from photosvc.library.trash.restoring import PORTION, Emptied, Restored, empty_in_request, restore_in_request
from photosvc.library.unit_of_work import changing
from photosvc.library.unit_of_work import load_photo as load_for_change
from photosvc.models import Photo
from photosvc.models.engine import session_on
from photosvc.query.fold import fold, words
from photosvc.records.fields import compile_schema
from photosvc.records.photos import PhotoSchema, without_empty
from photosvc.search.reading.files import SeenFile, files_of_photo, load_photo
from photosvc.search.reading.people import Label, Person, read_labels, read_people
from photosvc.search.reading.selection import Selection
from photosvc.web.admission_gate import Cost
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching

_dump = compile_schema(PhotoSchema())


class PhotoChangedError(PhotosvcError):
    """The photo changed meanwhile: read it again, and repeat the change if it still fits."""

    status = HTTPStatus.PRECONDITION_FAILED


@dataclass(frozen=True, slots=True)
class Editing:
    """A photo with the write transaction that changes it."""

    session: Session
    catalog: Catalog
    photo: Photo


#: Changes the photo; returns the number of the change that it undoes, if any.
EditingChange: TypeAlias = Callable[[Editing], int | None]


def read_record(photo_uid: str) -> tuple[bytes, str]:
    """Return the record of a photo as JSON and its entity tag; raise `NotFoundError` if it may not be seen."""
    service, sees_private = current_service(), principal().sees_private
    with service.reading() as connection:
        # PostgreSQL refuses texts with NUL, so only valid UIDs are looked up.
        valid = is_uid(photo_uid, PHOTO)
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) if valid else ()
        if not seen:
            raise NotFoundError("there is no such photo", field="uid")
    with service.reading(orm=True) as session:
        return _record_of(session, seen, sees_private=sees_private)


def _record_of(session: Session, seen: Sequence[SeenFile], *, sees_private: bool) -> tuple[bytes, str]:
    """Return the record of the photo with these files as JSON, and its entity tag.

    The tag depends on the record alone, so that changes of other photos keep it.
    """
    found = load_photo(session, seen, sees_private=sees_private)
    body = orjson.dumps(without_empty(_dump(found)))
    return body, hashlib.blake2b(body, digest_size=16).hexdigest()


def change_one(
    photo_uid: str, action: str, change: EditingChange, expected: Container[str] | None = None
) -> tuple[bytes, str]:
    """Change one photo in a write transaction; return its new record and entity tag.

    Args:
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
        photo = load_for_change(session, photo_uid) if seen else None
        if photo is None:
            raise NotFoundError("there is no such photo", field="uid")
        if expected is not None and _record_of(session, seen, sees_private=sees_private)[1] not in expected:
            raise PhotoChangedError
        catalog = Catalog(session, service.settings.timezone)
        entry = Change(action, Actor.of(who))
        with changing(session, catalog, [photo], entry, now):
            entry.undoes = change(Editing(session, catalog, photo))
        session.flush()
        session.expire_all()
        seen = files_of_photo(connection, photo_uid, sees_private=sees_private) or seen
        return _record_of(session, seen, sees_private=sees_private)


def one_batch() -> AbstractContextManager[None]:
    """Hold the principal's only place for changes that take many transactions, or raise `NotAdmittedError`."""
    return current_service().gate.holding(Cost.BATCH, principal().owner_uid)


def restore_files(files: Sequence[Kept]) -> Restored:
    """Restore files of the trash, as many as one request may; more than a portion take the principal's only slot.

    Raises:
        NotAdmittedError: the principal changes many photos already, or too many others do.
        PhotosvcError: the disk or the store refuses it.
    """
    service = current_service()
    service.end_reading()  # the store may take long
    with one_batch() if len(files) > PORTION else nullcontext():
        return restore_in_request(service.writing, service.settings, files, Actor.of(principal()), service.clock)


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


def terms(part: str) -> Terms:
    """Return the terms of a change by this request; errors name `part` if the search for the photos takes too long."""
    service, who = current_service(), principal()
    return Terms(
        reading=partial(searching, who.owner_uid, part),
        writing=service.writing,
        slot=one_batch,
        clock=service.clock,
        now=service.now(),
        zone=service.settings.timezone,
        actor=Actor.of(who),
        user_id=who.user_id,
        sees_private=who.sees_private,
    )


def every_label() -> list[Label]:
    """Return the labels that the principal may see."""
    service, who = current_service(), principal()
    with searching(who.owner_uid, "label_uid") as connection:
        return service.kept(read_labels).read(connection, sees_private=who.sees_private)


def find_label(uid: str) -> Label:
    """Return the label with this UID, or raise `NotFoundError` if there is none that the principal may see."""
    found = next((label for label in every_label() if label.uid == uid), None)
    if found is None:
        raise NotFoundError("there is no such label", field="uid")
    return found


def change_label(label: Label, name: str | None, *, favorite: bool | None = None) -> Label | Asked:
    """Rename a label, or make it a favorite or not; the name of another label makes one of both.

    Return the label, or the job that changes its photos.

    Raises:
        InvalidValueError: the name has no letters or digits.
        NotFoundError: no photo in searches has the new label.
        PhotosvcError: one of `change_all`.
    """
    if name is not None:
        check_name(name)
    if name is not None and name != label.name:
        changed = _rename_label(label, name, favorite)
        if isinstance(changed, Asked):
            return changed
        label = changed
    if favorite is not None and favorite != label.favorite:
        with current_service().writing(library=True) as session:
            labels.mark_favorite(session, label.id, favorite=favorite)
    return label


def _rename_label(label: Label, name: str, favorite: bool | None) -> Label | Asked:
    if fold(name) == fold(label.name):
        asked = respell_label(terms("label_uid"), label, name, favorite=favorite)
        return asked or find_label(label.uid)
    wanted = True if favorite is None and label.favorite else favorite
    sees_private = principal().sees_private
    change = LabelChange([fold(label.name)], name, "labels.rename", sees_private=sees_private, favorite=wanted)
    changed = change_all(terms("label_uid"), change)
    if isinstance(changed, Asked):
        return changed
    found = next((label for label in every_label() if fold(label.name) == fold(name)), None)
    if found is None:  # its photos are archived, or were changed meanwhile
        raise NotFoundError("no photo in searches has this label", field="Name")
    return found


def remove_labels(gone: Sequence[Label]) -> int | Asked:
    """Remove labels from all photos; return the number of changed photos, or the job that changes them."""
    change = LabelChange([fold(label.name) for label in gone], None, "labels.delete", principal().sees_private)
    return change_all(terms("labels"), change)


def find_person(uid: str) -> Person:
    """Return the person with this UID, or raise `NotFoundError` if there is none whom the principal may see."""
    service, who = current_service(), principal()
    with searching(who.owner_uid, "subject_uid") as connection:
        every = service.kept(read_people).read(connection, sees_private=who.sees_private)
    found = next((person for person in every if person.uid == uid), None)
    if found is None:
        raise NotFoundError("there is no such person", field="uid")
    return found


def check_name_of_person(name: str) -> None:
    """Raise `InvalidValueError` for a name without letters or digits."""
    if not words(name):
        raise InvalidValueError(of_field("Name", "send a name with letters or digits"), field="Name")


def change_person(
    person: Person, name: str | None, *, favorite: bool | None = None, hidden: bool | None = None
) -> str | Asked:
    """Rename a person, make them a favorite or not, or hide them; the name of another person makes one of both.

    Return the UID of the person, or the job that renames them on their photos.

    Raises:
        InvalidValueError: the name has no letters or digits, or is a new one of a person who is to be hidden.
        PhotosvcError: one of `change_all`.
    """
    if name is not None:
        check_name_of_person(name)
    if hidden is not None and name not in {None, person.name}:  # the name may make them another person
        raise InvalidValueError("Hidden: send it without another name", field="Hidden")
    uid = person.uid if name is None else _rename_person(person, name, favorite)
    if isinstance(uid, Asked) or (favorite is None and hidden is None):
        return uid
    known = find_person(uid)
    if favorite not in {None, known.favorite} or hidden not in {None, known.hidden}:
        service = current_service()
        with service.writing(library=True) as session:
            people.mark(session, known, service.now(), favorite=favorite, hidden=hidden)
    return uid


def _rename_person(person: Person, name: str, favorite: bool | None) -> str | Asked:
    renamed = rename_in_photos(terms("subject_uid"), person, name, favorite=favorite)
    if renamed is not None:
        return renamed
    service, who = current_service(), principal()
    with searching(who.owner_uid, "subject_uid") as connection:
        every = service.kept(read_people).read(connection, sees_private=False)
    return next((one.uid for one in every if fold(one.name) == fold(name)), person.uid)
