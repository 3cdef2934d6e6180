"""The folder of the trash, where each deletion has a folder of its own; below that, an original keeps its path."""

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from photosvc.core.errors import NotFoundError
from photosvc.core.files import clean_name, disk_name, open_folder, open_inside
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library import originals
from photosvc.library.storage_errors import typed_errors

_TIME: Final = "%Y%m%dT%H%M%SZ"
_DELETION: Final = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}", re.ASCII)

#: Tries to delete a deletion whose files another process restores or deletes at the same time.
_TRIES: Final = 3


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
    new_name: str = ""
    """The name to restore it under, relative to the originals; empty for the former one."""

    @property
    def item(self) -> str:
        """Return its name below the trash."""
        return f"{self.deletion}/{self.name}"

    @property
    def path(self) -> str:
        """Return its name relative to the originals, which its row has as long as it is deleted."""
        return f"{self.folder}/{self.item}"

    @property
    def target(self) -> str:
        """Return the name to restore it under."""
        return self.new_name or self.name

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
    return datetime.fromisoformat(deletion.partition("-")[0])


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

    def names(self, deletion: str) -> Iterator[str]:
        """Yield the names of a deletion's regular files, by folder and name; only folders are read."""
        pending = [""]
        while pending:
            folder = pending.pop()
            names, folders = [], []
            with suppress(OSError), os.scandir(f"{self.originals}/{deletion_prefix(deletion)}{folder}") as listing:
                for entry in listing:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{folder}{entry.name}/")
                    elif entry.is_file(follow_symlinks=False):
                        names.append(clean_name(folder + entry.name))
            yield from sorted(names)
            pending += sorted(folders, reverse=True)

    def count(self, deletions: Iterable[str]) -> int:
        """Return the number of files in these deletions."""
        return sum(1 for deletion in deletions for _ in self.names(deletion))

    def files(self, deletion: str) -> Iterator[TrashedFile]:
        """Yield the regular files of a deletion, by folder and name."""
        return (file for name in self.names(deletion) if (file := self._look_at(deletion, name)) is not None)

    def _look_at(self, deletion: str, name: str) -> TrashedFile | None:
        try:
            status = os.lstat(f"{self.originals}/{deletion_prefix(deletion)}{disk_name(name)}")
        except OSError:
            return None
        return TrashedFile(deletion, name, status.st_size) if stat.S_ISREG(status.st_mode) else None

    def page(self, start: int, count: int, text: str = "") -> list[TrashedFile]:
        """Return some files of all finished deletions, the last deletion first; no other files are looked at.

        Args:
            text: part of their former names; empty for all.
        """
        deletions = self.deletions()
        matching = ((deletion, name) for deletion in deletions for name in self.names(deletion) if text in name)
        listed = (self._look_at(*place) for place in islice(matching, start, start + count))
        return [file for file in listed if file is not None]

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
        """Remove the empty folders of a deletion; the trash counts as changed, also if files remain."""
        originals.remove_empty_folders(self.originals, deletion_prefix(deletion))
        with suppress(OSError):
            os.utime(self.originals / TRASH_FOLDER)

    def changed_at(self) -> int:
        """Return the time of the last change of the trash in nanoseconds since 1970; 0 if nothing was ever deleted."""
        try:
            return (self.originals / TRASH_FOLDER).stat().st_mtime_ns
        except OSError:
            return 0

    def delete(self, deletion: str) -> None:
        """Delete all files of a deletion permanently; no link is followed. Another process may be restoring some.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        with typed_errors():
            folder = open_folder(self.originals, TRASH_FOLDER.split("/"))
            try:
                for _ in range(_TRIES):
                    with suppress(FileNotFoundError):
                        shutil.rmtree(deletion, dir_fd=folder)
                        return
            finally:
                os.close(folder)
