"""An indexer for where no `svc watch` runs: it fulfils the wishes of other processes, and ends when none come."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Engine

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError
from photosvc.core.locks.lock import exclusive_lock
from photosvc.core.paths import disk_name
from photosvc.index.running import wishes
from photosvc.index.running.job import run_index
from photosvc.index.running.run_lock import RunCancelledError
from photosvc.index.running.summary import IndexOptions
from photosvc.index.watch.runs import fulfil_run, gathered_runs
from photosvc.index.watch.watcher import Chores
from photosvc.models.database.transactions import UnitOfWork
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
#: Seconds between two looks at the wishes.
_PAUSE: Final = 0.3
#: Seconds for which the process waits for further wishes: starting one takes about a second.
IDLE_SECONDS: Final = 15.0
#: Seconds after which a process makes way for a new one.
_LONGEST: Final = 86_400.0


@contextmanager
def indexer_lock(settings: Settings) -> Iterator[None]:
    """Held by the process of this machine that takes wishes.

    Raises:
        ConflictError: another one does.

    """
    with exclusive_lock(settings.cache / "indexer.lock", "Another process takes the wishes."):
        yield


def takes_wishes(settings: Settings) -> bool:
    """Whether a process of this machine takes wishes."""
    try:
        with indexer_lock(settings):
            return False
    except ConflictError:
        return True


@dataclass(frozen=True, slots=True)
class RequestedIndexer:
    """Fulfils wishes until there have been none for a while."""

    engine: Engine
    settings: Settings
    clock: Clock
    chores: Chores
    idle_seconds: float = IDLE_SECONDS

    def run(self) -> None:
        """Fulfil wishes and do the chores, unless another process of this machine does so."""
        while True:
            try:
                with indexer_lock(self.settings):
                    self._serve()
            except ConflictError:
                return
            # A wish that came after the last look saw the lock taken: it must not wait for the next one.
            with UnitOfWork(self.engine) as session:
                if not wishes.waiting(session) and not self.chores.waits():
                    return

    def _serve(self) -> None:
        began = idle_since = time.monotonic()
        while time.monotonic() - idle_since < self.idle_seconds and time.monotonic() - began < _LONGEST:
            try:
                busy = bool(self.chores.often()) | self.fulfil()
            except ConflictError:  # another index run is going on, perhaps on another machine
                busy = True
            if busy:
                idle_since = time.monotonic()
            time.sleep(_PAUSE)
        self.chores.hourly()

    def fulfil(self) -> bool:
        """Index the folders that wait; whether there were any.

        Raises:
            ConflictError: another index run is going on; the wishes stay.
            PhotosvcError: a run could not begin; its wishes stay.

        """
        with UnitOfWork(self.engine) as session:
            wished = wishes.waiting(session)
        for folder, force in gathered_runs(self.settings.originals, (), wished):
            options = IndexOptions(subfolder=disk_name(folder), force=force)
            try:
                with UnitOfWork(self.engine) as session:
                    run_index(session, self.settings, self.clock, options)
            except RunCancelledError as error:
                _LOG.info("index on request: %s", error.message)
            fulfil_run(self.engine, wished, folder, force=force)
        return bool(wished)
