"""The stored file with the same content as a new one: a duplicate while it is on disk, else the file that moved."""

import os
import stat
from pathlib import Path

from photosvc.core.paths import clamped_time, disk_name
from photosvc.index.scanning.scan import is_hidden
from photosvc.index.storing.stored_files import StoredFiles
from photosvc.models import File


def same_content(files: StoredFiles, root: Path, content_hash: str) -> tuple[File | None, File | None]:
    """A stored file with this content that is unchanged on disk; else one that is gone from the disk, so it moved.

    A file on disk with another size or time is neither: it was changed in place, and its row, with the edits of users,
    stays with the new content.

    Args:
        files: looks up the stored files.
        root: the folder of originals.
        content_hash: SHA1, 40 hexadecimal digits.

    """
    moved = None
    for file in files.with_content(content_hash):
        now = _on_disk(root, file)
        if now == (file.size, file.mtime_ns):
            return file, None
        if now is None:
            moved = moved or file
    return None, moved


def _on_disk(root: Path, file: File) -> tuple[int, int] | None:
    """Size and time of the regular file that has its name now; None when there is none.

    When the disk cannot be read, size and time of the stored file. What scans leave out, as the trash, counts as gone:
    the same content elsewhere takes its place.
    """
    if is_hidden(file.name):
        return None
    path = os.path.join(os.path.realpath(root), disk_name(file.name))  # noqa: PTH118
    if os.path.realpath(path) != path:
        return None
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return file.size, file.mtime_ns
    return (status.st_size, clamped_time(status)) if stat.S_ISREG(status.st_mode) else None
