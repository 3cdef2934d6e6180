"""For operators: checks and metrics, and the security log (/audit).

GET /healthz, /readyz and /metrics are for monitors, /credential for proxies, /status for clients.
The metrics are in the text format 0.0.4 of Prometheus: gauges of the library and its upkeep, the disks that it uses,
and the processes that answer, measured at each request.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flask import Response, request
from sqlalchemy.orm import Session

from photosvc import __version__
from photosvc.auth.audit import latest_entries, parse_events
from photosvc.auth.policy import may
from photosvc.core.errors import PermissionDeniedError
from photosvc.core.times import parse_since, parse_until
from photosvc.index.mounts import are_away
from photosvc.index.run_log import last_run
from photosvc.library.failures import count_failed, disk_of, trash_use
from photosvc.library.storage_errors import StorageFailedError
from photosvc.library.trash.folder import Trash
from photosvc.models import VISIT
from photosvc.models.counters import BACKED_UP, read_counter
from photosvc.models.engine import session_on
from photosvc.pictures.cache import PictureCache, cache_use
from photosvc.records.accounts import AuditEntrySchema
from photosvc.search.reading.statistics import LibrarySize, read_library_size
from photosvc.settings import Settings
from photosvc.web.contract import (
    TEXT,
    answers,
    describe,
    for_visitors,
    json_object,
    public,
    takes_query,
)
from photosvc.web.paging import log_parameters, read_page_of_log
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer
from photosvc.web.searching import searching
from photosvc.web.service import current_service

if TYPE_CHECKING:
    from prometheus_client import Metric

_PROCESSES: Final = Path("/proc")
#: Children of a server that are looked at: more than workers it may have.
_MOST_PROCESSES: Final = 512
monitoring: OwnBlueprint = OwnBlueprint("monitoring", __name__)
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
#: The end of the name of the endpoint that answers even if the database fails.
ALIVE = ".healthz"
audit = OwnBlueprint("audit", __name__)
_entries = AuditEntrySchema(many=True)


def of_library(found: LibrarySize, *, away: bool) -> "Iterator[Metric]":
    """Yield the size of the library."""
    yield _gauge("photosvc_build_info", "The version that answers.", {__version__: 1}, label="version")
    yield _gauge("photosvc_photos", "Photos by type, none hidden or archived.", found.photos, label="type")
    for name, meaning, value in (
        ("photosvc_files", "Files of the library that are present and readable.", found.files),
        ("photosvc_files_missing", "Files of the library that are no longer in the originals folder.", found.missing),
        ("photosvc_files_broken", "Files that cannot be shown.", found.broken),
        ("photosvc_originals_available", "1 while the originals and all disks below them are there, else 0.", not away),
        ("photosvc_albums", "Albums.", found.albums),
        ("photosvc_library_changes", "Committed changes of the library since its creation.", found.changes),
    ):
        yield _gauge(name, meaning, {"": int(value)})


def of_upkeep(session: Session) -> "Iterator[Metric]":
    """Yield the files that failed, and the times of index runs and backups, without those that never happened."""
    last = last_run(session)
    yield _gauge("photosvc_index_failures", "Files that failed to be indexed or shown.", {"": count_failed(session)})
    for name, meaning, value in (
        ("index_run", "End of the last index run.", _seconds(last.ended_at)),
        ("index_whole_run", "End of the last index run of all originals.", _seconds(last.whole_at)),
        ("backup", "End of the last `svc backup`.", read_counter(session, BACKED_UP)),
    ):
        yield _gauge(f"photosvc_{name}_timestamp_seconds", meaning, {} if value is None else {"": value})


def of_disks(settings: Settings, instance: Path, cache: PictureCache) -> "Iterator[Metric]":
    """Yield the usage of cache and trash, and the room on the disks below the folders of the service."""
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
    """Yield figures of the processes of the server, where the system tells them (Linux)."""
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
    """Return the folders in /proc of this process and of those that the same server has started by the same command."""
    own, parent = _PROCESSES / str(os.getpid()), os.getppid()
    try:
        command = (own / "cmdline").read_bytes()
        children = (_PROCESSES / str(parent) / "task" / str(parent) / "children").read_text().split()
    except OSError:
        return [own]
    found = [own]
    for child in children[:_MOST_PROCESSES]:
        folder = _PROCESSES / child
        with suppress(OSError):
            if folder != own and (folder / "cmdline").read_bytes() == command:
                found.append(folder)
    return found


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _gauge(name: str, meaning: str, values: Mapping[str, int], *, label: str = "") -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(name, meaning, labels=[label] if label else [])
    for value, number in sorted(values.items()):
        family.add_metric([value] if label else [], number)
    return family


@monitoring.get("/healthz")
@public
@answers(json_object(status=TEXT, version=TEXT), "The process is running.")
def healthz() -> Response:
    """Answer `alive`, even if the database fails: if this gets no answer, the process has to be restarted."""
    return json_answer({"status": "alive", "version": __version__})


@monitoring.get("/readyz")
@public
@answers(json_object(status=TEXT, version=TEXT), "The service can answer requests.")
def readyz() -> Response:
    """Answer `ready`; 503 while /status does, or while the originals are away: searches work without them."""
    service = current_service()
    service.check_database()
    with service.reading(orm=True) as session:
        if are_away(session, service.settings.originals):
            msg = "The folder of originals is missing or empty; is its disk mounted? Searches work without it."
            raise StorageFailedError(msg)
    return json_answer({"status": "ready", "version": __version__})


@monitoring.get("/status")
@public
@answers(json_object(status=TEXT, version=TEXT), "The service can answer.")
def status() -> Response:
    """Answer `operational`; 503 while the database is down, has another schema, or belongs to another service key."""
    current_service().check_database()
    return json_answer({"status": "operational", "version": __version__})


@monitoring.get("/credential")
@public
@answers(None, "The credential is valid.", status=204, refuses=(401, 403, 429))
@for_visitors
def credential() -> Response:
    """Answer 204 for a valid credential of any scope, else 401; proxies ask before they accept a large body."""
    who = principal()
    if who.kind == VISIT and not may(who, "shared.add"):  # visitors send nothing else that is large
        raise PermissionDeniedError
    return Response(status=204)


@monitoring.get("/metrics")
@require("metrics.view")
@answers(TEXT, "Prometheus text format 0.0.4.", media_type="text/plain")
def metrics() -> Response:
    """Show the size of the library, its upkeep, disks and processes, as metrics.

    Private photos and albums count for clients that may see them.
    """
    from prometheus_client import CollectorRegistry, generate_latest

    service = current_service()
    with searching(principal().owner_uid, "metrics") as connection, session_on(connection) as session:
        found = read_library_size(session, sees_private=principal().sees_private)
        away = are_away(session, service.settings.originals, within=True)
        upkeep = [*of_upkeep(session)]
    registry = CollectorRegistry(auto_describe=False)
    library = [*of_library(found, away=away), *upkeep]
    machine = [*of_disks(service.settings, service.instance, service.picture_cache), *of_processes()]
    registry.register(_Collected([*library, *machine]))
    return Response(generate_latest(registry), content_type=_TEXT)


class _Collected:
    """A collector of these metrics, as a registry expects it."""

    def __init__(self, metrics: "list[Metric]") -> None:
        self.collect = lambda: metrics


def _parameters() -> list[dict[str, Any]]:
    described: dict[str, tuple[dict[str, Any], str]] = {
        **log_parameters("entries", "id"),
        "since": (TEXT, "Only entries of this time or later: `12h`, `2d`, `2026-02-28` or `2026-02-28T12:00:00Z`."),
        "until": (TEXT, "Only entries before this time, in the same forms; a day is included as a whole."),
        "event": (TEXT, "Only these events or parts of the log, with commas: `login.refused`, `changes`."),
        "user": (TEXT, "Only entries by or about the account with this name, or the account or client with this UID."),
    }
    return describe(described)


@audit.get("/audit")
@require("audit.view")
@takes_query(_parameters)
@answers(AuditEntrySchema, "The entries, the newest first.", many=True, refuses=(400,))
def list_audit_entries() -> Response:
    """List the security log: log-ins, refusals, and changes of accounts, credentials and settings of access.

    `times` counts the event: equal refusals from one network within a minute are one entry.
    """
    given, service = request.args, current_service()
    count, before = read_page_of_log()
    since = parse_since(given["since"], service.now()) if given.get("since", "").strip() else None
    until = parse_until(given["until"], service.now()) if given.get("until", "").strip() else None
    events = parse_events(given.get("event", ""))
    with service.reading() as connection:
        found = latest_entries(
            connection, count=count, since=since, until=until, before=before, user=given.get("user", ""), events=events
        )
        return json_answer(_entries.dump(found))
