"""An index run: scan, find changes, extract in worker processes, store in batches."""

import logging
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
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
from photosvc.index.run_log import IndexOptions, Observer, Outcome, Reporter, Status, Summary
from photosvc.index.scan import FoundFile, disk_path, relative_folder, start_folder
from photosvc.index.worklist import Conditions, Worklist, find_changes, known_files
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX, Waiting
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.pictures.prerender import UsualThumbnails
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
            _index(session, settings, clock, options, summary, pauses)
        else:
            reporter = Reporter(lease, summary)
            if is_stale(session):
                summary.rebuilt = rebuild(session)
            restack_library(session, settings, clock, lease)
            remember_disks(session, settings.originals)
            told = [reporter.progress, progress] if progress else [reporter.progress]
            _index(session, settings, clock, options, summary, pauses, told)
            estimate_places(session, clock, settings.timezone, lease, wanted=settings.estimate_places)
            session.rollback()
            reporter.done(folder)
    summary.seconds = clock.monotonic() - started
    return summary


def _index(
    session: Session,
    settings: Settings,
    clock: Clock,
    options: IndexOptions,
    summary: Summary,
    pauses: "_Pauses",
    told: Sequence[Progress] = (),
) -> None:
    """Scan a folder, read the files that are new or changed, and store them, or only count them without a lease."""
    now, conditions = clock(), Conditions.of(settings)
    folder = relative_folder(settings.originals, options.subfolder)
    with Worklist() as work:
        disks, absent = disk_numbers(settings.originals), absent_disks(session, settings.originals)
        known = known_files(session, folder, now, conditions)
        find_changes(
            settings.originals,
            folder,
            known,
            summary,
            work,
            force=options.force,
            clock=clock,
            settle=options.settle,
            pause=pauses,
        )
        absent |= options.unmounted | absent_disks(session, settings.originals)
        _keep_unmounted(work, absent | _changed(disks, settings.originals), summary)
        summary.kept = work.count_kept()
        session.rollback()
        if options.dry_run:
            for found, is_known in work.to_read():
                summary.add(Outcome(found.name, Status.UPDATED if is_known else Status.INDEXED))
            for name in work.gone():
                summary.add(Outcome(name, Status.MISSING))
            return
        total = work.count_to_read()
        with _pool(content_hash, str, total, settings, options) as hashing:
            contents = Contents(settings.originals, work, clean_name(folder), hashing, pauses)
            writer = BatchWriter(session, settings, clock, summary, pauses.lease, contents)
            goes_on = total > 0
            while goes_on:
                _read(work, writer, settings, clock, options, summary, told, pauses, conditions)
                goes_on = work.go_on()
        writer.mark_missing(pauses.left(work.gone()))
        put_off(session, clean_name(folder), now)


@dataclass(slots=True)
class _Pauses:
    """The pauses of a run, in which small jobs are done; call it where the session has no open write transaction."""

    engine: Engine
    settings: Settings
    clock: Clock
    small_jobs: Callable[[], object]
    lease: Lease | None
    is_inner: bool = False
    """True for the pauses of a run that is itself done in a pause: there are none."""
    _covered: list[IndexRequest] = field(default_factory=list, init=False)
    _failed: dict[str, float] = field(default_factory=dict, init=False)
    """Folders that could not be indexed or not wholly, with the time of the next try."""
    _next: float = field(default=0.0, init=False)

    def __call__(self) -> None:
        now = self.clock.monotonic()
        if self.lease is None or self.is_inner or now < self._next:
            return
        try:
            with UnitOfWork(self.engine) as session:
                self.lease.check(session)
                due = [
                    one for one in queue.due(session, INDEX, self.clock()) if self._failed.get(one.subject, now) <= now
                ]
        except SQLAlchemyError as error:  # such as no second connection in the pool of a host app: they wait for later
            _LOG.info("index: no look for small jobs: %s", type(error).__name__)
            self._next = self.clock.monotonic() + _AFTER_FAILURE_SECONDS
            return
        small = [one for one in map(as_request, due) if not one.is_large]
        for run in runs_for(self.settings.originals, (), small):
            if not run.is_large:  # else its folder is gone: a later run finds out
                self._run(run, [one for one in due if run.covers(one)])
        self.small_jobs()
        self._next = self.clock.monotonic() + _PAUSE_SECONDS

    def left(self, names: Iterator[str]) -> Iterator[str]:
        """Yield the names outside of the folders that were looked at in a pause: lost files may be back there."""
        for name in names:
            if not any(run.contains(name) for run in self._covered):
                yield name

    def _run(self, run: IndexRequest, done: Sequence[Waiting]) -> None:
        subfolder = disk_name(run.folder)
        options = IndexOptions(subfolder=subfolder, workers=1, newest_first=True, most_seconds=_SMALL_SECONDS)
        self._covered.append(run)
        try:
            with UnitOfWork(self.engine) as session:
                _index(session, self.settings, self.clock, options, Summary(), replace(self, is_inner=True))
            with write_session(self.engine) as session:
                queue.forget_unchanged(session, done)
        except (PhotosvcError, SQLAlchemyError, OSError) as error:
            again = self.clock.monotonic() + _AGAIN_SECONDS
            self._failed |= dict.fromkeys((one.subject for one in done), again)
            _LOG.info("index in a pause: %s", getattr(error, "message", None) or type(error).__name__)


