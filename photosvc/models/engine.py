"""The engine of the database: SQLite's configuration, read and write transactions, locks, and durable commits."""

import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, Protocol

from sqlalchemy import Connection, Engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.files import create_private
from photosvc.models.statements import run_text

#: Execution option of write transactions.
WRITES = "photosvc_writes"
_MOST_LOG_PATIENCE: Final = 2000
#: The pause after a failed try, in multiples of the duration of the try.
_LOG_REST: Final = 4
#: Marks a connection of the pool that began a write transaction.
_WROTE: Final = "photosvc_wrote"
#: Milliseconds that a writer waits for a lock.
BUSY_TIMEOUT: Final = 15_000
#: The least and longest pause in seconds between two attempts to get the write lock: a tenth of the time waited so far.
_LEAST_PAUSE: Final = 0.001
_MOST_PAUSE: Final = 0.01
#: Prepared statements that a connection caches; the statement of a long query takes 200 KB.
_CACHED_STATEMENTS: Final = 32
#: Advice for a damaged database.
DAMAGED = "its file is damaged or no database; restore a backup of photosvc.db, or move it away and index again"
_PSYCOPG: Final = "psycopg"
_LOG = logging.getLogger("photosvc")
#: Milliseconds for which an optional write waits for other writers: longer than their transactions usually take.
_SHORT_WAIT = 50
#: The most expired rows that one transaction deletes, so that others do not wait long for the write lock.
MOST_SWEPT = 1000
#: Free bytes of a disk below which SQLite cannot make its files.
_LEAST_ROOM: Final = 256 << 10
#: The advisory lock of PostgreSQL for changes of the library.
_LIBRARY_LOCK = 0x70686F746F6C6962


#: Execution option of the engines whose transactions `_on_begin` begins.
CONFIGURED = "photosvc_configured"
#: Size in bytes beyond which writers truncate SQLite's write-ahead log. Without readers, the checkpoints of
#: `wal_autocheckpoint` keep the log at half of that.
LOG_LIMIT: Final = 64 << 20
#: Milliseconds for which other writers may wait while the log is truncated, for each `LOG_LIMIT` of its size.
_LOG_PATIENCE: Final = 250
#: Options of libpq, by name: the system ends connections to a server that has gone.
_POSTGRESQL: Final[dict[str, Any]] = {
    "connect_timeout": 2,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={BUSY_TIMEOUT}",
    # Large sorts and temporary trees continue in a file beyond the size of the page cache: in memory, they would grow
    # with the library, in every thread at once.
    "PRAGMA temp_store=FILE",
    # Pages are read where the system has mapped them (up to 2 GiB, the most that SQLite allows), so that a connection
    # keeps few of its own. A worker has one for each of its threads.
    "PRAGMA cache_size=-2000",
    "PRAGMA mmap_size=2147418112",
    # Jobs that write much run checkpoints themselves (`BatchSize`), so that no request has to copy the pages of a job.
    "PRAGMA wal_autocheckpoint=8000",
    f"PRAGMA journal_size_limit={LOG_LIMIT}",
)


def engine_options(address: str) -> dict[str, Any]:
    """Return the keyword arguments of `create_engine` for an engine of our own."""
    url = make_url(address)
    dialect: Any = url.get_dialect()
    # The connection used last is used next: in its view of the database, `BatchSize` sees whether others have written.
    pool = {"pool_use_lifo": True} if dialect.get_pool_class(url) is QueuePool else {}
    keywords: dict[str, Any] = {"hide_parameters": True, **pool}  # values may be secrets, and errors are logged
    if dialect.driver == _PSYCOPG:
        # The encoding also where the database has none of its own, in which psycopg would give bytes instead of text.
        options = {**_POSTGRESQL, "client_encoding": "utf8"}
        keywords["connect_args"] = {name: value for name, value in options.items() if name not in url.query}
    return keywords


def checkpoint(engine: Engine) -> None:
    """Copy commits from the log of SQLite into the database file, except those after the state that a reader sees.

    Other connections can read and write meanwhile.
    """
    if engine.get_execution_options().get(CONFIGURED):
        with engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            with suppress(sqlite3.Error):  # a later checkpoint, or that of a commit, does the same work
                driver.execute("PRAGMA wal_checkpoint(PASSIVE)").close()


