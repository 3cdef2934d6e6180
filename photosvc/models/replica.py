"""A streaming replica of the PostgreSQL database, from which searches are read while it has all changes of the library.

The primary is asked first how many changes the library has had, in the transaction that checks the token of a request.
A replica that has fewer is not read. So a client finds what it has just written, whichever process answers it, and
nothing that one answer showed is missing in a later one.
"""

import logging
import threading
import time
from enum import Enum
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, create_engine, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from photosvc.models.engine import configure_engine, engine_options, give_back, open_reader
from photosvc.models.named_numbers import CHANGES, LibraryState

#: Seconds for which a replica that failed is not asked.
REST: Final = 5.0
#: Seconds for which a replica is behind before that is logged.
LATE: Final = 10.0
#: The name of the library's number that tells its service key, which no other library has.
_KEY: Final = "service_key"
_READ: Final = select(LibraryState.name, LibraryState.value).where(LibraryState.name.in_((CHANGES, _KEY)))
_BEHIND: Final = text("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), CAST(:replayed AS pg_lsn))")
_REPLAYED: Final = text("SELECT CAST(pg_last_wal_replay_lsn() AS text)")
_LOG = logging.getLogger("photosvc")


class Moment(NamedTuple):
    """A moment in the life of a library."""

    key: int | None
    """The fingerprint of the service key."""
    changes: int
    """The changes that the library has had."""


class Standing(Enum):
    """The relation of a replica to its primary."""

    IN_STEP = "in step"
    BEHIND = "behind"
    AWAY = "away"


class Report(NamedTuple):
    """The relation of a replica to its primary, measured now."""

    standing: Standing
    behind: int | None
    """Bytes of the write-ahead log that the replica has not replayed; None while it is away."""


class NoReplicaError(Exception):
    """The database is no streaming replica, or one of another library."""


def moment(connection: Connection) -> Moment:
    """Return the moment that a read transaction shows."""
    found: dict[str, int] = {name: value for name, value in connection.execute(_READ)}  # noqa: C416 - typed rows
    return Moment(found.get(_KEY), found.get(CHANGES, 0))


class Replica:
    """The replica as the searches of one process see it; one line of the log tells when it fails or stays behind."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._is_away = self._is_late = False
        self._asked_from = 0.0
        self._behind_since: float | None = None

    def open(self, needed: Moment) -> Connection | None:
        """Return a connection in a read transaction that has these changes; None if the primary has to be asked."""
        if not self._may_be_asked():
            return None
        try:
            connection = open_reader(self.engine())
            try:
                found = _moment_of_replica(connection, needed)
            except BaseException:
                connection.close()
                raise
        except (SQLAlchemyError, NoReplicaError) as error:
            self.failed(error)
            return None
        if not _has(found, needed):
            give_back(connection)
            self._note_behind()
            return None
        with self._lock:
            self._is_away = self._is_late = False
            self._behind_since = None
        return connection

    def failed(self, error: Exception) -> None:
        """Leave the replica alone for a while, after an error of it."""
        with self._lock:
            begins, self._is_away = not self._is_away, True
            self._asked_from = time.monotonic() + REST
        if begins:
            reason = str(getattr(error, "orig", None) or error).strip()
            _LOG.warning("the replica failed, searches are read from the primary: %s", reason)

    def report(self, primary: Connection) -> Report:
        """Ask replica and primary how far apart they are."""
        try:
            with open_reader(self.engine()) as connection:
                needed = moment(primary)
                found = _moment_of_replica(connection, needed)
                replayed = connection.execute(_REPLAYED).scalar_one()
        except (SQLAlchemyError, NoReplicaError) as error:
            self.failed(error)
            return Report(Standing.AWAY, None)
        behind = max(0, int(primary.execute(_BEHIND, {"replayed": replayed}).scalar_one()))
        return Report(Standing.IN_STEP if _has(found, needed) else Standing.BEHIND, behind)

    def close(self) -> None:
        """Close all connections that are not in use."""
        if self._engine is not None:
            self._engine.dispose()

    def engine(self) -> Engine:
        """Return the engine of the replica's database, which connects when it is first used."""
        with self._lock:
            if self._engine is None:
                # As many connections as threads, so that none waits for another's.
                options: dict[str, Any] = {**engine_options(self._address), "max_overflow": -1}
                self._engine = create_engine(self._address, **options)
                configure_engine(self._engine)
            return self._engine

    def _may_be_asked(self) -> bool:
        """Return whether the replica answers as far as is known; of one that failed, one thread at a time finds out."""
        if not self._is_away:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._asked_from:
                return False
            self._asked_from = now + REST
            return True

    def _note_behind(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._behind_since = self._behind_since or now
            begins = not self._is_late and now - self._behind_since >= LATE
            self._is_late = self._is_late or begins
            self._is_away = False
        if begins:
            _LOG.warning("the replica has been behind for %d seconds, searches are read from the primary", LATE)


def _moment_of_replica(connection: Connection, needed: Moment) -> Moment:
    """Return the moment that a replica shows."""
    if not connection.execute(select(func.pg_is_in_recovery())).scalar_one():
        raise NoReplicaError("PHOTOSVC_READ_DATABASE_URI names a database that is no streaming replica")
    found = moment(connection)
    if found.key not in {None, needed.key}:
        raise NoReplicaError("PHOTOSVC_READ_DATABASE_URI names a replica of another library")
    return found


def _has(found: Moment, needed: Moment) -> bool:
    return found.key == needed.key and found.changes >= needed.changes
