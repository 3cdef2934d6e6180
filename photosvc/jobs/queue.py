"""Jobs: any process may request work, and indexers do it, each with a lease (`jobs.lease`).

A job ends with its run. After a run that was killed, stopped or failed, its jobs are due again, after a pause that
grows, and a limited number of times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, text, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.models import Job, JobFailure
from photosvc.models.statements import UNLOADED

#: PostgreSQL's advisory lock for changes of jobs and their owners; the last lock that a transaction takes.
_LOCK: Final = 0x70686F746F6A6F62
#: Jobs that are forgotten in one transaction.
_MOST_FORGOTTEN: Final = 100


class State(StrEnum):
    """The state of a job, or the outcome of its last run."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    """It was stopped on request."""
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """Its process ended before its run did."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of jobs."""

    name: str
    most_waiting: int
    """The largest number of jobs of one account that may wait."""
    most_ended: int
    """The number of ended jobs whose rows stay."""
    is_exclusive: bool = False
    """True if it writes the library from the originals: one such run at a time is allowed, over all machines."""


INDEX: Final = JobKind("index", most_waiting=2000, most_ended=100, is_exclusive=True)
#: Commands that change the results of index runs, such as a purge.
UPKEEP: Final = JobKind("upkeep", most_waiting=0, most_ended=0, is_exclusive=True)
IMPORT: Final = JobKind("import", most_waiting=100, most_ended=50)
LOOK_ALIKES: Final = JobKind("look_alikes", most_waiting=1, most_ended=20)
#: Making the usual thumbnails of all pictures.
THUMBNAILS: Final = JobKind("thumbnails", most_waiting=1, most_ended=5)
#: Looking at the pictures that are due.
SIGHT: Final = JobKind("sight", most_waiting=1, most_ended=5)
#: Changes of labels and people on many photos.
NAMES: Final = JobKind("names", most_waiting=20, most_ended=100)
#: Putting uploaded files into albums once they are indexed; of a large import, each 200 files are a job.
ALBUMS: Final = JobKind("albums", most_waiting=2000, most_ended=20)
KINDS: Final = {kind.name: kind for kind in (INDEX, UPKEEP, IMPORT, LOOK_ALIKES, THUMBNAILS, SIGHT, NAMES, ALBUMS)}
EXCLUSIVE: Final = [kind.name for kind in KINDS.values() if kind.is_exclusive]


class TooManyJobsError(PhotosvcError):
    """Too many jobs of this kind are waiting; try again when some of them are done."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    retry_after = 60
    limit = "jobs"


class RunCancelledError(ConflictError):
    """The index run was stopped on request."""


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job that waits, or that a run has."""

    id: int
    subject: str
    arguments: Mapping[str, Any]
    user_id: int | None
    created_at: datetime
    not_before: datetime


#: The condition of jobs that wait or run.
IS_OPEN: Final = Job.state.in_((State.WAITING.value, State.RUNNING.value))
WAITING_COLUMNS: Final = (Job.id, Job.subject, Job.arguments, Job.user_id, Job.created_at, Job.not_before)


def add(
    session: Session,
    kind: JobKind,
    subject: str,
    now: datetime,
    arguments: Mapping[str, Any],
    *,
    large: bool = False,
    user_id: int | None = None,
    asker: str = "",
    not_before: datetime | None = None,
) -> int:
    """Add a job, in a write transaction, and return its id; it replaces a waiting job of its kind and subject.

    Args:
        large: true if it gives way to the others.
        asker: for jobs without an account, the beginning of the subjects that count as one's own.
        not_before: the earliest time of its run; by default now.

    Raises:
        TooManyJobsError: as many jobs of the account, or of the asker without one, wait as are allowed.
    """
    lock_jobs(session)
    values = {"arguments": dict(arguments), "large": large, "user_id": user_id, "created_at": now}
    values["not_before"] = not_before or now
    same = select(Job.id).where(Job.kind == kind.name, Job.subject == subject, Job.state == State.WAITING.value)
    waits = session.scalar(same)
    if waits is not None:
        session.execute(update(Job).where(Job.id == waits).values(**values, attempts=0), execution_options=UNLOADED)
        return waits
    if count_waiting(session, kind, user_id, asker) >= kind.most_waiting:
        raise TooManyJobsError
    return insert_job(session, kind, subject, State.WAITING, requested=True, **values)


def count_waiting(session: Session, kind: JobKind, user_id: int | None = None, asker: str = "") -> int:
    """Return the number of waiting jobs of an account; without an account, of subjects that begin with `asker`."""
    own = and_(Job.kind == kind.name, Job.state == State.WAITING.value, Job.user_id.is_not_distinct_from(user_id))
    if user_id is None:
        own = and_(own, func.substr(Job.subject, 1, len(asker)) == asker)
    return session.scalar(select(func.count()).select_from(Job).where(own)) or 0


def _find(session: Session, kind: JobKind, *conditions: Any) -> Sequence[QueuedJob]:  # noqa: ANN401 - conditions
    query = select(*WAITING_COLUMNS).where(Job.kind == kind.name, *conditions)
    return [QueuedJob(*row) for row in session.execute(query.order_by(Job.large, Job.created_at, Job.id))]


def requested(session: Session, kind: JobKind) -> Sequence[QueuedJob]:
    """Return the requested jobs of a kind that are not done, small ones first, then the oldest."""
    return _find(session, kind, IS_OPEN, Job.requested, ~Job.cancelled)


