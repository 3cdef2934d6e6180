"""The limits of a search: its deadline, its client and its slot, the reasons for ending it, and its costly parts.

On SQLite the statements run in the thread of the request: SQLite calls `_Step` while it works, which takes one of the
few places of costly searches and ends the statement at a limit. On PostgreSQL they run in the server, and
`statement_timeout` is the deadline. Between the statements, `each_of` checks long comparisons of names in Python.

Limits hold from `begin_limits` to `end_limits`. The later pieces of a streamed answer have none.
"""

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Select, StaticPool
from sqlalchemy.exc import DBAPIError

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import Detail, PhotosvcError
from photosvc.core.slots import Slots
from photosvc.models import FILTER_COLUMNS, LOOKUP_COLUMNS, PATTERN_COLUMNS, VALUE_COLUMNS
from photosvc.models.statements import run_text
from photosvc.query.filters import FILTERS, FilterSpec, ValueKind
from photosvc.query.nodes import Everything, Filter, Node, Nothing, leaves

#: Seconds of work after which a search is costly, and seconds between two checks of a costly one.
COSTLY: Final = 0.05
_BETWEEN: Final = 0.1
#: Instructions of SQLite between two calls: about half a millisecond of work.
_INSTRUCTIONS: Final = 10_000
#: The cost in the units of the planner of PostgreSQL that about half a millisecond of work has.
_COST_OF_STEP: Final = 200
#: The SQLSTATE of a statement that was cancelled, by its timeout too (query_canceled).
_CANCELLED: Final = "57014"
#: Key of the search under way in the connection's data.
_READ: Final = "photosvc_read"
_Name = TypeVar("_Name")
#: Names that are compared between two checks of `each_of`, some milliseconds of work for each hundred patterns.
_NAMES: Final = 100


#: Columns that have an index.
_INDEXED: Final = frozenset({*VALUE_COLUMNS, *LOOKUP_COLUMNS, *PATTERN_COLUMNS, "taken_day"})
#: Kinds of values that are found by words, UIDs or hashes, for which there are indexes.
_LOOKED_UP: Final = frozenset(
    {ValueKind.WORDS, ValueKind.WHOLE_WORDS, ValueKind.ABSENT, ValueKind.NAME, ValueKind.UID, ValueKind.PHOTO}
)
#: The most costly parts that an error names.
_MOST_NAMED: Final = 10


class SearchEndedError(PhotosvcError):
    """The search was ended."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


class SearchTooLongError(SearchEndedError):
    """The search took longer than it may."""

    limit = "search_seconds"

    def __init__(self, details: Sequence[Detail]) -> None:
        super().__init__("the search took too long")
        self.details = details


class SearchesBusyError(SearchEndedError):
    """Too many costly searches are running: try again in a moment, or make this one narrower."""

    retry_after = 2
    limit = "searches"


class ClientGoneError(SearchEndedError):
    """The client closed the connection."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the searches of a process."""

    seconds: float
    """The most that one search may take."""
    costly: Slots
    """The places of costly searches."""
    clock: Clock = SYSTEM_CLOCK


@dataclass(slots=True, eq=False)
class RunningSearch:
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
    free: Callable[[], None] | None = None
    """The function that frees the place of a costly search; None while it is cheap."""
    node: Node | None = None
    """The query of the search."""
    ended: type[SearchEndedError] | None = None
    """The reason why it was ended."""

    def __post_init__(self) -> None:
        self.began = self.limits.clock.monotonic()

    @property
    def deadline(self) -> float:
        """Return the time by the monotonic clock at which the search must end."""
        return self.began + self.limits.seconds

    def must_end(self) -> bool:
        """Return whether the search must end, and record why: out of time, or client gone.

        Only a costly search ends because its client is gone. A client that has closed only its own side of the
        connection still gets the answer of a cheap search.
        """
        if self.limits.clock.monotonic() >= self.deadline:
            self.ended = SearchTooLongError
        elif self.free is not None and self.is_client_gone():
            self.ended = ClientGoneError
        return self.ended is not None

    def error(self) -> SearchEndedError | None:
        """Return the error to answer with if a statement was ended; None if it was not."""
        if self.ended is SearchTooLongError:
            return SearchTooLongError(costly_parts(self.node, self.part))
        return self.ended() if self.ended else None


class _Step:
    """The function that SQLite calls while it works; True ends the statement."""

    __slots__ = ("_clock", "_look_at", "_read", "_worked_before")

    def __init__(self, read: RunningSearch) -> None:
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
        if read.free is None:
            # Seconds of the processor: on a busy machine, a cheap search may take long too.
            worked = self._clock.processor()
            if self._worked_before < 0:
                self._worked_before = worked
            left = COSTLY - (worked - self._worked_before)
            if left > 0:
                self._look_at = min(now + left, read.deadline)
                return False
            read.free = read.limits.costly.take(read.owner)
            if read.free is None:
                read.ended = SearchesBusyError
                return True
        self._look_at = min(now + _BETWEEN, read.deadline)
        return False


