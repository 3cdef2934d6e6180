"""The clock: no other module reads the system time."""

from collections.abc import Callable
from datetime import UTC, datetime

#: Returns the current time, aware and in UTC. Services take a clock as argument so that tests can set the time.
Clock = Callable[[], datetime]

#: Timestamp of records whose time is unset (spec section 2.2).
ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)


def system_clock() -> datetime:
    """The current time, aware and in UTC."""
    return datetime.now(UTC)
