"""The database: SQLite settings, read and write transactions, the schema check."""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from photosvc.core.closed import make_closed
from photosvc.core.errors import SchemaError
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX
from photosvc.models.prepared import run_text

VERSION_TABLE = TABLE_PREFIX + "schema"

_LOG = logging.getLogger("photosvc")

#: Milliseconds for which an optional write waits for other writers: longer than their transactions usually take.
_SHORT_WAIT = 50

#: Expired rows that one transaction deletes: others must not wait for the write lock for long.
MOST_SWEPT = 1000

#: The cache of `many_pages`, as SQLite has it: 64 MiB.
_MANY_PAGES = -65536

#: Execution option of write transactions.
_WRITES = "photosvc_writes"

#: Execution option of engines whose transactions `_on_begin` begins.
_CONFIGURED = "photosvc_configured"

#: The advisory lock of PostgreSQL for changes of the library.
_LIBRARY_LOCK = 0x70686F746F6C6962

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA busy_timeout=15000",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-16000",
    "PRAGMA mmap_size=1073741824",
    # Jobs that write much do it themselves (`Pace`), so that no request has to copy the pages that they wrote.
    "PRAGMA wal_autocheckpoint=8000",
)


def engine_options(address: str) -> dict[str, Any]:
    """How an engine of our own is made for this database."""
    url = make_url(address)
    dialect: Any = url.get_dialect()
    # The connection used last comes first: by its own view of the database, `Pace` sees whether others write.
    pool = {"pool_use_lifo": True} if dialect.get_pool_class(url) is QueuePool else {}
    return {"hide_parameters": True, **pool}  # values may be secrets, and errors are logged


def checkpoint(engine: Engine) -> None:
    """Copy what was committed from the log of SQLite into the database, as far as no reader needs the former state.

    Other connections read and write meanwhile.
    """
    if engine.get_execution_options().get(_CONFIGURED):
        with engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            with suppress(sqlite3.Error):  # a later one, or that of a commit, does the same work
                driver.execute("PRAGMA wal_checkpoint(PASSIVE)").close()


def configure_engine(engine: Engine) -> None:
    """Configure an SQLite engine of our own; engines of host apps are left unchanged."""
    if engine.dialect.name != "sqlite":
        return
    event.listen(engine, "do_connect", _before_connect)
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    engine.update_execution_options(**{_CONFIGURED: True})


def open_reader(engine: Engine) -> Connection:
    """A connection in a read transaction, all of whose statements see the same state."""
    connection = engine.connect()
    try:
        if engine.dialect.name == "postgresql":  # by default each statement sees what was committed before it
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        # BEGIN by the driver takes a third of the time; `_on_begin` accepts the open transaction.
        if not engine.get_execution_options().get(_CONFIGURED):
            connection.begin()
        driver: Any = connection.connection.driver_connection
        if engine.dialect.name == "sqlite" and not driver.in_transaction:  # an engine of a host may not begin
            run_text(connection, "BEGIN", ())
    except BaseException:
        connection.close()
        raise
    return connection


def _before_connect(_dialect: Any, _record: Any, arguments: list[Any], _options: Any) -> None:  # noqa: ANN401
    if arguments and arguments[0] != ":memory:" and not str(arguments[0]).startswith("file:"):
        # SQLite would let all accounts read it; its other files have the same rights.
        with suppress(OSError):  # then SQLite cannot open it either, and says so
            make_closed(Path(arguments[0]))


def _on_connect(connection: sqlite3.Connection, _record: Any) -> None:  # noqa: ANN401
    connection.isolation_level = None  # `_on_begin` begins transactions
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _on_begin(connection: Connection) -> None:
    # A deferred transaction that upgrades to a writer can fail at once with "locked", regardless of the busy timeout;
    # BEGIN IMMEDIATE waits for the lock.
    immediate = connection.get_execution_options().get(_WRITES)
    driver: Any = connection.connection.driver_connection
    if immediate or not driver.in_transaction:
        run_text(connection, "BEGIN IMMEDIATE" if immediate else "BEGIN", ())


#: What to do about a database that is damaged.
DAMAGED = "its file is damaged or no database; restore a backup of photosvc.db, or move it away and index again"


def is_damaged(error: DBAPIError) -> bool:
    """Whether SQLite says that its file is damaged, or no database at all."""
    code = getattr(error.orig, "sqlite_errorcode", 0)
    return code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class PendingChangesError(RuntimeError):
    """The session holds changes that were made outside a write transaction."""


class UnitOfWork(Session):
    """A session that writes changes of objects only inside a write transaction.

    Raises:
        PendingChangesError: by `flush`, outside of one; the next `begin_write` would roll the changes back.

    """


@event.listens_for(UnitOfWork, "before_flush")
def _before_flush(session: Session, _context: object, _instances: object) -> None:
    if not _is_writing(session):
        msg = "flush: no write transaction is open; call begin_write before changing anything"
        raise PendingChangesError(msg)


