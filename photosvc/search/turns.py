"""Turns of costly searches, of which only some run at the same time, so that everything else is still answered soon.

Two things are short. *Places*: a costly search occupies a thread of its web worker, whether it runs or waits, so that a
worker has places for a few, and one owner never gets all of them. *Cores*: SQLite works in the thread of the request.
Costly searches of all workers of a machine together use all cores but one; they take turns on these, a tenth of a
second each, and wait without using any.

The next turn goes to the owner whose present searches have had the least time; among those of one owner first to the
short ones, then to the one that came first, so that some end while others wait.

On PostgreSQL, `Watch` ends statements whose client is gone, or that are costly and have no place.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final, Protocol

from photosvc.core.machine import ByteLocks, usable_cores

_LOG = logging.getLogger("photosvc")
#: Seconds between two checks.
_PAUSE: Final = 0.025
#: Seconds without a search after which the thread stops checking and waits for the next one.
_IDLE: Final = 1.0
#: Seconds of work after which a search is costly, and seconds between two checks for its client.
_COSTLY: Final = 0.05
_STRETCH: Final = 0.1
#: Seconds after which a search without a place ends. By the clock, a plain page may take more than 50 ms as well.
_PATIENCE: Final = 0.5
#: Seconds of work up to which a search goes before the longer ones of the same owner.
_SHORT: Final = 0.5


class Watched(Protocol):
    """A search under way, as the watch needs it."""

    began: float

    @property
    def has_ended(self) -> bool:
        """Return whether the search was ended."""

    def must_end(self, now: float) -> bool:
        """Return whether the search must end now."""

    def join(self, *, required: bool) -> bool:
        """Take a place among the costly searches."""


class Watch:
    """A thread that checks the searches of this process; it starts with the first one."""

    def __init__(self) -> None:
        self._reads: dict[Watched, Callable[[], object]] = {}
        self._mutex = Lock()
        self._wanted = Event()
        self._thread: Thread | None = None

    def add(self, read: Watched, cancel: Callable[[], object]) -> None:
        """Watch this search; `cancel` ends the statement that its connection runs."""
        self._reads[read] = cancel
        self._wanted.set()
        if self._thread is None or not self._thread.is_alive():  # a fork has no threads
            with self._mutex:
                if self._thread is None or not self._thread.is_alive():
                    self._thread = Thread(target=self._run, name="photosvc-watch", daemon=True)
                    self._thread.start()

    def remove(self, read: Watched) -> None:
        """Stop watching this search, whose connection may run other statements now."""
        self._reads.pop(read, None)
        with self._mutex:  # waits until a cancel that has begun has arrived
            pass

    def _run(self) -> None:
        looked_at: dict[Watched, float] = {}
        idle_since = time.monotonic()
        while True:
            time.sleep(_PAUSE)
            now = time.monotonic()
            if self._reads:
                idle_since = now
            elif now - idle_since > _IDLE:
                self._wanted.clear()
                if not self._reads:
                    self._wanted.wait()
                idle_since = time.monotonic()
            looked_at = {read: looked_at.get(read, read.began) for read in list(self._reads)}
            for read, last in looked_at.items():
                if now - last >= (_COSTLY if last == read.began else _STRETCH):
                    looked_at[read] = now
                    self._look(read, now)

    def _look(self, read: Watched, now: float) -> None:
        with self._mutex:
            cancel = self._reads.get(read)
            # One that was ended already is ended again: its connection may run the next statement.
            if cancel is None:
                return
            required = now - read.began >= _PATIENCE
            if not read.has_ended and not read.must_end(now) and read.join(required=required):
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
                        turn.core, turn.waits, turn.began = core, False, time.monotonic()
                        return True
        return False

    def leave_core(self, turn: Turn) -> None:
        """Give up the core, so that other searches run."""
        with self._mutex:
            turn.waits = False
            if turn.core is not None:
                turn.worked += time.monotonic() - turn.began
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
