"""An index run: scan, find changes, extract in worker processes, store in batches."""

import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.files import clean_name, disk_name
from photosvc.core.problems import FileProblemError, Problem, Reason, Validity
from photosvc.core.process import usable_cores
from photosvc.index.batches import BatchWriter, restack_library
from photosvc.index.extract import Extraction, content_hash, extract, extract_and_show
from photosvc.index.identity import Contents, ReadFile
from photosvc.index.mounts import absent_disks, disk_numbers, remember_disks
from photosvc.index.place_estimates import estimate_places
from photosvc.index.rejections import put_off
from photosvc.index.requests import IndexRequest, as_request, run_lock, runs_for
from photosvc.index.run_log import IndexOptions, Observer, Outcome, RunRecorder, Status, Summary
from photosvc.index.scan import ScannedFile, disk_path, relative_folder, start_folder
from photosvc.index.worklist import Conditions, Worklist, find_changes, known_files
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX, QueuedJob
from photosvc.models.counters import SIGHT, in_index_run, read_counter
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.pictures.cache import PictureCache
from photosvc.search.rows.check import is_stale, rebuild
from photosvc.settings import Settings
from photosvc.workers.pool import Pool, WorkerPool

Result = TypeVar("Result")
_LOG = logging.getLogger("photosvc")
_BATCH_SECONDS = 2.0
#: Seconds between two pauses of a run, and for which a run in a pause reads files.
_PAUSE_SECONDS, _SMALL_SECONDS = 1.0, 5.0
#: Seconds until a small job is tried again that failed, or that has more to read.
_AGAIN_SECONDS = 30.0
#: Seconds until the next look for small jobs after one that failed, which may have waited for a connection.
_AFTER_FAILURE_SECONDS = 300.0
_MIB = 1 << 20
#: Files that a quick worker is sent in advance: it reads them while a batch is stored.
_QUEUE = 64
#: Called with the number of files read and the number to read.
Progress = Callable[[int, int], None]


def run_index(
    session: Session,
    settings: Settings,
    clock: Clock,
    options: IndexOptions,
    progress: Progress | None = None,
    observer: Observer | None = None,
    *,
    small_jobs: Callable[[], object] = lambda: None,
) -> Summary:
    """Bring the library up to date with the folder of originals, which is only read.

    Every file is counted in the summary and passed to the observer. The run pauses every other second for small jobs,
    such as the folder of an upload.

    Args:
        session: outside of a transaction.
        small_jobs: called in each pause.

    Raises:
        NotFoundError: the originals or the subfolder do not exist.
        InvalidValueError: the subfolder is not below the originals.
        ConflictError: another run is in progress.
    """
    started = clock.monotonic()
    folder = clean_name(start_folder(settings.originals, options.subfolder))
    summary = Summary(observer=observer)
    with run_lock(session, settings, clock, IndexRequest(folder, options.force), writes=not options.dry_run) as lease:
        pauses = _Pauses(session.get_bind().engine, settings, clock, small_jobs, lease)
        if lease is None:
            _Run(session, settings, clock, options, summary, pauses).count()
        else:
            recorder = RunRecorder(lease, summary)
            with in_index_run(session):
                if is_stale(session):
                    summary.rebuilt = rebuild(session)
                restack_library(session, settings, clock, lease)
                remember_disks(session, settings.originals)
                observers = [recorder.progress, progress] if progress else [recorder.progress]
                _Run(session, settings, clock, options, summary, pauses, observers).index()
                estimate_places(session, clock, settings.timezone, lease, wanted=settings.estimate_places)
                session.rollback()
                _request_sight(session, clock)
            recorder.done(folder)
    summary.seconds = clock.monotonic() - started
    return summary


def _request_sight(session: Session, clock: Clock) -> None:
    """Request a look at the pictures that are due, if sight is on."""
    wanted = read_counter(session, SIGHT)
    session.rollback()
    if wanted:
        with write_session(session.get_bind().engine) as writing:
            queue.add(writing, queue.SIGHT, "", clock(), {}, large=True)


