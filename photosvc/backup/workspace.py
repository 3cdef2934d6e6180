"""A folder for the files that a backup needs until it is done; what killed ones left is removed."""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = ".photosvc-backup-"
_LOCK: Final = "lock"
#: Seconds in which a process that has made its folder has locked it.
_LOCKED_AFTER: Final = 600


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """An empty folder below `parent` that only its owner may enter; removed at the end of the block.

    Raises:
        OSError: it cannot be made.

    """
    _remove_left(parent)
    folder = parent / f"{_PREFIX}{secrets.token_hex(8)}"
    folder.mkdir(mode=0o700)
    try:
        with (folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left(parent: Path) -> None:
    """Remove the folders of processes that have ended."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if not _is_used(folder):
                shutil.rmtree(folder)


def _is_used(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / _LOCK, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime < _LOCKED_AFTER
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
