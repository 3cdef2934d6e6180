"""Runs of sight: which pictures are due, what is stored of each, and the job of an indexer that looks at them.

A picture is due until the present model has looked at its content. A failure that may pass is tried by the next run.
"""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import FileProblemError, Reason, Validity
from photosvc.core.process import usable_cores
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import SIGHT, QueuedJob
from photosvc.models import File, Photo, SearchRow, SearchText, SightRun, counters, read_counter, set_counters
from photosvc.models.engine import open_reader, write_session
from photosvc.models.statements import UNLOADED, in_portions, insert_into
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.originals import Original
from photosvc.pictures.sizes import file_name
from photosvc.search.reading.compile import visible_photos
from photosvc.search.rows.write import renew
from photosvc.settings import Settings
from photosvc.sight.labels import MODEL, SightJob, check_model, see_labels, target_of
from photosvc.workers.pool import WorkerPool

_MIB: Final = 1 << 20
#: Pictures of one portion: a second of work or two, between which others write and a run can stop.
_PORTION: Final = 50
#: Photos whose search rows are written in one transaction.
_RENEWED: Final = 500

#: The pause before another look at a picture that stopped its worker.
_PAUSE: Final = timedelta(days=1)
_MAY_PASS: Final = [reason.value for reason in Reason if reason.validity is Validity.SPACED]
#: Failures that are stored; a picture with another one stays due.
_STORED: Final = (Validity.UNTIL_CHANGED, Validity.UNTIL_SET, Validity.SPACED)
_LOOKED_AT: Final = and_(SightRun.model == MODEL, SightRun.file_hash == File.hash)
_IS_PICTURE: Final = and_(File.media_type != "video", File.error == "", File.width > 0)


@dataclass(frozen=True, slots=True)
class SightStatus:
    """The state of sight."""

    on: bool
    """True if an indexer looks at what is due."""
    done: int
    """Pictures that the present model has looked at."""
    failed: int
    """Pictures that it cannot look at."""
    due: int
    """Pictures that are left."""
    labelled: int
    """Photos with a label that is shown."""


def is_on(session: Session | Connection) -> bool:
    """Return whether an indexer looks at what is due."""
    return bool(read_counter(session, counters.SIGHT))


def turn_on(session: Session, clock: Clock) -> None:
    """Let indexers look at all pictures, in a write transaction.

    Raises:
        SightUnavailableError: the extra is not installed, or the model is damaged.
    """
    check_model()
    set_counters(session, {counters.SIGHT: 1})
    request_run(session, clock)


def turn_off(session: Session, clock: Clock) -> None:
    """Let no indexer look at pictures, in a write transaction; a job in progress stops. Labels stay until `erase`."""
    set_counters(session, {counters.SIGHT: 0})
    queue.withdraw(session, SIGHT)
    queue.cancel(session, clock(), [SIGHT.name])


def request_run(session: Session, clock: Clock) -> None:
    """Request the job that looks at what is due, in a write transaction."""
    queue.add(session, SIGHT, "", clock(), {}, large=True)


def read_status(connection: Connection, clock: Clock) -> SightStatus:
    """Return the state of sight."""
    looked = _shown(func.count(), func.count(SightRun.photo_id).filter(SightRun.failure != "")).where(_LOOKED_AT)
    done, failed = connection.execute(looked).one()
    labelled = connection.scalar(select(func.count()).select_from(SearchText).where(SearchText.seen != "")) or 0
    return SightStatus(is_on(connection), done - failed, failed, _count_due(connection, clock), labelled)


def _shown(*columns: Any) -> Select[Any]:  # noqa: ANN401 - expressions
    """Return a query of the files that show the photos of the library, with the last look at each."""
    query = select(*columns).select_from(SearchRow).join(File, File.id == SearchRow.file_id)
    return query.outerjoin(SightRun, SightRun.photo_id == SearchRow.photo_id).where(visible_photos(sees_private=True))


def _is_due(clock: Clock) -> ColumnElement[bool]:
    is_new = or_(SightRun.photo_id.is_(None), SightRun.model != MODEL, SightRun.file_hash != File.hash)
    return or_(is_new, and_(SightRun.failure.in_(_MAY_PASS), SightRun.done_at < clock() - _PAUSE))


def _count_due(connection: Connection, clock: Clock) -> int:
    return connection.scalar(_shown(func.count()).where(_IS_PICTURE, _is_due(clock))) or 0


@dataclass(frozen=True, slots=True)
class _Picture:
    """A picture that is due."""

    photo_id: int
    original: Original


def _due_after(lease: Lease, settings: Settings, last: int) -> list[_Picture]:
    """Return some pictures that are due, by the ids of their photos, which are above `last`."""
    columns = (
        SearchRow.photo_id, File.name, File.hash, File.size, File.mtime_ns, File.width, File.height, File.turn,
    )  # fmt: skip
    query = _shown(*columns).where(_IS_PICTURE, _is_due(lease.clock), SearchRow.photo_id > last)
    with closing(open_reader(lease.engine)) as connection:
        rows = connection.execute(query.order_by(SearchRow.photo_id).limit(_PORTION)).all()
    return [_Picture(photo_id, Original(settings.originals, *values)) for photo_id, *values in rows]


