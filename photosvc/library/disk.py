"""Changes of the originals on disk, by the names of the library; no link is followed.

Every function but `remove_empty_folders` raises the errors of `library.staging_part` when the disk refuses it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from photosvc.core.paths import disk_name, open_folder
from photosvc.library.staging_part import NO_LINKS, NameTakenError, has_name, link_new, typed_errors


@contextmanager
def undo_on_error() -> Iterator[ExitStack]:
    """Yield a stack of functions to call when the block, or the commit within it, fails."""
    with ExitStack() as undo:
        yield undo
        undo.pop_all()


def rename(originals: Path, source: str, target: str, *, make_folders: bool = False) -> None:
    """Rename a file or folder; a file or empty folder at the target is replaced, a link or device never.

    Args:
        originals: the folder that both names are relative to.
        make_folders: make the folders around the target that do not exist.
    """
    with _at(originals, source) as (folder, last), _at(originals, target, create=make_folders) as (inner, name):
        with suppress(FileNotFoundError):
            mode = os.stat(name, dir_fd=inner, follow_symlinks=False).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise NameTakenError
        os.rename(last, name, src_dir_fd=folder, dst_dir_fd=inner)
        os.fsync(inner)


def rename_new(originals: Path, source: str, target: str) -> None:
    """Rename a file, never over another one; folders around the new name are made.

    A process that is killed while it renames leaves both names of one file.
    """
    with _at(originals, source) as (folder, last), _at(originals, target, create=True) as (inner, name):
        try:
            is_linked = link_new(last, folder, name, inner)
        except FileExistsError:
            status = os.stat(last, dir_fd=folder, follow_symlinks=False)
            if status.st_nlink == 1 or not has_name(status, name, inner):
                raise
            is_linked = True
        if not is_linked:
            os.replace(last, name, src_dir_fd=folder, dst_dir_fd=inner)
        os.fsync(inner)
        if is_linked:
            os.unlink(last, dir_fd=folder)


def link(originals: Path, source: str, target: str) -> bool:
    """Give a file a second name, and return whether the file system has hard links; folders around it are made."""
    with _at(originals, source) as (folder, last), _at(originals, target, create=True) as (inner, name):
        try:
            os.link(last, name, src_dir_fd=folder, dst_dir_fd=inner, follow_symlinks=False)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            return False
    return True


def make_folder(originals: Path, name: str) -> None:
    """Make a folder in one that exists."""
    with _at(originals, name) as (folder, last):
        os.mkdir(last, dir_fd=folder)
        os.fsync(folder)


def make_empty(originals: Path, name: str) -> None:
    """Make an empty file where nothing is."""
    with _at(originals, name) as (folder, last):
        os.close(os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder))


def set_modified(originals: Path, name: str, time: float) -> None:
    """Set the time of the last change of a file or folder, in seconds since 1970."""
    with _at(originals, name) as (folder, last):
        os.utime(last, (time, time), dir_fd=folder, follow_symlinks=False)


def remove(originals: Path, name: str) -> None:
    """Remove a file."""
    with _at(originals, name) as (folder, last):
        os.unlink(last, dir_fd=folder)


def remove_folder(originals: Path, name: str) -> None:
    """Remove an empty folder."""
    with _at(originals, name) as (folder, last):
        os.rmdir(last, dir_fd=folder)


def remove_empty_folders(originals: Path, name: str) -> None:
    """Remove a folder and those in it, as far as they are empty."""
    for folder, _, _ in os.walk(originals / disk_name(name), topdown=False):
        with suppress(OSError):  # it is not empty
            os.rmdir(folder)  # noqa: PTH106 - as `os.walk` gives it


@contextmanager
def _at(originals: Path, name: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """Yield a descriptor of the folder around a file, and the file's name in that folder."""
    *folders, last = disk_name(name).split("/")
    with typed_errors():
        folder = open_folder(originals, folders, create=create)
        try:
            yield folder, last
        finally:
            os.close(folder)
