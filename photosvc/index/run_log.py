"""Index runs: their options, their results, and the record of the last runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from math import inf
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import Connection, delete, select
from sqlalchemy.orm import Session

from photosvc.core.problems import Problem, Severity
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX, State, runs
from photosvc.models import Job, read_counter, set_counters
from photosvc.models.counters import settle
from photosvc.models.engine import write_if_free, write_session
from photosvc.models.statements import UNLOADED
from photosvc.workers.scheduler import Scheduler

#: Rows of the library's state: seconds since 1970 of the end of the last run, and of the last over all originals.
_ENDED: Final = "indexed_at"
_WHOLE: Final = "scanned_at"
#: Seconds between two writes of the progress.
_PAUSE: Final = 2.0
_COUNTS: Final = ("indexed", "updated", "unchanged", "missing", "skipped", "failed")
_CHANGES: Final = ("indexed", "updated", "missing", "failed")


class Status(StrEnum):
    """The result of a run for one file."""

    INDEXED = "indexed"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    MISSING = "missing"
    """It belongs to the library and is gone from the folder."""
    SKIPPED = "skipped"
    """Left out on purpose, or failed in an earlier run."""
    FAILED = "failed"
    """It should have been readable."""


class Outcome(NamedTuple):
    """A file of a run with its result."""

    name: str
    """Relative to the originals."""
    status: Status
    problem: Problem | None = None

    @classmethod
    def of_problem(cls, name: str, problem: Problem) -> Self:
        """Return the outcome of a file that is skipped or failed, by the severity of its problem."""
        return cls(name, Status.FAILED if problem.reason.severity is Severity.FAILED else Status.SKIPPED, problem)


#: Called with every file of a run.
Observer = Callable[[Outcome], None]


@dataclass(slots=True)
class Summary:
    """The counts of a run; it lists no files, because memory must not grow with the library."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    skipped: int = 0
    failed: int = 0
    rebuilt: int = 0
    """Search rows of an older version, rendered again before the run."""
    read_again: int = 0
    """Unchanged files that a reader of an older version had read; they are among those updated or skipped."""
    thumbnails: int = 0
    """Thumbnails made along the way."""
    cache_refusal: str = ""
    """The reason why thumbnails could not be kept, as a sentence; empty when all were kept."""
    kept: int = 0
    """Files that are gone but not marked as missing, because no original is there: the disk may not be mounted."""
    unmounted: dict[str, int] = field(default_factory=dict)
    """Folders on which a disk was mounted before and none is now, with the number of files left as they are."""
    seconds: float = 0.0
    observer: Observer | None = None

    @property
    def left(self) -> int:
        """Return the number of files that were not found but not marked as missing, because a disk is not mounted."""
        return self.kept + sum(self.unmounted.values())

    @property
    def warning(self) -> str:
        """Return a warning about the whole run in sentences; empty when there is nothing to warn of."""
        sentences = [
            f"No disk is mounted on {disk} any more: its files ({count}) were not marked as missing. "
            "Run `svc purge` if it will not come back."
            for disk, count in self.unmounted.items()
        ]
        if self.kept:
            sentences.append(
                f"There is no picture or video in the originals, and {self.kept} in the library: nothing was marked "
                "as missing. Is the disk mounted?"
            )
        return " ".join(sentences)

    def add(self, outcome: Outcome) -> None:
        """Count a file and pass it to the observer."""
        name = outcome.status.value
        setattr(self, name, getattr(self, name) + 1)
        if self.observer:
            self.observer(outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptions:
    """The options of an index run."""

    subfolder: str = ""
    force: bool = False
    """Read unchanged files again."""
    workers: int = 0
    """Number of processes; 0 takes the setting, whose default is one for each core."""
    thumbnails: bool = False
    """Make the usual thumbnails of all files that are read."""
    settle: float = 0
    """Seconds: new and changed files that were written within this time are left to a later run, as `unsettled`."""
    unmounted: frozenset[str] = frozenset()
    """Folders whose disk was mounted before and is not now: their files are not marked as missing."""
    newest_first: bool = False
    """Read the files first that were written last."""
    most_seconds: float = inf
    """Seconds after which the run reads no more files, and is left to a later one."""
    dry_run: bool = False
    """Only count the files that would be read."""
    scheduler: Scheduler | None = None
    """The scheduler whose workers read the files; None for processes of this machine."""


class LastRun(NamedTuple):
    """Ends of the last runs; None before the first."""

    ended_at: datetime | None
    whole_at: datetime | None
    """The end of the last run that looked at all originals."""


def last_run(session: Session) -> LastRun:
    """Return the ends of the last runs."""
    ends = (read_counter(session, name) for name in (_ENDED, _WHOLE))
    return LastRun(*(None if end is None else datetime.fromtimestamp(end, UTC) for end in ends))


@dataclass(frozen=True, slots=True)
class IndexRun:
    """An index run with its state and counts, as `IndexReportSchema` dumps it."""

    state: State
    id: int
    folder: str
    """Relative to the originals, in the form of `core.files.clean_name`; empty for all originals."""
    force: bool
    """True if unchanged files were read again."""
    started_at: datetime
    ended_at: datetime | None
    message: str = ""
    """The error or the warning of the run."""
    to_read: int = 0
    """Files that it found to be new or changed."""
    read: int = 0
    """The number of them that it has read so far."""
    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    skipped: int = 0
    failed: int = 0


@dataclass(slots=True)
class RunRecorder:
    """The record of one index run, kept in the job of its lease.

    Of the runs over one folder that changed nothing, the last one is kept: watchers make many.
    """

    lease: Lease
    summary: Summary
    _to_read: int = field(default=0, init=False)
    _read: int = field(default=0, init=False)
    _next: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.lease.report = self._values

    def progress(self, done: int, total: int) -> None:
        """Record the number of files read and to read, every other second."""
        self._read, self._to_read = done, total
        if self.lease.clock.monotonic() >= self._next:
            self._next = self.lease.clock.monotonic() + _PAUSE
            write_if_free(self.lease.engine, self.lease.save, lasting=False)

    def done(self, folder: str) -> None:
        """Record that the run over a folder has ended.

        Raises:
            ConflictError: another run has taken over.
        """
        with write_session(self.lease.engine) as session:
            ends = (_ENDED,) if folder else (_ENDED, _WHOLE)
            set_counters(session, dict.fromkeys(ends, int(self.lease.clock().timestamp())))
            settle(session)
            if not any(getattr(self.summary, name) for name in _CHANGES):
                _delete_quiet(session, folder)
            self.lease.finish(session)

    def _values(self) -> Mapping[str, Any]:
        counts = {name: getattr(self.summary, name) for name in _COUNTS}
        return {"message": self.summary.warning, "to_read": self._to_read, "read": self._read, **counts}


def reports(session: Session, now: datetime, *, count: int) -> Sequence[IndexRun]:
    """Return the last runs, the latest first."""
    began = select(Job).where(Job.kind == INDEX.name, Job.started_at.is_not(None))
    last = session.scalars(began.order_by(Job.started_at.desc(), Job.id.desc()).limit(count))
    return [_reported(job, job.started_at, now) for job in last if job.started_at is not None]


def progress(connection: Connection, now: datetime) -> tuple[int, int] | None:
    """Return the numbers of files that the present run has read and has to read; None while there is no run."""
    running = select(Job.report).where(Job.kind == INDEX.name, runs(), Job.leased_until > now)
    report = connection.scalar(running.order_by(Job.started_at.desc()).limit(1))
    return None if report is None else (report.get("read", 0), report.get("to_read", 0))


def _reported(job: Job, started_at: datetime, now: datetime) -> IndexRun:
    state = State(job.outcome or job.state)
    if state is State.RUNNING and (job.leased_until is None or job.leased_until <= now):
        state = State.INTERRUPTED
    force = bool(job.arguments["force"])
    return IndexRun(state, job.id, job.subject, force, started_at, job.ended_at, **job.report)


def _delete_quiet(session: Session, folder: str) -> None:
    """Delete the earlier runs over a folder that changed nothing: most runs are of this kind."""
    done = select(Job.id, Job.report).where(
        Job.kind == INDEX.name, Job.subject == folder, Job.state == State.DONE.value
    )
    quiet = [row.id for row in session.execute(done) if not any(row.report.get(name) for name in _CHANGES)]
    session.execute(delete(Job).where(Job.id.in_(quiet)), execution_options=UNLOADED)
