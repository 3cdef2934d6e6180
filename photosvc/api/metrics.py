"""The metrics of the service, GET /metrics, in the text format 0.0.4 of Prometheus.

They are gauges of the library and its upkeep, of the database, of the disks that it uses, and of the processes that
answer, measured at each request, and a counter of refused requests.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flask import Response
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.orm import Session
from sqlalchemy.pool import Pool, QueuePool

from photosvc import __version__
from photosvc.index.mounts import are_away
from photosvc.index.run_log import last_run
from photosvc.jobs.queue import oldest_due
from photosvc.library.failures import count_failed, disk_of, trash_use
from photosvc.library.trash.folder import Trash
from photosvc.models.counters import BACKED_UP, WATCHED, read_counter
from photosvc.models.engine import is_unreachable, session_on
from photosvc.pictures.cache import PictureCache, cache_use
from photosvc.search.reading.statistics import LibrarySize, read_library_size
from photosvc.settings import Settings
from photosvc.web.contract import (
    TEXT,
    answers,
)
from photosvc.web.errors import error_answer
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.refusals import REFUSALS
from photosvc.web.searching import searching
from photosvc.web.service import current_service

if TYPE_CHECKING:
    from prometheus_client import Metric

metrics: OwnBlueprint = OwnBlueprint("metrics", __name__)

_PROCESSES: Final = Path("/proc")
#: Most child processes of a server that are inspected; it has fewer workers.
_MOST_PROCESSES: Final = 512
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


def of_library(size: LibrarySize, *, away: bool) -> "Iterator[Metric]":
    """Yield the size of the library."""
    yield _gauge("photosvc_build_info", "The version that answers.", {__version__: 1}, label="version")
    yield _gauge("photosvc_photos", "Photos by type, none hidden or archived.", size.photos, label="type")
    for name, meaning, value in (
        ("photosvc_files", "Files of the library that are present and readable.", size.files),
        ("photosvc_files_missing", "Files of the library that are no longer in the originals folder.", size.missing),
        ("photosvc_files_broken", "Files that cannot be shown.", size.broken),
        ("photosvc_originals_available", "1 while the originals and all disks below them are there, else 0.", not away),
        ("photosvc_albums", "Albums.", size.albums),
        ("photosvc_library_changes", "Committed changes of the library since its creation.", size.changes),
    ):
        yield _gauge(name, meaning, {"": int(value)})


def of_service(pool: Pool, *, is_up: bool) -> "Iterator[Metric]":
    """Yield whether the database answers, the connections of this process to it, and the refused requests."""
    from prometheus_client.core import CounterMetricFamily

    yield _gauge("photosvc_database_up", "1 if the database answers, else 0.", {"": int(is_up)})
    states = {"in_use": pool.checkedout(), "idle": pool.checkedin()} if isinstance(pool, QueuePool) else {}
    meaning = "Connections to the database of the process that answers."
    yield _gauge("photosvc_database_connections", meaning, states, label="state")
    meaning = "Requests answered 429 or 503, by the limit that refused them, since the server started."
    refused = CounterMetricFamily("photosvc_refused_requests", meaning, labels=["status", "limit"])
    for status, limit, number in REFUSALS.totals():
        refused.add_metric([str(status), limit], number)
    yield refused


def of_upkeep(session: Session, now: datetime) -> "Iterator[Metric]":
    """Yield the numbers of failed files and waiting jobs, and the last index runs, backup and look of the watcher."""
    last = last_run(session)
    yield _gauge("photosvc_index_failures", "Files that failed to be indexed or shown.", {"": count_failed(session)})
    due = oldest_due(session, now)
    age = 0 if due is None else max(0, int((now - due).total_seconds()))
    yield _gauge("photosvc_job_age_seconds", "Seconds since the oldest job that may begin was asked for.", {"": age})
    for name, meaning, value in (
        ("index_run", "End of the last index run.", _seconds(last.ended_at)),
        ("index_whole_run", "End of the last index run of all originals.", _seconds(last.whole_at)),
        ("backup", "End of the last `svc backup`.", read_counter(session, BACKED_UP)),
        ("watch", "Last look of `svc watch`, noted once a minute.", read_counter(session, WATCHED)),
    ):
        yield _gauge(f"photosvc_{name}_timestamp_seconds", meaning, {} if value is None else {"": value})


def of_disks(settings: Settings, instance: Path, cache: PictureCache) -> "Iterator[Metric]":
    """Yield the usage of cache and trash, and the free space of the disks that hold the folders of the service."""
    used, trash = cache_use(cache), trash_use(Trash(settings.originals))
    for name, meaning, value in (
        ("photosvc_cache_bytes", "Bytes of derived pictures, estimated in a large cache.", used.size),
        ("photosvc_cache_limit_bytes", "Bytes above which derived pictures are removed.", used.limit),
        ("photosvc_trash_files", "Files in the trash, counted up to ten thousand.", trash.files),
        ("photosvc_trash_bytes", "Bytes of these files.", trash.size),
    ):
        yield _gauge(name, meaning, {"": value})
    folders = {"originals": settings.originals, "cache": settings.cache, "instance": instance}
    disks = {name: disk for name, folder in folders.items() if (disk := disk_of(folder)) is not None}
    free = {name: disk.free for name, disk in disks.items()}
    yield _gauge("photosvc_disk_free_bytes", "Free bytes of the disk with a folder.", free, label="folder")
    sizes = {name: disk.total for name, disk in disks.items()}
    yield _gauge("photosvc_disk_size_bytes", "Bytes of the disk with a folder.", sizes, label="folder")


def of_processes() -> "Iterator[Metric]":
    """Yield number, memory and open files of the server's processes; nothing except on Linux."""
    memory = files = number = 0
    for folder in _workers():
        with suppress(OSError, ValueError, StopIteration):
            lines = (folder / "status").read_text().splitlines()
            kibibytes = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
            files += sum(1 for _ in (folder / "fd").iterdir())
            memory += kibibytes << 10
            number += 1
    for name, meaning, value in (
        ("photosvc_processes", "Processes that answer requests.", number),
        ("photosvc_process_memory_bytes", "Memory of their own of these processes.", memory),
        ("photosvc_process_open_files", "Open files and connections of these processes.", files),
    ):
        yield _gauge(name, meaning, {"": value} if number else {})


