"""An index run: scan, find changes, extract in worker processes, store in batches."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.lock import exclusive_lock
from photosvc.core.problems import FileProblemError, Problem, Reason
from photosvc.index.batches import BATCH_SIZE, BatchWriter, ReadFile
from photosvc.index.changes import find_changes, known_files
from photosvc.index.extract import extract
from photosvc.index.scan import FoundFile, disk_path, start_folder
from photosvc.index.summary import IndexOptions, Summary
from photosvc.search.projection.project import is_stale, rebuild
from photosvc.settings import Settings
from photosvc.workers.pool import WorkerPool, usable_cores

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
        changes = find_changes(settings.originals, folder, known, summary, force=options.force)
        if options.dry_run:
            summary.indexed = sum(file.name not in known for file in changes.to_read)
            summary.updated = len(changes.to_read) - summary.indexed
            summary.missing = len(changes.gone)
        else:
            writer = BatchWriter(session, settings.originals, clock, summary)
            if changes.to_read:
                _read(changes.to_read, writer, settings, options.workers, progress)
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
    to_read: list[FoundFile], writer: BatchWriter, settings: Settings, workers: int, progress: Progress | None
) -> None:
    """Extract these files in worker processes and store the results in batches."""
    by_path = {disk_path(settings.originals, found.name): found for found in to_read}
    pool = WorkerPool(
        partial(extract, max_bytes=settings.max_file_size * _MIB),
        workers=min(workers or settings.index_workers or usable_cores(), len(to_read)),
        timeout=settings.index_timeout,
        memory_bytes=settings.index_memory * _MIB,
    )
    batch: list[ReadFile] = []
    began = time.monotonic()
    with pool:
        for done, (path, result) in enumerate(pool.run(by_path), 1):
            batch.append((by_path[path], _problem(result) if isinstance(result, PhotosvcError) else result))
            if progress:
                progress(done, len(to_read))
            if len(batch) >= BATCH_SIZE or time.monotonic() - began > _BATCH_SECONDS:
                writer.store(batch)
                batch, began = [], time.monotonic()
        if batch:
            writer.store(batch)


def _problem(error: PhotosvcError) -> Problem:
    """The problem behind an error of a worker."""
    if isinstance(error, FileProblemError):
        return error.problem
    return Problem.of(Reason.READER_ERROR, type(error).__name__)
