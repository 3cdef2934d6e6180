"""The folder of files to import: its groups of files, which are opened without following links."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.files import clean_name, disk_name, open_folder, open_inside
from photosvc.core.problems import FileProblemError, Reason, system_symbol
from photosvc.index.exclusions import is_left_out
from photosvc.index.name_groups import grouped_names
from photosvc.index.scan import ScannedFile, Unreachable, look_at, scan_folders
from photosvc.models import File, UploadedFile

_ABSENT: Final = "The folder of imports does not exist; make it, or set PHOTOSVC_IMPORT_FOLDER."


def known_sizes(session: Session) -> set[int]:
    """Return the sizes in bytes of all files of the library and of waiting ones: a file of another size is new."""
    return {size for column in (File.size, UploadedFile.size) for size in session.scalars(select(column).distinct())}


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A file or folder directly in a folder."""

    name: str
    """In the form of `core.files.clean_name`."""
    is_folder: bool
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class ImportFolder:
    """A folder that files are imported from."""

    root: Path

    def check(self, originals: Path, folder: str = "") -> str:
        """Make sure that a folder below this one can be imported; return its clean name without needless parts.

        Args:
            folder: relative, in the form of `core.files.clean_name`; empty for all.

        Raises:
            InvalidValueError: it is not below this one, or the folder of originals lies in it, or around it.
            NotFoundError: it does not exist, or the way there is a link.
        """
        try:
            disk = disk_name(folder)
            parts = PurePosixPath(disk).parts
            if disk.startswith("/") or ".." in parts or "\x00" in disk:
                msg = "a folder to import is relative to the folder of imports and below it"
                raise InvalidValueError(msg, field="path")
            os.close(open_folder(self.root, parts))
        except (OSError, UnicodeEncodeError):
            msg = "There is no such folder in the folder of imports." if folder else _ABSENT
            raise NotFoundError(msg, field="path") from None
        own, library = Path(os.path.realpath(self.root.joinpath(*parts))), Path(os.path.realpath(originals))
        if own.is_relative_to(library) or library.is_relative_to(own):
            msg = "the folder of originals and a folder to import cannot contain each other"
            raise InvalidValueError(msg, field="path")
        return clean_name("/".join(parts))

    def entries(self, folder: str) -> Iterator[FolderEntry]:
        """Yield the files and folders in a folder with a clean name that imports consider, by name, without links.

        Raises:
            NotFoundError: it cannot be read.
        """
        try:
            opened = open_folder(self.root, [part for part in disk_name(folder).split("/") if part])
        except OSError:
            raise NotFoundError("There is no such folder in the folder of imports.", field="path") from None
        try:
            for name in sorted(name for name in os.listdir(opened) if not is_left_out(name)):  # noqa: PTH208 - of a descriptor
                with suppress(OSError):  # gone meanwhile
                    status = os.stat(name, dir_fd=opened, follow_symlinks=False)
                    if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode):
                        yield FolderEntry(clean_name(name), stat.S_ISDIR(status.st_mode), status.st_size)
        finally:
            os.close(opened)

    def groups(self, folder: str = "") -> Iterator[list[ScannedFile] | Unreachable]:
        """Yield groups of files that belong together, below a folder with a clean name, and unreadable entries."""
        for entries in scan_folders(self.root, disk_name(folder)):
            yield from (entry for entry in entries if isinstance(entry, Unreachable))
            files = {entry.name.rpartition("/")[2]: entry for entry in entries if isinstance(entry, ScannedFile)}
            groups, alone = grouped_names(list(files))
            # Single files come first, because one may describe the album of the folder.
            yield from ([files[name]] for name in alone)
            yield from ([files[name] for name in group] for group in groups)

    def again(self, files: Sequence[ScannedFile]) -> list[ScannedFile]:
        """Look at the files again, and return the existing ones."""
        seen = [look_at(self.root, file.name) for file in files]
        return [file for file in seen if isinstance(file, ScannedFile)]

    def open(self, found: ScannedFile) -> FileIO:
        """Open a file for reading.

        Raises:
            FileProblemError: it cannot be opened, or changed since it was found.
        """
        try:
            file = FileIO(open_inside(self.root, found.name))
        except FileNotFoundError:
            raise FileProblemError(Reason.VANISHED) from None
        except OSError as error:
            raise FileProblemError(Reason.UNREADABLE, system_symbol(error)) from None
        if not is_as_found(os.fstat(file.fileno()), found):
            file.close()
            raise FileProblemError(Reason.CHANGED)
        return file

    def remove(self, found: ScannedFile, status: os.stat_result) -> None:
        """Remove a file if it still has this status and can be removed."""
        *folders, last = disk_name(found.name).split("/")
        with suppress(OSError):
            folder = open_folder(self.root, folders)
            try:
                now = os.stat(last, dir_fd=folder, follow_symlinks=False)
                if os.path.samestat(now, status) and is_as_found(now, found):
                    os.unlink(last, dir_fd=folder)
            finally:
                os.close(folder)

    def remove_empty(self, folder: str, within: str) -> None:
        """Remove a folder with a clean name, and the folders around it below `within`, while they are empty."""
        while folder != within and folder.startswith(f"{within}/" if within else ""):
            *above, last = disk_name(folder).split("/")
            with suppress(OSError):
                outer = open_folder(self.root, above)
                try:
                    os.rmdir(last, dir_fd=outer)
                finally:
                    os.close(outer)
            folder = folder.rpartition("/")[0]


def is_as_found(status: os.stat_result, found: ScannedFile) -> bool:
    """Return whether this is the status of the found file, and it has not been written to since."""
    return stat.S_ISREG(status.st_mode) and (status.st_size, status.st_ctime_ns) == (found.size, found.ctime_ns)
