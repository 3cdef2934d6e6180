"""The time in tests: a fixed moment, and a clock that stands still until a test moves it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from photosvc.core.clock import Clock

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@dataclass
class MovedClock(Clock):
    """A clock that stands still until it is moved."""

    present: datetime = NOW
    seconds: float = 1000.0
    """Seconds of the monotonic clock."""

    def __call__(self) -> datetime:
        return self.present

    def monotonic(self) -> float:
        return self.seconds

    def move(self, **amount: float) -> None:
        """Move both clocks, the monotonic one only forwards."""
        moved = timedelta(**amount)
        self.present += moved
        self.seconds += max(0.0, moved.total_seconds())
