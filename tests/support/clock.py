"""The time in tests: a fixed moment, and a clock that stands still until a test moves it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@dataclass
class MovedClock:
    """A clock that stands still until it is moved."""

    present: datetime = NOW

    def __call__(self) -> datetime:
        return self.present

    def move(self, **amount: float) -> None:
        self.present += timedelta(**amount)
