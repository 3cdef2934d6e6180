"""The time in tests: a fixed moment, and a clock that stands still until a test moves it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Condition, Event

import pytest

from photosvc.core.clock import Clock

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
#: Seconds between two looks of a waiting thread at the moved clock.
_LOOK = 0.005


def until(
    holds: Callable[[], object], what: str = "what another thread or process brings about", seconds: float = 60
) -> None:
    """Wait until something holds that another thread or process brings about, and fail if it does not."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"waited in vain for {what}")
        time.sleep(_LOOK)


@dataclass(eq=False)
class MovedClock(Clock):
    """A clock that stands still until it is moved.

    A pause (`sleep`) moves it by its length and ends at once. A wait for an event lasts until the event comes, or until
    a test moves the clock.
    """

    present: datetime = NOW
    seconds: float = 1000.0
    """Seconds of the monotonic clock and of the processor."""
    step: float = 0.0
    """Seconds by which each look at the monotonic clock moves it: the work between two looks takes as long."""
    pauses: list[float] = field(default_factory=list)
    """The lengths of the pauses so far."""
    in_pause: Callable[[], object] = lambda: None
    """Called in each pause: what others do meanwhile."""

    def __call__(self) -> datetime:
        return self.present

    def monotonic(self) -> float:
        self.seconds += self.step
        return self.seconds

    def processor(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.move(seconds=seconds)
        self.in_pause()

    def wait(self, awaited: Event | Condition, seconds: float) -> bool:
        end = self.monotonic() + seconds
        while self.monotonic() < end:
            if awaited.wait(_LOOK):
                return True
        return False

    def move(self, **amount: float) -> None:
        """Move both clocks, the monotonic one only forwards."""
        moved = timedelta(**amount)
        self.present += moved
        self.seconds += max(0.0, moved.total_seconds())
