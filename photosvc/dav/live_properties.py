"""The live properties of files and folders (RFC 4918 section 15), with those of the quota (RFC 4331), as XML."""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session
from werkzeug.http import http_date

from photosvc.dav.addresses import ancestors
from photosvc.dav.tree import content_type_of, etag_of
from photosvc.dav.xml import DAV, text
from photosvc.library.trash_folder import TRASH_FOLDER
from photosvc.library.upload_albums import bytes_left
from photosvc.models import DavLock, File
from photosvc.settings import Settings

AVAILABLE: Final = f"{DAV}quota-available-bytes"
USED: Final = f"{DAV}quota-used-bytes"
#: The last second that an HTTP date can name.
LAST_SECOND: Final = 253_402_300_799
_SUPPORTED_LOCKS: Final = "".join(
    f"<D:lockentry><D:lockscope><D:{scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"
    for scope in ("exclusive", "shared")
)
LOCKDISCOVERY: Final = f"{DAV}lockdiscovery"
SUPPORTEDLOCK: Final = f"{DAV}supportedlock"


def quota_properties(session: Session, settings: Settings, user_id: int, asked: Collection[str]) -> dict[str, str]:
    """Return the quota properties among `asked`, the same for all folders; they are never part of `allprop`.

    Used is the size of the library with its trash; available is the free space of the disk, or less where the account
    has a quota.
    """
    found: dict[str, str] = {}
    if USED in asked:
        stored = or_(File.missing.is_(False), File.name.startswith(f"{TRASH_FOLDER}/", autoescape=True))
        used = session.scalar(select(func.coalesce(func.sum(File.size), 0)).where(stored))
        found[USED] = str(used)
    if AVAILABLE in asked:
        disk = os.statvfs(settings.originals)
        left = bytes_left(session, settings, user_id)
        free = disk.f_bavail * disk.f_frsize
        found[AVAILABLE] = str(free if left is None else max(0, min(free, left)))
    return found


class Resource(NamedTuple):
    """A file or folder."""

    path: str
    """The path below the folder of originals, with a slash at its beginning and none at its end."""
    name: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Return whether it is a folder."""
        return stat.S_ISDIR(self.status.st_mode)

    def href(self, mount: str) -> str:
        """Return its quoted address, which ends with a slash for a folder."""
        # Parentheses and the like are not quoted: some clients compare addresses as text.
        address = quote(mount + self.path, safe="/!*'(),$")
        return address.rstrip("/") + "/" if self.is_folder else address


def _of_files(value: Callable[[Resource], str]) -> Callable[[Resource], str | None]:
    return lambda resource: None if resource.is_folder else value(resource)


#: Name -> rendered value of a resource, None where it has none. Lock properties are rendered apart.
LIVE: Final[Mapping[str, Callable[[Resource], str | None]]] = {
    f"{DAV}resourcetype": lambda resource: "<D:collection/>" if resource.is_folder else "",
    f"{DAV}displayname": lambda resource: text(resource.name),
    f"{DAV}creationdate": lambda resource: _timestamp(min(resource.status.st_mtime, resource.status.st_ctime)),
    f"{DAV}getlastmodified": lambda resource: http_date(_second(resource.status.st_mtime)),
    f"{DAV}getcontentlength": _of_files(lambda resource: str(resource.status.st_size)),
    f"{DAV}getcontenttype": _of_files(lambda resource: text(content_type_of(resource.name))),
    f"{DAV}getetag": _of_files(lambda resource: f'"{etag_of(resource.status)}"'),
}


class LockProperties:
    """The lock properties of the resources of one answer.

    Args:
        found: the locks that cover any of them.
        mount: the address of the folder of originals, not quoted.
    """

    def __init__(self, found: Iterable[DavLock], now: datetime, mount: str) -> None:
        self._mount = quote(mount)
        self._by_root: dict[str, list[tuple[bool, str]]] = {}
        for lock in found:
            self._by_root.setdefault(lock.root, []).append((lock.deep, self._render(lock, now)))

    def value(self, name: str, path: str) -> str:
        """Render the value of a lock property of the resource with this key."""
        if name == SUPPORTEDLOCK:
            return _SUPPORTED_LOCKS
        if not self._by_root:
            return ""
        own = [rendered for _, rendered in self._by_root.get(path, ())]
        above = (lock for folder in ancestors(path) for lock in self._by_root.get(folder, ()))
        return "".join([*own, *(rendered for deep, rendered in above if deep)])

    def _render(self, lock: DavLock, now: datetime) -> str:
        scope, depth = "exclusive" if lock.exclusive else "shared", "infinity" if lock.deep else "0"
        seconds = max(0, int((lock.expires_at - now).total_seconds()))
        return (
            f"<D:activelock><D:lockscope><D:{scope}/></D:lockscope><D:locktype><D:write/></D:locktype>"
            f"<D:depth>{depth}</D:depth>{lock.owner}<D:timeout>Second-{seconds}</D:timeout>"
            f"<D:locktoken><D:href>{lock.token}</D:href></D:locktoken>"
            f"<D:lockroot><D:href>{escape(self._mount + lock.root)}</D:href></D:lockroot></D:activelock>"
        )


def _second(time: float) -> int:
    return int(min(max(time, 0), LAST_SECOND))


def _timestamp(time: float) -> str:
    """Format a time as RFC 3339."""
    return datetime.fromtimestamp(_second(time), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
