"""An index run: scan, extract in worker processes, store in batches. One writer; each batch is one transaction."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.index.catalog import Catalog
from photosvc.index.extract import FileChangedError, extract
from photosvc.index.extraction import Extraction
from photosvc.index.gazetteer import Gazetteer
from photosvc.index.known import Known, known_files, needs_extra
from photosvc.index.scan import FoundFile, Unreachable, disk_path, scan, start_folder
from photosvc.index.store import DUPLICATE, INDEXED, Store
from photosvc.index.workers import WorkerPool
from photosvc.media.errors import MissingExtraError, UnsupportedFileError
from photosvc.media.formats import by_extension, is_sidecar
from photosvc.models.database import begin_write
from photosvc.settings import Settings

_BATCH = 100
_BATCH_SECONDS = 2.0
_MIB = 1 << 20

#: Called with files done and files to do.
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Summary:
    """What a run did; names are relative to the originals."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    """Files that were known and are gone."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Name and reason of what is no picture or video, or is left out on purpose."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Name and reason of what should have been readable."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptions:
    """How to run."""

    subfolder: str = ""
    force: bool = False
    """Read files again that have not changed."""
    workers: int = 0
    """Processes; 0 takes the setting, and that by default one for each core."""
    dry_run: bool = False
    """Only tell what would be read."""


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
    root = settings.originals
    folder = start_folder(root, options.subfolder)
    summary = Summary()
    with _alone(settings.cache):
        known = known_files(session, folder)
        session.rollback()
        todo = _pick(root, folder, known, options, summary)
        # No picture at all: rather a disk that is not mounted than a library that was deleted.
        gone = _gone(known, summary) if todo or any(file.seen for file in known.values()) else []
        if options.dry_run:
            summary.indexed = sum(file.name not in known for file in todo)
            summary.updated = len(todo) - summary.indexed
            summary.missing = len(gone)
        else:
            _extract_all(session, settings, clock, options, todo, summary, progress)
            _mark_missing(session, settings, clock, gone, summary)
    summary.seconds = time.monotonic() - started
    return summary


def _pick(root: Path, folder: str, known: dict[str, Known], options: IndexOptions, summary: Summary) -> list[FoundFile]:
    """What must be opened; the rest goes into the summary at once."""
    todo, copies = [], []
    for found in scan(root, folder):
        if isinstance(found, Unreachable):
            (summary.failed if found.failed else summary.skipped).append((found.name, found.reason))
        elif is_sidecar(found.name):
            summary.skipped.append((found.name, "a sidecar file"))
        elif by_extension(found.name) is None:
            summary.skipped.append((found.name, "not a picture or video by its extension"))
        else:
            before = known.get(found.name)
            if before is not None:
                before.seen = True
            if before is None or options.force or not before.is_same(found):
                todo.append(found)
            elif before.copy_of:
                copies.append((found, before))
            elif before.reason:
                summary.skipped.append((found.name, before.reason))
            else:
                summary.unchanged += 1
    # A copy is read again when what it copies is gone or changed: it may be the last one with that content.
    changed = {found.name for found in todo}
    for found, before in copies:
        model = known.get(before.copy_of)
        if model is not None and (not model.seen or before.copy_of in changed):
            todo.append(found)
        else:
            summary.skipped.append((found.name, before.reason))
    return todo


def _gone(known: dict[str, Known], summary: Summary) -> list[str]:
    """Names that were there before. What lies in a folder that cannot be read now may well be there still."""
    closed = {name for name, _ in summary.failed}
    return [
        name
        for name, file in known.items()
        if not (file.seen or file.missing or name in closed or closed.intersection(_folders(name)))
    ]


def _folders(name: str) -> Iterator[str]:
    """The folders a name lies in, and `""` for the root."""
    while name:
        name = name.rpartition("/")[0]
        yield name


def _extract_all(
    session: Session,
    settings: Settings,
    clock: Clock,
    options: IndexOptions,
    todo: list[FoundFile],
    summary: Summary,
    progress: Progress | None,
) -> None:
    if not todo:
        return
    gazetteer = Gazetteer.load()
    by_path = {disk_path(settings.originals, found.name): found for found in todo}
    workers = min(options.workers or settings.index_workers or _cores(), len(todo))
    function = partial(extract, max_bytes=settings.max_file_size * _MIB)
    done = 0
    with WorkerPool(
        function, workers=workers, timeout=settings.index_timeout, memory_bytes=settings.index_memory * _MIB
    ) as pool:
        batch: list[tuple[FoundFile, Extraction | PhotosvcError]] = []
        batch_began = time.monotonic()
        for path, result in pool.run(by_path):
            batch.append((by_path[path], result))
            done += 1
            if progress:
                progress(done, len(todo))
            if len(batch) >= _BATCH or time.monotonic() - batch_began > _BATCH_SECONDS:
                _store(session, settings, clock, gazetteer, batch, summary)
                batch, batch_began = [], time.monotonic()
        _store(session, settings, clock, gazetteer, batch, summary)


def _store(
    session: Session,
    settings: Settings,
    clock: Clock,
    gazetteer: Gazetteer,
    batch: list[tuple[FoundFile, Extraction | PhotosvcError]],
    summary: Summary,
) -> None:
    """One transaction: all of the batch or nothing."""
    begin_write(session)
    store = Store(session, Catalog(session, gazetteer), settings.originals, clock())
    for found, result in sorted(batch, key=lambda pair: pair[0].name):
        if isinstance(result, PhotosvcError):
            _reject(store, found, result, summary)
            continue
        outcome, reason = store.save(found, result)
        if outcome == DUPLICATE:
            summary.skipped.append((found.name, reason))
        elif result.error:
            (summary.skipped if needs_extra(result.error) else summary.failed).append((found.name, result.error))
        elif outcome == INDEXED:
            summary.indexed += 1
        else:
            summary.updated += 1
    store.finish()
    session.commit()
    session.expunge_all()


def _reject(store: Store, found: FoundFile, error: PhotosvcError, summary: Summary) -> None:
    if isinstance(error, FileChangedError):  # the next run finds it as it is then
        summary.failed.append((found.name, error.message))
        return
    failed = not isinstance(error, UnsupportedFileError | MissingExtraError)
    store.reject(found, error.message, failed=failed)
    (summary.failed if failed else summary.skipped).append((found.name, error.message))


def _mark_missing(session: Session, settings: Settings, clock: Clock, gone: list[str], summary: Summary) -> None:
    for start in range(0, len(gone), _BATCH):
        begin_write(session)
        store = Store(session, Catalog(session, Gazetteer.load()), settings.originals, clock())
        summary.missing += store.miss(gone[start : start + _BATCH])
        store.finish()
        session.commit()
        session.expunge_all()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Only one run at a time; the lock goes with its process, however that ends."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "index.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            msg = "Another index run is going on; wait for it to end."
            raise ConflictError(msg) from None
        yield
