"""Turns at costly work: few run at once, few threads wait for one, and none waits for long."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Condition, local
from typing import Final

from photosvc.auth.errors import BusyError

#: The weight of the latest turn in the average.
_WEIGHT: Final = 0.2
#: Seconds assumed for a turn before one has been measured, and the most seconds that are counted for one turn.
_FIRST_GUESS: Final = 0.025
_LONGEST: Final = 0.1


class Turns:
    """A limit on the threads of this process that do, or wait for, something that takes a whole processor.

    Some threads may be favoured: a place is reserved for one of them, and they get the next turn.

    Args:
        at_once: turns at the same time.
        waiting: threads that may wait for a turn; the others of a server stay free for other requests.
        patience: longest wait in seconds.

    """

    def __init__(self, *, at_once: int, waiting: int, patience: float) -> None:
        self._at_once = at_once
        self._free = at_once
        self._changed = Condition()
        self._favoured_waiting = 0
        self._favoured_place = BoundedSemaphore(1)
        self._patience = patience
        self._usual = _FIRST_GUESS
        self._of_thread = local()
        self.let_wait(waiting)

    def let_wait(self, waiting: int) -> None:
        """Set the number of threads that may wait; call it before the first turn."""
        self._places = BoundedSemaphore(self._at_once + waiting)
        self._pauses = BoundedSemaphore(max(1, waiting))

    @contextmanager
    def place(self, *, favoured: bool = False) -> Iterator[None]:
        """Hold a place inside the block, in which this thread can prepare for its turn, take it and go on.

        Raises:
            BusyError: all places are taken.

        """
        if getattr(self._of_thread, "has_place", False):
            yield
            return
        places = self._favoured_place if favoured else self._places
        if not places.acquire(blocking=False):
            places = self._places
            if not favoured or not places.acquire(blocking=False):
                raise BusyError
        self._of_thread.has_place, self._of_thread.favoured = True, favoured
        try:
            yield
        finally:
            self._of_thread.has_place = self._of_thread.favoured = False
            places.release()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn and hold it inside the block.

        Raises:
            BusyError: too many threads wait, or the wait was too long.

        """
        with self.place():
            self._begin(favoured=self._of_thread.favoured)
            began = time.perf_counter()
            try:
                yield
            finally:
                with self._changed:
                    self._free += 1
                    self._changed.notify_all()
                self._usual += _WEIGHT * (time.perf_counter() - began - self._usual)

    def _begin(self, *, favoured: bool) -> None:
        with self._changed:
            self._favoured_waiting += favoured
            try:
                mine = self._changed.wait_for(
                    lambda: self._free and (favoured or not self._favoured_waiting), self._patience
                )
            finally:
                self._favoured_waiting -= favoured
            if not mine:
                self._changed.notify_all()
                raise BusyError
            self._free -= 1

    def pause(self, began: float) -> None:
        """Sleep until twice the usual time of a turn, or a multiple of it, has passed since `began`.

        Threads that took a turn since then so end as late as threads that did not. Return at once when several threads
        sleep already.

        Args:
            began: the beginning, by `time.perf_counter`.

        """
        if self._pauses.acquire(blocking=False):
            try:
                step = 2 * min(self._usual, _LONGEST)
                time.sleep(step - (time.perf_counter() - began) % step)
            finally:
                self._pauses.release()
