"""Transactions: one at a time of a request or command, and a longer one of a streamed answer."""

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http import HTTPStatus
from threading import Lock, Timer
from typing import Any, Final, Literal, overload

from flask import g, has_request_context
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from photosvc.auth import audit
from photosvc.auth.principal import Principal
from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.logs import Outages
from photosvc.core.slots import Slots
from photosvc.models.engine import (
    begin_write,
    close_reader,
    limit_lock_waits,
    open_reader,
    session_on,
    write_if_free,
    write_session,
)

_LOG = logging.getLogger("photosvc")
#: The beginning of the line at the end of an outage.
ANSWERS_AGAIN: Final = "the database answers again"
#: Seconds for which all pieces show the database at one moment. As long as anyone reads an old state, SQLite's
#: write-ahead log grows, and PostgreSQL keeps deleted rows.
ONE_MOMENT: Final = 30.0
#: Key in `flask.g` of the open transaction: a read connection or a writing session.
_OPEN = "photosvc_open"
#: Key in `flask.g` of the read of a streamed answer, which closes it.
_STREAMED = "photosvc_streamed"
#: Key in `flask.g` of the principal of the request, once it is known.
_PRINCIPAL = "photosvc_principal"
#: Key in `flask.g` of the seconds that the last write transaction of the request took.
_HELD = "photosvc_held"
#: Length in seconds of a write transaction after which its request rests before the next one, and length of the rest:
#: others try the write lock every 10 ms.
_LONG: Final = 0.03
_REST: Final = 0.02
#: Seconds for which a request waits for a writer's place since one was last taken or freed, and at most in total. While
#: places change hands, ordinary writes are soon stored; when none does, somebody holds the write lock for long.
_STILL: Final = 0.25
_PATIENCE: Final = 1.0


class StreamedRead:
    """A connection in a read transaction that pieces of an answer are read from; threads may share it."""

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
        """Yield the pieces as they are sent; after `ONE_MOMENT`, read each in a transaction of its own."""
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
        """Close the connection."""
        self._timer.cancel()
        with self._mutex:  # afterwards, the connection may belong to another request at once
            if self._is_closed:
                return
            self._is_closed = True
        close_reader(self._connection)

    def _begin(self) -> None:
        """Begin a transaction on SQLite; psycopg begins by itself, and a transaction that could not end continues."""
        if isinstance(self._driver, sqlite3.Connection) and not self._driver.in_transaction:
            self._driver.execute("BEGIN")

    def _end(self) -> None:
        with self._mutex:
            if not self._is_closed:
                self._is_late = True
                with suppress(Exception):  # the next statement reports any fault of the connection
                    self._driver.rollback()


class WritersBusyError(PhotosvcError):
    """Too many changes are waiting to be stored: try again in a moment."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 2
    limit = "writes"


class Transactions:
    """Transactions on the database of a service.

    A request or command has one at a time: with two, it could wait for itself, for the write lock or for a second
    connection of the pool. The session of a host app is never used.
    """

    __slots__ = ()

    db: SQLAlchemy
    bind_key: str | None
    clock: Clock
    outages: Outages
    """The log of requests that fail because of the database."""
    writers: Slots
    """The places of threads that write to the database or wait for its locks."""

    def engine(self) -> Engine:
        """Return the engine of the tables; needs the context of the app."""
        return self.db.engines[self.bind_key]

    @overload
    def reading(self) -> AbstractContextManager[Connection]: ...
    @overload
    def reading(self, *, orm: Literal[True]) -> AbstractContextManager[Session]: ...
    def reading(self, *, orm: bool = False) -> AbstractContextManager[Connection | Session]:
        """Open a connection in a read transaction: all its statements see the same state of the database.

        Within a request, the transaction stays open after the block: the token check and the view share it. It ends
        with the request, at an exception, or when a write transaction begins. Elsewhere it ends with the block.

        Args:
            orm: give a session for loading ORM objects instead of the connection; changes of them are not stored.

        Raises:
            RuntimeError: a write transaction is open.
        """
        return self._loading() if orm else self._reading()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        opened: Connection | Session | None = g.get(_OPEN)
        if isinstance(opened, Session):
            raise _already_writing()
        if opened is None:
            g.photosvc_open = opened = open_reader(self.engine())
        try:
            yield opened
        except BaseException:
            self.close()
            raise
        self.outages.end(_LOG, ANSWERS_AGAIN)
        if not has_request_context():
            self.close()

    @contextmanager
    def _loading(self) -> Iterator[Session]:
        with self._reading() as connection, session_on(connection) as session:
            yield session

    @contextmanager
    def writing(self, *, library: bool = False) -> Iterator[Session]:
        """Open a session in a write transaction: committed at the end of the block, rolled back by an exception.

        After a long write transaction, the request rests before the next one: SQLite has no queue for the write lock,
        and without a rest the same thread would take it again before others try.

        Args:
            library: lock photos and albums against other writers; needed to change them.

        Raises:
            RuntimeError: a write transaction is open.
            WritersBusyError: all places of writers are taken, and none became free soon.
        """
        self.end_reading()
        if g.pop(_HELD, 0.0) > _LONG:
            self.clock.sleep(_REST)
        if (free := self.writers.take(_owner(), patience=_PATIENCE, still=_STILL)) is None:
            raise WritersBusyError
        try:
            with write_session(self.engine()) as session:
                limit_lock_waits(session)
                if library:
                    begin_write(session, library=True)
                began = self.clock.monotonic()
                g.photosvc_open = session
                try:
                    yield session
                finally:
                    g.pop(_OPEN, None)
            g.photosvc_held = self.clock.monotonic() - began
        finally:
            free()
        self.outages.end(_LOG, ANSWERS_AGAIN)
        audit.log_committed(session)

    def write_if_free(self, write: Callable[[Session], object], *, lasting: bool = True) -> bool:
        """Do and commit a write that may be left out; return whether it was done.

        It is left out when other writers hold the lock for over 50 ms, or when all places of writers are taken.

        Args:
            write: gets a session in a write transaction.
            lasting: True if the write must outlast a loss of power.

        Raises:
            RuntimeError: a write transaction is open.
        """
        self.end_reading()
        if (free := self.writers.take(_owner())) is None:
            return False
        try:
            return write_if_free(self.engine(), write, lasting=lasting)
        finally:
            free()

    def end_reading(self) -> None:
        """End the read transaction if there is one; raise `RuntimeError` if a write transaction is open."""
        if isinstance(g.get(_OPEN), Session):
            raise _already_writing()
        self.close()

    def keep_open(self) -> StreamedRead:
        """Leave the read connection to a streamed answer, which closes it."""
        g.photosvc_streamed = read = StreamedRead(g.pop(_OPEN))
        return read

    def close(self, error: BaseException | None = None) -> None:
        """Close the open session or connection without a commit; after an error, stop the streamed answer too."""
        opened: Connection | Session | None = g.pop(_OPEN, None)
        if opened is not None:
            close_reader(opened)
        if error is not None and _STREAMED in g:
            g.photosvc_streamed.close()


def _owner() -> str:
    """Return the owner of a writer's place; empty for requests without a token, such as log-ins."""
    principal: Principal | None = g.get(_PRINCIPAL)
    return "" if principal is None else principal.owner_uid


def _already_writing() -> RuntimeError:
    return RuntimeError("a write transaction is open already: use its session")