@dataclass(slots=True)
class _Run:
    """One index run over a folder."""

    session: Session
    settings: Settings
    clock: Clock
    options: IndexOptions
    summary: Summary
    pauses: "_Pauses"
    progress: Sequence[Progress] = ()
    conditions: Conditions = field(init=False)
    started: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.conditions = Conditions.of(self.settings)
        self.started = self.clock()

    def index(self) -> None:
        """Read the files that are new or changed, store them, and mark those that are gone."""
        folder = relative_folder(self.settings.originals, self.options.subfolder)
        with Worklist() as work:
            self._compare(work, folder)
            total = work.count_to_read()
            with self._pool(content_hash, str, total) as hashing:
                contents = Contents(self.settings.originals, work, clean_name(folder), hashing, self.pauses)
                writer = BatchWriter(self.session, self.settings, self.clock, self.summary, self.pauses.lease, contents)
                has_more = total > 0
                while has_more:
                    self._read(work, writer)
                    has_more = work.go_on()
            writer.mark_missing(self.pauses.left(work.gone()))
            put_off(self.session, clean_name(folder), self.started)

    def count(self) -> None:
        """Count what `index` would do."""
        with Worklist() as work:
            self._compare(work, relative_folder(self.settings.originals, self.options.subfolder))
            for scanned, is_known in work.to_read():
                self.summary.add(Outcome(scanned.name, Status.UPDATED if is_known else Status.INDEXED))
            for name in work.gone():
                self.summary.add(Outcome(name, Status.MISSING))

    def _compare(self, work: Worklist, folder: str) -> None:
        """Compare the folder with the database; files of disks that were away at any time do not count as gone."""
        originals = self.settings.originals
        disks, absent = disk_numbers(originals), absent_disks(self.session, originals)
        known = known_files(self.session, folder, self.started, self.conditions)
        find_changes(
            originals,
            folder,
            known,
            self.summary,
            work,
            force=self.options.force,
            clock=self.clock,
            settle=self.options.settle,
            pause=self.pauses,
        )
        absent |= self.options.unmounted | absent_disks(self.session, originals) | _changed(disks, originals)
        for disk in sorted(absent):
            if count := work.keep(disk):
                self.summary.unmounted[disk] = count
        self.summary.kept = work.count_kept()
        self.session.rollback()

    def _read(self, work: Worklist, writer: BatchWriter) -> None:
        """Extract the files to read in worker processes and store the results in batches.

        Raises:
            _UnfinishedError: the time of the run is over.
        """
        total = work.count_to_read()
        reading: dict[Path, ScannedFile] = {}

        def paths() -> Generator[Path, None, None]:
            for scanned, _ in work.to_read(newest_first=self.options.newest_first):
                path = disk_path(self.settings.originals, scanned.name)
                reading[path] = scanned
                yield path

        batch: list[ReadFile] = []
        began = self.clock.monotonic()
        end = began + self.options.most_seconds
        with closing(paths()) as to_read, closing(self._results(to_read, total)) as results:
            for done, (path, result) in enumerate(results, 1):
                batch.append((reading.pop(path), self._noted(result)))
                for observe in self.progress:
                    observe(done, total)
                if len(batch) >= writer.size or self.clock.monotonic() - began >= _BATCH_SECONDS:
                    writer.store(batch)
                    if self.clock.monotonic() >= end and done < total:
                        raise _UnfinishedError
                    self.pauses()
                    batch, began = [], self.clock.monotonic()
            if batch:
                writer.store(batch)

    def _results(
        self, paths: Iterator[Path], total: int
    ) -> Generator[tuple[Path, Extraction | PhotosvcError], None, None]:
        """Yield each path with its extraction or the error of its worker, in the order in which they finish.

        If a decoder died or failed, the file is read again without thumbnails, and then without decoding.
        """
        max_bytes = self.settings.max_file_size * _MIB
        read = partial(extract, max_bytes=max_bytes)
        ways: list[tuple[Callable[[Path], Any], Any]] = [(read, Extraction), (partial(read, decode=False), Extraction)]
        if self.options.thumbnails:
            cache = PictureCache(self.settings.cache, self.settings.cache_size * _MIB)
            show = partial(extract_and_show, max_bytes=max_bytes, cache=cache)
            ways.insert(0, (show, tuple[Extraction, int, str]))
        failed: dict[Path, FileProblemError] = {}
        for number, (way, kind) in enumerate(ways, 1):
            again = []
            with self._pool(way, kind, total) as pool:
                for path, result in pool.run(paths):
                    if number < len(ways) and isinstance(result, FileProblemError) and _may_be_decoder(result):
                        failed[path] = result
                        again.append(path)
                    elif number == len(ways):
                        problem = failed[path].problem
                        yield path, replace(result, problem=problem) if isinstance(result, Extraction) else failed[path]
                    elif isinstance(result, tuple):
                        extraction, made, refusal = result
                        self.summary.thumbnails += made
                        self.summary.cache_refusal = refusal or self.summary.cache_refusal
                        yield path, extraction
                    else:
                        yield path, result
            if not again:
                return
            paths, total = iter(again), len(again)

    def _pool(self, function: Callable[[Path], Result], result: type[Result], total: int) -> Pool[Path, Result]:
        timeout, memory_bytes = self.settings.index_timeout, self.settings.index_memory * _MIB
        if self.options.scheduler is not None:
            return self.options.scheduler.pool(function, result=result, timeout=timeout, memory_bytes=memory_bytes)
        workers = min(self.options.workers or self.settings.index_workers or usable_cores(), total)
        return WorkerPool(
            function, result=result, workers=workers, timeout=timeout, memory_bytes=memory_bytes, in_advance=_QUEUE
        )

    def _noted(self, result: Extraction | PhotosvcError) -> Extraction | Problem:
        """Return an extraction, or the problem behind an error of a worker, with the conditions of the problem."""
        if isinstance(result, Extraction):
            return replace(result, problem=self.conditions.noted(result.problem)) if result.problem else result
        if isinstance(result, FileProblemError):
            return self.conditions.noted(result.problem)
        return Problem.of(Reason.READER_ERROR, type(result).__name__)


