"""The tree of originals as WsgiDAV sees it: files, folders, and the provider that finds them."""

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
from photosvc.core.paths import clean_name, disk_name, open_folder, open_inside
from photosvc.dav.addresses import existing, is_reserved
from photosvc.media.formats import by_extension
from photosvc.web.current import Service

Environ = dict[str, Any]


def etag_of(status: os.stat_result) -> str:
    """The entity tag of a file, without quotes.

    The modification time alone may be set by clients and be the same for two contents of one size; programs cannot
    set the time of the last change of the inode.
    """
    return f"{status.st_size:x}-{status.st_mtime_ns:x}-{status.st_ctime_ns:x}"


def content_type_of(name: str) -> str:
    """The media type of a file by its name."""
    known = by_extension(name)
    return known.mime if known else mimetypes.guess_type(name)[0] or "application/octet-stream"


class OriginalFile(DAVNonCollection):  # type: ignore[misc]  # WsgiDAV has no types
    """A regular file.

    Args:
        path: below the folder of originals.
        environ: of the request.
        status: of the file.

    """

    def __init__(self, path: str, environ: Environ, status: os.stat_result) -> None:
        super().__init__(path.rstrip("/"), environ)
        self.status = status

    def get_content_length(self) -> int:
        """Bytes."""
        return self.status.st_size

    def get_content_type(self) -> str:
        """The media type by its name."""
        return content_type_of(self.name)

    def get_creation_date(self) -> float:
        """The oldest time that the file system has."""
        return min(self.status.st_mtime, self.status.st_ctime)

    def get_last_modified(self) -> float:
        """Seconds since 1970."""
        return self.status.st_mtime

    def get_etag(self) -> str:
        """The entity tag, without quotes."""
        return etag_of(self.status)

    def get_content(self) -> FileIO:
        """The file, open for reading.

        Raises:
            DAVError: 404, it is gone or replaced by a link.

        """
        try:
            return FileIO(open_inside(self.provider.root, self.path.strip("/")))
        except (OSError, NotFoundError):
            raise DAVError(HTTP_NOT_FOUND) from None

    def support_etag(self) -> bool:
        """Whether `get_etag` gives something."""
        return True


class OriginalFolder(DAVCollection):  # type: ignore[misc]
    """A folder; the arguments are those of `OriginalFile`."""

    def __init__(self, path: str, environ: Environ, status: os.stat_result) -> None:
        super().__init__(path, environ)
        self.status = status

    def get_creation_date(self) -> float:
        """The oldest time that the file system has."""
        return min(self.status.st_mtime, self.status.st_ctime)

    def get_last_modified(self) -> float:
        """Seconds since 1970."""
        return self.status.st_mtime

    def get_member_names(self) -> list[str]:
        """The names of what is directly in it."""
        return [name for name, _ in members(self.provider.root, self.path.strip("/"))]

    def get_member_list(self) -> "list[OriginalFile | OriginalFolder]":
        """What is directly in it, as far as clients may see it."""
        path = self.path.rstrip("/")
        found = members(self.provider.root, self.path.strip("/"))
        return [resource(f"{path}/{name}", self.environ, status) for name, status in found]


def members(root: Path, name: str) -> Iterator[tuple[str, os.stat_result]]:
    """Name and status of each file and folder directly in a folder, without links.

    The folder is opened at once, as `core.paths.open_folder` does; files are read as they are asked for.

    Args:
        root: the folder of originals.
        name: of the folder, as the library writes it; empty for the folder of originals.

    Raises:
        DAVError: 403, the folder cannot be read, or is gone or a link meanwhile.

    """
    try:
        folder = open_folder(root, disk_name(name).split("/") if name else ())
    except OSError:
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
                except OSError:  # gone meanwhile
                    continue
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    yield clean_name(entry.name), status
    finally:
        os.close(folder)


def resource(path: str, environ: Environ, status: os.stat_result) -> OriginalFile | OriginalFolder:
    """The resource for what is on disk."""
    kind = OriginalFolder if stat.S_ISDIR(status.st_mode) else OriginalFile
    return kind(path, environ, status)


class Originals(DAVProvider):  # type: ignore[misc]
    """Finds resources by their paths; one for each request, because it knows where it is mounted.

    Args:
        service: of the app.
        mount: the path of the folder of originals in addresses, without a slash at the end, not quoted.

    """

    def __init__(self, service: Service, mount: str) -> None:
        super().__init__()
        self.service = service
        self.set_share_path("")
        self.set_mount_path(mount)

    @property
    def root(self) -> Path:
        """The folder of originals on disk."""
        return self.service.settings.originals

    def get_resource_inst(self, path: str, environ: Environ) -> OriginalFile | OriginalFolder | None:
        """The resource at a path; None when there is none for clients."""
        found = existing(self.root, path)
        if found is None:
            return None
        if stat.S_ISDIR(found.st_mode):
            return OriginalFolder(path, environ, found)
        if stat.S_ISREG(found.st_mode) and not path.endswith("/"):
            return OriginalFile(path, environ, found)
        return None