def waiting(session: Session, kind: JobKind) -> Sequence[QueuedJob]:
    """Return the jobs of a kind that wait, also those whose time has not come."""
    return _find(session, kind, Job.state == State.WAITING.value)


def due(session: Session, kind: JobKind, now: datetime) -> Sequence[QueuedJob]:
    """Return the jobs of a kind that may begin now, small ones first, then the oldest."""
    return _find(session, kind, is_due(now))


def oldest_due(session: Session, now: datetime) -> datetime | None:
    """Return since when the oldest job waits that may begin now; None if no job waits."""
    return session.scalar(select(func.min(Job.created_at)).where(is_due(now)))


def is_due_now(
    session: Session, kind: JobKind, now: datetime, *, small: bool = False, sooner: ColumnElement[bool] | None = None
) -> bool:
    """Return whether a job of a kind may begin now, or a process that ended left a job of any kind.

    Claiming a job releases all jobs that were left, also of kinds that nobody claims.
    """
    left = and_(runs(), Job.leased_until <= now)
    jobs = select(Job.id).where(or_(and_(Job.kind == kind.name, is_due(now, sooner)), left))
    return session.scalar(jobs.where(Job.large.is_(False)).limit(1) if small else jobs.limit(1)) is not None


def is_waiting(session: Session, kinds: Sequence[JobKind]) -> bool:
    """Return whether a requested job of these kinds is not done: it waits, also for another try, or is running."""
    names = [kind.name for kind in kinds]
    return session.scalar(select(Job.id).where(Job.kind.in_(names), IS_OPEN, Job.requested).limit(1)) is not None


def is_running(session: Session, now: datetime) -> bool:
    """Return whether a run writes the library from the originals, on any machine."""
    return session.scalar(select(Job.id).where(runs(EXCLUSIVE), Job.leased_until > now).limit(1)) is not None


def cancel(session: Session, now: datetime, kinds: Sequence[str] = EXCLUSIVE) -> bool:
    """Ask the runs in progress to stop, in a write transaction, and return whether there are any."""
    lock_jobs(session)
    stopping = update(Job).where(runs(kinds)).values(cancelled=True).returning(Job.leased_until)
    ends = session.scalars(stopping, execution_options=UNLOADED).all()
    return any(end is not None and end > now for end in ends)


def withdraw(session: Session, kind: JobKind, *conditions: ColumnElement[bool]) -> int:
    """Delete waiting jobs, in a write transaction, and return their number."""
    lock_jobs(session)
    waits = select(Job.id).where(Job.kind == kind.name, Job.state == State.WAITING.value, *conditions)
    ids = session.scalars(waits).all()
    delete_jobs(session, ids)
    return len(ids)


def forget_unchanged(session: Session, done: Sequence[QueuedJob]) -> None:
    """Delete jobs that a run of another job did, in a write transaction, unless they were requested again since."""
    query = select(*WAITING_COLUMNS).where(Job.id.in_([job.id for job in done]), Job.state == State.WAITING.value)
    delete_jobs(session, [row.id for row in session.execute(query) if QueuedJob(*row) in done])


def insert_job(session: Session, kind: JobKind, subject: str, state: State, **values: Any) -> int:  # noqa: ANN401 - columns
    """Store a job with these values of its columns, in a write transaction, and return its id."""
    row = {
        "kind": kind.name, "subject": subject, "state": state.value, "cancelled": False, "attempts": 0, "owner": "",
        "outcome": "", "report": {}, **values,
    }  # fmt: skip
    return session.scalars(insert(Job).values(row).returning(Job.id)).one()


def is_due(now: datetime, sooner: ColumnElement[bool] | None = None) -> ColumnElement[bool]:
    """Return the condition of jobs that may begin: their time has come, or the condition `sooner` is true."""
    may_begin = Job.not_before <= now if sooner is None else or_(Job.not_before <= now, sooner)
    return and_(Job.state == State.WAITING.value, may_begin)


def runs(kinds: Sequence[str] | None = None) -> ColumnElement[bool]:
    """Return the condition of running jobs, of these kinds or of any."""
    running = Job.state == State.RUNNING.value
    return running if kinds is None else and_(running, Job.kind.in_(kinds))


def forget_old(session: Session, kind: str) -> None:
    """Delete the jobs of a kind that ended longest ago, beyond the number that stays."""
    most = KINDS[kind].most_ended if kind in KINDS else 0
    ended = select(Job.id).where(Job.kind == kind, ~IS_OPEN)
    ended = ended.order_by(Job.started_at.desc(), Job.id.desc()).offset(most).limit(_MOST_FORGOTTEN)
    delete_jobs(session, session.scalars(ended).all())


def delete_jobs(session: Session, ids: Sequence[int]) -> None:
    """Delete these jobs, in a write transaction."""
    if ids:
        forget_failures(session, ids)  # also where the database does not cascade
        session.execute(delete(Job).where(Job.id.in_(ids)), execution_options=UNLOADED)


def forget_failures(session: Session, ids: Sequence[int]) -> None:
    """Forget the files for which these jobs failed, in a write transaction."""
    session.execute(delete(JobFailure).where(JobFailure.job_id.in_(ids)), execution_options=UNLOADED)


def lock_jobs(session: Session) -> None:
    """Lock the changes of jobs and their owners on PostgreSQL until the transaction ends; SQLite has one writer."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
