"""The limits of a search: its deadline, its client and its turn, the reasons for ending it, and its costly parts.

Only some costly searches run at the same time, so that everything else is still answered soon. Two things are short.
*Places*: a costly search occupies a thread of its web worker, whether it runs or waits, so that a worker has places for
a few, and one owner never gets all of them. *Cores*: SQLite works in the thread of the request. Costly searches of all
workers of a machine together use all cores but one; they take turns on these, a tenth of a second each, and wait
without using any. The next turn goes to the owner whose present searches have had the least time; among those of one
owner first to the short ones, then to the one that came first, so that some end while others wait.

On SQLite the statements run in the thread of the request: SQLite calls `_Step` while it works, which ends the statement
or lets others go first. On PostgreSQL they run in the server: `statement_timeout` is the deadline, and `Watch` ends
statements for the other reasons. Between the statements, `each_of` checks long comparisons of names in Python.

Limits hold from `begin_read` to `end_read`. The later pieces of a streamed answer have none.
"""

import logging
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Connection, Select, StaticPool
from sqlalchemy.exc import DBAPIError

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import Detail, PhotosvcError
from photosvc.core.machine import ByteLocks, usable_cores
from photosvc.models.statements import run_text

if TYPE_CHECKING:
    from photosvc.query.nodes import Node

#: Seconds of work after which a search is costly, and seconds between two checks for its client.
COSTLY: Final = 0.05
#: Instructions of SQLite between two calls: about half a millisecond of work.
_INSTRUCTIONS: Final = 10_000
#: The cost in the units of the planner of PostgreSQL that about half a millisecond of work has.
_COST_OF_STEP: Final = 200
#: Seconds for which a costly search runs at a stretch, and for which it then leaves the core to others.
_STRETCH: Final = 0.1
_REST: Final = 0.005
#: Seconds between two tries to get a core.
_POLL: Final = 0.004
#: Seconds in which PostgreSQL must take the order to end a statement.
_CANCEL: Final = 1.0
#: The SQLSTATE of a statement that was cancelled, by its timeout too (query_canceled).
_CANCELLED: Final = "57014"
#: Key of the search under way in the connection's data.
_READ: Final = "photosvc_read"
_LOG = logging.getLogger("photosvc")
_Name = TypeVar("_Name")
#: Names that are compared between two checks of `each_of`, some milliseconds of work for each hundred patterns.
_NAMES: Final = 100
#: Seconds between two checks.
_PAUSE: Final = 0.025
#: Seconds without a search after which the thread stops checking and waits for the next one.
_IDLE: Final = 1.0
#: Seconds after which a search without a place ends. By the clock, a plain page may take more than 50 ms as well.
_PATIENCE: Final = 0.5
#: Seconds of work up to which a search goes before the longer ones of the same owner.
_SHORT: Final = 0.5


class Watch:
    """A thread that checks the searches of this process; it starts with the first one."""

    def __init__(self) -> None:
        self._reads: dict[Read, Callable[[], object]] = {}
        self._mutex = Lock()
        self._wanted = Event()
        self._thread: Thread | None = None

    def add(self, read: "Read", cancel: Callable[[], object]) -> None:
        """Watch this search; `cancel` ends the statement that its connection runs."""
        self._reads[read] = cancel
        self._wanted.set()
        if self._thread is None or not self._thread.is_alive():  # a fork has no threads
            with self._mutex:
                if self._thread is None or not self._thread.is_alive():
                    self._thread = Thread(target=self._run, name="photosvc-watch", daemon=True)
                    self._thread.start()

    def remove(self, read: "Read") -> None:
        """Stop watching this search, whose connection may run other statements now."""
        self._reads.pop(read, None)
        with self._mutex:  # waits until a cancel that has begun has arrived
            pass

    def _run(self) -> None:
        looked_at: dict[Read, float] = {}
        idle_since = SYSTEM_CLOCK.monotonic()
        while True:
            SYSTEM_CLOCK.sleep(_PAUSE)
            now = SYSTEM_CLOCK.monotonic()
            if self._reads:
                idle_since = now
            elif now - idle_since > _IDLE:
                self._wanted.clear()
                if not self._reads:
                    self._wanted.wait()
                idle_since = SYSTEM_CLOCK.monotonic()
            looked_at = {read: looked_at.get(read, read.began) for read in list(self._reads)}
            for read, last in looked_at.items():
                now = read.limits.clock.monotonic()
                if now - last >= (COSTLY if last == read.began else _STRETCH):
                    looked_at[read] = now
                    self._look(read, now)

    def _look(self, read: "Read", now: float) -> None:
        with self._mutex:
            cancel = self._reads.get(read)
            # One that was ended already is ended again: its connection may run the next statement.
            if cancel is None:
                return
            required = now - read.began >= _PATIENCE
            if read.ended is None and not read.must_end() and read.join(required=required):
                return
            try:
                cancel()
            except Exception as error:  # noqa: BLE001 - if the driver fails, the timeout ends the statement
                _LOG.warning("a search could not be ended: %s", type(error).__name__)


