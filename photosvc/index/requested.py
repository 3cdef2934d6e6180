"""Index runs on request: any process names a folder, and an indexer looks at it.

A lock file on this machine, and the lease of a job among several machines, let one index run at a time write.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError
from photosvc.core.machine import exclusive_lock, frozen_heap
from photosvc.core.paths import clean_name, disk_name
from photosvc.core.times import Clock
from photosvc.index import jobs
from photosvc.index.jobs import INDEX, UPKEEP, State, Waiting
from photosvc.index.lease import Lease
from photosvc.index.pending import around, gathered
from photosvc.index.scan import MAX_PATH, is_left_out, is_too_long
from photosvc.models import Job
from photosvc.settings import Settings

#: Folders that may wait; further requests become one for all originals, so that the table stays small.
MOST_WAITING: Final = 1000
_REFUSAL: Final = "Another index run is active; wait until it ends."


@dataclass(frozen=True, slots=True)
class Wish:
    """A request to index a folder."""

    folder: str
    """Relative to the originals, in the form of `core.paths.clean_name`; empty for all originals."""
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
        return self.force >= _wish(one).force and self.contains(one.subject)


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
        msg = "a folder to index is relative to the originals and below them"
        raise InvalidValueError(msg, field="path")
    name = clean_name("/".join(path.parts))
    if is_too_long(name):
        msg = f"a path to index has at most {MAX_PATH} bytes"
        raise InvalidValueError(msg, field="path")
    jobs.lock_jobs(session)
    waits = _waiting_arguments(session, name)
    if waits is None and jobs.count_waiting(session, INDEX) >= MOST_WAITING:
        name = ""
        waits = _waiting_arguments(session, name)
    one = Wish(name, force or bool(waits and waits["force"]))
    jobs.add(session, INDEX, name, now, {"force": one.force}, large=one.is_large)


def _waiting_arguments(session: Session, folder: str) -> dict[str, bool] | None:
    waits = select(Job.arguments).where(Job.kind == INDEX.name, Job.subject == folder, Job.state == State.WAITING.value)
    return session.scalar(waits)


def waiting(session: Session) -> Sequence[Wish]:
    """Return all folders that were asked for and not indexed since, those above others first."""
    found: dict[str, bool] = {}
    for one in map(_wish, jobs.requested(session, INDEX)):
        found[one.folder] = found.get(one.folder, False) or one.force
    return [Wish(folder, force) for folder, force in sorted(found.items())]


def due(session: Session, now: datetime) -> Sequence[Wish]:
    """Return the folders whose run may begin now."""
    return [_wish(one) for one in jobs.due(session, INDEX, now)]


def stop(session: Session, now: datetime) -> bool:
    """Ask the running index run to stop, and drop requests to index everything or to read files again.

    Files that the run has indexed stay, as do requests for the folders of new uploads.

    Args:
        session: in a write transaction.

    Returns:
        whether there was anything to stop.
    """
    gone = jobs.withdraw(session, INDEX, Job.large.is_(True))
    return jobs.cancel(session, now) or gone > 0


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
        is_reached = os.path.realpath(path) == path and not any(map(is_left_out, filter(None, one.split("/"))))
        if is_reached and os.path.isdir(path):  # noqa: PTH112 - that of Path fails for names that no disk can have
            return one
    return ""


def _wish(one: Waiting) -> Wish:
    return Wish(one.subject, bool(one.arguments["force"]))


@contextmanager
def run_lock(
    session: Session,
    settings: Settings,
    clock: Clock,
    run: Wish | None = None,
    *,
    writes: bool = True,
    within: Lease | None = None,
) -> Iterator[Lease | None]:
    """Hold the lock of everything that writes the library from the originals, one at a time over all machines.

    The lock file has the owners of its last runs: the holder of the lock knows that these have ended, and takes over at
    once when they were killed.

    Args:
        session: outside of a transaction.
        run: the index run, which does the jobs that wait and that it covers; None for a command of another kind.
        writes: false for a run that only reads, which has no lease.
        within: the lease of the run that this one interrupts.

    Raises:
        ConflictError: another process holds it.
    """
    engine = session.get_bind().engine
    lease = Lease(engine, clock, within.owner) if within else Lease(engine, clock)
    with ExitStack() as stack:
        former: list[str] = []
        if within is None:
            path = settings.cache / "index.lock"
            former = stack.enter_context(exclusive_lock(path, _REFUSAL, lease.owner if writes else ""))
            stack.enter_context(frozen_heap())
        session.rollback()
        if not writes:
            yield None
            return
        if run is None:
            lease.begin(UPKEEP, "", {}, covers=lambda _: False, former=former)
        else:
            lease.begin(INDEX, run.folder, {"force": run.force}, covers=run.covers, former=former)
        with lease.kept():
            try:
                yield lease
            finally:
                session.rollback()
