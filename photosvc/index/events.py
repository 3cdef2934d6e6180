"""The events of the operating system that tell which folders of originals change, and the folders that wait for a run.

Systems lose events of a burst, and of folders that are moved in whole. An event therefore only says that a folder is to
be looked at again; scans of all originals find the changes whose events were lost. A folder waits until nothing has
happened in it for a moment.
"""

import logging
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.files import clean_name
from photosvc.index.exclusions import is_hidden, is_rule
from photosvc.index.mounts import mounts_below
from photosvc.index.requests import parent

#: Most folders that may wait; with more, all originals are looked at.
_MOST_WAITING: Final = 10_000

#: Opening, reading and each single write are left out: they are most of the events, and events overflow the queue.
_EVENTS: Final[list[type[FileSystemEvent]]] = [
    FileCreatedEvent,
    FileClosedEvent if sys.platform == "linux" else FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
#: The time in which folders may appear faster than they are watched.
_LATE_SECONDS: Final = 3.0
_LOGGER: Final = logging.getLogger("watchdog")


#: Called with a folder to look at, as the library writes it, and with `new` if the folder itself has just appeared.
Report: TypeAlias = Callable[..., None]


class FolderEvents:
    """The events of folders that change, reported until it is stopped.

    Args:
        report: called by another thread.

    Raises:
        OSError: the folder cannot be watched.
    """

    def __init__(self, root: Path, report: Report) -> None:
        self._root = Path(os.path.realpath(root))
        self._identity = _identity(self._root)
        self.mounts = self._mounted()
        """The folders on which disks are mounted, as the library writes them, with the numbers of these mounts."""
        self._observer = Observer()
        self._warnings = _Warnings(lambda: report(""))
        # A new folder is found by its event and by listing its parent; watchdog warns that it watches it already.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
        handler = _Handler(self._root, report)
        try:
            self._observer.schedule(handler, self._root, recursive=True, event_filter=_EVENTS)
            self._observer.start()
        except BaseException:
            self._observer.stop()  # some of its threads run before it does
            raise
        _LOGGER.addHandler(self._warnings)

    def works(self) -> bool:
        """Return whether it still follows the folder that has the name now, and all disks that are mounted below it."""
        threads = (self._observer, *self._observer.emitters)
        is_same = _identity(self._root) == self._identity and self._mounted() == self.mounts
        return is_same and all(thread.is_alive() for thread in threads)

    def _mounted(self) -> dict[str, str]:
        mounts = mounts_below(self._root).items()
        return {clean_name(os.path.relpath(mount, self._root)): number for mount, number in mounts}

    def stop(self) -> None:
        """End its threads."""
        _LOGGER.removeHandler(self._warnings)
        self._observer.stop()
        self._observer.join()

    def unwatched(self) -> int:
        """Return the number of folders that are not watched because the system has no watches left; 0 if unknown.

        A folder that has just appeared is watched a moment later, so the number counts when it stays above zero.
        """
        end = SYSTEM_CLOCK.monotonic() + _LATE_SECONDS
        while (count := self._unwatched_now()) and SYSTEM_CLOCK.monotonic() < end:
            SYSTEM_CLOCK.sleep(0.05)
        return count

    def _unwatched_now(self) -> int:
        if sys.platform != "linux":
            return 0
        watches = 0
        for described in Path("/proc/self/fdinfo").iterdir():
            with suppress(OSError):
                watches += described.read_text().count("inotify wd:")
        folders = sum(1 for _ in os.walk(self._root))
        return max(0, folders - watches)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Handler(FileSystemEventHandler):
    def __init__(self, root: Path, report: Report) -> None:
        self._root = os.fspath(root)
        self._report = report

    def dispatch(self, event: FileSystemEvent) -> None:
        ends = (event.src_path, event.dest_path)
        paths = [os.fsdecode(path) for path in ends if isinstance(path, str | bytes) and path]
        for path in paths:
            relative = os.path.relpath(path, self._root)
            if relative.startswith(".."):
                continue
            name = "" if relative == "." else clean_name(relative)
            if not is_hidden(name) or is_rule(name):
                appeared = isinstance(event, DirCreatedEvent | DirMovedEvent) and path == paths[-1]
                self._report(name if event.is_directory else parent(name), new=appeared)


class _Warnings(logging.Handler):
    """The handler of warnings, each of which means that events may be lost.

    The queue is full, a thread ended, or a folder cannot be read.
    """

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, _record: logging.LogRecord) -> None:
        self._lost()


class Pending:
    """Folders with events, each with the time at which it is due. Any thread may add one.

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