@dataclass(slots=True, eq=False)
class Turn:
    """The place of one costly search."""

    owner: str
    worked: float = 0.0
    """Seconds for which it had a core."""
    core: int | None = None
    waits: bool = False
    """True while it wants a core."""
    lost: bool = False
    """True if its place was given to a search of an owner with fewer places."""
    began: float = field(default=0.0)
    """Time at which it got its core, by the monotonic clock."""


class Turns:
    """The places of a process, and the cores of the machine.

    Args:
        path: the file that all processes of the service share; made on first use.
        places: the most costly searches of this process at the same time.
        cores: the cores that costly searches of all processes share; by default all of this machine but one.
    """

    def __init__(self, path: Path, *, places: int, cores: int | None = None) -> None:
        self._places = places
        self._each = max(1, places * 2 // 3)
        self._cores = cores or max(1, usable_cores() - 1)
        self._locks = ByteLocks(path)
        self._mutex = Lock()
        self._turns: list[Turn] = []
        self._used: set[int] = set()

    def join(self, owner: str) -> Turn | None:
        """Return a place for a search of this owner; None when there is none.

        When all places are taken, an owner who has two more of them than this one loses the latest.
        """
        with self._mutex:
            own = self._held_by(owner)
            if own >= self._each:
                return None
            if len(self._turns) >= self._places:
                last = max(reversed(self._turns), key=lambda turn: self._held_by(turn.owner))
                if self._held_by(last.owner) < own + 2:
                    return None
                last.lost = True
                self._turns.remove(last)
            turn = Turn(owner)
            self._turns.append(turn)
            return turn

    def take_core(self, turn: Turn) -> bool:
        """Take a core if the search is next and one is free; otherwise return False: ask again soon."""
        with self._mutex:
            turn.waits = True
            if not turn.lost and turn is self._next():
                for core in range(self._cores):
                    # A lock excludes other processes, the set excludes other threads of this one.
                    if core not in self._used and self._locks.take(_key(core)):
                        self._used.add(core)
                        turn.core, turn.waits, turn.began = core, False, SYSTEM_CLOCK.monotonic()
                        return True
        return False

    def leave_core(self, turn: Turn) -> None:
        """Give up the core, so that other searches run."""
        with self._mutex:
            turn.waits = False
            if turn.core is not None:
                turn.worked += SYSTEM_CLOCK.monotonic() - turn.began
                self._locks.release(_key(turn.core))
                self._used.remove(turn.core)
                turn.core = None

    def leave(self, turn: Turn) -> None:
        """Free the place and the core; the search has ended."""
        self.leave_core(turn)
        with self._mutex:
            if turn in self._turns:
                self._turns.remove(turn)

    def _held_by(self, owner: str) -> int:
        return sum(turn.owner == owner for turn in self._turns)

    def _next(self) -> Turn | None:
        """Return the waiting search that gets the next core; the list is in the order of arrival."""
        worked: dict[str, float] = {}
        for turn in self._turns:
            worked[turn.owner] = worked.get(turn.owner, 0.0) + turn.worked
        waiting = [turn for turn in self._turns if turn.waits]
        return min(waiting, key=lambda turn: (worked[turn.owner], turn.worked > _SHORT), default=None)


def _key(core: int) -> str:
    return f"{core:012x}"


class SearchEndedError(PhotosvcError):
    """The search was ended."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    reason = ""
    """Name of the reason in the metrics."""


class SearchTooLongError(SearchEndedError):
    """The search took longer than it may."""

    reason = "too_long"

    def __init__(self, details: Sequence[Detail]) -> None:
        super().__init__("the search took too long")
        self.details = details


class SearchesBusyError(SearchEndedError):
    """Too many costly searches are running: try again in a moment, or make this one narrower."""

    reason = "busy"
    retry_after = 2


class ClientGoneError(SearchEndedError):
    """The client closed the connection."""

    reason = "client_gone"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the searches of a process."""

    seconds: float
    """The most that one search may take."""
    turns: Turns
    watch: Watch
    clock: Clock = SYSTEM_CLOCK


@dataclass(slots=True, eq=False)
class Read:
    """A search under way."""

    limits: Limits
    owner: str
    """The owner whose places a costly search takes."""
    is_client_gone: Callable[[], bool]
    part: str
    """The parameter that errors call costly if there is no query."""
    began: float = field(init=False)
    connection: tuple[dict[Any, Any], Any] = ({}, None)
    """The data that the pool keeps with the connection, and the driver's connection."""
    turn: Turn | None = None
    node: "Node | None" = None
    """The query of the search."""
    ended: type[SearchEndedError] | None = None
    """The reason why it was ended."""
    waited: float = 0.0
    """Seconds for which others went first."""

    def __post_init__(self) -> None:
        self.began = self.limits.clock.monotonic()

    @property
    def deadline(self) -> float:
        """Return the time at which the search must end, by the monotonic clock."""
        return self.began + self.limits.seconds

    def must_end(self) -> bool:
        """Return whether the search must end, and record why: out of time, client gone, or place lost.

        Only a costly search ends because its client is gone: one that has closed only its own side of the connection
        still gets the answer of a cheap search.
        """
        if self.limits.clock.monotonic() >= self.deadline:
            self.ended = SearchesBusyError if self.waited > self.limits.seconds / 2 else SearchTooLongError
        elif self.turn is not None and self.turn.lost:
            self.ended = SearchesBusyError
        elif self.turn is not None and self.is_client_gone():
            self.ended = ClientGoneError
        return self.ended is not None

    def join(self, *, required: bool = True) -> bool:
        """Take a place among the costly searches; if none is free but one is required, record it and return False."""
        if self.turn is None:
            self.turn = self.limits.turns.join(self.owner)
            if self.turn is None and required:
                self.ended = SearchesBusyError
        return self.turn is not None or not required

    def error(self) -> SearchEndedError | None:
        """Return the error to answer if a statement was ended."""
        if self.ended is SearchTooLongError:
            from photosvc.search.costly_parts import costly_parts  # few processes answer searches

            return SearchTooLongError(costly_parts(self.node, self.part))
        return self.ended() if self.ended else None


class _Step:
    """The function that SQLite calls while it works; True ends the statement."""

    __slots__ = ("_clock", "_look_at", "_read", "_worked_before")

    def __init__(self, read: Read) -> None:
        self._read = read
        self._clock = read.limits.clock
        self._look_at = 0.0
        self._worked_before = -1.0

    def __call__(self) -> bool:
        return self._clock.monotonic() >= self._look_at and self._look()

    def _look(self) -> bool:
        read, now = self._read, self._clock.monotonic()
        if read.ended is not None or read.must_end():
            return True
        if read.turn is None:
            # Seconds of the processor: on a busy machine, a cheap search may take long as well.
            worked = self._clock.processor()
            if self._worked_before < 0:
                self._worked_before = worked
            left = COSTLY - (worked - self._worked_before)
            if left > 0:
                self._look_at = min(now + left, read.deadline)
                return False
            return not read.join() or self._wait()
        read.limits.turns.leave_core(read.turn)
        self._clock.sleep(_REST)
        return self._wait()

    def _wait(self) -> bool:
        """Wait for a core; return True if the search must end."""
        read, turns, turn = self._read, self._read.limits.turns, self._read.turn
        now = self._clock.monotonic()
        look_at = now + _STRETCH
        while turn is not None and not turns.take_core(turn):
            self._clock.sleep(_POLL)
            before, now = now, self._clock.monotonic()
            read.waited += now - before
            if now >= look_at or turn.lost or now >= read.deadline:
                look_at = now + _STRETCH
                if read.must_end():
                    return True
        self._look_at = min(now + _STRETCH, read.deadline)
        return False


def begin_read(connection: Connection, read: Read) -> bool:
    """Limit the statements of this connection; return False if they are limited already."""
    pooled = connection.connection
    data = pooled.info
    driver: Any = pooled.driver_connection
    if _READ in data:
        return False
    read.connection = data, driver
    if isinstance(driver, sqlite3.Connection):
        # Threads share the only connection of a database in memory. One of them may wait for its mutex with Python's
        # lock held, which the handler of another one needs: the process would stop for good.
        if not isinstance(connection.engine.pool, StaticPool):
            driver.set_progress_handler(_Step(read), _INSTRUCTIONS)
    elif connection.dialect.name == "postgresql":
        milliseconds = math.ceil(read.limits.seconds * 1000)
        run_text(connection, f"SELECT set_config('statement_timeout', '{milliseconds}', true)", ())
        is_psycopg = hasattr(driver, "cancel_safe")
        read.limits.watch.add(read, partial(driver.cancel_safe, timeout=_CANCEL) if is_psycopg else driver.cancel)
    data[_READ] = read
    return True


def end_read(read: Read) -> None:
    """Remove the limits that `begin_read` set on the connection."""
    data, driver = read.connection
    data.pop(_READ, None)
    if isinstance(driver, sqlite3.Connection):
        with suppress(sqlite3.ProgrammingError):  # it was closed
            driver.set_progress_handler(None, 0)
    else:
        read.limits.watch.remove(read)  # it could take a turn for the search until then
    if read.turn is not None:
        read.limits.turns.leave(read.turn)


@dataclass(slots=True)
class Steps:
    """Steps of work that a database may still do, each about half a millisecond; load does not change their number."""

    left: float

    def take(self, steps: float = 1) -> bool:
        """Take some steps; return False if fewer are left."""
        self.left -= steps
        return self.left >= 0


@contextmanager
def within_steps(connection: Connection, steps: Steps) -> Iterator[None]:
    """End the block, without an error, when its statements need more steps, or at a limit of the search.

    SQLite counts steps while it works. For PostgreSQL, the block takes those of `expected_steps` before a statement.
    """
    driver: Any = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        savepoint = connection.begin_nested()
        try:
            with _ending():
                yield
        finally:
            savepoint.rollback()
        return
    if isinstance(connection.engine.pool, StaticPool):  # see `begin_read`
        yield
        return
    read: Read | None = connection.info.get(_READ)
    limit = None if read is None else _Step(read)
    driver.set_progress_handler(lambda: not steps.take() or (limit is not None and limit()), _INSTRUCTIONS)
    try:
        with _ending():
            yield
    finally:
        driver.set_progress_handler(limit, _INSTRUCTIONS)


@contextmanager
def _ending() -> Iterator[None]:
    """Suppress the error of a statement that was ended from outside."""
    try:
        yield
    except DBAPIError as error:
        if not ended_by_limit(error):
            raise


def expected_steps(connection: Connection, query: "Select[Any]") -> float:
    """Return the steps that PostgreSQL expects of a query, by the cost of its plan."""
    compiled = query.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
    sql = "EXPLAIN (FORMAT JSON) " + str(compiled).replace("%%", "%")  # without parameters, the driver reads no escapes
    explained = connection.exec_driver_sql(sql, execution_options={"no_parameters": True})
    return float(explained.scalar_one()[0]["Plan"]["Total Cost"]) / _COST_OF_STEP


def each_of(connection: Connection, names: Iterable[_Name]) -> Iterator[_Name]:
    """Yield names that are compared in Python, where no statement ends the search at its deadline.

    Raises:
        SearchEndedError: the search must end.
    """
    read: Read | None = connection.info.get(_READ)
    for number, name in enumerate(names):
        if number % _NAMES == 0 and read is not None and read.must_end() and (error := read.error()):
            raise error
        yield name


def note_query(connection: Connection, node: "Node", *, in_album: bool) -> None:
    """Record the query of the search, so that an error can name its costly part."""
    read: Read | None = connection.info.get(_READ)
    if read is not None:
        read.node, read.part = node, "s" if in_album else read.part


def ended_by_limit(error: BaseException) -> bool:
    """Return whether an error of the database says that the statement was ended from outside."""
    cause: Any = getattr(error, "orig", error)
    if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return True
    return _CANCELLED in (getattr(cause, "sqlstate", None), getattr(cause, "pgcode", None))
