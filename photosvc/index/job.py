"""An index run: scan, extract in worker processes, store in batches. One writer; each batch is one transaction."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.lock import exclusive_lock
from photosvc.core.problems import FileProblemError, Problem, Reason, Validity
from photosvc.index.blame import blames_data
from photosvc.index.catalog import Catalog
from photosvc.index.changes import find_changes, known_files
from photosvc.index.extract import extract
from photosvc.index.extraction import Extraction
from photosvc.index.places.gazetteer import Gazetteer
from photosvc.index.scan import FoundFile, disk_path, start_folder
from photosvc.index.store import Store
from photosvc.index.summary import IndexOptions, Summary
from photosvc.models.database import begin_write
from photosvc.search.projection.project import is_stale, rebuild
from photosvc.settings import Settings
from photosvc.workers.pool import WorkerPool

_BATCH = 100
_BATCH_SECONDS = 2.0
_MIB = 1 << 20

#: Called with files done and files to do.
Progress = Callable[[int, int], None]
#: A file with what reading it gave.
ReadFile = tuple[FoundFile, Extraction | Problem]


def run_index(
    session: Session, settings: Settings, clock: Clock, options: IndexOptions, progress: Progress | None = None
) -> Summary:
    """Bring the library up to date with the folder of originals.

    Every file ends in the summary: indexed, updated, unchanged, skipped or failed with its reason. Originals are
    only read.

    Raises:
        NotFoundError: the originals or the subfolder do not exist.
        InvalidValueError: the subfolder is not below the originals.
        ConflictError: another run is going on.

    """
    started = time.monotonic()
    folder = start_folder(settings.originals, options.subfolder)
    run = _Run(session, settings, clock)
    summary = run.summary
    with _alone(settings):
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
            if changes.to_read:
                run.read(changes.to_read, options.workers, progress)
            run.mark_missing(changes.gone)
    summary.seconds = time.monotonic() - started
    return summary


def rebuild_search(session: Session, settings: Settings) -> int:
    """Make every search row anew; gives how many there are.

    Raises:
        ConflictError: an index run is going on.

    """
    with _alone(settings):
        return rebuild(session)


def _alone(settings: Settings) -> AbstractContextManager[None]:
    return exclusive_lock(settings.cache / "index.lock", "Another index run is going on; wait for it to end.")


class _Run:
    """The writing half of a run."""

    def __init__(self, session: Session, settings: Settings, clock: Clock) -> None:
        self._session = session
        self._settings = settings
        self._clock = clock
        self.summary = Summary()

    def read(self, todo: list[FoundFile], workers: int, progress: Progress | None) -> None:
        """Extract these files in worker processes and store what comes, a batch at a time."""
        settings = self._settings
        by_path = {disk_path(settings.originals, found.name): found for found in todo}
        pool = WorkerPool(
            partial(extract, max_bytes=settings.max_file_size * _MIB),
            workers=min(workers or settings.index_workers or _cores(), len(todo)),
            timeout=settings.index_timeout,
            memory_bytes=settings.index_memory * _MIB,
        )
        batch: list[ReadFile] = []
        began = time.monotonic()
        with pool:
            for done, (path, result) in enumerate(pool.run(by_path), 1):
                batch.append((by_path[path], _problem(result) if isinstance(result, PhotosvcError) else result))
                if progress:
                    progress(done, len(todo))
                if len(batch) >= _BATCH or time.monotonic() - began > _BATCH_SECONDS:
                    self._store(batch)
                    batch, began = [], time.monotonic()
            self._store(batch)

    def mark_missing(self, names: list[str]) -> None:
        """Mark files that are gone from the folder as missing."""
        for start in range(0, len(names), _BATCH):
            with self._batch() as store:
                self.summary.missing += store.mark_missing(names[start : start + _BATCH])

    def _store(self, batch: list[ReadFile]) -> None:
        """Store a batch; what the database does not take, file by file, so that only the one at fault is left out."""
        batch = sorted(batch, key=lambda read: read[0].name)
        try:
            self._write(batch)
        except Exception as error:  # noqa: BLE001 - `_give_up` raises what no file is to blame for
            self._give_up(error)
            for found, result in batch:
                self._store_alone(found, result)

    def _store_alone(self, found: FoundFile, result: Extraction | Problem) -> None:
        try:
            self._write([(found, result)])
        except Exception as error:  # noqa: BLE001 - whatever a hostile file leads to
            self._give_up(error)
            problem = Problem.of(Reason.UNSTORABLE, type(error).__name__)
            try:
                self._write([(found, problem)])
            except Exception as second:  # noqa: BLE001 - not even the problem can be stored; every run reports it
                self._give_up(second)
                self.summary.report(found.name, problem)

    def _give_up(self, error: Exception) -> None:
        """Undo the batch; raise what no file is to blame for."""
        self._session.rollback()
        self._session.expunge_all()
        if not blames_data(error):
            raise error

    def _write(self, batch: list[ReadFile]) -> None:
        summary = Summary()
        with self._batch() as store:
            for found, result in batch:
                if isinstance(result, Problem):
                    _reject(store, found, result, summary)
                else:
                    _save(store, found, result, summary)
        self.summary.add(summary)

    @contextmanager
    def _batch(self) -> Iterator[Store]:
        """One transaction: all of the batch or nothing."""
        begin_write(self._session)
        catalog = Catalog(self._session, Gazetteer.load())
        store = Store(self._session, catalog, self._settings.originals, self._clock())
        yield store
        store.finish()
        self._session.commit()
        self._session.expunge_all()


def _save(store: Store, found: FoundFile, extraction: Extraction, summary: Summary) -> None:
    saved = store.save(found, extraction)
    if saved.problem:
        summary.report(found.name, saved.problem)
    elif saved.new:
        summary.indexed += 1
    else:
        summary.updated += 1


def _reject(store: Store, found: FoundFile, problem: Problem, summary: Summary) -> None:
    if problem.reason.validity is not Validity.NOT_STORED:
        store.reject(found, problem)
    summary.report(found.name, problem)


def _problem(error: PhotosvcError) -> Problem:
    """The problem behind an error of a worker."""
    if isinstance(error, FileProblemError):
        return error.problem
    return Problem.of(Reason.READER_ERROR, type(error).__name__)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
