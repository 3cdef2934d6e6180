"""A search under way: its deadline, whether its client still waits, its turn, and what ended it.

On SQLite the statements run in the thread of the request: SQLite calls `_Step` while it works, which ends the statement
or lets others go first. On PostgreSQL they run in the server: `statement_timeout` is the deadline, and `Watch` ends
statements for the other reasons. Between the statements nothing is looked at: they are what takes long.

Limits hold for a block of code, `begin_read` to `end_read`. What a streamed answer reads behind it, each piece by the
ids of its files, has none.
"""

import math
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection

from photosvc.models.database.prepared import run_text
from photosvc.query.nodes import Node
from photosvc.search.limits.costly import costly_parts
from photosvc.search.limits.errors import ClientGoneError, SearchEndedError, SearchesBusyError, SearchTooLongError
from photosvc.search.limits.turns import Turn, Turns
from photosvc.search.limits.watch import Watch

#: Seconds of work after which a search is costly.
COSTLY: Final = 0.05
#: Instructions of SQLite between two calls: about half a millisecond of work.
_INSTRUCTIONS: Final = 10_000
#: Seconds for which a costly search runs at a stretch, and for which it then leaves the core to others.
_STRETCH: Final = 0.1
_REST: Final = 0.005
#: Seconds between two tries to get a core.
_POLL: Final = 0.004
#: The SQLSTATE of a statement that was cancelled, by its timeout too (query_canceled).
_CANCELLED: Final = "57014"
#: Where the search under way is noted among the connection's data.
_READ: Final = "photosvc_read"


@dataclass(frozen=True, slots=True)
class Limits:
    """What limits the searches of a process."""

    seconds: float
    """That one search may take."""
    turns: Turns
    watch: Watch


@dataclass(slots=True, eq=False)
class Read:
    """A search under way."""

    limits: Limits
    owner: str
    """Whose places a costly search takes."""
    is_client_gone: Callable[[], bool]
    part: str
    """The parameter that is said to be costly when there is no query."""
    waits: bool
    """Whether it may wait for its turn: not while it holds the write lock."""
    began: float = field(default_factory=time.monotonic)
    connection: tuple[dict[Any, Any], Any] = ({}, None)
    """The data that the pool keeps with the connection, and the driver's connection."""
    turn: Turn | None = None
    node: Node | None = None
    """The query that is searched for."""
    ended: type[SearchEndedError] | None = None
    """Why it was ended."""
    waited: float = 0.0
    """Seconds for which others went first."""

    @property
    def deadline(self) -> float:
        """By the monotonic clock."""
        return self.began + self.limits.seconds

    @property
    def has_ended(self) -> bool:
        """Whether it was ended."""
        return self.ended is not None

    def must_end(self, now: float) -> bool:
        """Whether the time is over, or of a costly search the client is gone or its place given away; notes which.

        A cheap one is answered to a client that has closed only its own side of the connection.
        """
        if now >= self.deadline:
            self.ended = SearchesBusyError if self.waited > self.limits.seconds / 2 else SearchTooLongError
        elif self.turn is not None and self.turn.lost:
            self.ended = SearchesBusyError
        elif self.turn is not None and self.is_client_gone():
            self.ended = ClientGoneError
        return self.ended is not None

    def join(self, *, required: bool = True) -> bool:
        """Take a place among the costly searches; False, and noted, when there is none but one is required."""
        if self.turn is None:
            self.turn = self.limits.turns.join(self.owner)
            if self.turn is None and required:
                self.ended = SearchesBusyError
        return self.turn is not None or not required

    def error(self) -> SearchEndedError | None:
        """What to answer when a statement was ended."""
        if self.ended is SearchTooLongError:
            return SearchTooLongError(costly_parts(self.node, self.part))
        return self.ended() if self.ended else None


class _Step:
    """What SQLite calls while it works; True ends the statement."""

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
        if read.waits:
            read.limits.turns.leave_core(read.turn)
            time.sleep(_REST)
        return self._wait()

    def _wait(self) -> bool:
        """Wait for a core; True when the search must end."""
        read, turns, turn = self._read, self._read.limits.turns, self._read.turn
        now = time.monotonic()
        look_at = now + _STRETCH
        while read.waits and turn is not None and not turns.take_core(turn):
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
    """Limit the statements of this connection; False when they are limited already."""
    pooled = connection.connection
    data = pooled.info
    driver: Any = pooled.driver_connection
    if _READ in data:
        return False
    read.connection = data, driver
    if isinstance(driver, sqlite3.Connection):
        driver.set_progress_handler(_Step(read), _INSTRUCTIONS)
    elif connection.dialect.name == "postgresql":
        milliseconds = math.ceil(read.limits.seconds * 1000)
        run_text(connection, f"SELECT set_config('statement_timeout', '{milliseconds}', true)", ())
        read.limits.watch.add(read, getattr(driver, "cancel_safe", driver.cancel))
    data[_READ] = read
    return True


def end_read(connection: Connection, read: Read, *, goes_on: bool = False) -> None:
    """Limit the statements of this connection no more.

    Args:
        connection: the one that `begin_read` was called with.
        read: what it was called with.
        goes_on: whether further statements in this transaction may take longer.

    """
    if read.turn is not None:
        read.limits.turns.leave(read.turn)
    data, driver = read.connection
    data.pop(_READ, None)
    if isinstance(driver, sqlite3.Connection):
        with suppress(sqlite3.ProgrammingError):  # it was closed
            driver.set_progress_handler(None, 0)
        return
    read.limits.watch.remove(read)
    if goes_on and connection.dialect.name == "postgresql":
        run_text(connection, "SET LOCAL statement_timeout TO DEFAULT", ())


def note_query(connection: Connection, node: Node, *, in_album: bool) -> None:
    """Say what is searched for, so that an error can name the costly part of it."""
    read: Read | None = connection.info.get(_READ)
    if read is not None:
        read.node, read.part = node, "s" if in_album else read.part


def ended_by_limit(error: BaseException) -> bool:
    """Whether an error of the database says that the statement was ended from outside."""
    cause: Any = getattr(error, "orig", error)
    if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return True
    return _CANCELLED in (getattr(cause, "sqlstate", None), getattr(cause, "pgcode", None))
