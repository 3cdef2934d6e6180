"""The size of the write transactions of a long job, so that other writers need not wait for long."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy.orm import Session

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.models.engine import begin_write, checkpoint

#: Seconds for which a transaction should hold the write lock while others write. Four workers beside such a job waited
#: at most 37 ms for the lock in 99 of 100 cases; beside transactions of 50 ms, 58 ms.
_BESIDE: Final = 0.03
#: Seconds of processor time of a transaction while nobody else writes. By elapsed time, transactions on a busy machine
#: would become ever smaller, and so more costly.
_ALONE: Final = 0.1
#: The longest pause between two transactions.
_MOST_REST: Final = 0.1
#: The least items of a transaction: with fewer items, its fixed costs would prevail.
_LEAST: Final = 5
#: Transactions without a commit of others after which no other writer is expected.
_MEMORY: Final = 5
#: Seconds between two checkpoints; a page that changes several times between them is copied once.
_CHECKPOINT: Final = 0.3


class BatchSize:
    """The size of the next transaction, computed from the duration of the last ones.

    On SQLite, only one connection writes at a time and others try again every few milliseconds. As long as others
    write, the job therefore also pauses between transactions.
    """

    def __init__(self, size: int, most: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self.items = min(size, most)
        """Items to write in the next transaction."""
        self._most = most
        self._clock = clock
        self._versions: dict[int, int] = {}
        self._others = 0
        self._checkpointed = self._clock.monotonic()

    @contextmanager
    def writing(self, session: Session, items: int) -> Iterator[None]:
        """Begin a write transaction for this number of items, and commit it at the end of the block."""
        begin_write(session, library=True)
        self._notice_others(session)
        work = self._clock.monotonic if self._others else self._clock.processor
        began, began_work = self._clock.monotonic(), work()
        yield
        session.commit()
        held, spent = self._clock.monotonic() - began, work() - began_work
        if items >= self.items // 2:
            target = _BESIDE if self._others else _ALONE
            wanted = items * min(2.0, max(0.25, target / max(spent, 1e-4)))
            self.items = min(self._most, max(_LEAST, round(wanted)))
        if self._clock.monotonic() - self._checkpointed >= _CHECKPOINT:
            checkpoint(session.get_bind().engine)  # not in the commit, whose time would make the transactions smaller
            self._checkpointed = self._clock.monotonic()
        if self._others:
            self._clock.sleep(min(held, _MOST_REST))

    def _notice_others(self, session: Session) -> None:
        if session.get_bind().dialect.name != "sqlite":
            return
        driver: Any = session.connection().connection.driver_connection
        ((version,),) = driver.execute("PRAGMA data_version")  # changes when another connection has committed
        changed = self._versions.get(id(driver), version) != version
        # Our own commit changes the versions of the other connections in the pool.
        self._versions = {id(driver): version}
        self._others = _MEMORY if changed else max(0, self._others - 1)
