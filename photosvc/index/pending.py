"""Folders that wait for an index run, and the sweep of expired data.

Each folder waits until nothing has happened in it for a moment.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from math import inf
from threading import Lock
from typing import Final

from sqlalchemy import Engine

from photosvc.auth import bearer, throttle
from photosvc.core.errors import ConflictError
from photosvc.models.engine import write_session
from photosvc.pictures import selections
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.selections import SelectionFiles

#: Most folders that may wait; with more, all originals are looked at.
_MOST_WAITING: Final = 10_000


#: Folders of one round of runs; more are replaced by the folders around them, because each run starts processes.
_MOST_RUNS: Final = 8


class Pending:
    """Folders with the time at which each is due; any thread may add one.

    Args:
        quiet: seconds without an event after which a folder is due.
        longest: seconds after which it is due although events go on.
        again: seconds after which a new folder is due a second time: events are lost until it is watched.
        clock: gives seconds that never go back.
    """

    def __init__(
        self, *, quiet: float, longest: float, again: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._quiet = quiet
        self._longest = longest
        self._again = again
        self._clock = clock
        self._lock = Lock()
        self._first: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._new: set[str] = set()

    def add(self, folder: str, *, delay: float | None = None, new: bool = False) -> None:
        """Add a folder to look at, relative to the originals and empty for all of them.

        Args:
            folder: as the library writes it.
            delay: seconds to wait; by default until its events have been quiet.
            new: true if the folder has just appeared.
        """
        with self._lock:
            if len(self._due) >= _MOST_WAITING:
                folder = ""
                self._due.clear()
                self._first.clear()
                self._new.clear()
            now = self._clock()
            if delay is not None:
                self._due[folder] = max(self._due.get(folder, 0.0), now + delay)
            else:
                first = self._first.setdefault(folder, now)
                self._due[folder] = min(now + self._quiet, first + self._longest)
            if new:
                self._new.add(folder)

    def take(self) -> set[str]:
        """Return the folders that are due, and let them wait no more."""
        with self._lock:
            now = self._clock()
            taken = {folder for folder, due in self._due.items() if due <= now}
            for folder in taken:
                del self._due[folder]
                self._first.pop(folder, None)
                if folder in self._new:
                    self._new.remove(folder)
                    self._due[folder] = now + self._again
            return taken

    def seconds(self) -> float:
        """Return the seconds until the next folder is due; infinite when none waits."""
        with self._lock:
            return max(0.0, min(self._due.values(), default=inf) - self._clock())


def gathered(folders: Iterable[str], most: int = _MOST_RUNS) -> list[str]:
    """Return at most this many folders that contain all of the given ones, sorted; none of them contains another."""
    found = _outermost(folders)
    while len(found) > most:
        depth = max(folder.count("/") for folder in found)
        found = _outermost(parent(folder) if folder.count("/") == depth else folder for folder in found)
    return sorted(found)


def _outermost(folders: Iterable[str]) -> set[str]:
    every = set(folders)
    return {folder for folder in every if every.isdisjoint(around(folder))}


def parent(folder: str) -> str:
    """Return the folder around a folder or file; the originals themselves for those at the top."""
    return folder.rpartition("/")[0]


def around(folder: str) -> Iterator[str]:
    """Yield all folders around a folder or file, the innermost first; none for the originals themselves."""
    while folder:
        folder = parent(folder)
        yield folder


#: Functions that each delete a bounded number of rows and return that number.
_SWEEPS: Final = (bearer.sweep, throttle.sweep, selections.sweep)


def sweep(engine: Engine, now: datetime, cache: PictureCache) -> int:
    """Delete expired credentials, failed attempts and selections for archives, and abandoned files of the cache.

    Rows are deleted in short transactions.

    Returns:
        the number of rows and selections.

    Raises:
        OSError: a file of the cache cannot be deleted.
    """
    total = 0
    for one in _SWEEPS:
        swept = 1
        while swept:
            with write_session(engine) as session:
                swept = one(session, now)
            total += swept
    total += SelectionFiles(cache.folder).sweep(now)
    with suppress(ConflictError):
        cache.evict()
    return total
