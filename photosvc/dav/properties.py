"""The properties of files and folders (RFC 4918 sections 4 and 15), with those of the quota (RFC 4331).

Live ones are computed, dead ones are in the database, where all processes of the service share them. All changes of a
PROPPATCH (section 9.2) are written in one transaction, or none.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import quote
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

from flask import Response
from sqlalchemy import delete, func, insert, literal, or_, select, update
from sqlalchemy.orm import Session
from werkzeug.http import http_date, parse_date

from photosvc.core.errors import PhotosvcError
from photosvc.core.text import parse_digits
from photosvc.dav import xml
from photosvc.dav.addresses import LONGEST, ancestors, within
from photosvc.dav.request import DavRequest
from photosvc.dav.tree import Resource, content_type_of, etag_of
from photosvc.dav.xml import DAV, XmlError, element, element_text, propstat, read_xml, text
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library import originals
from photosvc.library.originals import renamed
from photosvc.library.upload_queue import bytes_left
from photosvc.models import DavLock, DavProperty, File
from photosvc.models.statements import UNLOADED, insert_into, is_below
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
#: The most characters of the XML of one property.
LONGEST_VALUE: Final = 65_536
#: The most bytes of a property's name with its namespace.
LONGEST_NAME: Final = 500
#: The most properties of one resource.
MOST_ON_RESOURCE: Final = 200
#: The most properties that one user wrote, and their characters.
MOST_OF_USER: Final = 50_000
MOST_CHARACTERS_OF_USER: Final = 8 * 1024 * 1024
#: The properties of several resources: path -> name -> XML element.
DeadProperties = dict[str, dict[str, str]]
_MICROSOFT: Final = "{urn:schemas-microsoft-com:}Win32"
#: Properties that Windows sets on each file that it copies; they are accepted and ignored.
_IGNORED: Final = {_MICROSOFT + name for name in ("CreationTime", "LastAccessTime", "FileAttributes")}
#: Properties with which Windows and rclone set the modification time.
_MODIFIED: Final = {_MICROSOFT + "LastModifiedTime", f"{DAV}lastmodified"}
_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"


def quota_properties(session: Session, settings: Settings, user_id: int, names: Collection[str]) -> dict[str, str]:
    """Return the quota properties among `names`, the same for all folders; they are never part of `allprop`.

    Used bytes are the size of the library with its trash. Available bytes are the free space of the disk, or the rest
    of the account's quota if that is less.
    """
    values: dict[str, str] = {}
    if USED in names:
        stored = or_(File.missing.is_(False), is_below(File.name, TRASH_FOLDER))
        values[USED] = str(session.scalar(select(func.coalesce(func.sum(File.size), 0)).where(stored)))
    if AVAILABLE in names:
        limits = [bytes_left(session, settings, user_id)]
        disk = os.statvfs(settings.originals)
        limits.append(disk.f_bavail * disk.f_frsize)
        values[AVAILABLE] = str(max(0, min(limit for limit in limits if limit is not None)))
    return values


def _of_files(value: Callable[[Resource], str]) -> Callable[[Resource], str | None]:
    return lambda resource: None if resource.is_folder else value(resource)


#: Name -> function that renders the value for a resource, None if it has none. `LockProperties` renders the others.
LIVE: Final[Mapping[str, Callable[[Resource], str | None]]] = {
    f"{DAV}resourcetype": lambda resource: "<D:collection/>" if resource.is_folder else "",
    f"{DAV}displayname": lambda resource: text(resource.name or "originals"),
    f"{DAV}creationdate": lambda resource: _timestamp(min(resource.status.st_mtime, resource.status.st_ctime)),
    f"{DAV}getlastmodified": lambda resource: http_date(_second(resource.status.st_mtime)),
    f"{DAV}getcontentlength": _of_files(lambda resource: str(resource.status.st_size)),
    f"{DAV}getcontenttype": _of_files(lambda resource: text(content_type_of(resource.name))),
    f"{DAV}getetag": _of_files(lambda resource: f'"{etag_of(resource.status)}"'),
}


class LockProperties:
    """The lock properties of the resources of one answer.

    Args:
        locks: the locks that cover any of them.
        mount: the address of the folder of originals, not quoted.
    """

    def __init__(self, locks: Iterable[DavLock], now: datetime, mount: str) -> None:
        self._mount = quote(mount)
        self._by_root: dict[str, list[tuple[bool, str]]] = {}
        for lock in locks:
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


class PropertyLimitError(PhotosvcError):
    """A property is too large, or there are too many."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


