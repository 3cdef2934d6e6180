"""The lease of a job: while it is renewed, one run alone does the job.

The owner of a lease is drawn at random: two processes never have the same, wherever they run.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import ColumnElement, Engine, Select, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.jobs.queue import (
    EXCLUSIVE,
    INDEX,
    WAITING_COLUMNS,
    JobKind,
    QueuedJob,
    RunCancelledError,
    State,
    forget_failures,
    forget_old,
    forget_unchanged,
    insert_job,
    is_due,
    lock_jobs,
    runs,
    waiting,
)
from photosvc.models import Job
from photosvc.models.engine import write_session
from photosvc.models.statements import UNLOADED

_LOG = logging.getLogger("photosvc")
#: The time after which a lease ends that is not renewed, because its machine crashed.
_LEASE: Final = timedelta(seconds=90)
_RENEWAL: Final = 20.0
#: Runs that may fail before a job is given up, and the pauses between them, each twice as long as the one before.
MOST_ATTEMPTS: Final = 10
_FIRST_PAUSE: Final = timedelta(seconds=30)
#: The pause before a job that something else kept from beginning.
_SHORT_PAUSE: Final = timedelta(seconds=5)


def new_owner() -> str:
    """Draw the name of an owner."""
    return secrets.token_hex(16)


@dataclass(slots=True)
class Lease:
    """The right of one run to do a job, and with it to write."""

    engine: Engine
    clock: Clock
    owner: str = field(default_factory=new_owner)
    report: Callable[[], Mapping[str, Any]] = dict
    """Called for the report of a run that ends early."""
    job_id: int = field(default=0, init=False)
    _covered: Sequence[QueuedJob] = field(default=(), init=False)
    """Waiting jobs that this run does, too. Those that are requested again meanwhile stay."""
    _is_finished: bool = field(default=False, init=False)
    _ended: threading.Event = field(default_factory=threading.Event, init=False)

    def begin(
        self,
        kind: JobKind,
        subject: str,
        arguments: Mapping[str, Any],
        *,
        covers: Callable[[QueuedJob], bool],
        former: Sequence[str] = (),
    ) -> None:
        """Begin a run: the job of this subject that waits, or a new one.

        Args:
            covers: returns whether the run does this waiting job, too, which is then deleted when the run ends.
            former: the owners of runs that have certainly ended, also if they were killed.

        Raises:
            ConflictError: an exclusive run of another owner is in progress.
        """
        with write_session(self.engine) as session:
            now = self.clock()
            release_dead(session, now, former)
            others = select(Job.id).where(runs(EXCLUSIVE)).limit(1)
            if kind.is_exclusive and session.scalar(others) is not None:
                raise ConflictError("Another index run is active; wait until it ends.")
            covered = [job for job in waiting(session, kind) if covers(job)]
            own = [job for job in covered if (job.subject, job.arguments) == (subject, dict(arguments))]
            own = [job for job in own if job.not_before <= now]
            self._covered = [job for job in covered if job not in own]
            self.job_id = own[0].id if own else insert_job(
                session, kind, subject, State.RUNNING, requested=False, not_before=now, arguments=dict(arguments),
                large=False, user_id=None, created_at=now,
            )  # fmt: skip
            self._start(session, now)

    def claim(
        self,
        kind: JobKind,
        *,
        small: bool = False,
        sooner: Callable[[Session], ColumnElement[bool]] | None = None,
    ) -> QueuedJob | None:
        """Begin the run of a due job and return the job, small jobs first; None if no job is due.

        Args:
            small: leave out large jobs.
            sooner: returns the condition of jobs that may begin before their time.
        """
        with write_session(self.engine) as session:
            now = self.clock()
            release_dead(session, now)
            can_begin = is_due(now, sooner(session) if sooner else None)
            due = select(*WAITING_COLUMNS).where(Job.kind == kind.name, can_begin)
            if small:
                due = due.where(Job.large.is_(False))
            row = session.execute(due.order_by(Job.large, Job.created_at, Job.id).limit(1)).first()
            if row is None:
                return None
            self.job_id = row.id
            self._start(session, now)
            forget_failures(session, [row.id])
            return QueuedJob(*row)

    def check(self, session: Session, *, may_be_stopped: bool = False) -> None:
        """Make sure, in a write transaction, that no other run has taken over from this one while it was suspended.

        Args:
            may_be_stopped: ignore a request to stop.

        Raises:
            RunCancelledError: this run was asked to stop.
            ConflictError: another run has taken over.
        """
        own = select(Job.owner, Job.cancelled).where(Job.id == self.job_id)
        row = session.connection().execute(own).first()
        if row is None or row.owner != self.owner:
            raise ConflictError("Another run has taken over from this one, whose lease had ended.")
        if row.cancelled and not may_be_stopped:
            raise RunCancelledError

    def save(self, session: Session) -> None:
        """Record the progress of the run, in a write transaction."""
        own = update(Job).where(Job.id == self.job_id, Job.owner == self.owner)
        session.execute(own.values(report=dict(self.report())), execution_options=UNLOADED)

    def finish(self, session: Session) -> None:
        """Record that the run and the jobs it covers are done, in the write transaction that completes it.

        Raises:
            ConflictError: another run has taken over.
        """
        lock_jobs(session)
        self.check(session, may_be_stopped=True)
        ended = {**_ENDED, "state": State.DONE.value, "outcome": State.DONE.value, "ended_at": self.clock()}
        kind = session.scalar(
            update(Job).where(Job.id == self.job_id).values(**ended, report=dict(self.report())).returning(Job.kind),
            execution_options=UNLOADED,
        )
        forget_unchanged(session, self._covered)
        forget_old(session, kind or "")
        self._is_finished = True

    def put_off(self, session: Session, until: datetime, arguments: Mapping[str, Any]) -> None:
        """Let the job wait again for the part that is not done, in the write transaction that did the other part.

        Raises:
            ConflictError: another run has taken over.
        """
        lock_jobs(session)
        self.check(session, may_be_stopped=True)
        waits = {**_ENDED, "state": State.WAITING.value, "not_before": until, "arguments": dict(arguments)}
        _write(session, self.job_id, {**waits, "attempts": 0, "report": dict(self.report())})
        self._is_finished = True

    def end(self, error: BaseException | None) -> None:
        """Give the lease back; after an error, make the job due again, unless it is given up."""
        self._ended.set()
        if error is None and self._is_finished:
            return
        with _logged("is given back later"), write_session(self.engine) as session:
            if error is None:
                self.finish(session)
                return
            lock_jobs(session)
            is_final = isinstance(error, PhotosvcError) and _is_final(error)
            for row in session.execute(_rows(Job.owner == self.owner, Job.id == self.job_id)):
                report = {**self.report(), "message": _message(error)}
                _end_early(session, row, _outcome(error), self.clock(), report, is_final=is_final)

    def keep(self) -> None:
        """Renew the lease every few seconds until its `end`."""
        threading.Thread(target=self._renew, name="photosvc-lease", daemon=True).start()

    def _renew(self) -> None:
        while not self.clock.wait(self._ended, _RENEWAL):
            with _logged("is renewed later"), write_session(self.engine) as session:
                lock_jobs(session)
                own = update(Job).where(runs(), Job.owner == self.owner)
                session.execute(own.values(leased_until=self.clock() + _LEASE), execution_options=UNLOADED)

    def _start(self, session: Session, now: datetime) -> None:
        began = {
            "state": State.RUNNING.value, "owner": self.owner, "leased_until": now + _LEASE, "cancelled": False,
            "started_at": now, "ended_at": None, "attempts": Job.attempts + 1, "outcome": "", "report": {},
        }  # fmt: skip
        _write(session, self.job_id, began)


def _outcome(error: BaseException) -> State:
    """Return the outcome of a run that an error ended; `WAITING` if something else kept it from its work."""
    match error:
        case RunCancelledError():
            return State.STOPPED
        case ConflictError():
            return State.WAITING
        case Exception():
            return State.FAILED
    return State.INTERRUPTED


def _is_final(error: PhotosvcError) -> bool:
    """Return whether another try would end as this one did."""
    is_refusal = error.status < HTTPStatus.INTERNAL_SERVER_ERROR and error.retry_after is None
    return is_refusal and not isinstance(error, ConflictError)


def _write(session: Session, job_id: int, values: Mapping[str, Any]) -> None:
    session.execute(update(Job).where(Job.id == job_id).values(values), execution_options=UNLOADED)


_ENDED: Final = {"owner": "", "leased_until": None, "cancelled": False}


def _end_early(
    session: Session,
    row: Any,  # noqa: ANN401 - a row
    outcome: State,
    now: datetime,
    report: Mapping[str, Any],
    *,
    is_final: bool = False,
    is_killed: bool = False,
) -> None:
    """Make a job whose run ended early wait again, or end it.

    Args:
        is_killed: the run may have ended its process: it counts as a try, the first of which has no pause.
    """
    is_counted = is_killed or outcome in {State.STOPPED, State.FAILED}
    attempts = row.attempts - (not is_counted)
    values: dict[str, Any] = {**_ENDED, "attempts": attempts}
    if outcome is State.WAITING:
        values["started_at"] = None
    else:
        values |= {"outcome": outcome.value, "ended_at": now, "report": dict(report)}
    is_stopped = outcome is State.STOPPED and (row.large or row.kind != INDEX.name)
    again = _rows(Job.kind == row.kind, Job.subject == row.subject, Job.state == State.WAITING.value)
    ends = not row.requested or is_final or is_stopped or attempts >= MOST_ATTEMPTS
    if ends or session.execute(again).first() is not None:
        values["state"] = (State.FAILED if outcome is State.WAITING else outcome).value
        _write(session, row.id, values)
        forget_old(session, row.kind)
        return
    failures = (attempts - is_killed) * is_counted
    pause = _FIRST_PAUSE * 2 ** (failures - 1) if failures > 0 else timedelta(0)
    pause = _SHORT_PAUSE if outcome is State.WAITING else pause
    _write(session, row.id, {**values, "state": State.WAITING.value, "not_before": now + pause})


def release_dead(session: Session, now: datetime, former: Sequence[str] = ()) -> None:
    """Release the jobs of runs that ended without doing so, in a write transaction.

    Args:
        former: the owners of runs that have certainly ended, also if they were killed.
    """
    lock_jobs(session)
    dead = or_(Job.leased_until <= now, Job.owner.in_(former))
    for row in session.execute(_rows(runs(), dead)):
        stopped = State.STOPPED if row.cancelled else State.INTERRUPTED
        _end_early(session, row, stopped, now, row.report, is_killed=stopped is State.INTERRUPTED)


def _rows(*conditions: ColumnElement[bool]) -> Select[Any]:
    return select(
        Job.id, Job.kind, Job.subject, Job.large, Job.requested, Job.cancelled, Job.attempts, Job.report
    ).where(*conditions)


def _message(error: BaseException) -> str:
    match error:
        case RunCancelledError():
            return ""
        case PhotosvcError():
            return error.message
        case Exception():
            return type(error).__name__
    return ""


@contextmanager
def _logged(what: str) -> Iterator[None]:
    """Log errors of the block as a warning: the lease is renewed later, or ends by itself."""
    try:
        yield
    except (SQLAlchemyError, ConflictError) as error:
        reason = getattr(error, "orig", None) or error  # without the statement, which has several lines
        _LOG.warning("The lease of a job %s: %s", what, reason)
