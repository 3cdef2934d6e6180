"""Snapshots of an SQLite database that other processes use, and checks of databases from elsewhere."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final
from urllib.parse import quote

from photosvc.backup.archive import NotABackupError, NothingToBackUpError
from photosvc.core.errors import PhotosvcError
from photosvc.models import LibraryState, Photo, User
from photosvc.models.engine import why_unusable
from photosvc.models.schema import VERSION_TABLE

#: Pages that are copied in one call; signals wait until it ends.
_PAGES: Final = 4096
#: Seconds to wait for a lock; with write-ahead logging, readers need locks only for moments.
_TIMEOUT: Final = 15.0
#: The limit of the time to check a database from elsewhere: these seconds, and more for its size on a slow disk.
_LEAST_SECONDS: Final = 60.0
_BYTES_A_SECOND: Final = 2_000_000
#: Steps of SQLite's virtual machine between two tests whether the check must end.
_STEPS: Final = 10_000
#: Most bytes of a value and of a pattern in a checked database; values of photosvc are 100 times shorter.
_LONGEST_VALUE: Final = 100_000_000
_LONGEST_PATTERN: Final = 1000
#: The tables that `sqlite_state` reads, each with the columns whose values it reads.
_READ: Final = (
    (VERSION_TABLE, frozenset(("version_num",))),
    (Photo.__tablename__, frozenset[str]()),
    (User.__tablename__, frozenset[str]()),
    (LibraryState.__tablename__, frozenset(("name", "value"))),
)
_OF_THE_DISK: Final = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_IOERR: errno.EIO}


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The facts about a database that its backup records."""

    schema: str
    photos: int
    accounts: int
    fingerprint: int | None
    """Fingerprint of the service key of the database; None if it has none yet."""


@contextmanager
def snapshot(database: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection whose statements see the state at the beginning of the block.

    The block is one read transaction. Without it, SQLite would restart a copy whenever another process writes, and
    would not finish while the library is indexed.

    Raises:
        NothingToBackUpError: there is no database.
        PhotosvcError: it is damaged, or locked.
    """
    if not database.is_file():
        raise NothingToBackUpError(f"There is no database at {database}.")
    try:
        with closing(sqlite3.connect(_address(database, "rw"), uri=True, timeout=_TIMEOUT)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # starts the transaction
            yield connection
    except sqlite3.Error as error:
        raise PhotosvcError(f"The database {database} cannot be read: {why_unusable(database) or error}.") from None


def copy(connection: sqlite3.Connection, target: Path, *, progress: Callable[[], None] = lambda: None) -> None:
    """Write the database of a snapshot to a new file, which only its owner may read.

    Raises:
        OSError: the disk is full or failed.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        with closing(sqlite3.connect(_address(target, "rw"), uri=True)) as copied:
            copied.execute("PRAGMA synchronous=OFF")  # the archive is flushed, this file is not kept
            copied.execute("PRAGMA journal_mode=OFF")
            connection.backup(copied, pages=_PAGES, progress=lambda *_: progress())
    except sqlite3.OperationalError as error:
        number = _OF_THE_DISK.get(error.sqlite_errorcode & 0xFF)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(target.parent)) from None


def sqlite_state(connection: sqlite3.Connection) -> DatabaseState:
    """Return the state of a database of any schema version.

    Raises:
        NothingToBackUpError: it has no photosvc tables.
    """
    schema = _value(connection, f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    if not isinstance(schema, str):
        raise NothingToBackUpError("The database has no photosvc tables yet.")
    photos = _value(connection, f"SELECT count(*) FROM {Photo.__tablename__}")  # noqa: S608 - a constant
    accounts = _value(connection, f"SELECT count(*) FROM {User.__tablename__}")  # noqa: S608 - a constant
    key = _value(connection, f"SELECT value FROM {LibraryState.__tablename__} WHERE name = 'service_key'")  # noqa: S608
    return DatabaseState(schema, _number(photos) or 0, _number(accounts) or 0, _number(key))


def check(database: Path, *, thoroughly: bool) -> DatabaseState:
    """Check that a file is a whole database of photosvc, and return its state; no process may use it.

    Args:
        database: a file of any content; it is only read, and nothing in it is run.
        thoroughly: compare all indexes with their tables as well.

    Raises:
        NotABackupError: it is damaged, or not a database of photosvc.
    """
    try:
        address = _address(database, "ro&immutable=1")
        with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as connection:
            seconds = _LEAST_SECONDS + database.stat().st_size / _BYTES_A_SECOND
            return _run_within(seconds, connection, lambda: _checked(connection, thoroughly=thoroughly))
    except TimeoutError:
        msg = "The database in the backup takes too long to check: its tables contain costly expressions."
        raise NotABackupError(msg) from None
    except (sqlite3.Error, NothingToBackUpError) as error:
        raise NotABackupError(f"The database in the backup cannot be used: {error}.") from None


def _checked(connection: sqlite3.Connection, *, thoroughly: bool) -> DatabaseState:
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    # CHECK constraints are evaluated; a single call of a function, which cannot be interrupted, must not take long.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
    pragma = "integrity_check" if thoroughly else "quick_check"
    ((report,),) = connection.execute(f"PRAGMA {pragma}(1)").fetchall()
    if report != "ok":
        raise NotABackupError(f"The database in the backup is damaged: {report.splitlines()[0][:200]}.")
    for table, columns in _READ:
        _require_table(connection, table, columns)
    return sqlite_state(connection)


def _require_table(connection: sqlite3.Connection, name: str, columns: frozenset[str]) -> None:
    """Refuse a view or virtual table of this name, or computed columns: reading them may run endless expressions.

    Raises:
        NotABackupError: the name belongs to something else than a plain table; `sqlite_state` reports a missing table.
    """
    kinds = connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    shown = connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (name,)).fetchall()
    virtual = "SELECT count(*) FROM sqlite_master WHERE name = ? AND sql LIKE 'create virtual%'"
    ((count,),) = connection.execute(virtual, (name,)).fetchall()
    is_computed = any(hidden for column, hidden in shown if column in columns)
    if any(kind != "table" for (kind,) in kinds) or count or is_computed:
        msg = f"The database in the backup is none of photosvc: {name} is no table with values of its own."
        raise NotABackupError(msg)


def _run_within(seconds: float, connection: sqlite3.Connection, work: Callable[[], DatabaseState]) -> DatabaseState:
    """Do the work in another thread, because a signal to this one would wait until a statement ends."""
    ended = Event()
    connection.set_progress_handler(ended.is_set, _STEPS)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        try:
            return done.result(seconds)
        finally:  # also for a signal that ends this program
            ended.set()
            connection.interrupt()


def _value(connection: sqlite3.Connection, query: str) -> object:
    """Return the first value of the first row; None if there is no row or no such table."""
    with suppress(sqlite3.OperationalError):
        return next(iter(connection.execute(query)), (None,))[0]
    return None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _address(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"
