"""Read and write transactions, the lock of the library, and writes that may be left out."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from photosvc.models.database.engine import CONFIGURED, WRITES
from photosvc.models.database.prepared import run_text

_LOG = logging.getLogger("photosvc")

#: Milliseconds for which an optional write waits for other writers: longer than their transactions usually take.
_SHORT_WAIT = 50

#: Expired rows that one transaction deletes: others must not wait for the write lock for long.
MOST_SWEPT = 1000

#: The cache of `many_pages`, as SQLite has it: 64 MiB.
_MANY_PAGES = -65536

#: The advisory lock of PostgreSQL for changes of the library.
_LIBRARY_LOCK = 0x70686F746F6C6962


def open_reader(engine: Engine) -> Connection:
    """A connection in a read transaction, all of whose statements see the same state."""
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
    session.connection(execution_options={WRITES: True})


def _is_writing(session: Session) -> bool:
    return session.in_transaction() and bool(session.connection().get_execution_options().get(WRITES))


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
    """Lock photos and albums against other writers until the session's write transaction ends; call it before writing.

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
