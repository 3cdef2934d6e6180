"""The lease of a job: one run at a time does it, as long as the lease is renewed.

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
from photosvc.index.jobs import (
    EXCLUSIVE,
    INDEX,
    WAITING_COLUMNS,
    Kind,
    RunCancelledError,
    State,
    Waiting,
    delete_jobs,
    forget_failures,
    forget_old,
    insert_job,
    is_due,
    lock_jobs,
    runs,
)
from photosvc.models import Job
from photosvc.models.engine import write_session
from photosvc.models.statements import UNLOADED

_LOG = logging.getLogger("photosvc")
#: The time after which a lease that is not renewed ends: that of a machine that crashed.
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
    """Called for the report to keep of a run that ends early."""
    job_id: int = field(default=0, init=False)
    _covered: Sequence[int] = field(default=(), init=False)
    """The jobs that are done when this one is."""
    _is_finished: bool = field(default=False, init=False)
    _ended: threading.Event = field(default_factory=threading.Event, init=False)

    def begin(
        self,
        kind: Kind,
        subject: str,
        arguments: Mapping[str, Any],
        *,
        covers: Callable[[Waiting], bool],
        former: Sequence[str] = (),
    ) -> None:
        """Begin a run, which does the jobs that wait and that it covers as well.

        Args:
            covers: whether the run does a job of its kind.
            former: the owners of runs that have ended for certain, however they did.

        Raises:
            ConflictError: an exclusive run of another owner is in progress.
        """
        with write_session(self.engine) as session:
            now = self.clock()
            release_dead(session, now, former)
            others = select(Job.id).where(runs(EXCLUSIVE), Job.owner != self.owner).limit(1)
            if kind.is_exclusive and session.scalar(others) is not None:
                raise ConflictError("Another index run is active; wait until it ends.")
            waiting = select(*WAITING_COLUMNS).where(Job.kind == kind.name, Job.state == State.WAITING.value)
            found = [one for row in session.execute(waiting) if covers(one := Waiting(*row))]
            own = [one.id for one in found if (one.subject, one.arguments) == (subject, dict(arguments))]
            own = [one.id for one in found if one.id in own and one.not_before <= now]
            self._covered = [one.id for one in found if one.id not in own]
            self._take(session, self._covered, now)
            if own:
                self.job_id = own[0]
                self._start(session, now)
                return
            self.job_id = insert_job(
                session, kind, subject, State.RUNNING, requested=False, not_before=now, started_at=now,
                owner=self.owner, leased_until=now + _LEASE, arguments=dict(arguments),
                large=False, user_id=None, created_at=now,
            )  # fmt: skip

    def claim(
        self,
        kinds: Sequence[Kind],
        *,
        small: bool = False,
        sooner: Callable[[Session], ColumnElement[bool]] | None = None,
    ) -> Waiting | None:
        """Begin the run of a job that is due, small ones first or alone, and return it; None when there is none.

        Args:
            small: leave out the large ones.
            sooner: called for the condition of jobs that may begin before their time.
        """
        names = [kind.name for kind in kinds]
        with write_session(self.engine) as session:
            now = self.clock()
            release_dead(session, now)
            can_begin = is_due(now, sooner(session) if sooner else None)
            waiting = select(*WAITING_COLUMNS).where(Job.kind.in_(names), can_begin)
            if small:
                waiting = waiting.where(Job.large.is_(False))
            row = session.execute(waiting.order_by(Job.large, Job.created_at, Job.id).limit(1)).first()
            if row is None:
                return None
            self.job_id = row.id
            self._start(session, now)
            forget_failures(session, [row.id])
            return Waiting(*row)

    def check(self, session: Session) -> None:
        """Make sure, in a write transaction, that no other run has taken over from this one while it was suspended.

        Raises:
            RunCancelledError: this run was asked to stop.
            ConflictError: another run has taken over.
        """
        own = select(Job.owner, Job.cancelled).where(Job.id == self.job_id)
        row = session.connection().execute(own).first()
        if row is None or row.owner != self.owner:
            raise ConflictError("Another run has taken over from this one, whose lease had ended.")
        if row.cancelled:
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
        self.check_owner(session)
        delete_jobs(session, self._covered)
        ended = {**_ENDED, "state": State.DONE.value, "outcome": State.DONE.value, "ended_at": self.clock()}
        kind = session.scalar(
            update(Job).where(Job.id == self.job_id).values(**ended, report=dict(self.report())).returning(Job.kind),
            execution_options=UNLOADED,
        )
        forget_old(session, kind or "")
        self._is_finished = True

    def put_off(self, session: Session, until: datetime, arguments: Mapping[str, Any]) -> None:
        """Let the job wait again with the part that is left, in the write transaction that did the rest.

        Raises:
            ConflictError: another run has taken over.
        """
        lock_jobs(session)
        self.check_owner(session)
        waits = {**_ENDED, "state": State.WAITING.value, "not_before": until, "arguments": dict(arguments)}
        _write(session, self.job_id, {**waits, "attempts": 0, "report": dict(self.report())})
        self._is_finished = True

    def check_owner(self, session: Session) -> None:
        """Make sure that the job is still that of this run, also when it was asked to stop.

        Raises:
            ConflictError: it is not.
        """
        try:
            self.check(session)
        except RunCancelledError:
            return

    def end(self, error: BaseException | None) -> None:
        """Give the lease back; after an error, make the jobs due again, unless they are given up."""
        self._ended.set()
        if error is None and self._is_finished:
            return
        with _logged("is given back later"), write_session(self.engine) as session:
            if error is None:
                self.finish(session)
                return
            now = self.clock()
            lock_jobs(session)
            report = {**self.report(), "message": _message(error)}
            for row in session.execute(_rows(Job.owner == self.owner, Job.id.in_((self.job_id, *self._covered)))):
                is_own = row.id == self.job_id
                _settle(session, row, _Ending.of(error, is_own=is_own, report=report if is_own else {}), now)

    def keep(self) -> None:
        """Renew the lease every few seconds until its `end`."""
        threading.Thread(target=self._renew, name="photosvc-lease", daemon=True).start()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Renew the lease inside the block, and give it back in the end."""
        self.keep()
        try:
            yield
        except BaseException as error:
            self.end(error)
            raise
        else:
            self.end(None)

    def _renew(self) -> None:
        while not self.clock.wait(self._ended, _RENEWAL):
            with _logged("is renewed later"), write_session(self.engine) as session:
                lock_jobs(session)
                own = update(Job).where(runs(), Job.owner == self.owner)
                session.execute(own.values(leased_until=self.clock() + _LEASE), execution_options=UNLOADED)

    def _take(self, session: Session, ids: Sequence[int], now: datetime) -> None:
        taken = {
            "state": State.RUNNING.value, "owner": self.owner, "leased_until": now + _LEASE,
            "cancelled": False,
        }  # fmt: skip
        session.execute(update(Job).where(Job.id.in_(ids)).values(taken), execution_options=UNLOADED)

    def _start(self, session: Session, now: datetime) -> None:
        self._take(session, [self.job_id], now)
        began = {"started_at": now, "ended_at": None, "attempts": Job.attempts + 1, "outcome": ""}
        _write(session, self.job_id, {**began, "report": {}})


