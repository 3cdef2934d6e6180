"""An index run: scan, find changes, extract in worker processes, store in batches."""

import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.paths import clean_name
from photosvc.core.problems import FileProblemError, Problem, Reason
from photosvc.core.processors import usable_cores
from photosvc.core.values.stacks import parse_kinds
from photosvc.index.estimates.fill import estimate_places
from photosvc.index.extract import Extraction, extract
from photosvc.index.running.reports import Reporter
from photosvc.index.running.run_lock import run_lock
from photosvc.index.running.summary import IndexOptions, Observer, Outcome, Status, Summary
from photosvc.index.scanning.changes import find_changes, known_files
from photosvc.index.scanning.disks import absent_disks, remember_disks
from photosvc.index.scanning.scan import FoundFile, disk_path, start_folder
from photosvc.index.scanning.worklist import Worklist
from photosvc.index.stacking.library import restack_library
from photosvc.index.storing.batches import BatchWriter, ReadFile
from photosvc.index.with_thumbnails import extract_and_show
from photosvc.pictures.thumbnails.ahead import UsualThumbnails
from photosvc.search.projection.rebuild import is_stale, rebuild
from photosvc.settings import Settings
from photosvc.workers.pool import WorkerDiedError, WorkerPool, WorkerTimeoutError

Result = TypeVar("Result")

_BATCH_SECONDS = 2.0
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
) -> Summary:
    """Bring the library up to date with the folder of originals, which are only read.

    Every file is counted in the summary and passed to the observer.

    Raises:
        NotFoundError: the originals or the subfolder do not exist.
        InvalidValueError: the subfolder is not below the originals.
        ConflictError: another run is going on.

    """
    started = time.monotonic()
    folder = start_folder(settings.originals, options.subfolder)
    kinds = parse_kinds(settings.stack_by)
    summary = Summary(observer=observer)
    with run_lock(session, settings, clock, writes=not options.dry_run) as lease, ExitStack() as stack:
        work = stack.enter_context(Worklist())
        reporter = Reporter(session.get_bind().engine, clock, clean_name(folder), options.force, summary)
        if not options.dry_run:
            stack.enter_context(reporter.keeping_failures(session))
        if is_stale(session) and not options.dry_run:
            summary.rebuilt = rebuild(session)
        if not options.dry_run:
            restack_library(session, settings.originals, clock, kinds, lease)
            remember_disks(session, settings.originals)
        known = known_files(session, folder)
        find_changes(
            settings.originals,
            folder,
            known,
            summary,
            work,
            force=options.force,
            settle=options.settle,
        )
        _keep_unmounted(work, options.unmounted | absent_disks(session, settings.originals), summary)
        summary.kept = work.count_kept()
        session.rollback()
        if options.dry_run:
            for found, is_known in work.to_read():
                summary.add(Outcome(found.name, Status.UPDATED if is_known else Status.INDEXED))
            for name in work.gone():
                summary.add(Outcome(name, Status.MISSING))
        else:
            writer = BatchWriter(session, settings.originals, clock, summary, kinds, lease)
            if work.count_to_read():
                _read(work, writer, settings, options, summary, _both(reporter.progress, progress))
            writer.mark_missing(work.gone())
            estimate_places(session, clock, lease, wanted=settings.estimate_places)
            session.rollback()
            reporter.done(whole=not folder)
    summary.seconds = time.monotonic() - started
    return summary


def _both(first: Progress, second: Progress | None) -> Progress:
    def tell(done: int, total: int) -> None:
        first(done, total)
        if second:
            second(done, total)

    return tell


def _keep_unmounted(work: Worklist, disks: Collection[str], summary: Summary) -> None:
    """Leave the files of disks that are not mounted; asked after the scan, in the middle of which one may have gone."""
    for disk in sorted(disks):
        if count := work.keep(disk):
            summary.unmounted[disk] = count


