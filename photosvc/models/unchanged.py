"""Values from a database that stay cached until the next commit: credentials, the state of the library.

SQLite numbers its commits, those of all processes, and gives the number in microseconds without reading the database.
PostgreSQL has no such number, so there the values are read again each time.
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
#: Most values in one cache.
_MOST: Final = 512


class Commits:
    """A number for each commit to the database of an engine.

    Args:
        engine: returns the engine; called once in each process.
    """

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine
        self._lock = Lock()
        self._process = 0
        self._connection: sqlite3.Connection | None = None

    def number(self) -> int | None:
        """Return a number that changes with each commit, of this process or of others; None if it is unknown.

        It is that of a connection which never writes, because its own commits would not count.
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
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None, timeout=0)
    except sqlite3.Error:
        return None
    finalize(engine, connection.close)
    return connection


class Unchanged(Generic[Value]):
    """A cache of values that were read from a database, which the next commit empties."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._number: int | None = None
        self._values: OrderedDict[object, Value] = OrderedDict()

    def get(self, key: object, number: int | None) -> Value | None:
        """Return the value that was read at this number of the commits (`Commits.number`)."""
        with self._lock:
            return self._values.get(key) if number is not None and number == self._number else None

    def put(self, key: object, value: Value, number: int | None) -> None:
        """Store a value with the number of the commits from before it was read."""
        if number is None:
            return
        with self._lock:
            if number != self._number:
                self._values.clear()
                self._number = number
            self._values[key] = value
            if len(self._values) > _MOST:
                self._values.popitem(last=False)
