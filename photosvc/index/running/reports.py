"""What the last index runs did, and how far the present one is."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, Engine, and_, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.index.running.last_run import note_run
from photosvc.index.running.run_lock import RunCancelledError, is_running
from photosvc.index.running.summary import Summary
from photosvc.models import IndexRun
from photosvc.models.database.transactions import write_if_free, write_session

#: Runs that are remembered.
MOST_KEPT: Final = 100
#: Seconds between two writes of the progress.
_PAUSE: Final = 2.0
_COUNTS: Final = ("indexed", "updated", "unchanged", "missing", "skipped", "failed")
_UNLOADED: Final = {"synchronize_session": False}


class State(StrEnum):
    """How far an index run is."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    """On request."""
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """Its process ended before it did. Never stored: that process could not."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `IndexReportSchema` dumps."""

    row: IndexRun
    state: State


@dataclass(slots=True)
class Reporter:
    """Keeps what one index run does, in transactions of its own.

    A run has a row from its first file to read on, or from its end. Of the runs over one folder that changed nothing,
    the last one is kept: watchers make many.
    """

    engine: Engine
    clock: Clock
    folder: str
    force: bool
    summary: Summary
    started_at: datetime = field(init=False)
    _run_id: int | None = field(default=None, init=False)
    _to_read: int = field(default=0, init=False)
    _read: int = field(default=0, init=False)
    _next: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.started_at = self.clock()

    def progress(self, done: int, total: int) -> None:
        """Keep how many files were read of those to read, every other second."""
        self._read, self._to_read = done, total
        if time.monotonic() >= self._next:
            self._next, known = time.monotonic() + _PAUSE, self._run_id
            if not write_if_free(self.engine, lambda session: self._write(session, State.RUNNING), lasting=False):
                self._run_id = known  # a new row was rolled back

    def done(self, *, whole: bool) -> None:
        """Keep that the run has ended."""
        with write_session(self.engine) as session:
            note_run(session, self.clock(), whole=whole)
            if not any(getattr(self.summary, name) for name in ("indexed", "updated", "missing", "failed")):
                session.execute(delete(IndexRun).where(_is_quiet(self.folder)), execution_options=_UNLOADED)
            self._write(session, State.DONE, self.summary.warning)
            _forget_old(session)

    @contextmanager
    def keeping_failures(self, session: Session) -> Iterator[None]:
        """Keep that the run was stopped, or why it failed, when the block fails, whose session is rolled back then."""
        try:
            yield
        except RunCancelledError:
            session.rollback()
            self._end(State.STOPPED, "")
            raise
        except Exception as error:
            session.rollback()
            self._end(State.FAILED, error.message if isinstance(error, PhotosvcError) else type(error).__name__)
            raise

    def _end(self, state: State, message: str) -> None:
        with suppress(SQLAlchemyError), write_session(self.engine) as session:
            self._write(session, state, message)
            _forget_old(session)

    def _write(self, session: Session, state: State, message: str = "") -> None:
        values = {
            "state": state.value,
            "message": message,
            "to_read": self._to_read,
            "read": self._read,
            **{name: getattr(self.summary, name) for name in _COUNTS},
            "ended_at": None if state is State.RUNNING else self.clock(),
        }
        if self._run_id is not None:
            own = update(IndexRun).where(IndexRun.id == self._run_id).values(values)
            session.execute(own, execution_options=_UNLOADED)
            return
        row = {"folder": self.folder, "force": self.force, "started_at": self.started_at, **values}
        self._run_id = session.scalar(insert(IndexRun).values(row).returning(IndexRun.id))


def reports(session: Session, now: datetime, *, count: int) -> Sequence[Report]:
    """The last runs, the latest first."""
    last = session.scalars(select(IndexRun).order_by(IndexRun.id.desc()).limit(count)).all()
    running = is_running(session, now)
    found = []
    for number, row in enumerate(last):
        state = State(row.state)
        if state is State.RUNNING and (number or not running):
            state = State.INTERRUPTED
        found.append(Report(row, state))
    return found


def _is_quiet(folder: str) -> ColumnElement[bool]:
    """Runs over a folder that changed nothing."""
    nothing = (getattr(IndexRun, name) == 0 for name in ("indexed", "updated", "missing", "failed"))
    return and_(IndexRun.folder == folder, IndexRun.state == State.DONE.value, *nothing)


def _forget_old(session: Session) -> None:
    last = select(IndexRun.id).order_by(IndexRun.id.desc()).offset(MOST_KEPT).limit(1)
    oldest = session.scalar(last)
    if oldest is not None:
        session.execute(delete(IndexRun).where(IndexRun.id <= oldest), execution_options=_UNLOADED)
