"""The clock: no other module reads the system time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

#: Returns the current time, aware and in UTC. Services take a clock as argument so that tests can set the time.
Clock = Callable[[], datetime]

#: Timestamp of records whose time is unset (spec section 2.2).
ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)


def system_clock() -> datetime:
    """The current time, aware and in UTC."""
    return datetime.now(UTC)


def shifted(at: datetime, by: timedelta) -> datetime:
    """A moment this much later, or the first or last one that there is."""
    try:
        return at + by
    except OverflowError:
        zone = at.tzinfo
        return datetime.min.replace(tzinfo=zone) if by < timedelta() else datetime.max.replace(tzinfo=zone)
