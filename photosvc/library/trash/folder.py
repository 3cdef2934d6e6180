"""The folder of the trash: originals move into it, are listed, and are deleted permanently.

Each deletion has a folder of its own, below which an original keeps its former path.
"""

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
class Kept:
    """An original in the trash."""

    deletion: str
    """The folder of its deletion, whose name begins with the time."""
    name: str
    """Its former name, relative to the originals."""
    size: int
    """Bytes."""
    folder: str = TRASH_FOLDER
    """`GONE_FOLDER` if the original stayed where it is, and only its row has a name in there."""

    @property
    def item(self) -> str:
        """Return its name below the trash."""
        return f"{self.deletion}/{self.name}"

    @property
    def path(self) -> str:
        """Return its name relative to the originals; the library calls the file so while it is deleted."""
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


def within(deletion: str) -> str:
    """Return the prefix of the names of the files of a deletion."""
    return f"{TRASH_FOLDER}/{deletion}/"


@dataclass(frozen=True, slots=True)
class Trash:
    """The trash of a folder of originals. Names are those of the library, relative to the originals."""

    originals: Path

    def put(self, name: str, now: datetime) -> str:
        """Move a file or folder into the trash, by one rename, and return its name there.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        kept = within(new_deletion(now)) + name
        originals.rename(self.originals, name, kept, make_folders=True)
        return kept

    def keep(self, name: str, now: datetime) -> str:
        """Give a file that will be replaced a second name in the trash, and return it.

        On file systems without hard links the file moves there.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        kept = within(new_deletion(now)) + name
        if not originals.link(self.originals, name, kept):
            originals.rename(self.originals, name, kept, make_folders=True)
        return kept

    def deletions(self) -> list[str]:
        """Return the folders of finished deletions, the last one first."""
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

    def files(self, deletion: str) -> Iterator[Kept]:
        """Yield the regular files of a deletion, by name."""
        root = self.originals / within(deletion)
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                with suppress(FileNotFoundError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield Kept(deletion, clean_name(str(path.relative_to(root))), status.st_size)

    def every_file(self) -> Iterator[Kept]:
        """Return the files of all finished deletions, those that were deleted last first."""
        return (kept for deletion in self.deletions() for kept in self.files(deletion))

    def find(self, item: str) -> Kept | None:
        """Return the file with this name below the trash."""
        deletion, _, name = item.partition("/")
        if not (name and is_deletion(deletion)) or "/".join(PurePosixPath(name).parts) != name:
            return None
        try:
            file = open_inside(self.originals, within(deletion) + name)
        except (OSError, NotFoundError):
            return None
        try:
            status = os.fstat(file)
            return Kept(deletion, name, status.st_size) if stat.S_ISREG(status.st_mode) else None
        finally:
            os.close(file)

    def drop_empty(self, deletion: str) -> None:
        """Remove the empty folders of a deletion."""
        originals.remove_empty_folders(self.originals, within(deletion))

    def delete(self, deletion: str) -> None:
        """Delete all files of a deletion for good; no link is followed.

        Raises:
            PhotosvcError: the disk refuses it.
        """
        with typed_errors():
            folder = open_folder(self.originals, TRASH_FOLDER.split("/"))
            try:
                shutil.rmtree(deletion, dir_fd=folder)
            finally:
                os.close(folder)