def _workers() -> list[Path]:
    """Return the folders in /proc of this process and of its siblings: children of the server with the same command."""
    own, parent = _PROCESSES / str(os.getpid()), os.getppid()
    try:
        command = (own / "cmdline").read_bytes()
        children = (_PROCESSES / str(parent) / "task" / str(parent) / "children").read_text().split()
    except OSError:
        return [own]
    folders = [own]
    for child in children[:_MOST_PROCESSES]:
        folder = _PROCESSES / child
        with suppress(OSError):
            if folder != own and (folder / "cmdline").read_bytes() == command:
                folders.append(folder)
    return folders


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _gauge(name: str, meaning: str, values: Mapping[str, int], *, label: str = "") -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(name, meaning, labels=[label] if label else [])
    for value, number in sorted(values.items()):
        family.add_metric([value] if label else [], number)
    return family


@metrics.get("/metrics", endpoint="metrics")
@require("metrics.view")
@answers(TEXT, "Prometheus text format 0.0.4.", media_type="text/plain")
def show_metrics() -> Response:
    """Show the size of the library, its upkeep, disks and processes, as metrics.

    Private photos and albums count for clients that may see them.
    """
    service = current_service()
    with searching(principal().owner_uid, "metrics") as connection, session_on(connection) as session:
        size = read_library_size(session, sees_private=principal().sees_private)
        away = are_away(session, service.settings.originals, within=True)
        upkeep = [*of_upkeep(session, service.now())]
        pool = connection.engine.pool
    library = [*of_library(size, away=away), *upkeep, *of_service(pool, is_up=True)]
    machine = [*of_disks(service.settings, service.instance, service.picture_cache), *of_processes()]
    return _written([*library, *machine])


@metrics.errorhandler(SQLAlchemyError)
def show_without_database(error: SQLAlchemyError) -> Response:
    """Show what this process knows while the database is away, by which tokens are checked: to anybody, as /readyz."""
    answer = error_answer(error)
    is_away = isinstance(error, NoConnectionError) or (isinstance(error, DBAPIError) and is_unreachable(error))
    return _written([*of_service(current_service().engine().pool, is_up=False)]) if is_away else answer


def _written(found: "list[Metric]") -> Response:
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(found))
    return Response(generate_latest(registry), content_type=_TEXT)


class _Collected:
    """A collector of these metrics, as a registry expects it."""

    def __init__(self, metrics: "list[Metric]") -> None:
        self.collect = lambda: metrics
