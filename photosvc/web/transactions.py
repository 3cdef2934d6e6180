"""Transactions: one at a time of a request or command, a longer one of a streamed answer; values kept until a commit.

Values from the database stay cached until the next commit: credentials, the state of the library. SQLite numbers its
commits, those of all processes, and gives the number in microseconds without reading the database. PostgreSQL has no
such number, so there the values are read again each time.
"""

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from threading import Lock, Timer
from typing import Any, Final, Generic, Literal, TypeVar, overload
from urllib.parse import quote
from weakref import finalize

from flask import g, has_request_context
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from photosvc.auth import audit_store
from photosvc.auth.principal import Principal
from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.places import Places
from photosvc.models.engine import (
    begin_write,
    give_back,
    limit_lock_waits,
    open_reader,
    session_on,
    write_if_free,
    write_session,
)

Value = TypeVar("Value")
#: Most values in one cache.
_MOST: Final = 512
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


class Commits:
    """A number for each commit to the database of an engine, which `engine` returns once in each process."""

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
        give_back(self._connection)

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


class Transactions:
    """Transactions on the database of a service.

    A request or command has one at a time: with two, it could wait for itself, for the write lock or for a second
    connection of the pool. The session of a host app is never used.
    """

    __slots__ = ()

    db: SQLAlchemy
    bind_key: str | None
    clock: Clock
    writers: Places
    """The places of threads that write to the database or wait for its locks."""

    def engine(self) -> Engine:
        """Return the engine of the tables; needs the context of the app."""
        return self.db.engines[self.bind_key]

    @overload
    def reading(self) -> "_Reading": ...
    @overload
    def reading(self, *, orm: Literal[True]) -> AbstractContextManager[Session]: ...
    def reading(self, *, orm: bool = False) -> "_Reading | AbstractContextManager[Session]":
        """Open a connection in a read transaction, all of whose statements see the same state of the database.

        Within a request, the transaction stays open after the block: the token check and the view share it. It ends
        with the request, at an exception, or when a write transaction begins. Elsewhere it ends with the block.

        Args:
            orm: give a session for loading ORM objects instead of the connection; changes of them are not stored.

        Raises:
            RuntimeError: a write transaction is open.
        """
        return self._loading() if orm else _Reading(self)

    @contextmanager
    def _loading(self) -> Iterator[Session]:
        with _Reading(self) as connection, session_on(connection) as session:
            yield session

    @contextmanager
    def writing(self, *, library: bool = False) -> Iterator[Session]:
        """Open a session in a write transaction: committed at the end of the block, rolled back by an exception.

        A request whose last write transaction took long rests before the next one: SQLite has no queue for the write
        lock, and without a rest the same thread would take it again before others try.

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
        audit_store.log_committed(session)

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
            give_back(opened)
        if error is not None and _STREAMED in g:
            g.photosvc_streamed.close()


class _Reading:
    """The context manager of `Transactions.reading`; a generator would cost a page of ten results 2 % of its time."""

    __slots__ = ("_transactions",)

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def __enter__(self) -> Connection:
        opened: Connection | Session | None = g.get(_OPEN)
        if opened is None:
            g.photosvc_open = opened = open_reader(self._transactions.engine())
        elif isinstance(opened, Session):
            raise _already_writing()
        return opened

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None or not has_request_context():
            self._transactions.close()


def _owner() -> str:
    """Return the owner of a writer's place; empty for requests without a token, such as those that sign in."""
    principal: Principal | None = g.get(_PRINCIPAL)
    return "" if principal is None else principal.owner_uid


def _already_writing() -> RuntimeError:
    return RuntimeError("a write transaction is open already: use its session")