def database_files(connection: Connection) -> list[Path]:
    """Return the files of an SQLite database and its journals, even if they do not exist; none for PostgreSQL."""
    if connection.dialect.name != "sqlite":
        return []
    rows = connection.exec_driver_sql("PRAGMA database_list")
    main = next((row.file for row in rows if row.name == "main"), "")
    return [Path(main + end) for end in ("", "-wal", "-shm", "-journal")] if main else []


class _Log:
    """The write-ahead log of an SQLite database, which the writers of this process keep within `LOG_LIMIT`.

    Ordinary checkpoints copy pages while others read, but the log restarts only in a moment without a reader, which
    never comes if reads overlap. While the write lock is held, new readers do not need the log, so that it is enough to
    wait for the present readers.
    """

    def __init__(self, database: str) -> None:
        self._file = f"{database}-wal"
        self._lock = threading.Lock()
        self._not_before = 0.0

    def after_use(self, driver: sqlite3.Connection | None, record: Any) -> None:  # noqa: ANN401
        """Shrink the log if it is too large, by a connection that has written and returns to the pool."""
        if driver is None or not record.info.pop(_WROTE, False) or SYSTEM_CLOCK.monotonic() < self._not_before:
            return
        with suppress(OSError):
            size = os.stat(self._file).st_size  # noqa: PTH116 - after each write
            if size > LOG_LIMIT and self._lock.acquire(blocking=False):
                try:
                    self._shrink(driver, min(_MOST_LOG_PATIENCE, _LOG_PATIENCE * size // LOG_LIMIT))
                finally:
                    self._lock.release()

    def _shrink(self, driver: sqlite3.Connection, patience: int) -> None:
        began, is_busy = SYSTEM_CLOCK.monotonic(), True
        with suppress(sqlite3.Error), _pragma(driver, "busy_timeout", patience):
            ((is_busy, _, _),) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if is_busy:  # a reader takes longer; a later writer tries again
            now = SYSTEM_CLOCK.monotonic()
            self._not_before = now + (now - began) * _LOG_REST


@contextmanager
def _pragma(driver: Any, name: str, value: int) -> Iterator[int]:  # noqa: ANN401 - the driver's connection
    """Change a setting of an SQLite connection inside the block; yield the value before."""
    ((before,),) = driver.execute(f"PRAGMA {name}")
    driver.execute(f"PRAGMA {name}={value}")
    try:
        yield before
    finally:
        driver.execute(f"PRAGMA {name}={before}")


def _setting(connection: Connection, name: str, value: int) -> AbstractContextManager[object]:
    """Return the context of `_pragma`; on PostgreSQL a context that does nothing."""
    driver = connection.connection.driver_connection
    return _pragma(driver, name, value) if connection.dialect.name == "sqlite" else nullcontext()


def configure_engine(engine: Engine) -> None:
    """Configure an engine of our own; engines of host apps are left unchanged."""
    if engine.dialect.name != "sqlite":
        return
    event.listen(engine, "do_connect", _before_connect)
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    if engine.url.database:
        event.listen(engine, "checkin", _Log(engine.url.database).after_use)
    engine.update_execution_options(**{CONFIGURED: True})


def _before_connect(_dialect: Any, _record: Any, arguments: list[Any], options: dict[str, Any]) -> None:  # noqa: ANN401
    options.setdefault("cached_statements", _CACHED_STATEMENTS)
    if arguments and arguments[0] != ":memory:" and not str(arguments[0]).startswith("file:"):
        # SQLite would make the file readable for all accounts; its journals get the same rights as the file.
        with suppress(OSError):  # then SQLite cannot open the file either, and says so
            create_private(Path(arguments[0]))


def _on_connect(connection: sqlite3.Connection, _record: Any) -> None:  # noqa: ANN401
    connection.isolation_level = None  # `_on_begin` begins transactions
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _on_begin(connection: Connection) -> None:
    # A deferred transaction that upgrades to a writer can fail at once with "locked", regardless of the busy timeout;
    # BEGIN IMMEDIATE waits for the lock.
    immediate = connection.get_execution_options().get(WRITES)
    driver: Any = connection.connection.driver_connection
    if immediate:
        _begin_writing(connection, driver)
        connection.info[_WROTE] = True
    elif not driver.in_transaction:
        run_text(connection, "BEGIN", ())


def _begin_writing(connection: Connection, driver: Any) -> None:  # noqa: ANN401 - the driver's connection
    """Run BEGIN IMMEDIATE, and repeat it up to the busy timeout while others hold the write lock.

    SQLite itself would try every 100 ms after the first third of a second. Beside an index run, which writes in short
    transactions with pauses of the same length, a request could meet a transaction each time and wait for seconds.
    """
    with _pragma(driver, "busy_timeout", 0) as timeout:
        began = SYSTEM_CLOCK.monotonic()
        while True:
            try:
                run_text(connection, "BEGIN IMMEDIATE", ())
            except DBAPIError as error:
                waited = SYSTEM_CLOCK.monotonic() - began
                is_busy = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or waited * 1000 >= timeout:
                    raise
                SYSTEM_CLOCK.sleep(min(_MOST_PAUSE, max(_LEAST_PAUSE, waited / 10)))
            else:
                return


def is_damaged(error: DBAPIError) -> bool:
    """Return whether SQLite reports that its file is damaged, or no database at all."""
    code = getattr(error.orig, "sqlite_errorcode", 0)
    return code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_unreachable(error: DBAPIError) -> bool:
    """Return whether every statement fails until the database is back: its server, or the file of SQLite, is away."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB}
    state: str | None = getattr(error.orig, "sqlstate", None)
    return state is None or state[:2] == "08" or state[:3] == "57P"  # no connection, or it was ended


def why_unusable(file: Path) -> str:
    """Return why SQLite, whose own sentence does not say it, cannot use the file of a database; empty if not known."""
    try:
        if not file.parent.exists():
            return f"there is no folder {file.parent}"
        if file.is_dir():
            return "it is a folder"
        if not os.access(file if file.exists() else file.parent, os.R_OK | os.W_OK):
            return "permission denied; run svc as the user of the service"
        if shutil.disk_usage(file.parent).free < _LEAST_ROOM:
            return "its disk is full; make room on it and try again"
    except OSError as error:
        return error.strerror or ""
    return ""


def is_of_schema(error: DBAPIError) -> bool:
    """Return whether a statement does not fit the schema: an unknown name, or a value that a constraint refuses."""
    return (
        isinstance(error, ProgrammingError | IntegrityError)
        or getattr(error.orig, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR
    )


def refuses_role(error: DBAPIError) -> bool:
    """Return whether PostgreSQL reports that the role may not do this (SQLSTATE 42501)."""
    return getattr(error.orig, "sqlstate", None) == "42501"


#: The cache of `many_pages` in SQLite's notation: 64 MiB.
_MANY_PAGES = -65536


def open_reader(engine: Engine) -> Connection:
    """Return a connection in a read transaction, in which all statements see the same state."""
    connection = engine.connect()
    try:
        if engine.dialect.name == "postgresql":  # by default each statement sees what was committed before it
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        # BEGIN by the driver takes a third of the time; `_on_begin` of the engine accepts the open transaction.
        if not engine.get_execution_options().get(CONFIGURED):
            connection.begin()
        driver: Any = connection.connection.driver_connection
        if engine.dialect.name == "sqlite" and not driver.in_transaction:  # an engine of a host may not begin
            run_text(connection, "BEGIN", ())
    except BaseException:
        connection.close()
        raise
    return connection


def close_reader(reader: Connection | Session) -> None:
    """Close without a commit, even if the server has closed the connection: the rows read from it are complete."""
    try:
        reader.close()
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        reader.close()  # the rollback failed before the connection returned to the pool


class PendingChangesError(RuntimeError):
    """The session holds changes that were made outside a write transaction."""


class UnitOfWork(Session):
    """A session that writes changes of objects only inside a write transaction.

    Raises:
        PendingChangesError: by a `flush` outside of a write transaction; the next `begin_write` would lose the changes.
    """


@event.listens_for(UnitOfWork, "before_flush")
def _before_flush(session: Session, _context: object, _instances: object) -> None:
    if not _is_writing(session):
        raise PendingChangesError("flush: no write transaction is open; call begin_write before changing anything")


def begin_write(session: Session, *, library: bool = False) -> None:
    """Begin a write transaction of the session; on SQLite it holds the write lock from here on.

    A read transaction ends first; a write transaction that is open goes on.

    Args:
        session: a session without pending changes.
        library: lock photos and albums against other writers until the transaction ends; see `_lock_library`.

    Raises:
        PendingChangesError: the session holds changes that were decided on without the lock.
    """
    if not _is_writing(session):
        if session.new or session.dirty or session.deleted:
            msg = "begin_write: the session holds pending changes; begin the write transaction before changing anything"
            raise PendingChangesError(msg)
        session.rollback()
        session.connection(execution_options={WRITES: True})
    if library:
        _lock_library(session)


def _is_writing(session: Session) -> bool:
    return session.in_transaction() and bool(session.connection().get_execution_options().get(WRITES))


def session_on(connection: Connection) -> Session:
    """Return a session for ORM objects inside the transaction of `open_reader`, which stays open after the session."""
    if not connection.in_transaction():
        connection.begin()
    return UnitOfWork(connection, join_transaction_mode="rollback_only", autoflush=False)


@contextmanager
def write_session(engine: Engine, *, library: bool = False) -> Iterator[Session]:
    """Open a session in a write transaction, which is committed at the end of the block or rolled back by an error.

    Args:
        engine: the engine; the caller must hold none of its connections, because the pool may have no second one.
        library: lock photos and albums against other writers; needed to change them.
    """
    with UnitOfWork(engine) as session:
        begin_write(session, library=library)
        yield session
        session.commit()


class Writing(Protocol):
    """A function that opens a write transaction, such as `write_session` with its engine."""

    def __call__(self, *, library: bool = False) -> AbstractContextManager[Session]:
        """Open a session in a write transaction; `library` as for `write_session`."""


def _lock_library(session: Session) -> None:
    """Lock photos and albums against other writers until the session's write transaction ends.

    SQLite has one writer anyway. On PostgreSQL, transactions that change photos, keywords and the state of the library
    in different orders would deadlock, and one of them would fail; writes to other tables do not wait.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SELECT pg_advisory_xact_lock({_LIBRARY_LOCK})"))


def limit_lock_waits(session: Session) -> None:
    """Limit the wait for locks in the session's write transaction to SQLite's busy timeout, also on PostgreSQL."""
    if session.get_bind().dialect.name == "postgresql":
        run_text(session.connection(), f"SET LOCAL lock_timeout = {BUSY_TIMEOUT}", ())


def many_pages(session: Session) -> AbstractContextManager[object]:
    """Keep more pages of SQLite in memory inside the block, for a write transaction that changes thousands of rows.

    Rows have entries in many indexes, so that pages that do not fit are written and read again up to a dozen times.
    Only one connection writes at a time, and so only one process uses this memory.
    """
    return _setting(session.connection(), "cache_size", _MANY_PAGES)


def write_if_free(engine: Engine, write: Callable[[Session], object], *, lasting: bool = True) -> bool:
    """Commit an optional write, unless other writers hold the lock for over 50 ms; return whether it was committed.

    Args:
        engine: the engine; the caller must hold none of its connections, because the pool may have no second one.
        write: gets a session in a write transaction.
        lasting: true if the write must outlast a loss of power: PostgreSQL then waits for the disk; SQLite, with
            `synchronous=NORMAL`, never does.
    """
    try:
        with (
            engine.connect() as connection,
            _setting(connection, "busy_timeout", _SHORT_WAIT),
            UnitOfWork(connection) as session,
        ):
            begin_write(session)
            if connection.dialect.name == "postgresql":
                session.execute(text(f"SET LOCAL lock_timeout = {_SHORT_WAIT}"))
                if not lasting:
                    session.execute(text("SET LOCAL synchronous_commit = off"))
            write(session)
            session.commit()
    except OperationalError as error:
        _LOG.info("left out a write: %s", error.orig)
        return False
    return True