def rebuild_search(session: Session, settings: Settings, clock: Clock) -> int:
    """Render every search row again; gives their number.

    Raises:
        ConflictError: an index run is going on.

    """
    with run_lock(session, settings, clock):
        return rebuild(session)


def _read(
    work: Worklist,
    writer: BatchWriter,
    settings: Settings,
    options: IndexOptions,
    summary: Summary,
    progress: Progress,
) -> None:
    """Extract the files to read in worker processes and store the results in batches."""
    total = work.count_to_read()
    given: dict[Path, FoundFile] = {}

    def paths() -> Iterator[Path]:
        for found, _ in work.to_read():
            path = disk_path(settings.originals, found.name)
            given[path] = found
            yield path

    batch: list[ReadFile] = []
    began = time.monotonic()
    with closing(_results(paths(), total, settings, options, summary)) as results:
        for done, (path, result) in enumerate(results, 1):
            batch.append((given.pop(path), _problem(result) if isinstance(result, PhotosvcError) else result))
            progress(done, total)
            if len(batch) >= writer.size or time.monotonic() - began > _BATCH_SECONDS:
                writer.store(batch)
                batch, began = [], time.monotonic()
        if batch:
            writer.store(batch)


def _results(
    paths: Iterator[Path], total: int, settings: Settings, options: IndexOptions, summary: Summary
) -> Generator[tuple[Path, Extraction | PhotosvcError], None, None]:
    """Each path with what a worker extracted, or its error, in the order in which they finish."""
    limit = settings.max_file_size * _MIB
    again: list[Path] = []
    if options.thumbnails:
        thumbnails = UsualThumbnails(settings.cache, settings.cache_size * _MIB)
        show = partial(extract_and_show, max_bytes=limit, thumbnails=thumbnails)
        with _pool(show, tuple[Extraction, int, str], total, settings, options) as pool:
            for path, result in pool.run(paths):
                if isinstance(result, WorkerDiedError | WorkerTimeoutError):
                    again.append(path)  # decoding for thumbnails may fail where metadata and colours can be read
                elif isinstance(result, PhotosvcError):
                    yield path, result
                else:
                    extraction, made, refusal = result
                    summary.thumbnails += made
                    summary.cache_refusal = refusal or summary.cache_refusal
                    yield path, extraction
        paths, total = iter(again), len(again)
    if total:
        yield from _extracted(paths, total, settings, options)


def _extracted(
    paths: Iterator[Path], total: int, settings: Settings, options: IndexOptions
) -> Generator[tuple[Path, Extraction | PhotosvcError], None, None]:
    """Each path with its extraction or error; of files whose decoder died, the metadata and that problem."""
    limit = settings.max_file_size * _MIB
    died: dict[Path, FileProblemError] = {}
    with _pool(partial(extract, max_bytes=limit), Extraction, total, settings, options) as pool:
        for path, result in pool.run(paths):
            if isinstance(result, WorkerDiedError | WorkerTimeoutError):
                died[path] = result
            else:
                yield path, result
    if died:
        with _pool(
            partial(extract, max_bytes=limit, decode=False), Extraction, len(died), settings, options
        ) as careful:
            for path, result in careful.run(died):
                problem = died[path].problem
                yield path, replace(result, problem=problem) if isinstance(result, Extraction) else died[path]


def _pool(
    function: Callable[[Path], Result], result: type[Result], total: int, settings: Settings, options: IndexOptions
) -> WorkerPool[Path, Result]:
    return WorkerPool(
        function,
        result=result,
        workers=min(options.workers or settings.index_workers or usable_cores(), total),
        timeout=settings.index_timeout,
        memory_bytes=settings.index_memory * _MIB,
        queue=_QUEUE,
    )


def _problem(error: PhotosvcError) -> Problem:
    """The problem behind an error of a worker."""
    if isinstance(error, FileProblemError):
        return error.problem
    return Problem.of(Reason.READER_ERROR, type(error).__name__)
