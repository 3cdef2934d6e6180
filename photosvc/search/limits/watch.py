"""Ends statements on PostgreSQL whose client is gone, or that are costly and have no place."""

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Final, Protocol

_LOG = logging.getLogger("photosvc")

#: Seconds between two looks.
_PAUSE: Final = 0.025
#: Seconds without a search after which the thread waits for the next one instead of looking.
_IDLE: Final = 1.0
#: Seconds of work after which a search is costly, and between two looks whether its client is gone.
_COSTLY: Final = 0.05
_STRETCH: Final = 0.1
#: Seconds after which a search without a place ends. By the clock, a plain page may take more than 50 ms as well.
_PATIENCE: Final = 0.5


class Watched(Protocol):
    """What the watch needs of a search under way."""

    began: float

    @property
    def has_ended(self) -> bool:
        """Whether it was ended."""

    def must_end(self, now: float) -> bool:
        """Whether it must end now."""

    def join(self, *, required: bool) -> bool:
        """Take a place among the costly searches."""


class Watch:
    """A thread that looks at the searches of this process; it starts with the first one."""

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
        """Watch it no more: its connection may do anything else now."""
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
