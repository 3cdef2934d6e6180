"""Changes of one label or person in all photos that have it, as the API and the pages make them."""

from collections.abc import Sequence
from functools import partial

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.library import labels, people
from photosvc.library.journal import Actor
from photosvc.library.labels import LabelChange, check_name
from photosvc.library.names import Asked, Terms, change_all, respell_label
from photosvc.library.names import rename_person as rename_in_photos
from photosvc.query.fold import fold, words
from photosvc.search.reading.people import Label, Person
from photosvc.web.current import current_service
from photosvc.web.photo_changes import one_batch
from photosvc.web.protector import principal
from photosvc.web.searching import searching


def terms(part: str) -> Terms:
    """Return the terms of a change by this request; errors name `part` if the search for the photos takes too long."""
    service, who = current_service(), principal()
    return Terms(
        reading=partial(searching, who.owner_uid, part),
        writing=service.writing,
        slot=one_batch,
        now=service.now(),
        actor=Actor.of(who),
        user_id=who.user_id,
        sees_private=who.sees_private,
    )


def every_label() -> list[Label]:
    """Return the labels that the principal may see."""
    service, who = current_service(), principal()
    with searching(who.owner_uid, "label_uid") as connection:
        return service.labels.read(connection, sees_private=who.sees_private)


def find_label(uid: str) -> Label:
    """Return the label with this UID.

    Raises:
        NotFoundError: there is none that the principal may see.

    """
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
    """Return the person with this UID.

    Raises:
        NotFoundError: there is none whom the principal may see.

    """
    service, who = current_service(), principal()
    with searching(who.owner_uid, "subject_uid") as connection:
        every = service.people.read(connection, sees_private=who.sees_private)
    found = next((person for person in every if person.uid == uid), None)
    if found is None:
        raise NotFoundError("there is no such person", field="uid")
    return found


def check_name_of_person(name: str) -> None:
    """Make sure that a person can have this name.

    Raises:
        InvalidValueError: it has no letters or digits.

    """
    if not words(name):
        raise InvalidValueError("Name: send a name with letters or digits", field="Name")


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
        every = service.people.read(connection, sees_private=False)
    return next((one.uid for one in every if fold(one.name) == fold(name)), person.uid)
