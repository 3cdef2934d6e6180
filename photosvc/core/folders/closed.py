"""Folders and files that no other account of the machine may read: the instance folder, the database and the keys."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_LOG = logging.getLogger("photosvc")

#: Rights of the group and of all others.
_OTHERS: Final = 0o077
#: Those without the right to pass through a folder to something in it whose name is known.
_READING: Final = 0o066


def close_folder(folder: Path, *, passable: bool = False) -> None:
    """Make a folder, or close an existing one.

    Args:
        folder: with all of its parents.
        passable: whether other accounts may pass through it, as nginx does that sends files below it.

    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _close(folder, _READING if passable else _OTHERS)


def close_files(files: Iterable[Path]) -> None:
    """Close those of these files that exist."""
    for file in files:
        if file.is_file():
            _close(file, _OTHERS)


def make_closed(file: Path) -> None:
    """Make an empty file, unless there is one."""
    if not file.exists():
        os.close(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def _close(path: Path, rights: int) -> None:
    mode = path.stat().st_mode & 0o7777
    if not mode & rights:
        return
    try:
        path.chmod(mode & ~rights)
    except OSError:  # it belongs to another account, or the file system has no rights
        _LOG.warning(
            "%s can be read by other accounts of this machine: as its owner, run chmod %o %s",
            path,
            mode & ~rights,
            path,
        )
