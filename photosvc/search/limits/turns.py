"""Turns: how many costly searches run at the same time, so that everything else is still answered soon.

Two things are short. *Places*: a costly search occupies a thread of its web worker, whether it runs or waits, so that a
worker has places for a few, and one owner never gets all of them. *Cores*: SQLite works in the thread of the request.
Costly searches of all workers of a machine together use all cores but one; they take turns on these, a tenth of a
second each, and wait without using any.

The next turn goes to the owner whose present searches have had the least time; among those of one owner first to the
short ones, then to the one that came first, so that some end while others wait.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from photosvc.core.locks.byte_locks import ByteLocks
from photosvc.core.processors import usable_cores

#: Seconds of work up to which a search goes before the longer ones of the same owner.
_SHORT: Final = 0.5


@dataclass(slots=True, eq=False)
class Turn:
    """The place of one costly search."""

    owner: str
    worked: float = 0.0
    """Seconds for which it had a core."""
    core: int | None = None
    waits: bool = False
    """Whether it wants a core."""
    lost: bool = False
    """Whether its place was given to a search of an owner with fewer places."""
    began: float = field(default=0.0)
    """When it got its core, by the monotonic clock."""


class Turns:
    """The places of a process, and the cores of the machine.

    Args:
        path: of a file that is the same for all processes of the service; made on first use.
        places: costly searches of this process at the same time.
        cores: that costly searches of all processes use together; by default all of this machine but one.

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
        """A place for a search of this owner; None when there is none.

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
        """Let the search run if it is next and a core is free; otherwise it is to ask again soon."""
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
        """Let others run."""
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
        """Of the searches that wait for a core the one that gets the next; the list is in the order of their coming."""
        worked: dict[str, float] = {}
        for turn in self._turns:
            worked[turn.owner] = worked.get(turn.owner, 0.0) + turn.worked
        waiting = [turn for turn in self._turns if turn.waits]
        return min(waiting, key=lambda turn: (worked[turn.owner], turn.worked > _SHORT), default=None)


def _key(core: int) -> str:
    return f"{core:012x}"
