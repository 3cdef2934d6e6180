"""The folder of the trash on disk: moves originals into it, lists them, deletes them for good."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from photosvc.core.errors import NotFoundError
from photosvc.core.paths import clean_name, open_folder, open_inside
from photosvc.library.files import disk
from photosvc.library.staging.errors import typed_errors
from photosvc.library.trash.names import TRASH_FOLDER, Kept, is_deletion, new_deletion, within


@dataclass(frozen=True, slots=True)
class Trash:
    """The trash of a folder of originals. Names are those of the library, relative to the originals."""

    originals: Path

    @property
    def prefix(self) -> str:
        """With what the names of all files in the trash begin."""
        return f"{TRASH_FOLDER}/"

    def put(self, name: str, now: datetime) -> str:
        """Move a file or folder into the trash, by one rename; gives its name there.

        Raises:
            PhotosvcError: the disk refuses it.

        """
        kept = within(new_deletion(now)) + name
        disk.rename(self.originals, name, kept, make_folders=True)
        return kept

    def keep(self, name: str, now: datetime) -> str:
        """Keep the content of a file that will be replaced: gives its name in the trash.

        Raises:
            PhotosvcError: the disk refuses it, or has no hard links.

        """
        kept = within(new_deletion(now)) + name
        disk.link(self.originals, name, kept)
        return kept

    def deletions(self) -> list[str]:
        """The folders of finished deletions, the last one first."""
        return sorted(filter(is_deletion, self.folders()), reverse=True)

    def folders(self) -> list[str]:
        """The names of all folders directly in the trash."""
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
        """The regular files of a deletion, by name."""
        root = self.originals / within(deletion)
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                with suppress(FileNotFoundError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield Kept(deletion, clean_name(str(path.relative_to(root))), status.st_size)

    def find(self, item: str) -> Kept | None:
        """The file with this name below the trash."""
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
        """Remove the folders of a deletion that nothing is left in."""
        for folder, _, _ in os.walk(self.originals / within(deletion), topdown=False):
            try:
                Path(folder).rmdir()
            except OSError:  # it is not empty
                continue

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
