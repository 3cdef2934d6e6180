"""What the library takes on its disks."""

import shutil
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from photosvc.library.trash.folder import Trash

#: Files of the trash that are counted.
_MOST_COUNTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk, in bytes."""

    total: int
    free: int
    """For this process."""


@dataclass(frozen=True, slots=True)
class TrashUse:
    """What lies in the trash."""

    files: int
    size: int
    """Bytes."""
    is_exact: bool
    """Whether all files were counted; otherwise there are more."""


def disk_of(folder: Path) -> Disk | None:
    """The disk that a folder lies on; None where that cannot be told."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return Disk(usage.total, usage.free)


def trash_use(trash: Trash) -> TrashUse:
    """What lies in the trash, of ten thousand files at most."""
    every = (kept for deletion in trash.deletions() for kept in trash.files(deletion))
    sizes = [kept.size for kept in islice(every, _MOST_COUNTED + 1)]
    return TrashUse(min(len(sizes), _MOST_COUNTED), sum(sizes[:_MOST_COUNTED]), len(sizes) <= _MOST_COUNTED)
