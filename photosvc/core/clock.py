"""The clock: the only module that asks the machine for the time, and the only one that waits for time to pass."""

import time
from datetime import UTC, datetime
from threading import Condition, Event
from typing import Final


class Clock:
    """The wall clock and the monotonic clock of this machine, and pauses; tests pass one that they move."""

    def __call__(self) -> datetime:
        """Return the current time, aware and in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that only grow, also while the wall clock is set."""
        return time.monotonic()

    def processor(self) -> float:
        """Return the seconds of processor time that this thread has used."""
        return time.thread_time()

    def sleep(self, seconds: float) -> None:
        """Pause this thread."""
        time.sleep(seconds)

    def wait(self, awaited: Event | Condition, seconds: float) -> bool:
        """Wait at most this long for an event, or for a notice of a condition; return whether it came."""
        return awaited.wait(seconds)


#: The clock of the machine, for times of files, and for waits that end when another process or a device acts.
SYSTEM_CLOCK: Final = Clock()
