"""The number of refused requests by limit, over all processes that one server has forked, for the metrics."""

import mmap
import threading
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from photosvc.core.errors import PhotosvcError

#: The limits, as the attribute `limit` of errors names them; other refusals count as the last one.
LIMITS: Final = (
    "requests", "searches", "search_seconds", "writes", "batches", "transfers", "uploads", "thumbnails", "videos",
    "passwords", "failures", "jobs", "database", "other",
)  # fmt: skip
_STATUSES: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
#: Processes with a row of their own; it outlives its process, so that the counts never fall.
_ROWS: Final = 64
_WIDTH: Final = len(LIMITS) * len(_STATUSES)


class Refusals:
    """Counts in memory that a process shares with those that it forks: each writes a row of its own."""

    def __init__(self) -> None:
        self._cells = memoryview(mmap.mmap(-1, 8 * _ROWS * _WIDTH)).cast("Q")
        self._first = 0
        self._lock = threading.Lock()

    def use_row(self, number: int) -> None:
        """Count in this row from now on; two processes that live at the same time have different numbers."""
        self._first = number % _ROWS * _WIDTH

    def count(self, status: int, error: Exception) -> None:
        """Count an answer of this status, if it is that of a limit."""
        if status not in _STATUSES:
            return
        of_database = "database" if isinstance(error, SQLAlchemyError) else ""
        limit = error.limit if isinstance(error, PhotosvcError) else of_database
        place = _STATUSES.index(HTTPStatus(status)) * len(LIMITS) + LIMITS.index(limit if limit in LIMITS else "other")
        with self._lock:
            self._cells[self._first + place] += 1

    def totals(self) -> Iterator[tuple[int, str, int]]:
        """Yield the status, the limit and the number of its refusals."""
        for place in range(_WIDTH):
            status, limit = divmod(place, len(LIMITS))
            yield int(_STATUSES[status]), LIMITS[limit], sum(self._cells[place::_WIDTH])


#: The counts of this process and of those that the same server has forked.
REFUSALS: Final = Refusals()
