"""The folder of the trash, where each deletion has a folder of its own; below that, an original keeps its path."""

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from photosvc.core.errors import NotFoundError
from photosvc.core.files import clean_name, open_folder, open_inside
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library import originals
from photosvc.library.storage_errors import typed_errors

_TIME: Final = "%Y%m%dT%H%M%SZ"
_DELETION: Final = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TrashedFile:
    """An original in the trash."""

    deletion: str
    """The name of the folder of its deletion, which begins with the time."""
    name: str
    """Its former name, relative to the originals."""
    size: int
    """Bytes."""
    folder: str = TRASH_FOLDER
    """`GONE_FOLDER` if the original stayed in place, and only its row has a name there."""

    @property
    def item(self) -> str:
        """Return its name below the trash."""
        return f"{self.deletion}/{self.name}"

    @property
    def path(self) -> str:
        """Return its name relative to the originals, which its row has as long as it is deleted."""
        return f"{self.folder}/{self.item}"

    @property
    def deleted_at(self) -> datetime:
        """Return the time at which it was deleted or replaced."""
        return time_of(self.deletion)


def new_deletion(now: datetime) -> str:
    """Return a name for the folder of a deletion."""
    return f"{now.astimezone(UTC):{_TIME}}-{secrets.token_hex(4)}"


def is_deletion(folder: str) -> bool:
    """Return whether the folder of a finished deletion may have this name."""
    with suppress(ValueError):
        return _DELETION.fullmatch(folder) is not None and bool(time_of(folder))
    return False


def time_of(deletion: str) -> datetime:
    """Return the time in the name of a deletion."""
    return datetime.strptime(deletion.partition("-")[0], _TIME).replace(tzinfo=UTC)


def deletion_prefix(deletion: str) -> str:
    """Return the prefix that the names of a deletion's files have."""
    return f"{TRASH_FOLDER}/{deletion}/"


@dataclass(frozen=True, slots=True)
class Trash:
    """The trash of a folder of originals. Names are relative to the originals."""

    originals: Path

    def put(self, name: str, now: datetime) -> str:
        """Move a file or folder into the trash, by one rename, and return its name there.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        target = deletion_prefix(new_deletion(now)) + name
        originals.rename(self.originals, name, target, make_folders=True)
        return target

    def keep(self, name: str, now: datetime) -> str:
        """Give a file that will be replaced a second name in the trash, and return that name.

        On file systems without hard links, the file moves there.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        target = deletion_prefix(new_deletion(now)) + name
        if not originals.link(self.originals, name, target):
            originals.rename(self.originals, name, target, make_folders=True)
        return target

    def deletions(self) -> list[str]:
        """Return the names of finished deletions, the last one first."""
        return sorted(filter(is_deletion, self.folders()), reverse=True)

    def folders(self) -> list[str]:
        """Return the names of all folders directly in the trash."""
        try:
            folder = open_folder(self.originals, TRASH_FOLDER.split("/"))
        except OSError:
            return []  # nothing was ever deleted
        try:
            with os.scandir(folder) as entries:
                return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        finally:
            os.close(folder)

    def files(self, deletion: str) -> Iterator[TrashedFile]:
        """Yield the regular files of a deletion in the order of their names."""
        root = self.originals / deletion_prefix(deletion)
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                with suppress(FileNotFoundError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield TrashedFile(deletion, clean_name(str(path.relative_to(root))), status.st_size)

    def every_file(self) -> Iterator[TrashedFile]:
        """Return the files of all finished deletions, the last deletion first."""
        return (file for deletion in self.deletions() for file in self.files(deletion))

    def find(self, item: str) -> TrashedFile | None:
        """Return the file with this name below the trash."""
        deletion, _, name = item.partition("/")
        if not (name and is_deletion(deletion)) or "/".join(PurePosixPath(name).parts) != name:
            return None
        try:
            file = open_inside(self.originals, deletion_prefix(deletion) + name)
        except (OSError, NotFoundError):
            return None
        try:
            status = os.fstat(file)
            return TrashedFile(deletion, name, status.st_size) if stat.S_ISREG(status.st_mode) else None
        finally:
            os.close(file)

    def drop_empty(self, deletion: str) -> None:
        """Remove the empty folders of a deletion."""
        originals.remove_empty_folders(self.originals, deletion_prefix(deletion))

    def delete(self, deletion: str) -> None:
        """Delete all files of a deletion permanently; no link is followed.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        with typed_errors():
            folder = open_folder(self.originals, TRASH_FOLDER.split("/"))
            try:
                shutil.rmtree(deletion, dir_fd=folder)
            finally:
                os.close(folder)
