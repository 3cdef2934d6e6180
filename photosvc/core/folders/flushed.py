"""Folders whose entries outlast a loss of power."""

import os
from pathlib import Path


def flush_folder(folder: Path) -> None:
    """Wait until the disk has the names of a folder.

    Raises:
        OSError: there is no such folder, or the disk failed.

    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
