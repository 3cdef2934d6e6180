"""Changes of labels and people on all of their photos: small ones by a request, large ones by a job of an indexer.

Another change is a class like those of `CHANGES`, whose fields JSON can hold.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.index import jobs
from photosvc.index.jobs import NAMES, Waiting
from photosvc.index.lease import Lease
from photosvc.library import batches
from photosvc.library.journal import Actor
from photosvc.library.labels import ChangeSome, LabelChange, Respelling, mark_favorite, respell
from photosvc.library.people import PersonChange, SeenPersonChange, choose_name, photos_with
from photosvc.models.batch_size import BatchSize
from photosvc.models.engine import UnitOfWork, Writing, many_pages, open_reader, write_session
from photosvc.query.fold import fold
from photosvc.search.reading.people import Label, Person
from photosvc.settings import Settings

#: Photos that a request changes itself.
MOST_AT_ONCE: Final = 1000
#: Photos of the first transaction of a job, and of each at most.
_FIRST: Final = 100
_MOST: Final = 500

NameChange: TypeAlias = LabelChange | Respelling | PersonChange | SeenPersonChange
CHANGES: Final[Mapping[str, type[NameChange]]] = {
    "labels": LabelChange, "spelling": Respelling, "person": PersonChange, "seen_person": SeenPersonChange,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The circumstances of a change by a request: its transactions, its time, its actor and their rights."""

    reading: Callable[[], AbstractContextManager[Connection]]
    writing: Writing
    slot: Callable[[], AbstractContextManager[object]]
    """Held by a change that needs more than one transaction."""
    clock: Clock
    now: datetime
    zone: str
    """The time zone of photos that tell neither a zone nor a position."""
    actor: Actor
    user_id: int | None
    sees_private: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The job that makes a change because it affects many photos."""

    job_id: int


def change_all(terms: Terms, change: NameChange) -> int | Asked:
    """Make a change, or ask for a job if it affects many photos; return the number of changed photos, or the job.

    Raises:
        TooManyJobsError: as many changes of the actor wait as are allowed.
        PhotosvcError: one of `batches.change_in_portions`.
    """
    count = 0
    for _ in range(change.PASSES):
        with terms.reading() as connection:
            photo_ids, change_some = change.prepare(connection, terms.actor, terms.zone)
        if len(photo_ids) > MOST_AT_ONCE:
            with terms.writing(library=True) as session:
                return _ask(session, terms, change)

        def change_portion(session: Session, portion: Sequence[int], change: ChangeSome = change_some) -> int:
            return change(session, portion, terms.now)

        count += batches.change_in_portions(
            terms.writing, photo_ids, change_portion, "changed", terms.clock, slot=terms.slot, is_repeatable=True
        )
    if (marking := marks_favorite(change)) is not None:
        with terms.writing(library=True) as session:
            marking.finish(session, terms.now)
    return count


def rename_person(terms: Terms, person: Person, name: str, *, favorite: bool | None) -> str | Asked | None:
    """Rename a person; return their UID, or the job that renames them; None if only some of their photos changed.

    Photos of the person that the actor may not see keep the name: on the others, the name is changed as by naming each
    marked area, which makes another person.

    Raises:
        TooManyJobsError: as many changes of the actor wait as are allowed.
        PhotosvcError: one of `batches.change_in_portions`.
    """
    try:
        with terms.writing(library=True) as session:
            uid = choose_name(session, person, name, terms.now, favorite=favorite)
            change = PersonChange(uid, fold(person.name))
            if not terms.sees_private:
                _check_all_seen(session.connection(), change)
            asked = _ask_for_many(session, terms, change)
    except _UnseenPhotosError:
        return _asked(change_all(terms, SeenPersonChange(fold(person.name), name, favorite)))
    return asked or _asked(change_all(terms, change)) or uid


def respell_label(terms: Terms, label: Label, name: str, *, favorite: bool | None) -> Asked | None:
    """Give a label another spelling of the same letters; return the job that does it if it affects many photos.

    Raises:
        TooManyJobsError: as many changes of the actor wait as are allowed.
        PhotosvcError: one of `batches.change_in_portions`.
    """
    change = Respelling(fold(name))
    with terms.writing(library=True) as session:
        respell(session, label.id, name)
        if favorite is not None:
            mark_favorite(session, label.id, favorite=favorite)
        asked = _ask_for_many(session, terms, change)
    return asked or _asked(change_all(terms, change))


class _UnseenPhotosError(Exception):
    """Photos that the actor may not see show the person."""


def _check_all_seen(connection: Connection, change: PersonChange) -> None:
    names = change.names(connection)
    if photos_with(connection, names) != photos_with(connection, names, sees_private=False):
        raise _UnseenPhotosError


def _asked(result: int | Asked) -> Asked | None:
    return result if isinstance(result, Asked) else None


def _ask_for_many(session: Session, terms: Terms, change: NameChange) -> Asked | None:
    """Ask for a job if a change affects many photos, in the write transaction that decides on it."""
    photo_ids, _ = change.prepare(session.connection(), terms.actor, terms.zone)
    return _ask(session, terms, change) if len(photo_ids) > MOST_AT_ONCE else None


def _ask(session: Session, terms: Terms, change: NameChange) -> Asked:
    """Ask for a change, in a write transaction; it replaces a waiting one of the actor of the same labels or person."""
    name = next(name for name, kind in CHANGES.items() if isinstance(change, kind))
    actor = terms.actor
    arguments = {"change": name, "values": asdict(change), "actor": asdict(actor)}
    subject = f"{actor.uid} {sha256(change.about.encode()).hexdigest()}"  # there may be a thousand labels
    # A small job: it gives way after each portion, so an index run does it in its pauses.
    asker = f"{actor.uid} "
    return Asked(jobs.add(session, NAMES, subject, terms.now, arguments, user_id=terms.user_id, asker=asker))


def change_in_portions(lease: Lease, settings: Settings, job: Waiting) -> Generator[bool, None, None]:
    """Make a change as a `library.job_runner.Handler`; after a killed run, the next one changes the rest."""
    change = CHANGES[job.arguments["change"]](**job.arguments["values"])
    actor, now = Actor(**job.arguments["actor"]), lease.clock()
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
    """Return the change if its label or person is to be a favourite, or none, after it."""
    return change if isinstance(change, LabelChange | SeenPersonChange) and change.favorite is not None else None


def is_asked_by(arguments: Mapping[str, Any], owner_uid: str) -> bool:
    """Return whether a job with these arguments is a change by this owner of credentials."""
    actor = arguments.get("actor")
    return isinstance(actor, dict) and actor.get("uid") == owner_uid
