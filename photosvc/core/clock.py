"""The clock: only this module reads the time of the machine and waits."""

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
        """Return seconds that never go back, even if the wall clock is set."""
        return time.monotonic()

    def processor(self) -> float:
        """Return the seconds of processor time that this thread has used."""
        return time.thread_time()

    def sleep(self, seconds: float) -> None:
        """Pause this thread."""
        time.sleep(seconds)

    def wait(self, awaited: Event | Condition, seconds: float) -> bool:
        """Wait at most these seconds for an event or a notification of a condition; return whether it came."""
        return awaited.wait(seconds)


#: The clock of the machine, for times of files and for waits for another process or a device.
SYSTEM_CLOCK: Final = Clock()