@dataclass(frozen=True, slots=True)
class _Ending:
    """The reason why a run ended early."""

    outcome: State
    report: Mapping[str, Any]
    is_final: bool = False
    """True if another try would end as this one did."""
    is_counted: bool = True
    is_own: bool = True
    """True if the run was about the job, rather than covering it."""

    @classmethod
    def of(cls, error: BaseException, *, is_own: bool, report: Mapping[str, Any]) -> "_Ending":
        match error:
            case RunCancelledError():
                return cls(State.STOPPED, report, is_counted=is_own, is_own=is_own)
            case ConflictError():
                return cls(State.WAITING, report, is_counted=False, is_own=is_own)
            case PhotosvcError():
                is_final = error.status < HTTPStatus.INTERNAL_SERVER_ERROR and error.retry_after is None
                return cls(State.FAILED, report, is_final and is_own, is_counted=is_own, is_own=is_own)
            case Exception():
                return cls(State.FAILED, report, is_counted=is_own, is_own=is_own)
        return cls(State.INTERRUPTED, report, is_counted=False, is_own=is_own)


def _write(session: Session, job_id: int, values: Mapping[str, Any]) -> None:
    session.execute(update(Job).where(Job.id == job_id).values(values), execution_options=UNLOADED)


_ENDED: Final = {"owner": "", "leased_until": None, "cancelled": False}


def _settle(session: Session, row: Any, ending: _Ending, now: datetime) -> None:  # noqa: ANN401 - a row
    """Make a job whose run ended early wait again, or end it."""
    values: dict[str, Any] = {**_ENDED, "attempts": row.attempts - (ending.is_own and not ending.is_counted)}
    if ending.is_own and ending.outcome is not State.WAITING:
        values |= {"outcome": ending.outcome.value, "ended_at": now, "report": dict(ending.report)}
    elif ending.is_own:
        values["started_at"] = None
    is_stopped = ending.outcome is State.STOPPED and (row.large or row.kind != INDEX.name)
    ends = not row.requested or ending.is_final or is_stopped
    waiting = _rows(Job.kind == row.kind, Job.subject == row.subject, Job.state == State.WAITING.value)
    twin = None if ends else session.execute(waiting).first()
    if twin is not None and not ending.is_own:  # the later request stands for both
        wanted = {name: twin.arguments.get(name) or row.arguments.get(name) for name in row.arguments}
        _write(session, twin.id, {"arguments": wanted, "large": row.large or twin.large})
        delete_jobs(session, [row.id])
    elif ends and not ending.is_own:
        delete_jobs(session, [row.id])
    elif ends or twin is not None or values["attempts"] >= MOST_ATTEMPTS:
        values["state"] = (State.FAILED if ending.outcome is State.WAITING else ending.outcome).value
        _write(session, row.id, values)
        forget_old(session, row.kind)
    else:
        values |= {"state": State.WAITING.value, "not_before": now + _pause(ending, values["attempts"])}
        _write(session, row.id, values)


def _pause(ending: _Ending, attempts: int) -> timedelta:
    if ending.outcome is State.WAITING:
        return _SHORT_PAUSE
    if not ending.is_own or not ending.is_counted:
        return timedelta(0)
    before = attempts - (ending.outcome is State.INTERRUPTED)  # the first run of a process that was killed had no fault
    return _FIRST_PAUSE * 2 ** (before - 1) if before > 0 else timedelta(0)


def release_dead(session: Session, now: datetime, former: Sequence[str] = ()) -> None:
    """Let go of the jobs of runs that ended without doing so, in a write transaction.

    Args:
        former: the owners of runs that have ended for certain, however they did.
    """
    lock_jobs(session)
    dead = or_(Job.leased_until <= now, Job.owner.in_(former))
    for row in session.execute(_rows(runs(), dead)):
        stopped = State.STOPPED if row.cancelled else State.INTERRUPTED
        _settle(session, row, _Ending(stopped, row.report, is_own=row.started_at is not None), now)


def _rows(*conditions: ColumnElement[bool]) -> Select[Any]:
    return select(
        Job.id, Job.kind, Job.subject, Job.arguments, Job.large, Job.requested, Job.cancelled, Job.attempts, Job.report,
        Job.started_at,
    ).where(*conditions)  # fmt: skip


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