def names(session: Session, path: str) -> list[str]:
    """Return the names of the properties of a resource."""
    return list(session.scalars(select(DavProperty.name).where(DavProperty.path == path).order_by(DavProperty.name)))


def find_all(session: Session, path: str, wanted: Sequence[str] | None, depth: str) -> DeadProperties:
    """Return the properties of a resource and of the resources in it.

    Args:
        path: the resource, in the form of `addresses.key`.
        wanted: names of properties; None for all.
        depth: `0`: the resource alone; `1`: also those directly in it; `infinity`: also all inside it.
    """
    chosen = DavProperty.path == path if depth == "0" else within(DavProperty.path, path)
    if depth == "1":
        rest = func.substr(DavProperty.path, len(path.rstrip("/")) + 2)
        chosen &= func.replace(rest, "/", "") == rest
    if wanted is not None:
        chosen &= DavProperty.name.in_(wanted)
    query = select(DavProperty.path, DavProperty.name, DavProperty.value).where(chosen)
    properties: DeadProperties = {}
    for owner, name, value in session.execute(query.order_by(DavProperty.path, DavProperty.name)):
        properties.setdefault(owner, {})[name] = value
    return properties


def check(session: Session, path: str, values: Mapping[str, str], user_uid: str) -> None:
    """Check that a user may store these properties (name -> value) of a resource.

    Raises:
        PropertyLimitError: they are over a limit.
    """
    if len(path) > LONGEST:
        raise PropertyLimitError(f"only paths of at most {LONGEST} characters can have properties")
    if any(len(name.encode()) > LONGEST_NAME for name in values):
        raise PropertyLimitError(f"the name of a property has at most {LONGEST_NAME} bytes")
    if any(len(value) > LONGEST_VALUE for value in values.values()):
        raise PropertyLimitError(f"a property has at most {LONGEST_VALUE} characters")
    others = set(names(session, path)) - set(values)
    if len(others) + len(values) > MOST_ON_RESOURCE:
        raise PropertyLimitError(f"a file or folder has at most {MOST_ON_RESOURCE} properties")
    if not _has_room(session, user_uid, len(values), sum(_size(*item) for item in values.items())):
        raise PropertyLimitError("too many properties: remove some")


def write(session: Session, path: str, values: Mapping[str, str], user_uid: str) -> None:
    """Store properties of a resource; the caller has called `locks.serialize` and `check`."""
    for name, value in values.items():
        row = {"path": path, "name": name, "value": value, "size": _size(name, value), "user_uid": user_uid}
        new = insert_into(DavProperty, session).values(row)
        changed = {column: new.excluded[column] for column in ("value", "size", "user_uid")}
        session.execute(new.on_conflict_do_update(index_elements=["path", "name"], set_=changed))


def remove(session: Session, path: str, removed: Iterable[str]) -> None:
    """Delete properties of a resource by their names; absent ones are ignored."""
    chosen = DavProperty.path == path, DavProperty.name.in_(list(removed))
    session.execute(delete(DavProperty).where(*chosen), execution_options=UNLOADED)


def remove_all(session: Session, path: str) -> None:
    """Delete the properties of a deleted resource and of all resources inside it."""
    session.execute(delete(DavProperty).where(within(DavProperty.path, path)), execution_options=UNLOADED)


def copy(session: Session, source: str, target: str, user_uid: str) -> None:
    """Copy the properties of a resource to its copy.

    If they would exceed a limit of the user, none is copied, as RFC 4918 section 9.8.2 allows.
    """
    remove_all(session, target)
    chosen = DavProperty.path == source
    sums = select(func.count(), func.coalesce(func.sum(DavProperty.size), 0)).where(chosen)
    count, size = session.execute(sums).one()
    if not count or len(target) > LONGEST or not _has_room(session, user_uid, count, size):
        return
    columns = ("path", "name", "value", "size", "user_uid")
    own = (DavProperty.name, DavProperty.value, DavProperty.size)
    rows = select(literal(target), *own, literal(user_uid)).where(chosen)
    session.execute(insert(DavProperty).from_select(columns, rows))


