"""The tree of originals for WsgiDAV: files, folders, and the provider that finds them."""

import errno
import mimetypes
import os
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from wsgidav.dav_error import HTTP_FORBIDDEN, HTTP_NOT_FOUND, DAVError
from wsgidav.dav_provider import DAVCollection, DAVNonCollection, DAVProvider

from photosvc.core.errors import NotFoundError
from photosvc.core.paths import PASSING, clean_name, disk_name, open_folder, open_inside
from photosvc.dav.addresses import existing, is_reserved
from photosvc.library.staging_part import StorageFailedError
from photosvc.media.formats import by_extension
from photosvc.web.current import Service

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


class OriginalFile(DAVNonCollection):  # type: ignore[misc]  # WsgiDAV has no types
    """A regular file.

    Args:
        path: the path below the folder of originals.
        environ: the WSGI environment of the request.
        status: the status of the file.

    """

    def __init__(self, path: str, environ: Environ, status: os.stat_result) -> None:
        super().__init__(path.rstrip("/"), environ)
        self.status = status

    def get_content_length(self) -> int:
        """Return the size in bytes."""
        return self.status.st_size

    def get_content_type(self) -> str:
        """Return the media type by the name."""
        return content_type_of(self.name)

    def get_creation_date(self) -> float:
        """Return the oldest time that the file system has."""
        return min(self.status.st_mtime, self.status.st_ctime)

    def get_last_modified(self) -> float:
        """Return the modification time in seconds since 1970."""
        return self.status.st_mtime

    def get_etag(self) -> str:
        """Return the entity tag, without quotes."""
        return etag_of(self.status)

    def get_content(self) -> FileIO:
        """Open the file for reading.

        Raises:
            DAVError: 403, it may not be read; 404, it is gone or replaced by a link.
            StorageFailedError: the disk fails.

        """
        try:
            return FileIO(open_inside(self.provider.root, self.path.strip("/")))
        except NotFoundError:
            raise DAVError(HTTP_NOT_FOUND) from None
        except OSError as error:
            if error.errno in PASSING:
                raise StorageFailedError from None
            denied = error.errno in (errno.EACCES, errno.EPERM)
            raise DAVError(HTTP_FORBIDDEN if denied else HTTP_NOT_FOUND) from None

    def support_etag(self) -> bool:
        """Return True: a file has an entity tag."""
        return True


class OriginalFolder(DAVCollection):  # type: ignore[misc]
    """A folder; the arguments are those of `OriginalFile`."""

    def __init__(self, path: str, environ: Environ, status: os.stat_result) -> None:
        super().__init__(path, environ)
        self.status = status

    def get_creation_date(self) -> float:
        """Return the oldest time that the file system has."""
        return min(self.status.st_mtime, self.status.st_ctime)

    def get_last_modified(self) -> float:
        """Return the modification time in seconds since 1970."""
        return self.status.st_mtime

    def get_member_names(self) -> list[str]:
        """Return the names of the files and folders directly in it."""
        return [name for name, _ in members(self.provider.root, self.path.strip("/"))]

    def get_member_list(self) -> "list[OriginalFile | OriginalFolder]":
        """Return the files and folders directly in it that clients may see."""
        path = self.path.rstrip("/")
        found = members(self.provider.root, self.path.strip("/"))
        return [resource(f"{path}/{name}", self.environ, status) for name, status in found]


def members(root: Path, name: str) -> Iterator[tuple[str, os.stat_result]]:
    """Return an iterator over name and status of the files and folders directly in a folder, without links.

    The folder is opened at once, by `core.paths.open_folder`; its entries are read during the iteration.

    Args:
        root: the folder of originals.
        name: the folder, as the library writes it; empty for the folder of originals.

    Raises:
        DAVError: 403, the folder cannot be read, or is gone or has become a link.
        StorageFailedError: the disk fails.

    """
    try:
        folder = open_folder(root, disk_name(name).split("/") if name else ())
    except OSError as error:
        if error.errno in PASSING:
            raise StorageFailedError from None
        raise DAVError(HTTP_FORBIDDEN, "the folder cannot be read") from None
    return _members(folder)


def _members(folder: int) -> Iterator[tuple[str, os.stat_result]]:
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


def resource(path: str, environ: Environ, status: os.stat_result) -> OriginalFile | OriginalFolder:
    """Make the resource of a file or folder with this status."""
    kind = OriginalFolder if stat.S_ISDIR(status.st_mode) else OriginalFile
    return kind(path, environ, status)


class Originals(DAVProvider):  # type: ignore[misc]
    """The provider of resources by their paths; one for each request, because the mount path can differ.

    Args:
        service: the service of the app.
        mount: the path of the folder of originals in addresses, without a slash at the end, not quoted.

    """

    def __init__(self, service: Service, mount: str) -> None:
        super().__init__()
        self.service = service
        self.set_share_path("")
        self.set_mount_path(mount)

    @property
    def root(self) -> Path:
        """Return the folder of originals on disk."""
        return self.service.settings.originals

    def get_resource_inst(self, path: str, environ: Environ) -> OriginalFile | OriginalFolder | None:
        """Return the resource at a path; None when there is none that clients may see."""
        found = existing(self.root, path)
        if found is None:
            return None
        if stat.S_ISDIR(found.st_mode):
            return OriginalFolder(path, environ, found)
        if stat.S_ISREG(found.st_mode) and not path.endswith("/"):
            return OriginalFile(path, environ, found)
        return None
