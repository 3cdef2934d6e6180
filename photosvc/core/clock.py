"""The clock: the only module that asks the machine for the time."""

import time
from datetime import UTC, datetime
from typing import Final


class Clock:
    """The wall clock and the monotonic clock of this machine; tests pass one that stands still."""

    def __call__(self) -> datetime:
        """Return the current time, aware and in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that only grow, also while the wall clock is set."""
        return time.monotonic()


#: The clock of the machine.
SYSTEM_CLOCK: Final = Clock()
