"""Originals of a search, and the job that makes the usual thumbnails of all originals before requests need them."""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.core.process import usable_cores
from photosvc.index.mounts import are_away
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import THUMBNAILS, QueuedJob, State
from photosvc.library.storage_errors import StorageFailedError
from photosvc.models import Job as JobRow
from photosvc.models.engine import UnitOfWork, open_reader, write_session
from photosvc.models.statements import in_portions
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.originals import Original, OriginalChangedError
from photosvc.pictures.prerender import PrerenderTotals, prerender
from photosvc.pictures.render import make_thumbnails
from photosvc.pictures.sizes import USUAL, ThumbnailJob
from photosvc.search.reading.files import SeenFile, files_with_ids, matching_ids
from photosvc.search.reading.request import parse_request
from photosvc.settings import Settings
from photosvc.workers.pool import Pool, WorkerPool
from photosvc.workers.scheduler import Scheduler

_MIB: Final = 1 << 20
#: Files whose rows are read at once by a command.
_READ: Final = 500
#: Pictures of one portion of the job: a few seconds of work, between which an indexer does other jobs.
_PORTION: Final = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of the last job."""

    state: State
    done: int
    """Pictures with new, present or failed thumbnails."""
    total: int
    """Pictures of the library when the job began; 0 before."""
    made: int
    """New thumbnails."""
    failed: int
    """Pictures that cannot be shown."""
    ended_at: datetime | None

    @property
    def is_open(self) -> bool:
        """Return whether the job waits or runs."""
        return self.state in {State.WAITING, State.RUNNING}


def original_of_file(settings: Settings, file: SeenFile) -> Original:
    """Return the original of a visible file."""
    values = (file.name, file.hash, file.size, file.mtime_ns, file.width, file.height, file.turn)
    return Original(settings.originals, *values)


def matching_files(engine: Engine, today: date, query: str = "") -> Sequence[int]:
    """Return the ids of the files that a query finds on this day, private ones included."""
    request = replace(parse_request({"q": query}, today), count=sys.maxsize)
    with closing(open_reader(engine)) as connection:
        return matching_ids(connection, request, sees_private=True)


def read_originals(engine: Engine, settings: Settings, ids: Sequence[int]) -> Iterator[tuple[int, Original]]:
    """Yield position and original of the files with these ids; they are read in portions, as the library is then."""
    for start in range(0, len(ids), _READ):
        with closing(open_reader(engine)) as connection:
            files = files_with_ids(connection, ids[start : start + _READ], sees_private=True)
        for number, file in enumerate(files, start):
            yield number, original_of_file(settings, file)


def thumbnail_pool(
    settings: Settings, workers: int = 0, scheduler: Scheduler | None = None
) -> Pool[ThumbnailJob, list[bytes]]:
    """Return the processes that make thumbnails: the workers of a scheduler, or by default a process for each core."""
    timeout, memory_bytes = settings.index_timeout, settings.index_memory * _MIB
    if scheduler is not None:
        return scheduler.pool(make_thumbnails, result=list[bytes], timeout=timeout, memory_bytes=memory_bytes)
    number = workers or settings.index_workers or usable_cores()
    return WorkerPool(make_thumbnails, result=list[bytes], workers=number, timeout=timeout, memory_bytes=memory_bytes)


def request_thumbnails(session: Session, now: datetime) -> None:
    """Request the thumbnails of all pictures, in a write transaction."""
    queue.add(session, THUMBNAILS, "", now, {}, large=True)


def last_progress(session: Session) -> Progress | None:
    """Return the progress of the running job, else of the last one; None before the first."""
    query = select(JobRow.state, JobRow.report, JobRow.ended_at).where(JobRow.kind == THUMBNAILS.name)
    runs_first = (JobRow.state == State.RUNNING.value).desc()
    row = session.execute(query.order_by(runs_first, JobRow.id.desc()).limit(1)).first()
    if row is None:
        return None
    counts = {name: int(row.report.get(name, 0)) for name in ("done", "total", "made", "failed")}
    return Progress(State(row.state), ended_at=row.ended_at, **counts)


def make_all(lease: Lease, settings: Settings, _job: QueuedJob) -> Generator[bool, None, None]:
    """Make the missing usual thumbnails of all pictures, as a `library.job_runner.Handler`.

    Raises:
        StorageFailedError: the disk of originals is missing, or the cache cannot be written.
    """
    while _is_indexing(lease):  # files of the run in progress get their thumbnails, too
        yield False
    ids = matching_files(lease.engine, lease.clock().date())  # without a query, the day has no influence
    counts = {"done": 0, "total": len(ids), "made": 0, "failed": 0}
    lease.report = lambda: counts
    cache = PictureCache(settings.cache, settings.cache_size * _MIB)
    with thumbnail_pool(settings) as pool:
        for portion in in_portions(ids, _PORTION):
            made = _make(cache, pool, [original for _, original in read_originals(lease.engine, settings, portion)])
            _check_disk(lease.engine, settings, made)
            counts["made"] += made.made
            counts["failed"] += len(made.failed)
            counts["done"] += len(portion)
            yield True
    with write_session(lease.engine) as session:
        lease.finish(session)


def _is_indexing(lease: Lease) -> bool:
    with UnitOfWork(lease.engine) as session:
        return queue.is_running(session, lease.clock())


def _make(cache: PictureCache, pool: Pool[ThumbnailJob, list[bytes]], portion: Sequence[Original]) -> PrerenderTotals:
    made = PrerenderTotals()
    try:
        for made in prerender(cache, pool, portion, USUAL):  # noqa: B007
            continue
    except OSError as error:
        raise StorageFailedError from error
    return made


def _check_disk(engine: Engine, settings: Settings, made: PrerenderTotals) -> None:
    """Raise `StorageFailedError` if originals are missing because their disk is."""
    missing = next((name for name, error in made.failed if isinstance(error, OriginalChangedError)), None)
    if missing is not None:
        with UnitOfWork(engine) as session:
            if are_away(session, settings.originals, missing):
                raise StorageFailedError
