"""Reads an original again and compares it with what the library knows."""

import hashlib
import os
import stat
from pathlib import Path
from typing import NamedTuple

from photosvc.core.errors import NotFoundError
from photosvc.core.paths import clamped_time, open_inside
from photosvc.index.check.faults import Fault


class KnownOriginal(NamedTuple):
    """A file as the library knows it."""

    id: int
    photo_id: int
    name: str
    hash: str
    size: int
    mtime_ns: int


def fault_of(root: Path, known: KnownOriginal) -> Fault | None:
    """What is wrong with the file; None when it is as it was indexed. It is only read."""
    try:
        descriptor = open_inside(root, known.name)
    except (NotFoundError, FileNotFoundError, NotADirectoryError):
        return Fault.MISSING
    except OSError:
        return Fault.UNREADABLE
    with os.fdopen(descriptor, "rb") as file:
        if not _is_known(os.fstat(descriptor), known):
            return Fault.CHANGED
        try:
            digest = hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()
        except OSError:
            return Fault.UNREADABLE
        if digest == known.hash:
            return None
        return Fault.DAMAGED if _is_known(os.fstat(descriptor), known) else Fault.CHANGED


def _is_known(status: os.stat_result, known: KnownOriginal) -> bool:
    return stat.S_ISREG(status.st_mode) and (status.st_size, clamped_time(status)) == (known.size, known.mtime_ns)
