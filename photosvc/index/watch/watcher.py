"""The watcher: one loop that turns events, wishes and time into index runs and sweeps."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from photosvc.core.clock import Clock
from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.paths import disk_name
from photosvc.core.problems import Reason, Validity
from photosvc.index.running import wishes
from photosvc.index.running.job import Progress, run_index
from photosvc.index.running.run_lock import RunCancelledError
from photosvc.index.running.summary import IndexOptions, Outcome, Status, Summary
from photosvc.index.watch.events import FolderEvents
from photosvc.index.watch.mounts import is_remote
from photosvc.index.watch.pending import Pending, parent
from photosvc.index.watch.runs import existing_folder, fulfil_run, gathered_runs
from photosvc.index.watch.sweep import sweep
from photosvc.models.database.transactions import UnitOfWork
from photosvc.pictures.cache.folder import PictureCache
from photosvc.settings import Settings

#: Seconds between two looks at the wishes.
_WISHES: Final = 1.0
#: Seconds between two sweeps of what has expired.
_SWEEP: Final = 3600.0
#: Seconds after which a folder is looked at although its events go on.
_LONGEST: Final = 30.0
#: Seconds until the second look at a new folder.
_AGAIN: Final = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_CHANGES: Final = frozenset({Status.INDEXED, Status.UPDATED, Status.MISSING})
#: What another look at the same file may change.
_UNFINISHED: Final = frozenset({Reason.UNSETTLED, Reason.CHANGED, Reason.VANISHED})


@dataclass(frozen=True, slots=True)
class Reporter:
    """What the watcher tells; each is called by the thread that runs it."""

    ran: Callable[[str, Summary], None]
    """A run over a folder changed the library."""
    failed_file: Callable[[Outcome], None]
    """A file cannot be read."""
    trouble: Callable[[str], None]
    """Something hinders the watcher, which goes on; a sentence."""
    progress: Progress | None = None
    """Files read and files to read, of a run that goes on."""
    looked: Callable[[Summary], None] | None = None
    """The first run over all originals has ended, whether or not it changed the library."""


def _nothing() -> None:
    return None


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Chores:
    """Further work of the indexer, of packages above this one."""

    often: Callable[[], object] = _nothing
    """Called after each look at the wishes."""
    hourly: Callable[[], object] = _nothing
    waits: Callable[[], bool] = _never
    """Whether `often` has more to do."""


@dataclass(slots=True)
class Watcher:
    """Keeps the library up to date with the originals until an exception ends it.

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
    chores: Chores = field(default_factory=Chores)
    _pending: Pending = field(init=False)
    _events: FolderEvents | None = field(default=None, init=False)
    _sees_all: bool = field(default=False, init=False)
    _follow_at: float = field(default=0.0, init=False)
    _rescan_at: float = field(default=0.0, init=False)
    _sweep_at: float = field(default=0.0, init=False)
    _pause: float = field(default=0.0, init=False)
    _rest: float = field(default=0.0, init=False)
    _trouble: str = field(default="", init=False)
    _warning: str = field(default="", init=False)
    _has_looked: bool = field(default=False, init=False)
    _mounts: frozenset[str] = field(default=frozenset(), init=False)
    _unmounted: frozenset[str] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        self._pending = Pending(quiet=self.quiet, longest=max(_LONGEST, self.quiet), again=_AGAIN)

    def run(self) -> None:
        """Watch until an exception ends it that is no error, such as that of a signal handler."""
        try:
            while True:
                try:
                    self._step()
                except Exception as error:  # noqa: BLE001 - the next try may succeed
                    self._pause = min(max(_FIRST_PAUSE, self._pause * 2), _LONGEST_PAUSE)
                    self._say(_sentence(error))
                else:
                    self._pause, self._trouble = 0.0, ""
                self._wait()
        finally:
            if self._events is not None:
                self._events.stop()

    def _step(self) -> None:
        self._follow()
        now = time.monotonic()
        if now >= self._rescan_at:
            self._pending.add("", delay=0)
            self._rescan_at = now + self._rescan_seconds()
        self._index_due()
        if now >= self._sweep_at:
            self._sweep_at = now + _SWEEP
            sweep(self.engine, self.clock(), self.cache)
            self.chores.hourly()

    def _wait(self) -> None:
        # After a run the watcher rests as long, so that constant changes take half of its time at most.
        time.sleep(max(self._pause, min(self._rest, _LONGEST_PAUSE)) or min(self._pending.seconds(), _WISHES))
        self._rest = 0.0

    def _follow(self) -> None:
        """Make sure that events are reported; after a gap, everything is looked at."""
        if self._events is not None:
            if self._events.works():
                return
            self._mounts |= self._events.mounts.keys()
            self._events.stop()
            self._events, self._follow_at = None, 0.0
        if not self.settings.originals.is_dir():
            msg = "The folder of originals does not exist; is the disk mounted?"
            raise NotFoundError(msg)
        now = time.monotonic()
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
            wished = wishes.waiting(session)
        root = self.settings.originals
        for number, (folder, force) in enumerate(runs := gathered_runs(root, self._pending.take(), wished)):
            try:
                self._index(folder, force=force)
            except RunCancelledError as error:
                self.reporter.trouble(error.message)
            except Exception:
                for left, _ in runs[number:]:
                    self._pending.add(left, delay=0)
                raise
            fulfil_run(self.engine, wished, folder, force=force)
        self.chores.often()

    def _index(self, folder: str, *, force: bool) -> None:
        unfinished: set[str] = set()
        changed = False

        def observe(file: Outcome) -> None:
            nonlocal changed
            if file.problem is not None and file.problem.reason in _UNFINISHED:
                unfinished.add(parent(file.name))
            elif file.status is Status.FAILED:
                self.reporter.failed_file(file)
                changed = changed or file.problem is None or file.problem.reason.validity is Validity.UNTIL_CHANGED
            elif file.status in _CHANGES:
                changed = True

        settle = self.settings.watch_settle
        subfolder = disk_name(existing_folder(self.settings.originals, folder))
        options = IndexOptions(subfolder=subfolder, force=force, settle=settle, unmounted=self._unmounted)
        with UnitOfWork(self.engine) as session:
            summary = run_index(session, self.settings, self.clock, options, self.reporter.progress, observe)
        self._rest += summary.seconds
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
