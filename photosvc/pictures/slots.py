"""Limits the archives that one owner downloads at the same time, over all processes of a machine."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final

from photosvc.pictures.locks import ByteLocks

#: Archives of one owner at the same time.
EACH: Final = 3


class Slots:
    """A few slots for each owner; those of a process that dies become free.

    Args:
        path: of the file with the locks, the same for all processes; made on first use.

    """

    def __init__(self, path: Path) -> None:
        self._locks = ByteLocks(path)
        self._mutex = Lock()
        self._taken: set[str] = set()

    def take(self, owner: str) -> Callable[[], None] | None:
        """Take a slot; gives the function that frees it, to be called once, or None when all are taken."""
        with self._mutex:
            for number in range(EACH):
                key = hashlib.sha256(f"{owner}/{number}".encode()).hexdigest()
                # A lock excludes other processes, the set excludes other threads of this one.
                if key not in self._taken and self._locks.take(key):
                    self._taken.add(key)
                    return partial(self._free, key)
        return None

    def _free(self, key: str) -> None:
        with self._mutex:
            self._taken.remove(key)
            self._locks.release(key)
