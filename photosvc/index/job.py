"""An index run: scan, find changes, extract in worker processes, store in batches."""

import time
from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.lock import exclusive_lock
from photosvc.core.problems import FileProblemError, Problem, Reason
from photosvc.index.batches import BATCH_SIZE, BatchWriter, ReadFile
from photosvc.index.changes import find_changes, known_files
from photosvc.index.extract import Extraction, extract
from photosvc.index.scan import FoundFile, disk_path, start_folder
from photosvc.index.summary import IndexOptions, Summary
from photosvc.index.with_thumbnails import extract_and_show
from photosvc.pictures.ahead import UsualThumbnails
from photosvc.search.projection.project import is_stale, rebuild
from photosvc.settings import Settings
from photosvc.workers.pool import WorkerDiedError, WorkerPool, WorkerTimeoutError, usable_cores

Result = TypeVar("Result")

_BATCH_SECONDS = 2.0
_MIB = 1 << 20

#: Called with the number of files read and the number to read.
Progress = Callable[[int, int], None]


def run_index(
    session: Session, settings: Settings, clock: Clock, options: IndexOptions, progress: Progress | None = None
) -> Summary:
    """Bring the library up to date with the folder of originals.

    The summary counts or lists every file: indexed, updated, unchanged, skipped or failed. Originals are only read.

    Raises:
        NotFoundError: the originals or the subfolder do not exist.
        InvalidValueError: the subfolder is not below the originals.
        ConflictError: another run is going on.

    """
    started = time.monotonic()
    folder = start_folder(settings.originals, options.subfolder)
    summary = Summary()
    with _run_lock(settings):
        if is_stale(session) and not options.dry_run:
            summary.rebuilt = rebuild(session)
        known = known_files(session, folder)
        session.rollback()
        changes = find_changes(settings.originals, folder, known, summary, force=options.force, settle=options.settle)
        if options.dry_run:
            summary.indexed = sum(file.name not in known for file in changes.to_read)
            summary.updated = len(changes.to_read) - summary.indexed
            summary.missing = len(changes.gone)
        else:
            writer = BatchWriter(session, settings.originals, clock, summary)
            if changes.to_read:
                _read(changes.to_read, writer, settings, options, summary, progress)
            writer.mark_missing(changes.gone)
    summary.seconds = time.monotonic() - started
    return summary


def rebuild_search(session: Session, settings: Settings) -> int:
    """Render every search row again; gives their number.

    Raises:
        ConflictError: an index run is going on.

    """
    with _run_lock(settings):
        return rebuild(session)


def _run_lock(settings: Settings) -> AbstractContextManager[None]:
    return exclusive_lock(settings.cache / "index.lock", "Another index run is going on; wait for it to end.")


def _read(
    to_read: list[FoundFile],
    writer: BatchWriter,
    settings: Settings,
    options: IndexOptions,
    summary: Summary,
    progress: Progress | None,
) -> None:
    """Extract these files in worker processes and store the results in batches."""
    by_path = {disk_path(settings.originals, found.name): found for found in to_read}
    batch: list[ReadFile] = []
    began = time.monotonic()
    with closing(_results(by_path, settings, options, summary)) as results:
        for done, (path, result) in enumerate(results, 1):
            batch.append((by_path[path], _problem(result) if isinstance(result, PhotosvcError) else result))
            if progress:
                progress(done, len(to_read))
            if len(batch) >= BATCH_SIZE or time.monotonic() - began > _BATCH_SECONDS:
                writer.store(batch)
                batch, began = [], time.monotonic()
        if batch:
            writer.store(batch)


def _results(
    paths: Collection[Path], settings: Settings, options: IndexOptions, summary: Summary
) -> Generator[tuple[Path, Extraction | PhotosvcError], None, None]:
    """Each path with what a worker extracted, or its error, in the order in which they finish."""
    limit = settings.max_file_size * _MIB
    again: Collection[Path] = paths
    if options.thumbnails:
        again = []
        thumbnails = UsualThumbnails(settings.cache, settings.cache_size * _MIB)
        with _pool(partial(extract_and_show, max_bytes=limit, thumbnails=thumbnails), paths, settings, options) as pool:
            for path, result in pool.run(paths):
                if isinstance(result, WorkerDiedError | WorkerTimeoutError):
                    again.append(path)  # decoding for thumbnails may fail where metadata and colours can be read
                elif isinstance(result, PhotosvcError):
                    yield path, result
                else:
                    summary.thumbnails += result[1]
                    yield path, result[0]
    if again:
        with _pool(partial(extract, max_bytes=limit), again, settings, options) as plain:
            yield from plain.run(again)


def _pool(
    function: Callable[[Path], Result], paths: Collection[Path], settings: Settings, options: IndexOptions
) -> WorkerPool[Path, Result]:
    return WorkerPool(
        function,
        workers=min(options.workers or settings.index_workers or usable_cores(), len(paths)),
        timeout=settings.index_timeout,
        memory_bytes=settings.index_memory * _MIB,
    )


def _problem(error: PhotosvcError) -> Problem:
    """The problem behind an error of a worker."""
    if isinstance(error, FileProblemError):
        return error.problem
    return Problem.of(Reason.READER_ERROR, type(error).__name__)
