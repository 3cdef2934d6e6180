"""Request counts and latencies, added up over all worker processes.

Each process counts in a file of its own that it maps into memory; `read` adds up the files of all processes. A process
holds a lock on its file while it lives, and a new process continues the file of one that has ended. So counts never
decrease, not even at a restart, and there are never more files than there were processes at one time.

A file is a sequence of records, one for each series: its method, status and route as text, the sum of seconds, and the
number of requests in each bucket.
"""

import errno
import fcntl
import logging
import mmap
import os
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from struct import Struct
from threading import Lock
from typing import NamedTuple
from weakref import finalize

from photosvc.core.clock import SYSTEM_CLOCK, Clock

#: Upper bounds of the buckets, in seconds; one more bucket has no upper bound.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LOG = logging.getLogger("photosvc")
_KEY_BYTES, _CELL_BYTES = 256, 8
_CELLS = 2 + len(BOUNDS)
_RECORD = Struct(f"{_KEY_BYTES}s{_CELLS}d")
#: In place of the method, for series that count no requests.
_ENDED_SEARCH = "ended search"
#: Seconds for which a process that could not write its file does not count.
_PAUSE = 60.0
#: The name contains the version of the format, so that a later version does not read these files.
_NAME = "requests-1-{}"


class Series(NamedTuple):
    """The key of a separate count. `route` is the rule with its placeholders, which bounds the number of series."""

    route: str
    method: str
    status: int


class Latency(NamedTuple):
    """The durations of a series' requests."""

    seconds: float
    """The sum of all durations."""
    buckets: tuple[int, ...]
    """The number of requests that took at most each of `BOUNDS`; the last is the number of all requests."""


class RequestCounts:
    """Counts of the requests that all processes of an instance folder answered.

    Args:
        folder: the folder of the files; created by the first count. If it cannot be written, counting pauses.
        clock: of that pause.
    """

    def __init__(self, folder: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._folder = folder
        self._lock = Lock()
        self._process = 0
        self._file: _ProcessFile | None = None
        self._again_at = 0.0

    def add(self, series: tuple[str, str, int], seconds: float) -> None:
        """Count a request; `series` has the fields of `Series`."""
        with self._lock:
            try:
                if self._process != os.getpid():  # the first count, or the first after a fork
                    self._process, self._file, self._again_at = os.getpid(), None, 0.0
                if self._file is None and self._clock.monotonic() >= self._again_at:
                    self._file = _ProcessFile(self._folder)
                if self._file is not None:
                    self._file.add(series, seconds)
            except OSError as error:
                self._file, self._again_at = None, self._clock.monotonic() + _PAUSE
                _LOG.warning("requests are not counted: %s", str(error))  # the error would keep the file open

    def add_ended_search(self, reason: str) -> None:
        """Count a search that was ended for this reason, in addition to its request."""
        self.add((reason, _ENDED_SEARCH, 0), 0.0)

    def ended_searches(self) -> dict[str, int]:
        """Return the number of ended searches by reason."""
        return {one.route: latency.buckets[-1] for one, latency in self._sums().items() if one.method == _ENDED_SEARCH}

    def read(self) -> dict[Series, Latency]:
        """Return the sums over all files, by series in order."""
        return {series: latency for series, latency in self._sums().items() if series.method != _ENDED_SEARCH}

    def _sums(self) -> dict[Series, Latency]:
        sums: dict[Series, list[float]] = {}
        for path in self._folder.glob(_NAME.format("*")):
            for series, cells in _records(path.read_bytes()):
                sums[series] = [one + other for one, other in zip(cells, sums.get(series, [0.0] * _CELLS), strict=True)]
        return {
            series: Latency(seconds, tuple(accumulate(map(int, buckets))))
            for series, (seconds, *buckets) in sorted(sums.items())
        }


class _ProcessFile:
    """The counts of this process; raises `OSError` if the file cannot be opened or extended."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = _lock_first_free(folder)
        finalize(self, os.close, self._file)
        known = [series for series, _ in _records(os.pread(self._file, os.fstat(self._file).st_size, 0))]
        self._places: dict[tuple[str, str, int], int] = {series: _place(at) for at, series in enumerate(known)}
        os.ftruncate(self._file, len(known) * _RECORD.size)  # a process may have died while it added a record
        if known:
            self._map()

    def add(self, series: tuple[str, str, int], seconds: float) -> None:
        place = self._places.get(series)
        if place is None:
            place = self._append(Series(*series))
        self._cells[place] += seconds
        self._cells[place + 1 + bisect_left(BOUNDS, seconds)] += 1

    def _append(self, series: Series) -> int:
        number = len(self._places)
        key = f"{series.method}\t{series.status}\t{series.route}".encode()[:_KEY_BYTES]
        # Written, not only mapped: on a full disk a write raises an error, and a mapped page would end the process.
        written = os.pwrite(self._file, _RECORD.pack(key, *[0.0] * _CELLS), number * _RECORD.size)
        if written < _RECORD.size:  # the disk had room for a part of it
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._map()
        self._places[series] = _place(number)
        return _place(number)

    def _map(self) -> None:
        self._cells = memoryview(mmap.mmap(self._file, 0)).cast("d")


def _lock_first_free(folder: Path) -> int:
    """Open and lock the first of the numbered files that no living process has locked; return its descriptor."""
    number = 0
    while True:
        file = os.open(folder / _NAME.format(number), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            number += 1
        else:
            return file


def _records(data: bytes) -> Iterator[tuple[Series, tuple[float, ...]]]:
    """Yield the complete records of a file."""
    for key, *cells in _RECORD.iter_unpack(data[: len(data) // _RECORD.size * _RECORD.size]):
        method, status, route = key.rstrip(b"\0").decode(errors="replace").split("\t", 2)
        yield Series(route, method, int(status)), tuple(cells)


def _place(number: int) -> int:
    """Return the index of a record's first cell in the mapped file."""
    return (number * _RECORD.size + _KEY_BYTES) // _CELL_BYTES
