"""Folders that wait for an index run, after events or on request of any process, and the lock of index runs.

Each folder with events waits until nothing has happened in it for a moment. A lock file on this machine, and the lease
of a job among several machines, let one index run at a time write.
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
from photosvc.jobs.queue import INDEX, UPKEEP, State, Waiting
from photosvc.models import Job
from photosvc.settings import Settings

#: Folders of one round of runs; more are replaced by the folders around them, because each run starts processes.
_MOST_RUNS: Final = 8
#: Folders that may wait; further requests become one for all originals, so that the table stays small.
MOST_WAITING: Final = 1000
_REFUSAL: Final = "Another index run is active; wait until it ends."


def gathered(folders: Iterable[str], most: int = _MOST_RUNS) -> list[str]:
    """Return at most this many folders that contain all of the given ones, sorted; none of them contains another."""
    found = _outermost(folders)
    while len(found) > most:
        depth = max(folder.count("/") for folder in found)
        found = _outermost(parent(folder) if folder.count("/") == depth else folder for folder in found)
    return sorted(found)


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

    def covers(self, one: Waiting) -> bool:
        """Return whether its run does this job."""
        return self.force >= as_request(one).force and self.contains(one.subject)


def enqueue(session: Session, now: datetime, folder: str = "", *, force: bool = False) -> None:
    """Ask for a folder to be indexed, in the write transaction of the session; equal requests become one.

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
    one = IndexRequest(name, force or bool(waits and waits["force"]))
    queue.add(session, INDEX, name, now, {"force": one.force}, large=one.is_large)


def _waiting_arguments(session: Session, folder: str) -> dict[str, bool] | None:
    waits = select(Job.arguments).where(Job.kind == INDEX.name, Job.subject == folder, Job.state == State.WAITING.value)
    return session.scalar(waits)


def waiting(session: Session) -> Sequence[IndexRequest]:
    """Return all folders that were asked for and not indexed since, those above others first."""
    found: dict[str, bool] = {}
    for one in map(as_request, queue.requested(session, INDEX)):
        found[one.folder] = found.get(one.folder, False) or one.force
    return [IndexRequest(folder, force) for folder, force in sorted(found.items())]


def due(session: Session, now: datetime) -> Sequence[IndexRequest]:
    """Return the folders whose run may begin now."""
    return [as_request(one) for one in queue.due(session, INDEX, now)]


def stop(session: Session, now: datetime) -> bool:
    """Ask the running index run to stop, and drop requests to index everything or to read files again.

    Files that the run has indexed stay, as do requests for the folders of new uploads. Called in a write transaction;
    returns whether there was anything to stop.
    """
    gone = queue.withdraw(session, INDEX, Job.large.is_(True))
    return queue.cancel(session, now) or gone > 0


def runs_for(root: Path, folders: Collection[str], requests: Sequence[IndexRequest]) -> list[IndexRequest]:
    """Return few runs below `root` that cover all of these folders and requests, small ones first."""
    forced = gathered(existing_folder(root, one.folder) for one in requests if one.force)
    others = [*folders, *(one.folder for one in requests if not one.force)]
    plain = gathered(existing_folder(root, folder) for folder in others)
    runs = [IndexRequest(folder, force=True) for folder in forced]
    runs += [IndexRequest(folder) for folder in plain if not any(run.contains(folder) for run in runs)]
    return sorted(runs, key=lambda run: run.is_large)


def existing_folder(root: Path, folder: str) -> str:
    """Return the folder, or the next one around it, that exists and that scans would reach: not through links."""
    base = os.path.realpath(root)
    for one in (folder, *around(folder)):
        path = f"{base}/{disk_name(one)}" if one else base
        is_reached = os.path.realpath(path) == path and not is_hidden(one)
        if is_reached and os.path.isdir(path):  # noqa: PTH112 - that of Path fails for names that no disk can have
            return one
    return ""


def as_request(one: Waiting) -> IndexRequest:
    """Return the request that a job stands for."""
    return IndexRequest(one.subject, bool(one.arguments["force"]))


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