def begin_write(session: Session) -> None:
    """Begin the session's transaction as one that writes; on SQLite it holds the write lock from here on.

    A transaction that has only read ends first. Inside a write transaction this does nothing.

    Raises:
        PendingChangesError: the session holds unflushed changes. They were decided on without the lock.

    """
    if _is_writing(session):
        return
    if session.new or session.dirty or session.deleted:
        msg = "begin_write: the session holds pending changes; begin the write transaction before changing anything"
        raise PendingChangesError(msg)
    session.rollback()
    session.connection(execution_options={_WRITES: True})


def _is_writing(session: Session) -> bool:
    return session.in_transaction() and bool(session.connection().get_execution_options().get(_WRITES))


def session_on(connection: Connection) -> Session:
    """A session to load ORM objects by inside the transaction that `open_reader` began; closing it leaves that open."""
    if not connection.in_transaction():
        connection.begin()
    return UnitOfWork(connection, join_transaction_mode="rollback_only", autoflush=False)


@contextmanager
def write_session(engine: Engine) -> Iterator[Session]:
    """A session in a write transaction: committed at the end of the block, rolled back by an exception."""
    with UnitOfWork(engine) as session:
        begin_write(session)
        yield session
        session.commit()


@contextmanager
def library_session(engine: Engine) -> Iterator[Session]:
    """As `write_session`, for changes of photos and albums."""
    with write_session(engine) as session:
        lock_library(session)
        yield session


def lock_library(session: Session) -> None:
    """Let nobody else change photos and albums until the session's write transaction ends; before anything is written.

    SQLite has one writer anyway. On PostgreSQL, transactions that change photos, keywords and the state of the library
    in different orders would wait for each other, and one of them would fail; writes to other tables do not wait.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SELECT pg_advisory_xact_lock({_LIBRARY_LOCK})"))


@contextmanager
def many_pages(session: Session) -> Iterator[None]:
    """Let a write transaction that changes thousands of rows keep more pages of SQLite in memory inside the block.

    Pages that do not fit are written and read again, each up to a dozen times: rows have entries in many indexes. Only
    one connection writes at a time, so only one of all processes has this memory.
    """
    if session.get_bind().dialect.name != "sqlite":
        yield
        return
    connection = session.connection()
    ((before,),) = run_text(connection, "PRAGMA cache_size", ())
    run_text(connection, f"PRAGMA cache_size={_MANY_PAGES}", ())
    try:
        yield
    finally:
        run_text(connection, f"PRAGMA cache_size={before}", ())


def insert_into(table: Any, session: Session) -> Any:  # noqa: ANN401 - either dialect's own insert
    """The INSERT of the session's SQL dialect, which supports ON CONFLICT."""
    return insert_for(table, session.get_bind().dialect.name)


def insert_for(table: Any, dialect: str) -> Any:  # noqa: ANN401 - either dialect's own insert
    """The INSERT of this SQL dialect, which supports ON CONFLICT."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def write_if_free(engine: Engine, write: Callable[[Session], object], *, lasting: bool = True) -> bool:
    """Do and commit a write that may be left out; whether it was done.

    It is left out when other writers hold the lock for over 50 ms.

    Args:
        engine: the caller must hold none of its connections: the pool may have no second one.
        write: gets a session in a write transaction.
        lasting: whether the write must outlast a loss of power. On PostgreSQL it waits for the disk then; SQLite, with
            `synchronous=NORMAL`, never does.

    """
    try:
        with engine.connect() as connection, _short_wait(connection), UnitOfWork(connection) as session:
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


@contextmanager
def _short_wait(connection: Connection) -> Iterator[None]:
    """Shorten SQLite's busy timeout inside the block."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    ((before,),) = driver.execute("PRAGMA busy_timeout")
    driver.execute(f"PRAGMA busy_timeout={_SHORT_WAIT}")
    try:
        yield
    finally:
        driver.execute(f"PRAGMA busy_timeout={before}")


def is_ours(_item: object, name: str | None, kind: str, _reflected: object, _other: object) -> bool:
    """Filter for Alembic: excludes tables of a host app and those that SQLite creates for full-text search."""
    if kind != "table":
        return True
    return bool(name and name.startswith(TABLE_PREFIX) and not name.startswith(TABLE_PREFIX + "search_text"))


def schema_version(session: Session | Connection) -> str | None:
    """The revision of the database; None when it has no photosvc tables."""
    connection = session.connection() if isinstance(session, Session) else session
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    version: str | None = connection.execute(query).scalar()
    return version


def check_schema(session: Session | Connection) -> None:
    """Make sure that the schema is the one this code needs.

    Raises:
        SchemaError: the schema is missing, older or newer; the message names the command to run.

    """
    version = schema_version(session)
    if version == SCHEMA_VERSION:
        return
    if version is None:
        msg = "The database has no photosvc tables yet: run `svc db upgrade`."
    elif version > SCHEMA_VERSION:
        msg = f"The database is at schema {version}, newer than this photosvc ({SCHEMA_VERSION}): upgrade photosvc."
    else:
        msg = f"The database is at schema {version}, this photosvc needs {SCHEMA_VERSION}: run `svc db upgrade`."
    raise SchemaError(msg)
