"""The live properties of files and folders (RFC 4918 section 15), rendered as the content of their elements."""

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape

from werkzeug.http import http_date

from photosvc.dav.paths import ancestors
from photosvc.dav.properties.multistatus import text
from photosvc.dav.properties.xml_body import DAV
from photosvc.dav.tree import content_type_of, etag_of
from photosvc.models import DavLock

#: The last second that an HTTP date can name.
LAST_SECOND: Final = 253_402_300_799
_SUPPORTED_LOCKS: Final = "".join(
    f"<D:lockentry><D:lockscope><D:{scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"
    for scope in ("exclusive", "shared")
)


class Resource(NamedTuple):
    """A file or folder."""

    path: str
    """Below the folder of originals, beginning with a slash, without one at the end."""
    name: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.status.st_mode)

    def href(self, mount: str) -> str:
        """Its address, quoted; that of a folder ends in a slash."""
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
LOCKDISCOVERY: Final = f"{DAV}lockdiscovery"
SUPPORTEDLOCK: Final = f"{DAV}supportedlock"


class LockProperties:
    """The lock properties of the resources of one answer.

    Args:
        found: the locks that cover any of them.
        now: the present.
        mount: the address of the folder of originals, not quoted.

    """

    def __init__(self, found: Iterable[DavLock], now: datetime, mount: str) -> None:
        self._mount = quote(mount)
        self._by_root: dict[str, list[tuple[bool, str]]] = {}
        for lock in found:
            self._by_root.setdefault(lock.root, []).append((lock.deep, self._render(lock, now)))

    def value(self, name: str, path: str) -> str:
        """The rendered value of a property of the resource with this key."""
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
    """RFC 3339."""
    return datetime.fromtimestamp(_second(time), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
