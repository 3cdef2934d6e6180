"""The jobs that an indexer does beside index runs: a handler for each kind, and the loop that does them in portions.

Another kind of job needs a row of `jobs.queue.KINDS` and one of `HANDLERS`.
"""

import logging
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlalchemy import ColumnElement, Engine
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease, new_owner, release_dead
from photosvc.jobs.queue import ALBUMS, IMPORT, LOOK_ALIKES, NAMES, THUMBNAILS, Kind, RunCancelledError, Waiting
from photosvc.library.album_jobs import can_go_on, put_into_albums
from photosvc.library.imports import import_in_portions
from photosvc.library.look_alikes import look
from photosvc.library.renames import change_in_portions
from photosvc.library.thumbnail_jobs import make_all
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
#: Seconds of one step of a job.
_STEP: Final = 5.0

#: A function that does a job in portions, each in transactions of its own. It yields true after a portion, and false
#: while it waits for something. It sets `report` of the lease; the job is checked before each portion, so that it can
#: be stopped.
Handler: TypeAlias = Callable[[Lease, Settings, Waiting], Generator[bool, None, None]]

HANDLERS: Final[dict[Kind, Handler]] = {
    IMPORT: import_in_portions,
    LOOK_ALIKES: look,
    THUMBNAILS: make_all,
    NAMES: change_in_portions,
    ALBUMS: put_into_albums,
}
#: Kinds whose jobs wait for something in the library, not only for their time -> the condition that ends the wait.
SOONER: Final[dict[Kind, Callable[[Session], ColumnElement[bool]]]] = {ALBUMS: can_go_on}


@dataclass(slots=True)
class _Begun:
    """A job that was begun and has not ended."""

    kind: Kind
    lease: Lease
    portions: Generator[bool, None, None]


@dataclass(slots=True)
class JobRunner:
    """The runner of the jobs of all handlers, a step of one of each kind at a time; `close` it in the end."""

    engine: Engine
    settings: Settings
    clock: Clock
    owner: str = field(default_factory=new_owner, init=False)
    """The owner of all jobs that it does."""
    _former: Sequence[str] = field(default=(), init=False)
    _begun: dict[Kind, _Begun] = field(default_factory=dict, init=False)

    def take_over(self, former: Sequence[str]) -> None:
        """Let the next step go on with the jobs of these owners, whose processes have ended."""
        self._former = former

    def step(self, *, small: bool = False) -> bool:
        """Do some portions of due jobs, beginning only small ones if `small`; return whether there is more to do."""
        if self._former:
            with write_session(self.engine) as session:
                release_dead(session, self.clock(), self._former)
            self._former = ()
        for kind in HANDLERS:
            if kind not in self._begun and self._is_due(kind, small=small):
                self._begin(kind, small=small)
        for one in list(self._begun.values()):
            self._go_on(one)
        return bool(self._begun) or self.waits()

    def waits(self) -> bool:
        """Return whether a job may begin now."""
        return any(kind not in self._begun and self._is_due(kind) for kind in HANDLERS)

    def is_asked(self) -> bool:
        """Return whether a job waits, also for another try, or runs; jobs that wait for the library do not count."""
        with UnitOfWork(self.engine) as session:
            is_asked = queue.is_waiting(session, [kind for kind in HANDLERS if kind not in SOONER])
        return is_asked or any(kind in self._begun or self._is_due(kind) for kind in SOONER)

    def close(self) -> None:
        """Leave the rest to another process."""
        for one in list(self._begun.values()):
            self._end(one, KeyboardInterrupt())

    def _is_due(self, kind: Kind, *, small: bool = False) -> bool:
        with UnitOfWork(self.engine) as session:
            sooner = SOONER[kind](session) if kind in SOONER else None
            return queue.is_due_now(session, kind, self.clock(), small=small, sooner=sooner)

    def _begin(self, kind: Kind, *, small: bool) -> None:
        lease = Lease(self.engine, self.clock, self.owner)
        job = lease.claim(kind, small=small, sooner=SOONER.get(kind))
        if job is not None:
            lease.keep()
            self._begun[kind] = _Begun(kind, lease, HANDLERS[kind](lease, self.settings, job))

    def _go_on(self, one: _Begun) -> None:
        end = self.clock.monotonic() + _STEP
        try:
            while True:
                with UnitOfWork(self.engine) as session:
                    one.lease.check(session)
                went_on = next(one.portions, None)
                if went_on is None:
                    self._end(one, None)
                    return
                if not went_on or self.clock.monotonic() >= end:
                    with write_session(self.engine) as session:
                        one.lease.save(session)
                    return
        except BaseException as error:
            self._end(one, error)
            match error:
                case RunCancelledError():
                    _LOG.info("%s: stopped", one.kind.name)
                case PhotosvcError():
                    _LOG.warning("%s: %s", one.kind.name, error.message)
                case Exception():
                    _LOG.exception("%s: an unexpected error", one.kind.name)
                case _:
                    raise

    def _end(self, one: _Begun, error: BaseException | None) -> None:
        self._begun.pop(one.kind, None)
        one.portions.close()
        one.lease.end(error)
