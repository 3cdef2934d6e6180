"""A copy of an SQLite database as it is at one moment, while others read and write it."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from photosvc.backup.errors import NotABackupError, NothingToBackUpError, UnreadableDatabaseError
from photosvc.models import LibraryState, Photo, User
from photosvc.models.database.schema import VERSION_TABLE

#: Pages that are copied in one call: a signal waits for its end.
_PAGES: Final = 4096
#: Seconds to wait for a lock; in write-ahead logging a reader needs none that lasts.
_TIMEOUT: Final = 15.0
_OF_THE_DISK: Final = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_IOERR: errno.EIO}


@dataclass(frozen=True, slots=True)
class State:
    """What a database says about itself."""

    schema: str
    photos: int
    accounts: int
    fingerprint: int | None
    """Of the service key it belongs to; None if it belongs to none yet."""


@contextmanager
def snapshot(database: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose statements see the state of the moment when the block begins.

    The copy goes through one read transaction: without it, SQLite would begin again whenever another process writes,
    and never end while the library is indexed.

    Raises:
        NothingToBackUpError: there is no database, or none with photosvc tables.
        UnreadableDatabaseError: it is damaged, or locked.

    """
    if not database.is_file():
        msg = f"There is no database at {database}."
        raise NothingToBackUpError(msg)
    try:
        with closing(sqlite3.connect(_address(database, "rw"), uri=True, timeout=_TIMEOUT)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the transaction begins with it
            yield connection
    except sqlite3.Error as error:
        msg = f"The database {database} cannot be read: {error}."
        raise UnreadableDatabaseError(msg) from None


def copy(connection: sqlite3.Connection, target: Path, *, progress: Callable[[], None] = lambda: None) -> None:
    """Write what the connection of a snapshot sees to a new file, which only its owner may read.

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


def state_of(connection: sqlite3.Connection) -> State:
    """What the database says about itself, with any schema.

    Raises:
        NothingToBackUpError: it has no photosvc tables.

    """
    schema = _value(connection, f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    if not isinstance(schema, str):
        msg = "The database has no photosvc tables yet."
        raise NothingToBackUpError(msg)
    photos = _value(connection, f"SELECT count(*) FROM {Photo.__tablename__}")  # noqa: S608 - a constant
    accounts = _value(connection, f"SELECT count(*) FROM {User.__tablename__}")  # noqa: S608 - a constant
    key = _value(connection, f"SELECT value FROM {LibraryState.__tablename__} WHERE name = 'service_key'")  # noqa: S608
    return State(schema, _number(photos) or 0, _number(accounts) or 0, _number(key))


def check(database: Path, *, thoroughly: bool) -> State:
    """Make sure that a file that no process uses is a whole database of photosvc.

    Args:
        database: may be anything: it is only read, and nothing in it is run.
        thoroughly: compare all indexes with their tables as well.

    Raises:
        NotABackupError: it is damaged, or no database of photosvc.

    """
    try:
        with closing(sqlite3.connect(_address(database, "ro&immutable=1"), uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA cell_size_check=ON")
            pragma = "integrity_check" if thoroughly else "quick_check"
            ((found,),) = connection.execute(f"PRAGMA {pragma}(1)").fetchall()
            if found != "ok":
                msg = f"The database in the backup is damaged: {found.splitlines()[0][:200]}."
                raise NotABackupError(msg)
            return state_of(connection)
    except (sqlite3.Error, NothingToBackUpError) as error:
        msg = f"The database in the backup cannot be used: {error}."
        raise NotABackupError(msg) from None


def _value(connection: sqlite3.Connection, query: str) -> object:
    """The first value of the first row; None if there is none, or no such table."""
    with suppress(sqlite3.OperationalError):
        return next(iter(connection.execute(query)), (None,))[0]
    return None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _address(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"
