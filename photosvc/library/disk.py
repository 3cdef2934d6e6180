"""Changes of the originals on disk, by the names of the library; no link is followed.

Every function raises the errors of `library.staging.errors` when the disk refuses it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from photosvc.core.paths import disk_name, open_folder
from photosvc.library.staging.errors import typed_errors


def rename(originals: Path, source: str, target: str, *, make_folders: bool = False) -> None:
    """Rename a file or folder; a file or empty folder at the target is replaced.

    Args:
        originals: the folder that both names are relative to.
        source: the name.
        target: the new name.
        make_folders: make the folders around the target that do not exist.

    """
    with _at(originals, source) as (folder, last), _at(originals, target, create=make_folders) as (inner, name):
        os.rename(last, name, src_dir_fd=folder, dst_dir_fd=inner)
        os.fsync(inner)


def link(originals: Path, source: str, target: str) -> None:
    """Give a file a second name; folders around it are made."""
    with _at(originals, source) as (folder, last), _at(originals, target, create=True) as (inner, name):
        os.link(last, name, src_dir_fd=folder, dst_dir_fd=inner, follow_symlinks=False)


def make_folder(originals: Path, name: str) -> None:
    """Make a folder in one that exists."""
    with _at(originals, name) as (folder, last):
        os.mkdir(last, dir_fd=folder)
        os.fsync(folder)


def make_empty(originals: Path, name: str) -> None:
    """Make an empty file where nothing is."""
    with _at(originals, name) as (folder, last):
        os.close(os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder))


def remove(originals: Path, name: str) -> None:
    """Remove a file."""
    with _at(originals, name) as (folder, last):
        os.unlink(last, dir_fd=folder)


def remove_folder(originals: Path, name: str) -> None:
    """Remove an empty folder."""
    with _at(originals, name) as (folder, last):
        os.rmdir(last, dir_fd=folder)


@contextmanager
def _at(originals: Path, name: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder around a file, and its name in there."""
    *folders, last = disk_name(name).split("/")
    with typed_errors():
        folder = open_folder(originals, folders, create=create)
        try:
            yield folder, last
        finally:
            os.close(folder)
