"""The engine of the database: the settings of SQLite, and how its transactions begin."""

import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from photosvc.core.folders.closed import make_closed
from photosvc.models.database.prepared import run_text

#: Execution option of write transactions.
WRITES = "photosvc_writes"

#: Execution option of engines whose transactions `_on_begin` begins.
CONFIGURED = "photosvc_configured"

#: Seconds between two attempts to get the write lock: a tenth of the time waited so far, within these limits.
_LEAST_PAUSE: Final = 0.001
_MOST_PAUSE: Final = 0.01

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
    if engine.get_execution_options().get(CONFIGURED):
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
    engine.update_execution_options(**{CONFIGURED: True})


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
    immediate = connection.get_execution_options().get(WRITES)
    driver: Any = connection.connection.driver_connection
    if immediate:
        _begin_writing(connection, driver)
    elif not driver.in_transaction:
        run_text(connection, "BEGIN", ())


def _begin_writing(connection: Connection, driver: Any) -> None:  # noqa: ANN401 - the driver's connection
    """BEGIN IMMEDIATE, tried again and again while others hold the write lock, for as long as the busy timeout says.

    SQLite itself would try every 100 ms after the first third of a second: where an index run writes in short
    transactions with as much time between them, a request can meet a transaction each time and wait for seconds.
    """
    ((timeout,),) = driver.execute("PRAGMA busy_timeout")
    driver.execute("PRAGMA busy_timeout=0")
    try:
        began = time.monotonic()
        while True:
            try:
                run_text(connection, "BEGIN IMMEDIATE", ())
            except DBAPIError as error:
                waited = time.monotonic() - began
                if not _is_busy(error) or waited * 1000 >= timeout:
                    raise
                time.sleep(min(_MOST_PAUSE, max(_LEAST_PAUSE, waited / 10)))
            else:
                return
    finally:
        driver.execute(f"PRAGMA busy_timeout={timeout}")


def _is_busy(error: DBAPIError) -> bool:
    """Whether another connection holds the lock that was asked for."""
    return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


#: What to do about a database that is damaged.
DAMAGED = "its file is damaged or no database; restore a backup of photosvc.db, or move it away and index again"


def is_damaged(error: DBAPIError) -> bool:
    """Whether SQLite says that its file is damaged, or no database at all."""
    code = getattr(error.orig, "sqlite_errorcode", 0)
    return code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
