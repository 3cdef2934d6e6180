"""Whether anything was committed to an SQLite database since it was last asked: in microseconds, without reading it.

What was read stays true until then, in all processes: credentials, the state of the library. PostgreSQL has no such
number; what depends on it is read again there.
"""

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote
from weakref import finalize

from sqlalchemy import Engine

Value = TypeVar("Value")

#: Values that are kept of one kind.
_MOST: Final = 512


class Commits:
    """Numbers the commits to the database of an engine.

    Args:
        engine: gives it; asked once in each process.

    """

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine
        self._lock = Lock()
        self._process = 0
        self._connection: sqlite3.Connection | None = None

    def number(self) -> int | None:
        """A number that is another one after each commit, of this process or of others; None: unknown.

        The connection that is asked never writes: commits of its own would not count.
        """
        with self._lock:
            if self._process != os.getpid():  # the first question, or the first after a fork
                self._process, self._connection = os.getpid(), _connect(self._engine())
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    number: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
                    return number
            return None


def _connect(engine: Engine) -> sqlite3.Connection | None:
    file: Any = engine.url.database
    if engine.dialect.name != "sqlite" or not file or file == ":memory:" or file.startswith("file:"):
        return None
    try:
        address = f"file:{quote(str(Path(file).absolute()))}?mode=rw"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
    except sqlite3.Error:
        return None
    finalize(engine, connection.close)
    return connection


class Unchanged(Generic[Value]):
    """Values that were read from a database, as long as nothing is committed to it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._number: int | None = None
        self._values: OrderedDict[object, Value] = OrderedDict()

    def get(self, key: object, number: int | None) -> Value | None:
        """The value that was read when the commits had this number (`Commits.number`)."""
        with self._lock:
            return self._values.get(key) if number is not None and number == self._number else None

    def put(self, key: object, value: Value, number: int | None) -> None:
        """Keep a value; `number` is from before it was read."""
        if number is None:
            return
        with self._lock:
            if number != self._number:
                self._values.clear()
                self._number = number
            self._values[key] = value
            if len(self._values) > _MOST:
                self._values.popitem(last=False)
