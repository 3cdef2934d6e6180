"""Limits what is sent at the same time: to one owner by all processes of a machine, to all owners by one process."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock

from photosvc.core.locks.byte_locks import ByteLocks


class Slots:
    """A few slots for each owner; those of a process that dies become free.

    Args:
        path: of the file with the locks, the same for all processes; made on first use.
        each: slots of one owner, over all processes.
        total: slots of all owners in this process; None: no limit.

    """

    def __init__(self, path: Path, *, each: int, total: int | None = None) -> None:
        self._locks = ByteLocks(path)
        self._each = each
        self._total = total
        self._mutex = Lock()
        self._taken: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Whether all slots of this process are taken."""
        return self._total is not None and len(self._taken) >= self._total

    def take(self, owner: str) -> Callable[[], None] | None:
        """Take a slot; gives the function that frees it, to be called once, or None when all are taken."""
        with self._mutex:
            for number in range(0 if self.is_full else self._each):
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
