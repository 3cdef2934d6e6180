"""Slots that limit what happens at the same time: transfers, archives, uploads, long lists and changes."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock

from photosvc.core.machine import ByteLocks


class Slots:
    """Slots that limit concurrent transfers: per owner across processes, and in total per process.

    The slots of a process that dies become free.

    Args:
        path: path of the file with the locks, the same for all processes; made on first use.
        each: slots of one owner, over all processes.
        total: slots of all owners in this process; None for no limit.
    """

    def __init__(self, path: Path, *, each: int, total: int | None = None) -> None:
        self._locks = ByteLocks(path)
        self._each = each
        self._total = total
        self._mutex = Lock()
        self._taken: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Return whether all slots of this process are taken."""
        return self._total is not None and len(self._taken) >= self._total

    def take(self, owner: str) -> Callable[[], None] | None:
        """Take a slot and return the function that frees it, to be called once; None when all are taken."""
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
