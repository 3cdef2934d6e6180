"""The machines of a cluster by their heartbeats: what each does, and what is wrong with it.

The processes of a machine share one row for each role. A process reads the row first and writes only when it is due, so
that a machine costs one small write in `BEAT` seconds, however many processes it has. Times are those of the database:
they can be compared although the clocks of the machines differ.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Engine, and_, delete, func, or_, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from photosvc import __version__
from photosvc.core.clock import Clock
from photosvc.core.machine import host_name, machine_of
from photosvc.index.check import Fault, Finding
from photosvc.index.jobs import IS_OPEN, State, runs
from photosvc.models import Job, Node
from photosvc.models.engine import UnitOfWork, limit_lock_waits, write_if_free
from photosvc.models.replica import Replica, Report, Standing
from photosvc.models.statements import insert_into
from photosvc.pictures.cache import PictureCache, cache_use
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
#: Seconds between two heartbeats of a process, and the age of a row from which on a process writes it.
BEAT: Final = 30.0
_DUE: Final = timedelta(seconds=25)
#: Seconds before the first heartbeat: commands that end sooner write none.
_FIRST: Final = 1.0
#: Times that a process tries to record its end, and the seconds between them.
_FAREWELLS: Final = 5
_FAREWELL_PAUSE: Final = 0.1
#: The age of the last heartbeat from which on a machine is silent: longer than two beats and a busy moment.
SILENCE: Final = timedelta(seconds=90)
#: The time for which a machine that ended without notice is remembered.
_KEPT: Final = timedelta(days=1)
#: Rows of machines that there may be; of more machines, the new ones are not seen until others are forgotten.
MOST_NODES: Final = 1000
#: Milliseconds of difference from which on a clock is wrong.
CLOCK_TOLERANCE: Final = 5000
#: Seconds between two measurements of the cache.
_MEASURED: Final = 300.0


class Role(StrEnum):
    """The work of processes of a machine."""

    WEB = "web"
    """They answer requests."""
    WATCH = "watch"
    """`svc watch`, which indexes changes and does jobs."""
    INDEX = "index"
    """An index run, or an indexer for requests; it ends when it is done."""


@dataclass(slots=True)
class Heartbeat:
    """The heartbeat of one process: a thread that keeps the row of its machine and role up to date.

    It never waits for long: a row that cannot be written at once, because the database is locked, silent or read-only,
    is left out until the next beat.
    """

    engine: Engine
    settings: Settings
    clock: Clock
    role: Role
    cache: PictureCache
    _ended: threading.Event = field(default_factory=threading.Event, init=False)
    _has_written: bool = field(default=False, init=False)
    _cache_bytes: int = field(default=0, init=False)
    _measure_at: float = field(default=0.0, init=False)

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="photosvc-heartbeat", daemon=True).start()

    def end(self) -> None:
        """Stop the thread, and record that this process has ended properly."""
        self._ended.set()
        for _ in range(_FAREWELLS if self._has_written else 0):
            if self.beat(ended=True):
                return
            time.sleep(_FAREWELL_PAUSE)

    def beat(self, *, ended: bool = False) -> bool:
        """Write the row if it is due, and return whether it is up to date."""
        machine = machine_of(self.settings.cache)
        try:
            if not ended and self._is_fresh(machine):
                return True
            return write_if_free(self.engine, lambda session: self._write(session, machine, ended), lasting=False)
        except (SQLAlchemyError, OSError) as error:
            _LOG.info("left out a heartbeat: %s", str(getattr(error, "orig", None) or error).strip())
            return False

    def _run(self) -> None:
        pause = _FIRST
        while not self._ended.wait(pause):
            pause = BEAT
            self.beat()

    def _is_fresh(self, machine: str) -> bool:
        """Return whether another process of the machine has just written the row, or this one."""
        with UnitOfWork(self.engine) as session:
            limit_lock_waits(session)
            now, _ = _times(session, self.clock)
            fresh = and_(Node.seen_at > now - _DUE, Node.ended.is_(False))
            own = select(Node.machine).where(Node.machine == machine, Node.role == self.role.value, fresh)
            return session.scalar(own) is not None

    def _write(self, session: Session, machine: str, ended: bool) -> None:
        now, offset = _times(session, self.clock)
        values = {"name": host_name(), "version": __version__, "clock_offset": offset, "ended": ended, "seen_at": now}
        values |= {"cache_bytes": self._measured(), "cache_limit": self.cache.limit}
        known = session.scalar(select(func.count()).select_from(Node)) or 0
        is_known = session.get(Node, (machine, self.role.value)) is not None
        session.execute(delete(Node).where(_is_forgotten(now)), execution_options={"synchronize_session": False})
        if is_known or known < MOST_NODES:
            row = insert_into(Node, session).values(machine=machine, role=self.role.value, **values)
            session.execute(row.on_conflict_do_update(index_elements=["machine", "role"], set_=values))
        self._has_written = True

    def _measured(self) -> int:
        now = time.monotonic()
        if now >= self._measure_at:
            self._measure_at = now + _MEASURED
            self._cache_bytes = cache_use(self.cache).size
        return self._cache_bytes


@contextmanager
def heartbeat(beats: Heartbeat) -> Iterator[None]:
    """Keep the heart beating inside the block."""
    beats.start()
    try:
        yield
    finally:
        beats.end()


def _times(session: Session, clock: Clock) -> tuple[datetime, int]:
    """Return the time of the database, and the milliseconds by which this machine's clock is ahead of it.

    SQLite has no clock of its own: its databases are used by one machine.
    """
    before = clock()
    if session.get_bind().dialect.name != "postgresql":
        return before, 0
    now: datetime = session.execute(text("SELECT clock_timestamp()")).scalar_one()
    own = before + (clock() - before) / 2
    return now, round((own - now).total_seconds() * 1000)


def _is_forgotten(now: datetime) -> ColumnElement[bool]:
    silent = and_(Node.seen_at < now - SILENCE, or_(Node.ended, Node.role == Role.INDEX.value))
    return or_(Node.seen_at < now - _KEPT, silent)


class RunningJob(NamedTuple):
    """A job that a machine is doing."""

    id: int
    kind: str


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A machine in one role, as its last heartbeat shows it."""

    row: Node
    is_silent: bool
    jobs: Sequence[RunningJob]
    faults: Sequence[Fault]

    @property
    def title(self) -> str:
        """Return the role and name: `web on host7`."""
        return f"{self.row.role} on {self.row.name}"


