"""What leaves the cache when it takes too much: the files whose last use is longest ago."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from photosvc.pictures.cache.locks import is_abandoned

#: Temporary files that no process has locked are removed after this time, in seconds.
_ABANDONED_SECONDS: Final = 3600
#: An eviction goes on until this share of the cap is in use, so that the next one is not due at once.
_LOW_WATER: Final = 0.9
#: How the names of temporary files begin.
TEMPORARY: Final = ".tmp-"

Entries: TypeAlias = Iterator[tuple[os.DirEntry[str], os.stat_result]]


@dataclass(frozen=True, slots=True)
class Usage:
    """What the cache holds."""

    files: int = 0
    bytes: int = 0


def evict(entries: Callable[[], Entries], limit: int, now: float) -> Usage:
    """Remove abandoned temporary files and, above `limit`, what was used longest ago until 90 % of it are in use.

    Args:
        entries: reads every file of the cache.
        limit: bytes that all files may take.
        now: seconds since 1970.

    """
    # Two passes with a histogram by hour in between: memory does not grow with the number of files.
    hours: dict[int, int] = {}
    total = 0
    for entry, status in entries():
        if entry.name.startswith(TEMPORARY):
            old = abs(now - status.st_mtime) > _ABANDONED_SECONDS
            if not (old and is_abandoned(entry.path) and unlink(entry)):
                total += status.st_size
            continue
        hour = int(status.st_atime // 3600)
        hours[hour] = hours.get(hour, 0) + status.st_size
        total += status.st_size
    excess = total - int(limit * _LOW_WATER)
    if total <= limit:
        return Usage()
    last = 0
    for hour in sorted(hours):
        last = hour
        excess -= hours[hour]
        if excess <= 0:
            break
    removed = size = 0
    spared = -excess  # bytes of the last hour that may stay
    for entry, status in entries():
        hour = int(status.st_atime // 3600)
        if entry.name.startswith(TEMPORARY) or hour > last:
            continue
        if hour == last and spared >= status.st_size:
            spared -= status.st_size
            continue
        if unlink(entry):
            removed, size = removed + 1, size + status.st_size
    return Usage(removed, size)


def unlink(entry: os.DirEntry[str]) -> bool:
    """Remove a file; whether it was there."""
    try:
        os.unlink(entry.path)  # noqa: PTH108
    except FileNotFoundError:
        return False
    return True
