"""Folders that wait for an index run, after events or on request of any process, and the lock of index runs.

Each folder with events waits until nothing has happened in it for a moment. A lock file on this machine, and the lease
of a job among several machines, let one index run at a time write.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Final

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.auth import credentials, throttle
from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.files import clean_name, disk_name
from photosvc.core.locks import exclusive_lock
from photosvc.core.process import frozen_heap
from photosvc.index.exclusions import is_hidden
from photosvc.index.scan import MAX_PATH, is_too_long
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX, UPKEEP, State, Waiting
from photosvc.models import Job
from photosvc.models.engine import write_session
from photosvc.pictures import archives
from photosvc.pictures.cache import PictureCache
from photosvc.settings import Settings

#: Most folders that may wait; with more, all originals are looked at.
_MOST_WAITING: Final = 10_000
#: Folders of one round of runs; more are replaced by the folders around them, because each run starts processes.
_MOST_RUNS: Final = 8
#: Functions that each delete a bounded number of rows and return that number.
_SWEEPS: Final = (credentials.sweep, throttle.sweep, archives.sweep)
#: Folders that may wait; further requests become one for all originals, so that the table stays small.
MOST_WAITING: Final = 1000
_REFUSAL: Final = "Another index run is active; wait until it ends."


class Pending:
    """Folders with the time at which each is due; any thread may add one.

    Args:
        quiet: seconds without an event after which a folder is due.
        longest: seconds after which it is due although events go on.
        again: seconds after which a new folder is due a second time: events are lost until it is watched.
        clock: of these seconds.
    """

    def __init__(self, *, quiet: float, longest: float, again: float, clock: Clock) -> None:
        self._quiet = quiet
        self._longest = longest
        self._again = again
        self._clock = clock
        self._lock = Lock()
        self._first: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._new: set[str] = set()

    def add(self, folder: str, *, delay: float | None = None, new: bool = False) -> None:
        """Add a folder to look at, relative to the originals and empty for all of them.

        Args:
            folder: as the library writes it.
            delay: seconds to wait; by default until its events have been quiet.
            new: true if the folder has just appeared.
        """
        with self._lock:
            if len(self._due) >= _MOST_WAITING:
                folder = ""
                self._due.clear()
                self._first.clear()
                self._new.clear()
            now = self._clock.monotonic()
            if delay is not None:
                self._due[folder] = max(self._due.get(folder, 0.0), now + delay)
            else:
                first = self._first.setdefault(folder, now)
                self._due[folder] = min(now + self._quiet, first + self._longest)
            if new:
                self._new.add(folder)

    def take(self) -> set[str]:
        """Return the folders that are due, and let them wait no more."""
        with self._lock:
            now = self._clock.monotonic()
            taken = {folder for folder, due in self._due.items() if due <= now}
            for folder in taken:
                del self._due[folder]
                self._first.pop(folder, None)
                if folder in self._new:
                    self._new.remove(folder)
                    self._due[folder] = now + self._again
            return taken

    def seconds(self) -> float:
        """Return the seconds until the next folder is due; infinite when none waits."""
        with self._lock:
            return max(0.0, min(self._due.values(), default=inf) - self._clock.monotonic())


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


def sweep(engine: Engine, now: datetime, cache: PictureCache) -> int:
    """Delete expired credentials, failed attempts and selections for archives, and abandoned files of the cache.

    Rows are deleted in short transactions.

    Returns:
        the number of rows.

    Raises:
        OSError: a file of the cache cannot be deleted.
    """
    total = 0
    for one in _SWEEPS:
        swept = 1
        while swept:
            with write_session(engine) as session:
                swept = one(session, now)
            total += swept
    with suppress(ConflictError):
        cache.evict()
    return total


@dataclass(frozen=True, slots=True)
class Wish:
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
        return self.force >= as_wish(one).force and self.contains(one.subject)


def wish(session: Session, now: datetime, folder: str = "", *, force: bool = False) -> None:
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
    one = Wish(name, force or bool(waits and waits["force"]))
    queue.add(session, INDEX, name, now, {"force": one.force}, large=one.is_large)


def _waiting_arguments(session: Session, folder: str) -> dict[str, bool] | None:
    waits = select(Job.arguments).where(Job.kind == INDEX.name, Job.subject == folder, Job.state == State.WAITING.value)
    return session.scalar(waits)


def waiting(session: Session) -> Sequence[Wish]:
    """Return all folders that were asked for and not indexed since, those above others first."""
    found: dict[str, bool] = {}
    for one in map(as_wish, queue.requested(session, INDEX)):
        found[one.folder] = found.get(one.folder, False) or one.force
    return [Wish(folder, force) for folder, force in sorted(found.items())]


def due(session: Session, now: datetime) -> Sequence[Wish]:
    """Return the folders whose run may begin now."""
    return [as_wish(one) for one in queue.due(session, INDEX, now)]


def stop(session: Session, now: datetime) -> bool:
    """Ask the running index run to stop, and drop requests to index everything or to read files again.

    Files that the run has indexed stay, as do requests for the folders of new uploads. Called in a write transaction;
    returns whether there was anything to stop.
    """
    gone = queue.withdraw(session, INDEX, Job.large.is_(True))
    return queue.cancel(session, now) or gone > 0


def runs_for(root: Path, folders: Collection[str], wished: Sequence[Wish]) -> list[Wish]:
    """Return few runs below `root` that cover all of these folders and wishes, small ones first."""
    forced = gathered(existing_folder(root, one.folder) for one in wished if one.force)
    others = [*folders, *(one.folder for one in wished if not one.force)]
    plain = gathered(existing_folder(root, folder) for folder in others)
    runs = [Wish(folder, force=True) for folder in forced]
    runs += [Wish(folder) for folder in plain if not any(run.contains(folder) for run in runs)]
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


def as_wish(one: Waiting) -> Wish:
    """Return the request that a job stands for."""
    return Wish(one.subject, bool(one.arguments["force"]))


@contextmanager
def run_lock(
    session: Session,
    settings: Settings,
    clock: Clock,
    run: Wish | None = None,
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