def look_at_due(lease: Lease, settings: Settings, workers: int = 0) -> Iterator[Mapping[str, int]]:
    """Look at all pictures that are due, and yield the counts after each portion, which is stored.

    Raises:
        SightUnavailableError: the extra is not installed, or the model is damaged.
        WorkerStartError: no worker process starts.
        RunCancelledError: the run was asked to stop.
    """
    check_model()
    with closing(open_reader(lease.engine)) as connection:
        counts = {"done": 0, "failed": 0, "total": _count_due(connection, lease.clock)}
    lease.report = lambda: counts
    cache, last = PictureCache(settings.cache, settings.cache_size * _MIB), 0
    size = workers or settings.index_workers or usable_cores()
    timeout, memory_bytes = settings.index_timeout, settings.index_memory * _MIB
    with WorkerPool(
        see_labels, result=list[tuple[str, float]], workers=size, timeout=timeout, memory_bytes=memory_bytes
    ) as pool:
        while due := _due_after(lease, settings, last):
            last = due[-1].photo_id
            jobs = {_job(cache, picture.original): picture for picture in due}
            seen = [(jobs[job], result) for job, result in pool.run(jobs)]
            with write_session(lease.engine, library=True) as session:
                lease.check(session)
                _store(session, seen, lease.clock)
                lease.save(session)
            failed = sum(isinstance(result, PhotosvcError) for _, result in seen)
            counts["failed"] += failed
            counts["done"] += len(seen) - failed
            yield counts


def _job(cache: PictureCache, original: Original) -> SightJob:
    return SightJob(original, cache.path(original.hash, file_name(target_of(original))))


def _store(
    session: Session, seen: Sequence[tuple[_Picture, list[tuple[str, float]] | PhotosvcError]], clock: Clock
) -> None:
    """Store what pictures show, or the final reasons why they cannot be looked at, and renew the search rows."""
    there = set(session.scalars(select(Photo.id).where(Photo.id.in_([picture.photo_id for picture, _ in seen]))))
    runs, labels, now = [], [], clock()
    for picture, result in seen:
        match result:
            case list():
                found, failure = result, ""
            case FileProblemError(problem=problem) if problem.reason.validity in _STORED:
                found, failure = [], problem.reason.value
            case _:  # the next run tries again
                continue
        if picture.photo_id in there:
            look = {"model": MODEL, "file_hash": picture.original.hash, "failure": failure, "done_at": now}
            runs.append({"photo_id": picture.photo_id, **look})
            labels.append((picture.photo_id, orjson.dumps(dict(found)).decode() if found else ""))
    if not runs:
        return
    row = insert_into(SightRun, session)
    values = {name: row.excluded[name] for name in ("model", "file_hash", "failure", "done_at")}
    session.connection().execute(row.on_conflict_do_update(index_elements=["photo_id"], set_=values), runs)
    changed = []
    for photo_id, text in labels:
        own = update(Photo).where(Photo.id == photo_id, Photo.seen_labels != text).values(seen_labels=text)
        if session.connection().execute(own).rowcount:
            changed.append(photo_id)
    if changed:
        renew(session, changed)


def look_by_job(lease: Lease, settings: Settings, _job: QueuedJob) -> Generator[bool, None, None]:
    """Look at what is due, as a `library.job_runner.Handler`; after `svc sight off` there is nothing to do."""
    with closing(open_reader(lease.engine)) as connection:
        wanted = is_on(connection)
    if wanted:
        for _ in look_at_due(lease, settings):
            yield True
    with write_session(lease.engine) as session:
        lease.finish(session)


def erase(engine: Engine, clock: Clock) -> Iterator[tuple[int, int]]:
    """Turn sight off and remove all that it has found, in portions; yield the numbers of photos done and in all.

    What people took away stays away, also if sight is turned on again.
    """
    with write_session(engine) as session:
        turn_off(session, clock)
        session.execute(delete(SightRun), execution_options=UNLOADED)
    with closing(open_reader(engine)) as connection:
        photo_ids = connection.scalars(select(Photo.id).where(Photo.seen_labels != "").order_by(Photo.id)).all()
    done = 0
    for portion in in_portions(photo_ids, _RENEWED):
        with write_session(engine, library=True) as session:
            _forget(session, portion)
        done += len(portion)
        yield done, len(photo_ids)


def _forget(session: Session, photo_ids: Collection[int]) -> None:
    session.execute(update(Photo).where(Photo.id.in_(photo_ids)).values(seen_labels=""), execution_options=UNLOADED)
    renew(session, photo_ids)