def begin_limits(connection: Connection, read: RunningSearch) -> bool:
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
    data[_READ] = read
    return True


def end_limits(read: RunningSearch) -> None:
    """Remove the limits that `begin_limits` set on the connection."""
    data, driver = read.connection
    data.pop(_READ, None)
    if isinstance(driver, sqlite3.Connection):
        with suppress(sqlite3.ProgrammingError):  # it was closed
            driver.set_progress_handler(None, 0)
    if read.free is not None:
        read.free()


@dataclass(slots=True)
class Steps:
    """A number of steps of work that a database may still do, each about half a millisecond.

    Unlike seconds, steps do not depend on the load of the machine.
    """

    left: float

    def take(self, steps: float = 1) -> bool:
        """Take some steps; return False if fewer are left."""
        self.left -= steps
        return self.left >= 0


@contextmanager
def within_steps(connection: Connection, steps: Steps) -> Iterator[None]:
    """End the block without an error when its statements need more steps, or at a limit of the search.

    SQLite counts steps while it works. For PostgreSQL, the block takes the `expected_steps` of a statement before it.
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
    if isinstance(connection.engine.pool, StaticPool):  # see `begin_limits`
        yield
        return
    read: RunningSearch | None = connection.info.get(_READ)
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


def expected_steps(connection: Connection, query: Select[Any]) -> float:
    """Return the steps that PostgreSQL expects of a query, by the cost of its plan."""
    compiled = query.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
    sql = "EXPLAIN (FORMAT JSON) " + str(compiled).replace("%%", "%")  # without parameters, the driver reads no escapes
    explained = connection.exec_driver_sql(sql, execution_options={"no_parameters": True})
    return float(explained.scalar_one()[0]["Plan"]["Total Cost"]) / _COST_OF_STEP


def each_of(connection: Connection, names: Iterable[_Name]) -> Iterator[_Name]:
    """Yield names for a comparison in Python, and end the search between them at its deadline.

    Only statements end by themselves at the limits of a search.

    Raises:
        SearchEndedError: the search must end.
    """
    read: RunningSearch | None = connection.info.get(_READ)
    for number, name in enumerate(names):
        if number % _NAMES == 0 and read is not None and read.must_end() and (error := read.error()):
            raise error
        yield name


@contextmanager
def waiting_for(connection: Connection, lock: Lock) -> Iterator[None]:
    """Hold a lock in the block; the search does not wait for it longer than until its deadline.

    Raises:
        SearchEndedError: the search must end.
    """
    read: RunningSearch | None = connection.info.get(_READ)
    while not lock.acquire(timeout=_BETWEEN):
        if read is not None and read.must_end() and (error := read.error()):
            raise error
    try:
        yield
    finally:
        lock.release()


def note_query(connection: Connection, node: Node, *, in_album: bool) -> None:
    """Record the query of the search, so that an error can name its costly part."""
    read: RunningSearch | None = connection.info.get(_READ)
    if read is not None:
        read.node, read.part = node, "s" if in_album else read.part


def ended_by_limit(error: BaseException) -> bool:
    """Return whether an error of the database says that the statement was ended from outside."""
    cause: Any = getattr(error, "orig", error)
    if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return True
    return _CANCELLED in (getattr(cause, "sqlstate", None), getattr(cause, "pgcode", None))


def costly_parts(node: Node | None, part: str) -> Sequence[Detail]:
    """Return the parts of a query by which no index finds photos; all of its parts if each has an index.

    Args:
        part: the parameter that is costly if there is no query.
    """
    parts = () if node is None else (part for part in leaves(node) if not isinstance(part, Everything | Nothing))
    names = list(dict.fromkeys(part.name if isinstance(part, Filter) else "q" for part in parts))
    unindexed = [name for name in names if name in FILTERS and not _is_indexed(FILTERS[name])]
    if unindexed:
        return _details(unindexed, "no index finds photos by this: it is compared with every one")
    return _details(names or [part], "this part of the search reads very many photos")


def _details(names: Sequence[str], message: str) -> Sequence[Detail]:
    return [Detail(field=name, message=message) for name in names[:_MOST_NAMED]]


def _is_indexed(spec: FilterSpec) -> bool:
    return spec.kind in _LOOKED_UP or any(FILTER_COLUMNS.get(column, column) in _INDEXED for column in spec.columns)