def move(session: Session, source: str, target: str) -> None:
    """Move the properties of a resource, and of all resources inside it, to its new name."""
    remove_all(session, target)
    new_path = renamed(DavProperty.path, source, target)
    chosen = within(DavProperty.path, source)
    too_long = delete(DavProperty).where(chosen, func.length(new_path) > LONGEST)
    session.execute(too_long, execution_options=UNLOADED)
    session.execute(update(DavProperty).where(chosen).values(path=new_path), execution_options=UNLOADED)


def _has_room(session: Session, user_uid: str, count: int, size: int) -> bool:
    """Return whether a user may store `count` more properties of `size` characters; replaced ones count twice."""
    own = select(func.count(), func.coalesce(func.sum(DavProperty.size), 0)).where(DavProperty.user_uid == user_uid)
    held, characters = session.execute(own).one()
    return bool(held + count <= MOST_OF_USER and characters + size <= MOST_CHARACTERS_OF_USER)


def _size(name: str, value: str) -> int:
    return len(name) + len(value)


#: Changes of properties: name -> the element to store; None: remove the property.
Changes = dict[str, Element | None]


def proppatch(request: DavRequest) -> Response:
    """Change properties of a file or folder.

    Raises:
        XmlError: the body is not a change of properties; further errors of `read_xml`.
        DAVError: there is no such resource, a condition does not hold, or the resource is locked (423).
    """
    request.existing()
    body = read_xml(request.environ, "propertyupdate")
    if body is None:
        raise XmlError
    changes = dict(_changes(body))
    modified = [_time(value) for name, value in changes.items() if name in _MODIFIED]
    refused = {name: status for name, value in changes.items() if (status := _refusal(name, value))}
    path, user_uid = request.key(request.path), request.user_uid
    texts = {name: None if value is None else element_text(value) for name, value in changes.items()}
    stored = {name: text for name, text in texts.items() if name not in _IGNORED | _MODIFIED}
    written = {name: text for name, text in stored.items() if text is not None}
    with request.writing() as session:
        resource = request.existing()
        request.check_conditions(resource)
        request.check_writable(request.path)
        if not refused:
            try:
                check(session, path, written, user_uid)
            except PropertyLimitError as error:
                refused = dict.fromkeys(written, error.status)
        if not refused:
            remove(session, path, stored.keys() - written.keys())
            write(session, path, written, user_uid)
    if modified and modified[-1] is not None and not refused:
        with suppress(PhotosvcError):  # gone meanwhile
            originals.set_modified(request.tree.root, request.name, modified[-1])
    return _answer(request, resource, changes, refused)


def _changes(body: Element) -> Iterator[tuple[str, Element | None]]:
    """Yield the changes in the order of the request; a later one of the same property replaces an earlier one."""
    for part in body:
        if part.tag not in {f"{DAV}set", f"{DAV}remove"}:  # RFC 4918 section 17: ignore unknown elements
            continue
        for holder in part.iterfind(f"{DAV}prop"):
            language = holder.get(_LANGUAGE) or part.get(_LANGUAGE) or body.get(_LANGUAGE) or ""
            for value in holder:
                if language:
                    value.attrib.setdefault(_LANGUAGE, language)
                yield value.tag, value if part.tag == f"{DAV}set" else None


def _refusal(name: str, value: Element | None) -> HTTPStatus | None:
    """Return the error status of a change that is not allowed; None if it is."""
    if name in _MODIFIED:
        return HTTPStatus.CONFLICT if value is not None and _time(value) is None else None
    return HTTPStatus.FORBIDDEN if name.startswith(DAV) else None


def _time(value: Element | None) -> float | None:
    """Return a time as seconds since 1970, from an HTTP date or a number; None for other texts and for a removal."""
    text = "" if value is None else (value.text or "").strip()
    if (seconds := parse_digits(text)) is not None:
        return float(seconds) if seconds <= LAST_SECOND else None
    date = parse_date(text)
    return None if date is None else date.timestamp()


def _answer(request: DavRequest, resource: Resource, changes: Changes, refused: dict[str, HTTPStatus]) -> Response:
    by_status: dict[HTTPStatus, list[str]] = {}
    for name in changes:
        status = refused.get(name, HTTPStatus.FAILED_DEPENDENCY if refused else HTTPStatus.OK)
        by_status.setdefault(status, []).append(element(name))
    propstats = [propstat(status, "".join(names)) for status, names in by_status.items()]
    response = xml.response(resource.href(request.in_client_spelling(resource.path)), propstats)
    return Response(xml.document("multistatus", response), HTTPStatus.MULTI_STATUS, content_type=xml.CONTENT_TYPE)
