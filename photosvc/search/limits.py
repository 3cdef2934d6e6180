"""The limits of a search: its deadline, its client and its turn, the reasons for ending it, and its costly parts.

On SQLite the statements run in the thread of the request: SQLite calls `_Step` while it works, which ends the statement
or lets others go first. On PostgreSQL they run in the server: `statement_timeout` is the deadline, and `Watch` ends
statements for the other reasons. Nothing is checked between the statements, because only statements take long.

Limits hold for a block of code, `begin_read` to `end_read`. The later pieces of a streamed answer, each read by the ids
of its files, have none.
"""

import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import Connection, StaticPool

from photosvc.core.errors import Detail, PhotosvcError
from photosvc.models import FILTER_COLUMNS, LOOKUP_COLUMNS, PATTERN_COLUMNS, VALUE_COLUMNS
from photosvc.models.statements import run_text
from photosvc.query.filter_spec import Kind
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import Everything, Filter, Node, Nothing, leaves
from photosvc.search.turns import Turn, Turns, Watch

#: Columns that have an index.
_INDEXED: Final = frozenset({*VALUE_COLUMNS, *LOOKUP_COLUMNS, *PATTERN_COLUMNS, "taken_day"})
#: Kinds of values that are found by words, UIDs or hashes, for which there are indexes.
_LOOKED_UP: Final = frozenset({Kind.WORDS, Kind.WHOLE_WORDS, Kind.ABSENT, Kind.NAME, Kind.UID, Kind.PHOTO})
#: Parts that an error names.
_MOST: Final = 10
#: Seconds of work after which a search is costly.
COSTLY: Final = 0.05
#: Instructions of SQLite between two calls: about half a millisecond of work.
_INSTRUCTIONS: Final = 10_000
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


def costly_parts(node: Node | None, part: str) -> Sequence[Detail]:
    """Return the parts of a query by which no index finds photos; all of its parts if each has an index.

    Args:
        part: the parameter that is costly if there is no query.
    """
    names = list(dict.fromkeys(_names(node))) if node is not None else []
    unindexed = [name for name in names if name in FILTERS and not _is_indexed(name)]
    if unindexed:
        return _details(unindexed, "no index finds photos by this: it is compared with every one")
    return _details(names or [part], "this part of the search reads very many photos")


def _details(names: Sequence[str], message: str) -> Sequence[Detail]:
    return [Detail(field=name, message=message) for name in names[:_MOST]]


def _is_indexed(name: str) -> bool:
    spec = FILTERS[name]
    return spec.kind in _LOOKED_UP or any(FILTER_COLUMNS.get(column, column) in _INDEXED for column in spec.columns)


def _names(node: Node) -> Iterator[str]:
    """Yield the names of the filters in a query; `q` for words."""
    for part in leaves(node):
        if not isinstance(part, Everything | Nothing):
            yield part.name if isinstance(part, Filter) else "q"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the searches of a process."""

    seconds: float
    """The most that one search may take."""
    turns: Turns
    watch: Watch


@dataclass(slots=True, eq=False)
class Read:
    """A search under way."""

    limits: Limits
    owner: str
    """The owner whose places a costly search takes."""
    is_client_gone: Callable[[], bool]
    part: str
    """The parameter that errors call costly if there is no query."""
    began: float = field(default_factory=time.monotonic)
    connection: tuple[dict[Any, Any], Any] = ({}, None)
    """The data that the pool keeps with the connection, and the driver's connection."""
    turn: Turn | None = None
    node: Node | None = None
    """The query of the search."""
    ended: type[SearchEndedError] | None = None
    """The reason why it was ended."""
    waited: float = 0.0
    """Seconds for which others went first."""

    @property
    def deadline(self) -> float:
        """Return the time at which the search must end, by the monotonic clock."""
        return self.began + self.limits.seconds

    @property
    def has_ended(self) -> bool:
        """Return whether the search was ended."""
        return self.ended is not None

    def must_end(self, now: float) -> bool:
        """Return whether the search must end, and record why: out of time, client gone, or place lost.

        Only a costly search ends because its client is gone: one that has closed only its own side of the connection
        still gets the answer of a cheap search.
        """
        if now >= self.deadline:
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
            return SearchTooLongError(costly_parts(self.node, self.part))
        return self.ended() if self.ended else None


class _Step:
    """The function that SQLite calls while it works; True ends the statement."""

    __slots__ = ("_look_at", "_read", "_worked_before")

    def __init__(self, read: Read) -> None:
        self._read = read
        self._look_at = 0.0
        self._worked_before = -1.0

    def __call__(self) -> bool:
        return time.monotonic() >= self._look_at and self._look()

    def _look(self) -> bool:
        read, now = self._read, time.monotonic()
        if read.ended is not None or read.must_end(now):
            return True
        if read.turn is None:
            # Seconds of the processor: on a busy machine, a cheap search may take long as well.
            worked = time.thread_time()
            if self._worked_before < 0:
                self._worked_before = worked
            left = COSTLY - (worked - self._worked_before)
            if left > 0:
                self._look_at = min(now + left, read.deadline)
                return False
            return not read.join() or self._wait()
        read.limits.turns.leave_core(read.turn)
        time.sleep(_REST)
        return self._wait()

    def _wait(self) -> bool:
        """Wait for a core; return True if the search must end."""
        read, turns, turn = self._read, self._read.limits.turns, self._read.turn
        now = time.monotonic()
        look_at = now + _STRETCH
        while turn is not None and not turns.take_core(turn):
            time.sleep(_POLL)
            before, now = now, time.monotonic()
            read.waited += now - before
            if now >= look_at or turn.lost or now >= read.deadline:
                look_at = now + _STRETCH
                if read.must_end(now):
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
    if read.turn is not None:
        read.limits.turns.leave(read.turn)
    data, driver = read.connection
    data.pop(_READ, None)
    if isinstance(driver, sqlite3.Connection):
        with suppress(sqlite3.ProgrammingError):  # it was closed
            driver.set_progress_handler(None, 0)
        return
    read.limits.watch.remove(read)


def note_query(connection: Connection, node: Node, *, in_album: bool) -> None:
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
