"""Indexers: the watcher, and the indexer for requests.

The watcher is one loop that turns events, jobs and time into index runs and sweeps. Where no `svc watch` runs, the
indexer for requests does the jobs that other processes ask for, and ends when none come.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from photosvc.auth import credentials, throttle
from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, NotFoundError, PhotosvcError
from photosvc.core.files import disk_name
from photosvc.core.locks import exclusive_lock
from photosvc.core.problems import Reason, Validity
from photosvc.index import requests
from photosvc.index.events import FolderEvents, Pending
from photosvc.index.mounts import is_remote
from photosvc.index.rejections import due_folders
from photosvc.index.requests import parent
from photosvc.index.run import Progress, run_index
from photosvc.index.run_log import IndexOptions, Outcome, Status, Summary
from photosvc.jobs import queue
from photosvc.jobs.queue import RunCancelledError
from photosvc.models.counters import WATCHED, set_counters
from photosvc.models.engine import UnitOfWork, write_if_free, write_session
from photosvc.pictures import archives
from photosvc.pictures.cache import PictureCache
from photosvc.settings import Settings

#: Functions that each delete a bounded number of rows and return that number.
_SWEEPS: Final = (credentials.sweep, throttle.sweep, archives.sweep_selections)

_LOG = logging.getLogger("photosvc")
#: Seconds between two looks at the jobs.
_JOBS: Final = 1.0
#: Seconds between two looks at the files that are to be tried again.
_RETRIES: Final = 30.0
#: Seconds between two notes that the watcher looks.
_NOTES: Final = 60.0
#: Seconds between two sweeps of expired data.
_SWEEP: Final = 3600.0
#: Seconds after which a folder is indexed although its events go on.
_LONGEST: Final = 30.0
#: Seconds until changed folders are looked at whose run was stopped.
_AFTER_STOP: Final = 30.0
#: Seconds until the second look at a new folder.
_AGAIN: Final = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_CHANGES: Final = frozenset({Status.INDEXED, Status.UPDATED, Status.MISSING})
#: Problems that a run of its own reports; the others come again at every run.
_KEPT: Final = frozenset({Validity.UNTIL_CHANGED, Validity.UNTIL_SET, Validity.SPACED})
#: Problems that another look at the same file may end.
_UNFINISHED: Final = frozenset({Reason.UNSETTLED, Reason.CHANGED, Reason.VANISHED})
#: Seconds between two looks at the jobs.
_PAUSE: Final = 0.3
#: Seconds for which the process waits for further jobs: starting one takes about a second.
IDLE_SECONDS: Final = 15.0
#: Seconds after which a process makes way for a new one.
_ON_REQUEST_LONGEST: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Reporter:
    """The functions that the watcher reports to; each is called by the thread that runs it."""

    ran: Callable[[str, Summary], None]
    """A run over a folder changed the library."""
    failed_file: Callable[[Outcome], None]
    """A file cannot be read."""
    trouble: Callable[[str], None]
    """A sentence about something that hinders the watcher, which continues."""
    progress: Progress | None = None
    """Files read and files to read, of the running index run."""
    looked: Callable[[Summary], None] | None = None
    """The first run over all originals has ended, whether or not it changed the library."""


@dataclass(frozen=True, slots=True)
class OtherJobs:
    """Work of the indexer that belongs to packages above this one."""

    often: Callable[[], object] = lambda: None
    """Called after each look at the index jobs."""
    hourly: Callable[[], object] = lambda: None
    in_pauses: Callable[[], object] = lambda: None
    """Called in each pause of an index run: a step of `often` that takes seconds at most."""
    waits: Callable[[], bool] = lambda: False
    """Return whether `often` has more to do at once."""
    is_asked: Callable[[], bool] = lambda: False
    """Return whether `often` will have more to do later."""
    owner: str = ""
    """The owner of the jobs that `often` does."""
    take_over: Callable[[Sequence[str]], object] = lambda _: None
    """Called with the owners of jobs whose processes have ended: `often` goes on with these jobs."""
    close: Callable[[], object] = lambda: None
    """Called when the process ends."""
    before: Callable[[], object] = lambda: None
    """Called before each look at the jobs; an error of it means that nothing may be done now."""


@dataclass(slots=True)
class Watcher:
    """The loop that keeps the library up to date with the originals, until an exception ends it.

    Errors of the database, of the disk and conflicts with other runs are reported once and tried again, with pauses
    that grow.

    Args:
        quiet: seconds without events after which a folder is looked at.
    """

    engine: Engine
    settings: Settings
    clock: Clock
    cache: PictureCache
    reporter: Reporter
    quiet: float = 2.0
    other_jobs: OtherJobs = field(default_factory=OtherJobs)
    _pending: Pending = field(init=False)
    _events: FolderEvents | None = field(default=None, init=False)
    _sees_all: bool = field(default=False, init=False)
    _follow_at: float = field(default=0.0, init=False)
    _rescan_at: float = field(default=0.0, init=False)
    _sweep_at: float = field(default=0.0, init=False)
    _retry_at: float = field(default=0.0, init=False)
    _note_at: float = field(default=0.0, init=False)
    _pause: float = field(default=0.0, init=False)
    _rest_until: float = field(default=0.0, init=False)
    """Changed folders, but not jobs, wait as long as the last run took: constant changes cost half of the time."""
    _trouble: str = field(default="", init=False)
    """The sentence of the error that stopped the last try; empty after a success."""
    _trouble_since: float = field(default=0.0, init=False)
    _warning: str = field(default="", init=False)
    _has_looked: bool = field(default=False, init=False)
    _mounts: frozenset[str] = field(default=frozenset(), init=False)
    _unmounted: frozenset[str] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        self._pending = Pending(quiet=self.quiet, longest=max(_LONGEST, self.quiet), again=_AGAIN, clock=self.clock)

    def run(self) -> None:
        """Watch until an exception that is no error, such as that of a signal handler, stops it."""
        try:
            while True:
                try:
                    self._step()
                except Exception as error:  # noqa: BLE001 - the next try may succeed
                    # Another run ends at any time, and a job may wait for that.
                    longest = _FIRST_PAUSE if isinstance(error, ConflictError) else _LONGEST_PAUSE
                    self._pause = min(max(_FIRST_PAUSE, self._pause * 2), longest)
                    if not isinstance(error, PhotosvcError | DBAPIError | OSError):
                        _LOG.error("The watcher failed", exc_info=error)
                    self._say(_sentence(error))
                else:
                    self._pause = 0.0
                    if self._trouble:
                        seconds = self.clock.monotonic() - self._trouble_since
                        self._trouble = ""
                        self.reporter.trouble(f"It works again after {seconds:.0f} s.")
                self._wait()
        finally:
            self.other_jobs.close()
            if self._events is not None:
                self._events.stop()

    def _step(self) -> None:
        self.other_jobs.before()
        self._note_look()
        self._follow()
        now = self.clock.monotonic()
        if now >= self._rescan_at:
            self._pending.add("", delay=0)
            self._rescan_at = now + self._rescan_seconds()
        self._index_due()
        if now >= self._sweep_at:
            self._sweep_at = now + _SWEEP
            sweep(self.engine, self.clock(), self.cache)
            self.other_jobs.hourly()

    def _note_look(self) -> None:
        """Store the time of this look for the metrics, once a minute."""
        if self.clock.monotonic() >= self._note_at:
            self._note_at = self.clock.monotonic() + _NOTES
            number = {WATCHED: int(self.clock().timestamp())}
            write_if_free(self.engine, lambda session: set_counters(session, number), lasting=False)

    def _in_pauses(self) -> None:
        self._note_look()
        self.other_jobs.in_pauses()

    def _wait(self) -> None:
        rest = self._rest_until - self.clock.monotonic()
        self.clock.sleep(self._pause or min(max(rest, self._pending.seconds()), _JOBS))

    def _follow(self) -> None:
        """Make sure that events are reported; after a gap, let everything be indexed."""
        if self._events is not None:
            if self._events.works():
                return
            self._mounts |= self._events.mounts.keys()
            self._events.stop()
            self._events, self._follow_at = None, 0.0
        if not self.settings.originals.is_dir():
            raise NotFoundError("The folder of originals does not exist; is the disk mounted?")
        now = self.clock.monotonic()
        if now < self._follow_at:
            return
        self._sees_all, self._rescan_at = False, 0.0
        try:
            self._events = FolderEvents(self.settings.originals, self._pending.add)
        except OSError as error:
            self._follow_at = now + self._rescan_seconds()
            self.reporter.trouble(f"Changes are not reported ({error.strerror}); the originals are scanned regularly.")
            return
        for folder in sorted(self._mounts - self._events.mounts.keys() - self._unmounted):
            self.reporter.trouble(f"{folder} is not mounted any more; its files stay in the library.")
        self._unmounted = self._mounts - self._events.mounts.keys()
        unwatched = self._events.unwatched()
        self._sees_all = not unwatched and not is_remote(self.settings.originals)
        if unwatched:
            self.reporter.trouble(f"{unwatched} folders are not watched; raise the limit fs.inotify.max_user_watches.")

    def _rescan_seconds(self) -> int:
        rescan, poll = self.settings.watch_rescan, self.settings.watch_poll
        return rescan if self._sees_all else min(rescan, poll)

    def _index_due(self) -> None:
        with UnitOfWork(self.engine) as session:
            due = requests.due(session, self.clock())
            if self.clock.monotonic() >= self._retry_at:
                self._retry_at = self.clock.monotonic() + _RETRIES
                for folder in due_folders(session, self.clock()):
                    self._pending.add(folder, delay=0)
        left = self._pending.take() if self.clock.monotonic() >= self._rest_until else set()
        try:
            for run in requests.runs_for(self.settings.originals, left, due):
                seen = {folder for folder in left if run.contains(folder)}
                try:
                    self._index(run.folder, force=run.force)
                except RunCancelledError as error:
                    self.reporter.trouble(error.message)
                    for folder in filter(None, seen):  # but a whole run, which a person stopped, does not begin again
                        self._pending.add(folder, delay=_AFTER_STOP)
                except NotFoundError:
                    if not run.folder:
                        raise
                    self._pending.add(parent(run.folder), delay=0)  # the folder vanished since the look at it
                left -= seen
        except Exception as error:
            for folder in left:
                self._pending.add(folder, delay=0)
            if isinstance(error, ConflictError):  # the index is busy, but jobs of other kinds go on
                self.other_jobs.often()
            raise
        self.other_jobs.often()

    def _index(self, folder: str, *, force: bool) -> None:
        unfinished: set[str] = set()
        changed = False

        def observe(file: Outcome) -> None:
            nonlocal changed
            if file.problem is not None and file.problem.reason in _UNFINISHED:
                unfinished.add(parent(file.name))
            elif file.status is Status.FAILED:
                self.reporter.failed_file(file)
                changed = changed or file.problem is None or file.problem.reason.validity in _KEPT
            elif file.status in _CHANGES:
                changed = True

        settle = self.settings.watch_settle
        subfolder = disk_name(requests.existing_folder(self.settings.originals, folder))
        options = IndexOptions(subfolder=subfolder, force=force, settle=settle, unmounted=self._unmounted)
        with UnitOfWork(self.engine) as session:
            observers = (self.reporter.progress, observe)
            summary = run_index(session, self.settings, self.clock, options, *observers, small_jobs=self._in_pauses)
        self._rest_until = max(self._rest_until, self.clock.monotonic()) + min(summary.seconds, _LONGEST_PAUSE)
        if summary.warning and summary.warning != self._warning:
            self.reporter.trouble(summary.warning)
        self._warning = summary.warning
        for inner in unfinished:
            self._pending.add(inner, delay=max(settle, self.quiet))
        if self.reporter.looked and not folder and not self._has_looked:
            self._has_looked = True
            self.reporter.looked(summary)
        elif changed or summary.rebuilt:
            self.reporter.ran(folder, summary)

    def _say(self, sentence: str) -> None:
        if not self._trouble:
            self._trouble_since = self.clock.monotonic()
        if sentence != self._trouble:
            self._trouble = sentence
            self.reporter.trouble(sentence)


def _sentence(error: Exception) -> str:
    match error:
        case PhotosvcError():
            what = error.message
        case DBAPIError():
            what = f"The database cannot be used: {str(error.orig).strip()}"
        case OSError():
            what = f"{error.strerror or type(error).__name__}: {error.filename or 'a file of the library'}"
        case _:
            what = f"Unexpected {type(error).__name__}: {error}"
    return f"{what} (trying again)"


def indexer_lock(settings: Settings, owner: str = "") -> AbstractContextManager[list[str]]:
    """Return the lock of the process that takes this machine's jobs; it yields the owners whose processes ended.

    Args:
        owner: of the jobs that the process will have; empty when it takes none.

    Raises:
        ConflictError: another process holds it.
    """
    return exclusive_lock(settings.cache / "indexer.lock", "Another process takes the jobs.", owner)


def takes_jobs(settings: Settings) -> bool:
    """Return whether a process of this machine takes jobs."""
    try:
        with indexer_lock(settings):
            return False
    except ConflictError:
        return True


@dataclass(frozen=True, slots=True)
class RequestedIndexer:
    """The indexer that does jobs until there have been none for a while."""

    engine: Engine
    settings: Settings
    clock: Clock
    other_jobs: OtherJobs
    idle_seconds: float = IDLE_SECONDS

    def run(self) -> None:
        """Do all jobs, unless another process of this machine does so."""
        while True:
            try:
                with indexer_lock(self.settings, self.other_jobs.owner) as former:
                    self.other_jobs.take_over(former)
                    try:
                        self._serve()
                    finally:
                        self.other_jobs.close()
            except ConflictError:
                return
            # A job that came after the last look saw the lock taken: it must not wait for the next one.
            with UnitOfWork(self.engine) as session:
                if not requests.due(session, self.clock()) and not self.other_jobs.waits():
                    return

    def _serve(self) -> None:
        began = idle_since = self.clock.monotonic()
        while (now := self.clock.monotonic()) - idle_since < self.idle_seconds and now - began < _ON_REQUEST_LONGEST:
            self.other_jobs.before()
            try:
                busy = bool(self.other_jobs.often()) | self.fulfil() | self.other_jobs.is_asked()
            except ConflictError:  # another index run is going on, perhaps on another machine
                busy = True
            if busy:
                idle_since = self.clock.monotonic()
            self.clock.sleep(_PAUSE)
        self.other_jobs.hourly()

    def fulfil(self, *, at_once: bool = False) -> bool:
        """Index the folders that wait, and return whether any do, also for another try.

        Args:
            at_once: also those that wait for another try, or that a run has which was killed.

        Raises:
            ConflictError: another index run is in progress; the jobs wait.
        """
        with UnitOfWork(self.engine) as session:
            waiting = requests.waiting(session) if at_once else requests.due(session, self.clock())
        for run in requests.runs_for(self.settings.originals, (), waiting):
            options = IndexOptions(subfolder=disk_name(run.folder), force=run.force)
            try:
                with UnitOfWork(self.engine) as session:
                    run_index(session, self.settings, self.clock, options, small_jobs=self.other_jobs.in_pauses)
            except RunCancelledError as error:
                _LOG.info("index on request: %s", error.message)
            except ConflictError:
                raise
            except (PhotosvcError, SQLAlchemyError, OSError) as error:
                _LOG.warning("index on request: %s", getattr(error, "message", None) or type(error).__name__)
        with UnitOfWork(self.engine) as session:
            return queue.is_waiting(session, [queue.INDEX])


def sweep(engine: Engine, now: datetime, cache: PictureCache) -> int:
    """Delete expired credentials, failed attempts and selections for archives, and abandoned files of the cache.

    Rows are deleted in short transactions.

    Returns:
        the number of rows.

    Raises:
        OSError: a file of the cache cannot be deleted.
    """
    total = 0
    for sweep_some in _SWEEPS:
        swept = 1
        while swept:
            with write_session(engine) as session:
                swept = sweep_some(session, now)
            total += swept
    with suppress(ConflictError):
        cache.evict()
    return total
