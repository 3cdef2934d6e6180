"""Gauges for Prometheus: the library and its upkeep, the disks that it uses, and the processes that answer."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy.orm import Session

from photosvc import __version__
from photosvc.index.run_log import last_run
from photosvc.library.problems import count_failed, disk_of, trash_use
from photosvc.library.trash_folder import Trash
from photosvc.models.library import BACKED_UP, named_number
from photosvc.models.replica import Report
from photosvc.pictures.cache import PictureCache, cache_use
from photosvc.search.reading.figures import Figures
from photosvc.settings import Settings

if TYPE_CHECKING:
    from prometheus_client import Metric

_PROCESSES: Final = Path("/proc")
#: Children of a server that are looked at: more than workers it may have.
_MOST_PROCESSES: Final = 512


def of_library(found: Figures, *, away: bool) -> "Iterator[Metric]":
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
        ("backup", "End of the last `svc backup`.", named_number(session, BACKED_UP)),
    ):
        yield _gauge(f"photosvc_{name}_timestamp_seconds", meaning, {} if value is None else {"": value})


def of_replica(found: Report) -> "Iterator[Metric]":
    """Yield whether the replica of the database answers, and how far it is behind."""
    yield _gauge(
        "photosvc_replica_available", "1 while the replica answers, else 0.", {"": int(found.behind is not None)}
    )
    yield _gauge(
        "photosvc_replica_behind_bytes",
        "Bytes of the write-ahead log that the replica has not replayed.",
        {} if found.behind is None else {"": found.behind},
    )


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
