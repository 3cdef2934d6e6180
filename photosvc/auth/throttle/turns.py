"""Turns at costly work: few at once, few that wait for one, and none that waits for long."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, local
from typing import Final

from photosvc.auth.errors import BusyError

#: The share of the latest turn in the average.
_WEIGHT: Final = 0.2
#: The longest pause, in seconds, however long turns take.
_LONGEST_PAUSE: Final = 0.2


class Turns:
    """Limits how many threads of this process do, or wait for, something that takes a whole processor.

    Args:
        at_once: turns at the same time.
        waiting: threads that may wait for a turn; the others of a server stay free for other requests.
        patience: seconds that one waits.

    """

    def __init__(self, *, at_once: int, waiting: int, patience: float) -> None:
        self._turns = BoundedSemaphore(at_once)
        self._places = BoundedSemaphore(at_once + waiting)
        self._pauses = BoundedSemaphore(max(1, waiting))
        self._patience = patience
        self._usual = 0.0
        self._of_thread = local()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place inside the block, in which this thread can prepare for its turn, take it and go on.

        Raises:
            BusyError: too many threads have one.

        """
        if getattr(self._of_thread, "has_place", False):
            yield
            return
        if not self._places.acquire(blocking=False):
            raise BusyError
        self._of_thread.has_place = True
        try:
            yield
        finally:
            self._of_thread.has_place = False
            self._places.release()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn and hold it inside the block.

        Raises:
            BusyError: too many threads wait, or the wait was too long.

        """
        with self.place():
            if not self._turns.acquire(timeout=self._patience):
                raise BusyError
            began = time.perf_counter()
            try:
                yield
            finally:
                self._turns.release()
                took = time.perf_counter() - began
                self._usual += (_WEIGHT if self._usual else 1) * (took - self._usual)

    def pause(self) -> None:
        """Sleep for as long as a turn usually takes, unless several threads do so already."""
        if self._pauses.acquire(blocking=False):
            try:
                time.sleep(min(self._usual, _LONGEST_PAUSE))
            finally:
                self._pauses.release()
