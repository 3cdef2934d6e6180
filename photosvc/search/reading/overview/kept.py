"""What was read of the whole library, kept until it changes."""

from collections.abc import Callable
from typing import Generic, TypeVar

from sqlalchemy import Connection

from photosvc.search.reading.library import library_state

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """The value of a function of the library, for those who see private photos and for others."""

    def __init__(self, read: Callable[[Connection, bool], Value]) -> None:
        self._read = read
        self._kept: dict[bool, tuple[int, Value]] = {}

    def read(self, connection: Connection, *, sees_private: bool) -> Value:
        """The value for the present state of the library."""
        state = library_state(connection)
        kept = self._kept.get(sees_private)
        if kept is None or kept[0] != state or not state:  # without a number, nothing tells of changes
            self._kept[sees_private] = kept = (state, self._read(connection, sees_private))
        return kept[1]