@dataclass(slots=True)
class _Pauses:
    """The pauses of a run, in which small jobs are done. Call it while the session has no open write transaction."""

    engine: Engine
    settings: Settings
    clock: Clock
    small_jobs: Callable[[], object]
    lease: Lease | None
    is_inner: bool = False
    """True for a run that is itself done in a pause; it has no pauses."""
    _covered: list[IndexRequest] = field(default_factory=list, init=False)
    _failed: dict[str, float] = field(default_factory=dict, init=False)
    """Folders that could not be indexed completely, with the time of the next try."""
    _next: float = field(default=0.0, init=False)

    def __call__(self) -> None:
        now = self.clock.monotonic()
        if self.lease is None or self.is_inner or now < self._next:
            return
        try:
            with UnitOfWork(self.engine) as session:
                self.lease.check(session)
                due = queue.due(session, INDEX, self.clock())
        except SQLAlchemyError as error:  # for example, the pool of a host app has no second connection
            _LOG.info("index: no look for small jobs: %s", type(error).__name__)
            self._next = self.clock.monotonic() + _AFTER_FAILURE_SECONDS
            return
        due = [job for job in due if self._failed.get(job.subject, now) <= now]
        small = [request for request in map(as_request, due) if not request.is_large]
        for run in runs_for(self.settings.originals, (), small):
            if not run.is_large:  # else its folder is gone: a later run finds out
                self._run(run, [job for job in due if run.covers(job)])
        self.small_jobs()
        self._next = self.clock.monotonic() + _PAUSE_SECONDS

    def left(self, names: Iterator[str]) -> Iterator[str]:
        """Yield the names outside of the folders indexed in a pause: files that were gone may be back there."""
        for name in names:
            if not any(run.contains(name) for run in self._covered):
                yield name

    def _run(self, run: IndexRequest, done: Sequence[QueuedJob]) -> None:
        subfolder = disk_name(run.folder)
        options = IndexOptions(subfolder=subfolder, workers=1, newest_first=True, most_seconds=_SMALL_SECONDS)
        self._covered.append(run)
        try:
            with UnitOfWork(self.engine) as session:
                _Run(session, self.settings, self.clock, options, Summary(), replace(self, is_inner=True)).index()
            with write_session(self.engine) as session:
                queue.forget_unchanged(session, done)
        except (PhotosvcError, SQLAlchemyError, OSError) as error:
            again = self.clock.monotonic() + _AGAIN_SECONDS
            self._failed |= dict.fromkeys((job.subject for job in done), again)
            _LOG.info("index in a pause: %s", getattr(error, "message", None) or type(error).__name__)


class _UnfinishedError(ConflictError):
    """The run has used up its time; a later one goes on."""


def _changed(disks: Mapping[str, tuple[int, ...]], originals: Path) -> set[str]:
    """Return the folders whose disk has another number by now: it was away during a part of the scan."""
    present = disk_numbers(originals)
    return {folder for folder, number in disks.items() if folder and present.get(folder) != number}


def rebuild_search(session: Session, settings: Settings, clock: Clock) -> int:
    """Render every search row again and return their number.

    Raises:
        ConflictError: an index run is in progress.
    """
    with run_lock(session, settings, clock):
        return rebuild(session)


def _may_be_decoder(error: FileProblemError) -> bool:
    """Return whether the decoder may have caused the error, so that a try without decoding may succeed."""
    return error.problem.reason.validity is Validity.SPACED
