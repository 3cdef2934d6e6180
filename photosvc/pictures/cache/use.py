"""What the cache of pictures takes, estimated from some of its folders: all of them take seconds to read."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from photosvc.pictures.cache.folder import PictureCache

#: Files that are looked at, at least, before the rest is estimated; folders as well.
_ENOUGH_FILES: Final = 4000
_ENOUGH_FOLDERS: Final = 128
_FOLDERS: Final = 4096


@dataclass(frozen=True, slots=True)
class CacheUse:
    """Files and bytes of the cache."""

    files: int
    size: int
    """Bytes."""
    limit: int
    """Bytes that it may take."""
    is_exact: bool
    """Whether every folder was read."""


def cache_use(cache: PictureCache) -> CacheUse:
    """What the cache takes. Names are hashes, so that folders have about as many files as each other."""
    files = size = read = 0
    present: dict[str, set[str]] = {}
    for read, folder in enumerate(cache.folders(), 1):
        if _exists(folder, present):
            for status in _statuses(folder):
                files, size = files + 1, size + status.st_size
        if files >= _ENOUGH_FILES and read >= _ENOUGH_FOLDERS:
            break
    if read == _FOLDERS:
        return CacheUse(files, size, cache.limit, is_exact=True)
    return CacheUse(files * _FOLDERS // read, size * _FOLDERS // read, cache.limit, is_exact=False)


def _exists(folder: str, present: dict[str, set[str]]) -> bool:
    """Whether a folder is there, by the lists of the folders around it, each of which is read once."""
    upper, _, name = folder.rpartition("/")
    top, _, middle = upper.rpartition("/")
    return middle in _names(top, present) and name in _names(upper, present)


def _names(folder: str, present: dict[str, set[str]]) -> set[str]:
    if folder not in present:
        try:
            present[folder] = set(os.listdir(folder))  # noqa: PTH208 - names alone
        except OSError:
            present[folder] = set()
    return present[folder]


def _statuses(folder: str) -> list[os.stat_result]:
    found = []
    for path in Path(folder).iterdir() if Path(folder).is_dir() else ():
        try:
            found.append(path.lstat())
        except OSError:  # it was removed meanwhile
            continue
    return found
