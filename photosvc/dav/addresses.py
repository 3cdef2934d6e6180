"""Addresses of files and folders: from URLs to names on disk, and to the keys of locks and properties.

Names are those of `core.files.clean_name`, as in the rest of the service: a file whose name on disk is not UTF-8 has
the same name here as in a search. Keys are quoted paths without a slash at the end.
"""

import os
import re
import stat
import unicodedata
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes, urlsplit

from sqlalchemy import ColumnElement, and_, or_
from sqlalchemy.orm import InstrumentedAttribute

from photosvc.core.files import TRANSIENT_ERRNOS, clean_name, disk_name
from photosvc.dav.errors import ForeignAddressError, UnfitPathError
from photosvc.library.originals import is_staging_folder
from photosvc.library.storage_errors import StorageFailedError
from photosvc.models.statements import is_below
from photosvc.web.browser_origin import origin_of_host
from photosvc.web.service import current_service

#: The most characters of a path that can have locks and properties: PostgreSQL indexes at most 2,700 bytes.
LONGEST: Final = 2000
_ADDRESS: Final = re.compile(r"(?:(https?)://([^/?#]*))?(/[^/?#][^?#]*|/)?(?:[?#].*)?\Z", re.IGNORECASE | re.DOTALL)


def key(url: str) -> str:
    """Return a quoted URL path in the form of `DavLock.root` and `DavProperty.path`."""
    return "/" + url.strip("/")


def ancestors(path: str) -> list[str]:
    """Return the lockable folders around a resource, the nearest first; `path` is in the form of `key`."""
    folders = []
    if len(path) > LONGEST:
        path = path[: LONGEST + 1]
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        folders.append(path)
    return folders


def below(column: InstrumentedAttribute[str], path: str) -> ColumnElement[bool]:
    """Return the condition that the column names a resource inside the folder."""
    return and_(is_below(column, path.rstrip("/")), column != "/")


def within(column: InstrumentedAttribute[str], path: str) -> ColumnElement[bool]:
    """Return the condition that the column names the resource or one inside it."""
    return or_(column == path, below(column, path))


def path_in(environ_path: str, folder: str) -> str:
    """Return the path below the folder of originals of a `PATH_INFO` (bytes as Latin-1, percent-decoded).

    It begins with a slash, and ends with one where the address does.

    Raises:
        UnfitPathError: it is not UTF-8, or contains a NUL or a part `..`, which clients resolve before they send.
    """
    try:
        return normal_path(environ_path.encode("latin-1").decode()[len(folder) :])
    except UnicodeDecodeError:
        raise UnfitPathError from None


def normal_path(path: str) -> str:
    """Return the path without empty parts and parts `.`.

    Raises:
        UnfitPathError: it contains a NUL or a part `..`.
    """
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts or "\x00" in path:
        raise UnfitPathError
    normal = "/" + "/".join(parts)
    return normal + "/" if parts and path.endswith("/") else normal


def spelled(root: Path, path: str) -> str:
    """Return the path as its files are spelled on disk: Unicode has two spellings of accented letters.

    A file of exactly this spelling comes first, then one of its normal forms (NFC or NFD; macOS sends NFD). Names
    that do not exist yet become NFC, so that no client makes a second file of the same name.

    Args:
        path: from `normal_path`.
    """
    if path.isascii():
        return path
    folder, parts = os.fspath(root), []
    for part in path.split("/"):
        parts.append(_spelled_part(folder, part) if part else part)
        folder = f"{folder}/{disk_name(parts[-1])}"
    return "/".join(parts)


def _spelled_part(folder: str, part: str) -> str:
    composed, decomposed = (unicodedata.normalize(form, part) for form in ("NFC", "NFD"))
    spellings = dict.fromkeys((part, composed, decomposed))
    if len(spellings) == 1:
        return part
    return next((name for name in spellings if os.path.lexists(f"{folder}/{disk_name(name)}")), composed)


def path_of_url(environ: dict[str, Any], mount: str, url: str) -> str:
    """Return the path below the folder of originals of a URL in a header such as `Destination`, as `spelled`.

    Args:
        mount: the path of the folder of originals in addresses.
        url: an absolute URL, or a path that begins with a slash; percent-encoded.

    Raises:
        ForeignAddressError: it is on another server or outside of the folder of originals.
        UnfitPathError: no file can have this address.
    """
    match = _ADDRESS.match(url.strip())
    if match is None:
        raise ForeignAddressError
    scheme, host, quoted = match.groups()
    if scheme is not None and _host(scheme, host) not in _hosts(environ):
        raise ForeignAddressError
    try:
        path = unquote_to_bytes((quoted or "/").encode("latin-1")).decode()
    except UnicodeError:
        raise UnfitPathError from None
    if path != mount and not path.startswith(f"{mount}/"):
        raise ForeignAddressError
    return spelled(current_service().settings.originals, normal_path(path[len(mount) :]))


def _hosts(environ: dict[str, Any]) -> set[str]:
    """Return the hosts of this server: the one of the request, and the public one, which a proxy may hide."""
    own = {_host(environ["wsgi.url_scheme"], environ.get("HTTP_HOST", ""))}
    public = urlsplit(current_service().known_issuer or "")
    return own | {_host(public.scheme, public.netloc)} if public.netloc else own


def _host(scheme: str, host: str) -> str:
    """Return host and port of an origin without the scheme, which is another one behind a proxy that ends TLS."""
    return origin_of_host(scheme, host).partition("://")[2]


def is_reserved(name: str) -> bool:
    """Return whether a name, or a folder around it, is reserved for the service and therefore hidden from clients."""
    return any(map(is_staging_folder, name.split("/")))


def existing(root: Path, path: str) -> os.stat_result | None:
    """Return the status of the resource at a path; None when there is none.

    Symbolic links are hidden from clients and never followed.

    Args:
        path: from `normal_path`.

    Raises:
        StorageFailedError: the disk fails.
    """
    name = path.strip("/")
    on_disk = disk_name(name)
    if clean_name(on_disk) != name or is_reserved(on_disk):
        return None
    try:
        file = os.fspath(root)
        status = root.stat()
        for part in on_disk.split("/") if name else ():
            file = f"{file}/{part}"
            status = os.lstat(file)
            if stat.S_ISLNK(status.st_mode):
                return None
    except ValueError:  # no file can have this name
        return None
    except OSError as error:
        if error.errno in TRANSIENT_ERRNOS:
            raise StorageFailedError from None
        return None
    return status
