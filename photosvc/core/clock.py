"""The only place where time is read."""

from collections.abc import Callable
from datetime import UTC, datetime

#: A clock gives the present as an aware UTC time. Services take one; tests move it.
Clock = Callable[[], datetime]

#: The unset timestamp of the wire (spec section 2.2).
ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)


def system_clock() -> datetime:
    """The present, aware, in UTC."""
    return datetime.now(UTC)
