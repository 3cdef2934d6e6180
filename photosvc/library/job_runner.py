"""The jobs of an indexer beside index runs: a handler for each kind, and the loop that runs them in portions.

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
from photosvc.jobs.queue import (
    ALBUMS,
    IMPORT,
    LOOK_ALIKES,
    NAMES,
    SIGHT,
    THUMBNAILS,
    JobKind,
    QueuedJob,
    RunCancelledError,
)
from photosvc.library.album_jobs import can_go_on, put_into_albums
from photosvc.library.import_jobs import import_in_portions
from photosvc.library.look_alikes import search_look_alikes
from photosvc.library.renames import change_by_job
from photosvc.library.thumbnail_jobs import make_all
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.settings import Settings
from photosvc.sight.runs import look_by_job

_LOG = logging.getLogger("photosvc")
#: Seconds of one step of a job.
_STEP: Final = 5.0

#: A function that does a job in portions with transactions of their own. It yields true after a portion, and false
#: while it waits. It sets `report` of the lease, which the runner checks before each portion, so that jobs can stop.
Handler: TypeAlias = Callable[[Lease, Settings, QueuedJob], Generator[bool, None, None]]

HANDLERS: Final[dict[JobKind, Handler]] = {
    IMPORT: import_in_portions,
    LOOK_ALIKES: search_look_alikes,
    THUMBNAILS: make_all,
    SIGHT: look_by_job,
    NAMES: change_by_job,
    ALBUMS: put_into_albums,
}
#: JobKind of jobs that wait for a state of the library -> the condition that ends the wait before their time.
SOONER: Final[dict[JobKind, Callable[[Session], ColumnElement[bool]]]] = {ALBUMS: can_go_on}


@dataclass(slots=True)
class _Begun:
    """A job that was begun and has not ended."""

    kind: JobKind
    lease: Lease
    portions: Generator[bool, None, None]


@dataclass(slots=True)
class JobRunner:
    """The runner of all jobs, which does one job of each kind at a time in steps; `close` it in the end."""

    engine: Engine
    settings: Settings
    clock: Clock
    owner: str = field(default_factory=new_owner, init=False)
    """The owner of all jobs that it does."""
    _former: Sequence[str] = field(default=(), init=False)
    _begun: dict[JobKind, _Begun] = field(default_factory=dict, init=False)

    def take_over(self, former: Sequence[str]) -> None:
        """Continue the jobs of these owners, whose processes have ended, in the next step."""
        self._former = former

    def step(self, *, small: bool = False) -> bool:
        """Do some portions of due jobs, and return whether there is more to do; `small` begins only small jobs."""
        if self._former:
            with write_session(self.engine) as session:
                release_dead(session, self.clock(), self._former)
            self._former = ()
        for kind in HANDLERS:
            if kind not in self._begun and self._is_due(kind, small=small):
                self._begin(kind, small=small)
        for job in list(self._begun.values()):
            self._go_on(job)
        return bool(self._begun) or self.waits()

    def waits(self) -> bool:
        """Return whether a job may begin now."""
        return any(kind not in self._begun and self._is_due(kind) for kind in HANDLERS)

    def is_asked(self) -> bool:
        """Return whether a job waits, also to be tried again, or runs; jobs that wait for the library do not count."""
        with UnitOfWork(self.engine) as session:
            is_asked = queue.is_waiting(session, [kind for kind in HANDLERS if kind not in SOONER])
        return is_asked or any(kind in self._begun or self._is_due(kind) for kind in SOONER)

    def close(self) -> None:
        """Leave the remaining portions to another process."""
        for job in list(self._begun.values()):
            self._end(job, KeyboardInterrupt())

    def _is_due(self, kind: JobKind, *, small: bool = False) -> bool:
        with UnitOfWork(self.engine) as session:
            sooner = SOONER[kind](session) if kind in SOONER else None
            return queue.is_due_now(session, kind, self.clock(), small=small, sooner=sooner)

    def _begin(self, kind: JobKind, *, small: bool) -> None:
        lease = Lease(self.engine, self.clock, self.owner)
        job = lease.claim(kind, small=small, sooner=SOONER.get(kind))
        if job is not None:
            lease.keep()
            self._begun[kind] = _Begun(kind, lease, HANDLERS[kind](lease, self.settings, job))

    def _go_on(self, job: _Begun) -> None:
        end = self.clock.monotonic() + _STEP
        try:
            while True:
                with UnitOfWork(self.engine) as session:
                    job.lease.check(session)
                went_on = next(job.portions, None)
                if went_on is None:
                    self._end(job, None)
                    return
                if not went_on or self.clock.monotonic() >= end:
                    with write_session(self.engine) as session:
                        job.lease.save(session)
                    return
        except BaseException as error:
            self._end(job, error)
            match error:
                case RunCancelledError():
                    _LOG.info("%s: stopped", job.kind.name)
                case PhotosvcError():
                    _LOG.warning("%s: %s", job.kind.name, error.message)
                case Exception():
                    _LOG.exception("%s: an unexpected error", job.kind.name)
                case _:
                    raise

    def _end(self, job: _Begun, error: BaseException | None) -> None:
        self._begun.pop(job.kind, None)
        job.portions.close()
        job.lease.end(error)
