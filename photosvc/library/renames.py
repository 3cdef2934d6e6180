"""Renaming, merging and removal of labels and people: on few photos by the request itself, on many by a job.

Another change is a class like those of `CHANGES`, with fields that JSON can hold.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import NAMES, QueuedJob
from photosvc.library import batches, people
from photosvc.library.batches import BatchContext
from photosvc.library.journal import Author
from photosvc.library.labels import ChangeSome, LabelChange, Respelling, check_label_name, mark_favorite, respell
from photosvc.library.people import PersonChange, SeenPersonChange, choose_person_name, mark_person, photos_of_people
from photosvc.models.batch_size import BatchSize
from photosvc.models.engine import UnitOfWork, many_pages, open_reader, write_session
from photosvc.query.fold import fold
from photosvc.search.reading.library import CachedValue
from photosvc.search.reading.people import Label, Person
from photosvc.settings import Settings

#: Most photos that a request changes itself.
MOST_AT_ONCE: Final = 1000
#: Photos of the first transaction of a job, and of each at most.
_FIRST: Final = 100
_MOST: Final = 500

NameChange: TypeAlias = LabelChange | Respelling | PersonChange | SeenPersonChange
CHANGES: Final[Mapping[str, type[NameChange]]] = {
    "labels": LabelChange, "spelling": Respelling, "person": PersonChange, "seen_person": SeenPersonChange,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameContext(BatchContext):
    """The request that renames or removes labels or people, with the lists of all labels and people."""

    labels: CachedValue[list[Label]]
    people: CachedValue[list[Person]]

    def every_label(self) -> list[Label]:
        """Return the labels that the actor may see."""
        with self.reading() as connection:
            return self.labels.read(connection, sees_private=self.sees_private)

    def find_label(self, uid: str) -> Label:
        """Return the label with this UID, or raise `NotFoundError` if there is none that the actor may see."""
        label = next((label for label in self.every_label() if label.uid == uid), None)
        if label is None:
            raise NotFoundError("there is no such label", field="uid")
        return label

    def find_person(self, uid: str) -> Person:
        """Return the person with this UID, or raise `NotFoundError` if there is none whom the actor may see."""
        with self.reading() as connection:
            every = self.people.read(connection, sees_private=self.sees_private)
        person = next((person for person in every if person.uid == uid), None)
        if person is None:
            raise NotFoundError("there is no such person", field="uid")
        return person


@dataclass(frozen=True, slots=True)
class QueuedRename:
    """The job that makes a change because it affects many photos."""

    job_id: int


def change_label(
    context: RenameContext, label: Label, name: str | None, *, favorite: bool | None = None
) -> Label | QueuedRename:
    """Rename a label, or make it a favorite or not; the name of another label makes one of both.

    Return the label, or the job that changes its photos.

    Raises:
        InvalidValueError: the name has no letters or digits.
        NotFoundError: no photo in searches has the new label.
        PhotosvcError: one of `_change_photos`.
    """
    if name is not None:
        check_label_name(name)
        if name != label.name:
            renamed = _rename_label(context, label, name, favorite)
            if isinstance(renamed, QueuedRename):
                return renamed
            label = renamed
    if favorite is not None and favorite != label.favorite:
        with context.writing(library=True) as session:
            mark_favorite(session, label.id, favorite=favorite)
    return label


def _rename_label(context: RenameContext, label: Label, name: str, favorite: bool | None) -> Label | QueuedRename:
    if fold(name) == fold(label.name):
        return _respell_label(context, label, name, favorite) or context.find_label(label.uid)
    marked = True if favorite is None and label.favorite else favorite
    change = LabelChange([fold(label.name)], name, "labels.rename", sees_private=context.sees_private, favorite=marked)
    result = _change_photos(context, change)
    if isinstance(result, QueuedRename):
        return result
    renamed = next((label for label in context.every_label() if fold(label.name) == fold(name)), None)
    if renamed is None:  # its photos are archived, or were changed meanwhile
        raise NotFoundError("no photo in searches has this label", field="Name")
    return renamed


def _respell_label(context: RenameContext, label: Label, name: str, favorite: bool | None) -> QueuedRename | None:
    """Give a label another spelling of the same letters; return the job that does it if it affects many photos."""
    change = Respelling(fold(name))
    with context.writing(library=True) as session:
        respell(session, label.id, name)
        if favorite is not None:
            mark_favorite(session, label.id, favorite=favorite)
        job = _queue_if_large(session, context, change)
    return job or _job_of(_change_photos(context, change))


def remove_labels(context: RenameContext, labels: Sequence[Label]) -> int | QueuedRename:
    """Remove labels from all photos; return the number of changed photos, or the job that changes them.

    Raises:
        PhotosvcError: one of `_change_photos`.
    """
    folded = [fold(label.name) for label in labels]
    return _change_photos(context, LabelChange(folded, None, "labels.delete", context.sees_private))


def change_person(
    context: RenameContext,
    person: Person,
    name: str | None,
    *,
    favorite: bool | None = None,
    hidden: bool | None = None,
    birth_date: date | Literal[""] | None = None,
) -> str | QueuedRename:
    """Rename a person, make them a favorite or not, hide them, or set their birth date; an empty one removes it.

    The name of another person makes one of both, who keeps the birth date of the other one, if it is known.

    Return the UID of the person, or the job that renames them on their photos.

    Raises:
        InvalidValueError: the name has no letters or digits, or is a new one of a person who is to be hidden.
        PhotosvcError: one of `_change_photos`.
    """
    if name is not None:
        people.check_person_name(name)
    if hidden is not None and name not in {None, person.name}:  # the name may make them another person
        raise InvalidValueError("Hidden: send it without another name", field="Hidden")
    if birth_date is not None and (birth_date or None) != person.birth_date:
        with context.writing(library=True) as session:
            mark_person(session, person, context.now, birth_date=birth_date)
    uid = person.uid if name is None else _rename_person(context, person, name, favorite)
    if isinstance(uid, QueuedRename) or (favorite is None and hidden is None):
        return uid
    known = context.find_person(uid)
    if favorite not in {None, known.favorite} or hidden not in {None, known.hidden}:
        with context.writing(library=True) as session:
            mark_person(session, known, context.now, favorite=favorite, hidden=hidden)
    return uid


def _rename_person(context: RenameContext, person: Person, name: str, favorite: bool | None) -> str | QueuedRename:
    """Rename a person; return their UID, or the job that renames them.

    Photos of the person that the actor may not see keep the name: on the others, the name is changed as by naming each
    marked area, which makes another person.
    """
    try:
        with context.writing(library=True) as session:
            uid = choose_person_name(session, person, name, context.now, favorite=favorite)
            change = PersonChange(uid, fold(person.name))
            if not context.sees_private:
                _check_all_seen(session.connection(), change)
            job = _queue_if_large(session, context, change)
    except _UnseenPhotosError:
        job = _job_of(_change_photos(context, SeenPersonChange(fold(person.name), name, favorite)))
        return job or _uid_of_name(context, name) or person.uid
    return job or _job_of(_change_photos(context, change)) or uid


def _uid_of_name(context: RenameContext, name: str) -> str | None:
    """Return the UID of the person with this name on photos that anybody may see."""
    with context.reading() as connection:
        every = context.people.read(connection, sees_private=False)
    return next((person.uid for person in every if fold(person.name) == fold(name)), None)


class _UnseenPhotosError(Exception):
    """Photos that the actor may not see show the person."""


def _check_all_seen(connection: Connection, change: PersonChange) -> None:
    names = change.names(connection)
    if photos_of_people(connection, names) != photos_of_people(connection, names, sees_private=False):
        raise _UnseenPhotosError


def _change_photos(context: RenameContext, change: NameChange) -> int | QueuedRename:
    """Change all photos at once, or by a job if they are many; return their number, or the job.

    Raises:
        TooManyJobsError: as many changes of the actor wait as are allowed.
        PhotosvcError: one of `batches.change_in_portions`.
    """
    count = 0
    for _ in range(change.PASSES):
        with context.reading() as connection:
            photo_ids, change_some = change.prepare(connection, context.actor, context.zone)
        if len(photo_ids) > MOST_AT_ONCE:
            with context.writing(library=True) as session:
                return _queue(session, context, change)

        def change_portion(session: Session, portion: Sequence[int], change: ChangeSome = change_some) -> int:
            return change(session, portion, context.now)

        count += batches.change_in_portions(context, photo_ids, change_portion, "changed", is_repeatable=True)
    if (marking := marks_favorite(change)) is not None:
        with context.writing(library=True) as session:
            marking.finish(session, context.now)
    return count


def _job_of(result: int | QueuedRename) -> QueuedRename | None:
    return result if isinstance(result, QueuedRename) else None


def _queue_if_large(session: Session, context: RenameContext, change: NameChange) -> QueuedRename | None:
    """Queue a change that affects many photos, in the write transaction that decides on it."""
    photo_ids, _ = change.prepare(session.connection(), context.actor, context.zone)
    return _queue(session, context, change) if len(photo_ids) > MOST_AT_ONCE else None


def _queue(session: Session, context: RenameContext, change: NameChange) -> QueuedRename:
    """Queue a change, in a write transaction; it replaces a waiting one of the actor of the same labels or person."""
    name = next(name for name, kind in CHANGES.items() if isinstance(change, kind))
    actor = context.actor
    arguments = {"change": name, "values": asdict(change), "actor": asdict(actor)}
    subject = f"{actor.uid} {sha256(change.about.encode()).hexdigest()}"  # there may be a thousand labels
    # It gives way after each portion, so an index run does it in its pauses.
    asker = f"{actor.uid} "
    return QueuedRename(
        queue.add(session, NAMES, subject, context.now, arguments, user_id=context.user_id, asker=asker)
    )


def change_by_job(lease: Lease, settings: Settings, job: QueuedJob) -> Generator[bool, None, None]:
    """Make a change as a `library.job_runner.Handler`; after a killed run, the next one changes the rest."""
    change = CHANGES[job.arguments["change"]](**job.arguments["values"])
    actor, now = Author(**job.arguments["actor"]), lease.clock()
    done, batch_size = Counter[str](), BatchSize(_FIRST, _MOST, lease.clock)
    lease.report = lambda: {"photos": done["changed"], "percent": 100 * done["seen"] // (done["found"] or 1)}
    for _ in range(change.PASSES):
        with closing(open_reader(lease.engine)) as connection:
            photo_ids, change_some = change.prepare(connection, actor, settings.timezone)
        done["found"] += len(photo_ids)
        start = 0
        while start < len(photo_ids):
            portion = photo_ids[start : start + batch_size.items]
            with UnitOfWork(lease.engine) as session, batch_size.writing(session, len(portion)), many_pages(session):
                lease.check(session)
                done["changed"] += change_some(session, portion, now)
            start += len(portion)
            done["seen"] += len(portion)
            yield True
    if (marking := marks_favorite(change)) is not None:
        with write_session(lease.engine, library=True) as writing:
            lease.check(writing)
            marking.finish(writing, now)


def marks_favorite(change: NameChange) -> LabelChange | SeenPersonChange | None:
    """Return the change if it also makes its label or person a favourite or not, else None."""
    return change if isinstance(change, LabelChange | SeenPersonChange) and change.favorite is not None else None


def is_asked_by(arguments: Mapping[str, Any], owner_uid: str) -> bool:
    """Return whether a job with these arguments is a change by this owner of credentials."""
    actor = arguments.get("actor")
    return isinstance(actor, dict) and actor.get("uid") == owner_uid
