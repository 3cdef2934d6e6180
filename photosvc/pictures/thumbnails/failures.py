"""Pictures that could not be shown, remembered for some minutes, in which requests for them cost no worker."""

import threading
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Final

from photosvc.core.problems import FileProblemError
from photosvc.workers.pool import WorkerDiedError

#: Failed pictures that are remembered; the oldest are forgotten first.
_MOST: Final = 2000
_SECONDS: Final = 300.0
#: A worker may also die of something else than its picture; the second death in a row counts.
_DEATHS: Final = 2


@dataclass(frozen=True, slots=True)
class _Failure:
    error: FileProblemError
    side: int
    """Pixels of the longer side that were needed; larger thumbnails fail too, smaller ones may have another source."""
    count: int
    expires: float


class Failures:
    """Remembers failures by the hash of the content, for one process.

    Args:
        clock: gives seconds that never go back.

    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._failures: dict[str, _Failure] = {}

    def check(self, content_hash: str, side: int) -> None:
        """Raise again what a thumbnail of this picture failed with, if it needed at most `side` pixels.

        Raises:
            FileProblemError: it failed within the last minutes.

        """
        failure = self._failures.get(content_hash)
        if failure is None or side < failure.side or failure.expires < self._clock():
            return
        if not isinstance(failure.error, WorkerDiedError) or failure.count >= _DEATHS:
            raise copy(failure.error)  # a raised exception collects frames

    def add(self, content_hash: str, side: int, error: BaseException) -> None:
        """Remember a failure, unless its cause lies outside the picture."""
        if not isinstance(error, FileProblemError):
            return
        now = self._clock()
        with self._guard:
            before = self._failures.pop(content_hash, None)
            repeated = before is not None and before.expires >= now
            count = before.count + 1 if before is not None and repeated else 1
            self._failures[content_hash] = _Failure(error, side, count, now + _SECONDS)
            if len(self._failures) > _MOST:
                del self._failures[next(iter(self._failures))]

    def forget(self, content_hash: str, side: int) -> None:
        """Drop the failure of a picture of which a thumbnail that needed `side` pixels was made."""
        with self._guard:
            failure = self._failures.get(content_hash)
            if failure is not None and failure.side <= side:
                del self._failures[content_hash]
