"""The tree of originals: its files and folders as resources of WebDAV."""

import errno
import mimetypes
import os
import stat
from collections.abc import Iterator
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from photosvc.core.errors import NotFoundError
from photosvc.core.files import TRANSIENT_ERRNOS, clean_name, disk_name, open_folder, open_inside
from photosvc.dav.addresses import existing, is_reserved
from photosvc.dav.errors import DAVError
from photosvc.library.storage_errors import StorageFailedError
from photosvc.media.formats import by_extension
from photosvc.web.service import Service

Environ = dict[str, Any]


def etag_of(status: os.stat_result) -> str:
    """Return the entity tag of a file, without quotes.

    Clients can set the modification time, so that two contents of one size may share it; no program can set the
    inode's change time, so the tag contains both.
    """
    return f"{status.st_size:x}-{status.st_mtime_ns:x}-{status.st_ctime_ns:x}"


def content_type_of(name: str) -> str:
    """Return the media type of a file by its name."""
    known = by_extension(name)
    return known.mime if known else mimetypes.guess_type(name)[0] or "application/octet-stream"


class Resource:
    """A file or folder of the originals.

    Args:
        path: the path below the folder of originals, with a slash at the beginning.
    """

    def __init__(self, path: str, tree: "Tree", status: os.stat_result) -> None:
        self.is_folder = stat.S_ISDIR(status.st_mode)
        self.path = path if self.is_folder else path.rstrip("/")
        self.tree = tree
        self.status = status
        self.etag = None if self.is_folder else etag_of(status)

    @property
    def name(self) -> str:
        """Return the last part of the path; empty for the folder of originals."""
        return self.path.rstrip("/").rpartition("/")[2]

    def href(self, path: str) -> str:
        """Return the quoted address, which ends with a slash for a folder; `path` as the client spells it."""
        # Parentheses and the like are not quoted: some clients compare addresses as text.
        address = quote(self.tree.mount_path + path, safe="/!*'(),$")
        return address.rstrip("/") + "/" if self.is_folder else address

    def get_content(self) -> FileIO:
        """Open this file for reading.

        Raises:
            DAVError: 403, it may not be read; 404, it is gone or replaced by a link.
            StorageFailedError: the disk fails.
        """
        try:
            return FileIO(open_inside(self.tree.root, self.path.strip("/")))
        except NotFoundError:
            raise DAVError(HTTPStatus.NOT_FOUND) from None
        except OSError as error:
            if error.errno in TRANSIENT_ERRNOS:
                raise StorageFailedError from None
            denied = error.errno in (errno.EACCES, errno.EPERM)
            raise DAVError(HTTPStatus.FORBIDDEN if denied else HTTPStatus.NOT_FOUND) from None

    def members(self) -> "Iterator[Resource]":
        """Yield the files and folders directly in this folder that clients may see; see `members`."""
        path = self.path.rstrip("/")
        for name, status in members(self.tree.root, self.path.strip("/")):
            yield Resource(f"{path}/{name}", self.tree, status)


def is_folder(resource: Resource | None) -> bool:
    """Return whether there is a resource, and it is a folder."""
    return resource is not None and resource.is_folder


def members(root: Path, name: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield name and status of the files and folders directly in a folder, without links.

    The folder is opened when the first one is read, so that an iterator that is never begun holds no descriptor.

    Args:
        name: the folder, as the library writes it; empty for the folder of originals.

    Raises:
        DAVError: 403, the folder cannot be read, or is gone or has become a link.
        StorageFailedError: the disk fails.
    """
    try:
        folder = open_folder(root, disk_name(name).split("/") if name else ())
    except OSError as error:
        if error.errno in TRANSIENT_ERRNOS:
            raise StorageFailedError from None
        raise DAVError(HTTPStatus.FORBIDDEN, "the folder cannot be read") from None
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if is_reserved(entry.name):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone meanwhile
                    continue
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    yield clean_name(entry.name), status
    except OSError:
        raise StorageFailedError from None
    finally:
        os.close(folder)


def walk(root: Path, name: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield name and status of everything in a folder, at any depth; see `members`."""
    folders = [name]
    while folders:
        folder = folders.pop()
        for inner, status in members(root, folder):
            if stat.S_ISDIR(status.st_mode):
                folders.append(f"{folder}/{inner}")
            yield f"{folder}/{inner}", status


class Tree:
    """The tree of files and folders by their paths; one for each request, because the mount path can differ.

    Args:
        mount: the path of the folder of originals in addresses, without a slash at the end, not quoted.
    """

    def __init__(self, service: Service, mount: str) -> None:
        self.service = service
        self.mount_path = mount

    @property
    def root(self) -> Path:
        """Return the folder of originals on disk."""
        return self.service.settings.originals

    def find(self, path: str) -> Resource | None:
        """Return the file or folder at a path; None when there is none that clients may see."""
        status = existing(self.root, path)
        if status is None:
            return None
        is_file = stat.S_ISREG(status.st_mode) and not path.endswith("/")
        return Resource(path, self, status) if is_file or stat.S_ISDIR(status.st_mode) else None