class Cluster(NamedTuple):
    """The machines, the state of the database's replica, and what is wrong with them."""

    nodes: Sequence[NodeReport]
    """By name and role; machines that ended properly are left out."""
    replica: Report | None
    """None if no replica is read from."""
    findings: Sequence[Finding]


def look_at_cluster(session: Session, clock: Clock, replica: Replica | None) -> Cluster:
    """Return the present state of the cluster."""
    found = _nodes(session, clock)
    report = None if replica is None else replica.report(session.connection())
    wrong = [Finding(fault, node.title) for node in found for fault in node.faults]
    if report is not None and report.standing is Standing.AWAY:
        wrong.append(Finding(Fault.REPLICA_AWAY, "replica"))
    return Cluster(found, report, wrong)


def _nodes(session: Session, clock: Clock) -> list[NodeReport]:
    now, _ = _times(session, clock)
    jobs: dict[str, list[RunningJob]] = {}
    for row in session.execute(select(Job.machine, Job.id, Job.kind).where(runs()).order_by(Job.id)):
        jobs.setdefault(row.machine, []).append(RunningJob(row.id, row.kind))
    present = select(Node).where(~_is_forgotten(now), Node.ended.is_(False))
    found = []
    for node in session.scalars(present.order_by(Node.name, Node.role, Node.machine).limit(MOST_NODES)):
        is_silent = node.seen_at < now - SILENCE
        own = [] if node.role == Role.WEB.value else jobs.get(node.machine, [])
        found.append(NodeReport(node, is_silent, own, _faults(node, is_silent=is_silent)))
    return found


def _faults(node: Node, *, is_silent: bool) -> list[Fault]:
    found = {
        Fault.SILENT: is_silent,
        Fault.OTHER_VERSION: node.version != __version__ and not is_silent,
        Fault.CLOCK: abs(node.clock_offset) >= CLOCK_TOLERANCE and not is_silent,
    }
    return [fault for fault, is_found in found.items() if is_found]


def count_jobs(session: Session) -> dict[State, int]:
    """Return the number of jobs that wait and that run."""
    counts = select(Job.state, func.count()).where(IS_OPEN)
    found = {State(state): number for state, number in session.execute(counts.group_by(Job.state))}
    return {state: found.get(state, 0) for state in (State.WAITING, State.RUNNING)}


class Database(NamedTuple):
    """The database that a service writes to."""

    backend: str
    version: str
    role: str
    """`embedded`, `primary`, or `standby`, which refuses changes."""


def database_of(session: Session) -> Database:
    """Return the kind, version and role of the database."""
    bind = session.get_bind().dialect
    version = ".".join(map(str, getattr(bind, "server_version_info", None) or ()))
    if bind.name != "postgresql":
        return Database(bind.name, version, "embedded")
    standby = session.execute(select(func.pg_is_in_recovery())).scalar_one()
    return Database(bind.name, version, "standby" if standby else "primary")
