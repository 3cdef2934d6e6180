"""Changes of labels and people on all of their photos: small ones by a request, large ones by a job of an indexer.

Another change is a class like those of `CHANGES`, whose fields JSON can hold.
"""

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

from sqlalchemy.orm import Session

from photosvc.index import jobs
from photosvc.index.jobs import NAMES, Waiting
from photosvc.index.lease import Lease
from photosvc.library.journal import Actor
from photosvc.library.labels import LabelChange, Respelling
from photosvc.library.people import PersonChange, SeenPersonChange
from photosvc.models.engine import UnitOfWork, library_session, many_pages, open_reader
from photosvc.models.pace import Pace
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


@dataclass(slots=True)
class _Progress:
    """The progress of a job."""

    photos: int = 0
    """Photos that it has changed."""
    seen: int = 0
    """Photos that it has looked at, of those that it has found."""
    found: int = 0

    def report(self) -> Mapping[str, int]:
        """Return the report of the job."""
        return {"photos": self.photos, "percent": 100 * self.seen // self.found if self.found else 0}


def ask(session: Session, change: NameChange, actor: Actor, user_id: int | None, now: datetime) -> int:
    """Ask for a change, in a write transaction, and return the id of the job.

    It replaces the actor's last change of the same labels or person, if that waits.

    Raises:
        TooManyJobsError: as many changes of the actor wait as are allowed.

    """
    name = next(name for name, kind in CHANGES.items() if isinstance(change, kind))
    arguments = {"change": name, "values": asdict(change), "actor": asdict(actor)}
    subject = f"{actor.uid} {sha256(change.about.encode()).hexdigest()}"  # there may be a thousand labels
    # A small job: it gives way after each portion, so an index run does it in its pauses.
    return jobs.add(session, NAMES, subject, now, arguments, user_id=user_id, asker=f"{actor.uid} ")


def change_in_portions(lease: Lease, _settings: Settings, job: Waiting) -> Generator[bool, None, None]:
    """Make a change as a `library.jobs.Handler`. After a killed run, the next one changes the photos that are left."""
    change = CHANGES[job.arguments["change"]](**job.arguments["values"])
    actor, now = Actor(**job.arguments["actor"]), lease.clock()
    progress, pace = _Progress(), Pace(_FIRST, _MOST)
    lease.report = progress.report
    for _ in range(change.PASSES):
        with closing(open_reader(lease.engine)) as connection:
            photo_ids, change_some = change.prepare(connection, actor)
        progress.found += len(photo_ids)
        start = 0
        while start < len(photo_ids):
            portion = photo_ids[start : start + pace.size]
            with UnitOfWork(lease.engine) as session, pace.writing(session, len(portion)), many_pages(session):
                lease.check(session)
                progress.photos += change_some(session, portion, now)
            start += len(portion)
            progress.seen += len(portion)
            yield True
    if (marking := marks_favorite(change)) is not None:
        with library_session(lease.engine) as writing:
            lease.check(writing)
            marking.finish(writing, now)


def marks_favorite(change: NameChange) -> LabelChange | SeenPersonChange | None:
    """Return the change if its label or person is to be a favourite, or none, after it."""
    return change if isinstance(change, LabelChange | SeenPersonChange) and change.favorite is not None else None


def is_asked_by(arguments: Mapping[str, Any], owner_uid: str) -> bool:
    """Return whether a job with these arguments is a change by this owner of credentials."""
    actor = arguments.get("actor")
    return isinstance(actor, dict) and actor.get("uid") == owner_uid
