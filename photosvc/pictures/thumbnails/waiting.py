"""Callers who wait for new thumbnails, and what they wait for."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

#: Seconds between two looks whether a caller has gone.
_LOOK_SECONDS: Final = 0.1


class Making:
    """A picture whose thumbnails are being made in this process.

    Args:
        work: what the workers do.

    """

    __slots__ = ("callers", "finished", "is_wanted", "work")

    def __init__(self, work: Future[list[bytes]]) -> None:
        self.work = work
        self.finished: Future[list[bytes]] = Future()
        """Ends when the thumbnails are in the cache."""
        self.callers = 0
        self.is_wanted = False
        """Whether a caller left that will ask again."""


class Patience:
    """Until when a caller waits.

    Args:
        deadline: of the monotonic clock.
        is_gone: whether nobody takes the answer any more.

    """

    __slots__ = ("_deadline", "_is_gone", "has_gone")

    def __init__(self, deadline: float, is_gone: Callable[[], bool]) -> None:
        self._deadline = deadline
        self._is_gone = is_gone
        self.has_gone = False
        """Whether nobody took the answer any more at the last look."""

    def next_look(self) -> float:
        """Seconds to wait before it is asked again whether it is over."""
        return max(0.0, min(_LOOK_SECONDS, self._deadline - time.monotonic()))

    def is_over(self) -> bool:
        """Whether the caller has waited long enough, or has gone."""
        self.has_gone = self._is_gone()
        return self.has_gone or time.monotonic() > self._deadline
