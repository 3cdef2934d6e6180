"""Requests of any process to index a folder, and the lock of index runs.

A lock file on this machine, and the lease of a job among several machines, let one index run at a time write.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import InvalidValueError
from photosvc.core.files import clean_name, disk_name
from photosvc.core.locks import exclusive_lock
from photosvc.core.process import frozen_heap
from photosvc.index.exclusions import is_hidden
from photosvc.index.scan import MAX_PATH, is_too_long
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX, UPKEEP, QueuedJob, State
from photosvc.models import Job
from photosvc.settings import Settings

#: Folders of one round of runs; more are replaced by the folders around them, because each run starts processes.
_MOST_RUNS: Final = 8
#: Folders that may wait; further requests become one for all originals, so that the table stays small.
MOST_WAITING: Final = 1000
_REFUSAL: Final = "Another index run is active; wait until it ends."


def gathered(folders: Iterable[str], most: int = _MOST_RUNS) -> list[str]:
    """Return at most `most` folders that contain all of these folders, sorted. None of them contains another."""
    outer = _outermost(folders)
    while len(outer) > most:
        depth = max(folder.count("/") for folder in outer)
        outer = _outermost(parent(folder) if folder.count("/") == depth else folder for folder in outer)
    return sorted(outer)


def _outermost(folders: Iterable[str]) -> set[str]:
    every = set(folders)
    return {folder for folder in every if every.isdisjoint(around(folder))}


def parent(folder: str) -> str:
    """Return the folder around a folder or file; the originals themselves for those at the top."""
    return folder.rpartition("/")[0]


def around(folder: str) -> Iterator[str]:
    """Yield all folders around a folder or file, the innermost first; none for the originals themselves."""
    while folder:
        folder = parent(folder)
        yield folder


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """A request to index a folder."""

    folder: str
    """Relative to the originals, in the form of `core.files.clean_name`; empty for all originals."""
    force: bool = False
    """True to read unchanged files again."""

    @property
    def is_large(self) -> bool:
        """Return whether its run gives way to the others."""
        return self.force or not self.folder

    def contains(self, folder: str) -> bool:
        """Return whether a folder is this one or lies below it."""
        return folder == self.folder or self.folder in around(folder)

    def covers(self, job: QueuedJob) -> bool:
        """Return whether its run does this job."""
        return self.force >= as_request(job).force and self.contains(job.subject)


def enqueue(session: Session, now: datetime, folder: str = "", *, force: bool = False) -> None:
    """Request that a folder is indexed, in the write transaction of the session. Equal requests become one.

    Args:
        session: in a write transaction; the caller commits.
        folder: relative to the originals, as on disk; empty for all of them. It need not exist: when it does not,
            the next folder above it that exists is looked at.
        force: read unchanged files again.

    Raises:
        InvalidValueError: the folder is absolute, contains `..`, or has a longer path than scans look at.
    """
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts or "\x00" in folder:
        raise InvalidValueError("a folder to index is relative to the originals and below them", field="path")
    name = clean_name("/".join(path.parts))
    if is_too_long(name):
        raise InvalidValueError(f"a path to index has at most {MAX_PATH} bytes", field="path")
    queue.lock_jobs(session)
    waits = _waiting_arguments(session, name)
    if waits is None and queue.count_waiting(session, INDEX) >= MOST_WAITING:
        name, waits = "", _waiting_arguments(session, "")
    request = IndexRequest(name, force or bool(waits and waits["force"]))
    queue.add(session, INDEX, name, now, {"force": request.force}, large=request.is_large)


def _waiting_arguments(session: Session, folder: str) -> dict[str, bool] | None:
    waits = select(Job.arguments).where(Job.kind == INDEX.name, Job.subject == folder, Job.state == State.WAITING.value)
    return session.scalar(waits)


def waiting(session: Session) -> Sequence[IndexRequest]:
    """Return all requested folders that were not indexed since, outer folders first."""
    is_forced: dict[str, bool] = {}
    for request in map(as_request, queue.requested(session, INDEX)):
        is_forced[request.folder] = is_forced.get(request.folder, False) or request.force
    return [IndexRequest(folder, force) for folder, force in sorted(is_forced.items())]


def due(session: Session, now: datetime) -> Sequence[IndexRequest]:
    """Return the folders whose run may begin now."""
    return [as_request(job) for job in queue.due(session, INDEX, now)]


def stop(session: Session, now: datetime) -> bool:
    """Ask the running index run to stop, and drop requests to index everything or to read files again.

    Files that the run has indexed stay, as do requests for the folders of new uploads. Called in a write transaction;
    returns whether there was anything to stop.
    """
    gone = queue.withdraw(session, INDEX, Job.large.is_(True))
    return queue.cancel(session, now) or gone > 0


def runs_for(root: Path, folders: Collection[str], requests: Sequence[IndexRequest]) -> list[IndexRequest]:
    """Return the runs below `root` that cover all of these folders and requests, small ones first."""
    forced = gathered(existing_folder(root, request.folder) for request in requests if request.force)
    others = [*folders, *(request.folder for request in requests if not request.force)]
    plain = gathered(existing_folder(root, folder) for folder in others)
    runs = [IndexRequest(folder, force=True) for folder in forced]
    runs += [IndexRequest(folder) for folder in plain if not any(run.contains(folder) for run in runs)]
    return sorted(runs, key=lambda run: run.is_large)


def existing_folder(root: Path, folder: str) -> str:
    """Return the folder, or the next one around it, that exists and that scans would reach: not through links."""
    base = os.path.realpath(root)
    for name in (folder, *around(folder)):
        path = f"{base}/{disk_name(name)}" if name else base
        is_reached = os.path.realpath(path) == path and not is_hidden(name)
        if is_reached and os.path.isdir(path):  # noqa: PTH112 - that of Path fails for names that no disk can have
            return name
    return ""


def as_request(job: QueuedJob) -> IndexRequest:
    """Return the request that a job stands for."""
    return IndexRequest(job.subject, bool(job.arguments["force"]))


@contextmanager
def run_lock(
    session: Session,
    settings: Settings,
    clock: Clock,
    run: IndexRequest | None = None,
    *,
    writes: bool = True,
) -> Iterator[Lease | None]:
    """Hold the lock of everything that writes the library from the originals, one at a time over all machines.

    The lock file has the owners of its last runs: the holder of the lock knows that these have ended, and takes over at
    once when they were killed.

    Args:
        session: outside of a transaction.
        run: the index run, which does the jobs that wait and that it covers; None for a command of another kind.
        writes: false for a run that only reads, which has no lease.

    Raises:
        ConflictError: another process holds it.
    """
    lease = Lease(session.get_bind().engine, clock)
    path = settings.cache / "index.lock"
    with exclusive_lock(path, _REFUSAL, lease.owner if writes else "") as former, frozen_heap():
        session.rollback()
        if not writes:
            yield None
            return
        if run is None:
            lease.begin(UPKEEP, "", {}, covers=lambda _: False, former=former)
        else:
            lease.begin(INDEX, run.folder, {"force": run.force}, covers=run.covers, former=former)
        lease.keep()
        try:
            yield lease
        except BaseException as error:
            session.rollback()
            lease.end(error)
            raise
        session.rollback()
        lease.end(None)
