"""One index run at a time: a lock file on this machine, and a lease in the database among several machines."""

import hashlib
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError
from photosvc.core.locks.lock import exclusive_lock
from photosvc.core.memory import frozen_heap
from photosvc.models import CANCELLED, INDEXER, LibraryState
from photosvc.models.database.inserts import insert_into
from photosvc.models.database.transactions import write_session
from photosvc.settings import Settings

_REFUSAL: Final = "Another index run is going on; wait for it to end."
_LOG = logging.getLogger("photosvc")

#: Seconds after which a lease that is not renewed ends: that of a machine that crashed.
_LEASE: Final = 90
_RENEWAL: Final = 20.0
_OWNER_BITS: Final = 30
_UNLOADED: Final = {"synchronize_session": False}
_STATES: Final = select(LibraryState.name, LibraryState.value).where(LibraryState.name.in_((CANCELLED, INDEXER)))


class RunCancelledError(ConflictError):
    """The index run was stopped on request."""


class Lease:
    """The right to write the library from the originals: a row with the end of the lease and its owner as one number.

    Runs on one machine with one cache folder are the same owner: the lock file keeps them apart, and so the next run
    takes over at once from one that was killed.
    """

    def __init__(self, engine: Engine, clock: Clock, owner: int) -> None:
        self._engine = engine
        self._clock = clock
        self._owner = owner
        self._ended = threading.Event()

    def take(self) -> None:
        """Take the lease.

        Raises:
            ConflictError: another owner has it.

        """
        with write_session(self._engine) as session:
            first = insert_into(LibraryState, session).values(name=INDEXER, value=0).on_conflict_do_nothing()
            session.execute(first)
            held = _value(session)
            end, owner = divmod(held, 1 << _OWNER_BITS)
            if owner != self._owner and end > self._now():
                raise ConflictError(_REFUSAL)
            session.execute(delete(LibraryState).where(LibraryState.name == CANCELLED), execution_options=_UNLOADED)
            self._write(session, held)

    def check(self, session: Session) -> None:
        """Make sure, in a write transaction, that no other machine has taken over from this one while it was suspended.

        Raises:
            RunCancelledError: this run was asked to stop.
            ConflictError: another machine has.

        """
        values = {row.name: row.value for row in session.connection().execute(_STATES)}
        if values.get(CANCELLED):
            raise RunCancelledError
        if values.get(INDEXER, 0) % (1 << _OWNER_BITS) != self._owner:
            raise ConflictError(_REFUSAL)

    def renew_until_ended(self) -> None:
        """Renew the lease every few seconds until `end`; the main loop of a thread."""
        while not self._ended.wait(_RENEWAL):
            with _logged(), write_session(self._engine) as session:
                self.check(session)
                self._write(session, _value(session))

    def end(self) -> None:
        """Give the lease back."""
        self._ended.set()
        with _logged(), write_session(self._engine) as session:
            own = LibraryState.value % (1 << _OWNER_BITS) == self._owner
            session.execute(delete(LibraryState).where(LibraryState.name == INDEXER, own), execution_options=_UNLOADED)

    def _write(self, session: Session, held: int) -> None:
        value = (self._now() + _LEASE << _OWNER_BITS) + self._owner
        change = update(LibraryState).where(LibraryState.name == INDEXER, LibraryState.value == held)
        done: Any = session.execute(change.values(value=value), execution_options=_UNLOADED)
        if done.rowcount != 1:  # PostgreSQL: another transaction was faster
            raise ConflictError(_REFUSAL)

    def _now(self) -> int:
        return int(self._clock().timestamp())


@contextmanager
def _logged() -> Iterator[None]:
    """The lease is renewed later, or ends by itself."""
    try:
        yield
    except (SQLAlchemyError, ConflictError) as error:
        reason = getattr(error, "orig", None) or error  # without the statement, which has several lines
        _LOG.warning("The lease of the index run is renewed later: %s", reason)


def _value(session: Session, name: str = INDEXER) -> int:
    return session.scalar(select(LibraryState.value).where(LibraryState.name == name)) or 0


def is_running(session: Session, now: datetime) -> bool:
    """Whether an index run is going on, on any machine."""
    return _value(session) >> _OWNER_BITS > now.timestamp()


def cancel_run(session: Session, now: datetime) -> bool:
    """Ask the index run that is going on, on any machine, to stop before its next batch; whether there is one."""
    if not is_running(session, now):
        return False
    row = insert_into(LibraryState, session).values(name=CANCELLED, value=1)
    session.execute(row.on_conflict_do_nothing())
    return True


@contextmanager
def run_lock(session: Session, settings: Settings, clock: Clock, *, writes: bool = True) -> Iterator[Lease | None]:
    """Held by all that writes the library from the originals, one at a time over all machines.

    Raises:
        ConflictError: another process holds it.

    """
    with exclusive_lock(settings.cache / "index.lock", _REFUSAL), frozen_heap():
        session.rollback()
        if not writes:
            yield None
            return
        lease = Lease(session.get_bind().engine, clock, _owner(settings.cache))
        lease.take()
        thread = threading.Thread(target=lease.renew_until_ended, name="photosvc-index-lease", daemon=True)
        thread.start()
        try:
            yield lease
        finally:
            session.rollback()
            lease.end()
            thread.join()


def _owner(cache: Path) -> int:
    """A number of this machine and cache folder, not 0."""
    machine = b""
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_bytes()
    text = b"\0".join((socket.gethostname().encode(), machine, str(cache.resolve()).encode(errors="replace")))
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") % ((1 << _OWNER_BITS) - 1) + 1
