"""From addresses to the names of files: what a client may mean, and what is kept from it.

Names are those of `core.paths.clean_name`, as in the rest of the service: a file whose name on disk is not UTF-8 has
the same name here as in a search.
"""

import os
import re
import stat
import unicodedata
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes, urlsplit

from photosvc.core.paths import clean_name, disk_name
from photosvc.dav.errors import ForeignAddressError, UnfitPathError
from photosvc.library.staging.names import is_staging_folder
from photosvc.web.current import current_service
from photosvc.web.service.addresses import known_issuer

_ADDRESS: Final = re.compile(r"(?:(https?)://([^/?#]*))?(/[^/?#][^?#]*|/)?(?:[?#].*)?\Z", re.IGNORECASE | re.DOTALL)
_PORTS: Final = {"http": ":80", "https": ":443"}


def path_in(environ_path: str, folder: str) -> str:
    """The path below the folder of originals, as in `PATH_INFO` (bytes as Latin-1, percent-decoded).

    It begins with a slash, and ends with one where the address does.

    Raises:
        UnfitPathError: it is not UTF-8, contains a NUL, or a part `..`, which clients resolve before they send.

    """
    try:
        return normal_path(environ_path.encode("latin-1").decode()[len(folder) :])
    except UnicodeDecodeError:
        raise UnfitPathError from None


def normal_path(path: str) -> str:
    """The path without empty parts and parts `.`.

    Raises:
        UnfitPathError: it contains a NUL or a part `..`.

    """
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts or "\x00" in path:
        raise UnfitPathError
    normal = "/" + "/".join(parts)
    return normal + "/" if parts and path.endswith("/") else normal


def spelled(root: Path, path: str) -> str:
    """The path in the spelling of what is on disk: letters with accents have two, and macOS sends the longer one.

    What is there as it was written is meant; else what is there in a Unicode normal form of it (NFC or NFD). The names
    of what is not there yet are NFC, so that no client makes a second file beside another one's.

    Args:
        root: the folder of originals.
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
    return next((one for one in spellings if os.path.lexists(f"{folder}/{disk_name(one)}")), composed)


def path_of_url(environ: dict[str, Any], mount: str, url: str) -> str:
    """The path below the folder of originals that another address of a request names, as in `Destination`; `spelled`.

    Args:
        environ: of the request.
        mount: the path of the folder of originals in addresses.
        url: absolute, or a path that begins with a slash; percent-encoded.

    Raises:
        ForeignAddressError: it is on another server or outside of the folder of originals.
        UnfitPathError: no file can have this address.

    """
    found = _ADDRESS.match(url.strip())
    if found is None:
        raise ForeignAddressError
    scheme, host, quoted = found.groups()
    if scheme is not None and _without_port(scheme, host) not in _hosts(environ):
        raise ForeignAddressError
    try:
        path = unquote_to_bytes((quoted or "/").encode("latin-1")).decode()
    except UnicodeError:
        raise UnfitPathError from None
    if path != mount and not path.startswith(f"{mount}/"):
        raise ForeignAddressError
    return spelled(current_service().settings.originals, normal_path(path[len(mount) :]))


def _hosts(environ: dict[str, Any]) -> set[str]:
    """The names of this server: that of the request, and the public one, which a proxy may not hand on."""
    own = {_without_port(environ["wsgi.url_scheme"], environ.get("HTTP_HOST", ""))}
    public = urlsplit(known_issuer(current_service()) or "")
    return own | {_without_port(public.scheme, public.netloc)} if public.netloc else own


def _without_port(scheme: str, host: str) -> str:
    return host.lower().removesuffix(_PORTS.get(scheme.lower(), ""))


def is_reserved(name: str) -> bool:
    """Whether the name, or a folder around it, is kept for the service: for clients it does not exist."""
    return any(map(is_staging_folder, name.split("/")))


def existing(root: Path, path: str) -> os.stat_result | None:
    """The status of the resource at a path; None when there is none.

    Links are not followed and do not exist for clients, nor does what is neither a file nor a folder.

    Args:
        root: the folder of originals.
        path: from `normal_path`.

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
    except (OSError, ValueError):  # also of names that no file can have
        return None
    return status