class _UnfinishedError(ConflictError):
    """The run has read for as long as it may; a later one goes on."""


def _changed(disks: Mapping[str, tuple[int, ...]], originals: Path) -> set[str]:
    """Return the folders whose disk has another number by now: it was away during a part of the scan."""
    present = disk_numbers(originals)
    return {folder for folder, number in disks.items() if folder and present.get(folder) != number}


def _keep_unmounted(work: Worklist, disks: Collection[str], summary: Summary) -> None:
    """Keep the files of disks that were not mounted before, during or after the scan."""
    for disk in sorted(disks):
        if count := work.keep(disk):
            summary.unmounted[disk] = count


def rebuild_search(session: Session, settings: Settings, clock: Clock) -> int:
    """Render every search row again and return their number.

    Raises:
        ConflictError: an index run is in progress.
    """
    with run_lock(session, settings, clock):
        return rebuild(session)


def _read(
    work: Worklist,
    writer: BatchWriter,
    settings: Settings,
    clock: Clock,
    options: IndexOptions,
    summary: Summary,
    told: Sequence[Progress],
    pause: Callable[[], object],
    conditions: Conditions,
) -> None:
    """Extract the files to read in worker processes and store the results in batches, until the time is over."""
    total = work.count_to_read()
    given: dict[Path, FoundFile] = {}

    def paths() -> Generator[Path, None, None]:
        for found, _ in work.to_read(newest_first=options.newest_first):
            path = disk_path(settings.originals, found.name)
            given[path] = found
            yield path

    batch: list[ReadFile] = []
    began = clock.monotonic()
    end = began + options.most_seconds
    with closing(paths()) as wanted, closing(_results(wanted, total, settings, options, summary)) as results:
        for done, (path, result) in enumerate(results, 1):
            batch.append((given.pop(path), _noted(result, conditions)))
            for progress in told:
                progress(done, total)
            if len(batch) >= writer.size or clock.monotonic() - began >= _BATCH_SECONDS:
                writer.store(batch)
                if clock.monotonic() >= end and done < total:
                    raise _UnfinishedError
                pause()
                batch, began = [], clock.monotonic()
        if batch:
            writer.store(batch)


def _results(
    paths: Iterator[Path], total: int, settings: Settings, options: IndexOptions, summary: Summary
) -> Generator[tuple[Path, Extraction | PhotosvcError], None, None]:
    """Yield each path with its extraction or the error of its worker, in the order in which they finish.

    Where a decoder died or failed, the file is read again without thumbnails, and then without decoding.
    """
    read = partial(extract, max_bytes=settings.max_file_size * _MIB)
    ways: list[tuple[Callable[[Path], Any], Any]] = [(read, Extraction), (partial(read, decode=False), Extraction)]
    if options.thumbnails:
        usual = UsualThumbnails(settings.cache, settings.cache_size * _MIB)
        show = partial(extract_and_show, max_bytes=settings.max_file_size * _MIB, thumbnails=usual)
        ways.insert(0, (show, tuple[Extraction, int, str]))
    failed: dict[Path, FileProblemError] = {}
    for number, (way, kind) in enumerate(ways, 1):
        again = []
        with _pool(way, kind, total, settings, options) as pool:
            for path, result in pool.run(paths):
                if number < len(ways) and isinstance(result, FileProblemError) and _was_dear(result):
                    failed[path] = result
                    again.append(path)
                elif number == len(ways):
                    problem = failed[path].problem
                    yield path, replace(result, problem=problem) if isinstance(result, Extraction) else failed[path]
                elif isinstance(result, tuple):
                    extraction, made, refusal = result
                    summary.thumbnails += made
                    summary.cache_refusal = refusal or summary.cache_refusal
                    yield path, extraction
                else:
                    yield path, result
        if not again:
            return
        paths, total = iter(again), len(again)


def _was_dear(error: FileProblemError) -> bool:
    """Return whether the decoder may have caused the error, so that a try without decoding may succeed."""
    return error.problem.reason.validity is Validity.SPACED


def _pool(
    function: Callable[[Path], Result],
    result: type[Result],
    total: int,
    settings: Settings,
    options: IndexOptions,
) -> Pool[Path, Result]:
    timeout, memory_bytes = settings.index_timeout, settings.index_memory * _MIB
    if options.scheduler is not None:
        return options.scheduler.pool(function, result=result, timeout=timeout, memory_bytes=memory_bytes)
    workers = min(options.workers or settings.index_workers or usable_cores(), total)
    return WorkerPool(
        function, result=result, workers=workers, timeout=timeout, memory_bytes=memory_bytes, in_advance=_QUEUE
    )


def _noted(result: Extraction | PhotosvcError, conditions: Conditions) -> Extraction | Problem:
    """Return an extraction, or the problem behind an error of a worker, with the conditions of the problem."""
    if isinstance(result, Extraction):
        return replace(result, problem=conditions.noted(result.problem)) if result.problem else result
    if isinstance(result, FileProblemError):
        return conditions.noted(result.problem)
    return Problem.of(Reason.READER_ERROR, type(result).__name__)
