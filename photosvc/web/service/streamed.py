"""The read transaction of an answer that is sent piece by piece, for as long as its client takes."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import Lock, Timer
from typing import Any, Final

from sqlalchemy import Connection

#: Seconds for which all pieces are of one moment. SQLite's log of changes grows, and PostgreSQL keeps what was deleted,
#: as long as anyone reads the state before.
ONE_MOMENT: Final = 30.0


class StreamedRead:
    """A read connection that pieces of an answer are read from; threads may share it.

    Args:
        connection: in a read transaction.

    """

    __slots__ = ("_connection", "_driver", "_is_closed", "_is_late", "_mutex", "_timer")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._driver: Any = connection.connection.driver_connection
        self._is_closed = self._is_late = False
        self._mutex = Lock()
        self._timer = Timer(ONE_MOMENT, self._end)
        self._timer.daemon = True
        self._timer.start()

    def pieces(self, pieces: Iterable[str]) -> Iterator[str]:
        """The pieces, as they are sent: after `ONE_MOMENT` each in a transaction of its own."""
        left = iter(pieces)
        while True:
            with self._mutex:
                if self._is_late:
                    self._begin()
                piece = next(left, None)
                if self._is_late:
                    self._driver.rollback()
            if piece is None:
                return
            yield piece

    def close(self) -> None:
        """Give the connection back."""
        self._timer.cancel()
        with self._mutex:  # the connection may belong to another request at once
            if self._is_closed:
                return
            self._is_closed = True
        self._connection.close()

    def _begin(self) -> None:
        """Begin a transaction; psycopg does so by itself, and one that could not be ended goes on."""
        if isinstance(self._driver, sqlite3.Connection) and not self._driver.in_transaction:
            self._driver.execute("BEGIN")

    def _end(self) -> None:
        with self._mutex:
            if not self._is_closed:
                self._is_late = True
                with suppress(Exception):  # the next statement tells what is wrong with the connection
                    self._driver.rollback()
