"""PROPFIND (RFC 4918 section 9.1): a folder is read once, with a query for properties and one for locks, and streamed.

The method of WsgiDAV asks the database for each file, and builds the whole answer as a tree of elements.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from flask import Response
from sqlalchemy.orm import Session
from wsgidav.dav_error import HTTP_BAD_REQUEST, HTTP_FORBIDDEN, DAVError, PRECONDITION_CODE_PropfindFiniteDepth

from photosvc.dav.locking import locks
from photosvc.dav.properties import multistatus, stored
from photosvc.dav.properties.live import LIVE, LOCKDISCOVERY, SUPPORTEDLOCK, LockProperties, Resource
from photosvc.dav.properties.multistatus import element, propstat
from photosvc.dav.properties.quota import quota_properties
from photosvc.dav.properties.xml_body import DAV, XmlError, read_xml
from photosvc.dav.tree import OriginalFile, OriginalFolder, Originals, members
from photosvc.models import DavLock
from photosvc.web.protector import principal

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request

#: Files and folders of an answer with `Depth: infinity`.
MOST: Final = 10_000

#: Resources that are sent at a time.
_PORTION: Final = 200
_DEPTHS: Final = ("0", "1", "infinity")
_LOCK_PROPERTIES: Final = (LOCKDISCOVERY, SUPPORTEDLOCK)
#: Of `allprop` and `propname`: the properties that RFC 4918 defines.
_USUAL: Final = (*LIVE, *_LOCK_PROPERTIES)


@dataclass(frozen=True, slots=True)
class Asked:
    """The properties that a request asks for."""

    names: tuple[str, ...]
    """In Clark notation."""
    dead: bool
    """Whether also all dead properties."""
    values: bool = True


def propfind(request: "Request") -> Response:
    """The properties of a file or folder and, by the header `Depth`, of what is in it.

    Raises:
        XmlError: the body is not a request for properties; further errors of `read_xml`.
        DAVError: 400, the header `Depth` is wrong; 403, over 10,000 resources at any depth.

    """
    environ, provider, found = request.environ, request.provider, request.existing()
    request.check_if()
    depth = environ.get("HTTP_DEPTH", "infinity")
    if depth not in _DEPTHS:
        raise DAVError(HTTP_BAD_REQUEST, "the header Depth is 0, 1 or infinity")
    asked, mount = _asked(environ), provider.mount_path
    resources = _resources(provider.root, found, depth)
    with provider.service.loading() as session:
        dead, covering = _stored(session, request.key(request.path), asked, depth, provider)
        quota = quota_properties(session, provider.service.settings, principal().user_id or 0, asked.names)
    provider.service.close()
    address = partial(_address, request, mount)
    parts = (_response(resource, asked, dead, covering, address, quota) for resource in resources)
    return Response(_document(parts), HTTPStatus.MULTI_STATUS, content_type=multistatus.CONTENT_TYPE)


def _asked(environ: Mapping[str, Any]) -> Asked:
    body = read_xml(environ, "propfind")
    if body is None:
        return Asked(_USUAL, dead=True)
    parts = {part.tag.removeprefix(DAV): part for part in body}
    kinds = [kind for kind in ("prop", "allprop", "propname") if kind in parts]
    if len(kinds) != 1:
        msg = "a propfind has one of the elements `prop`, `allprop` and `propname`"
        raise XmlError(msg)
    if kinds == ["prop"]:
        return Asked(tuple(dict.fromkeys(one.tag for one in parts["prop"])), dead=False)
    included = (one.tag for one in parts.get("include", ()))
    return Asked(tuple(dict.fromkeys((*_USUAL, *included))), dead=True, values=kinds == ["allprop"])


def _resources(root: Path, found: OriginalFile | OriginalFolder, depth: str) -> Iterable[Resource]:
    first = Resource(found.path.rstrip("/"), found.name or "originals", found.status)
    if depth == "0" or not isinstance(found, OriginalFolder):
        return [first]
    inside = _inside(root, first)
    if depth == "1":
        return chain([first], inside)
    tree, folders = [first], [inside]
    while folders:
        for resource in folders.pop():
            tree.append(resource)
            if len(tree) > MOST:
                raise DAVError(HTTP_FORBIDDEN, err_condition=PRECONDITION_CODE_PropfindFiniteDepth)
            if resource.is_folder:
                with suppress(DAVError):  # one that cannot be read has no members
                    folders.append(_inside(root, resource))
    return tree


def _inside(root: Path, folder: Resource) -> Iterator[Resource]:
    """What is directly in a folder, which is opened at once."""
    found = members(root, folder.path.strip("/"))
    return (Resource(f"{folder.path}/{name}", name, status) for name, status in found)


def _stored(
    session: Session, path: str, asked: Asked, depth: str, provider: Originals
) -> tuple[stored.Found, LockProperties]:
    """Dead properties and locks of all resources of the answer."""
    dead: stored.Found = {}
    names = None if asked.dead else [name for name in asked.names if name not in _USUAL]
    if names is None or names:
        dead = stored.find_all(session, path, names, depth)
    now = provider.service.now()
    found: list[DavLock] = []
    if LOCKDISCOVERY in asked.names and asked.values:
        found += locks.covering(session, now, path)
        if depth != "0":
            found += locks.inside(session, now, path, locks.MOST)
    return dead, LockProperties(found, now, provider.mount_path)


def _response(
    resource: Resource,
    asked: Asked,
    dead: stored.Found,
    covering: LockProperties,
    address: Callable[[Resource], str],
    quota: Mapping[str, str],
) -> str:
    path = quote(resource.path) or "/"
    own = dead.get(path, {})
    present, missing = [], []
    for name in asked.names:
        if name in LIVE:
            value = LIVE[name](resource)
            rendered = None if value is None else element(name, value if asked.values else "")
        elif name in _LOCK_PROPERTIES:
            rendered = element(name, covering.value(name, path) if asked.values else "")
        elif name in quota and resource.is_folder:
            rendered = element(name, quota[name] if asked.values else "")
        else:
            rendered = own.get(name)
        if rendered is not None:
            present.append(rendered)
        elif not asked.dead or name not in _USUAL:
            missing.append(element(name))
    if asked.dead:
        others = {name: value for name, value in own.items() if name not in asked.names}
        present += others.values() if asked.values else map(element, others)
    propstats = [propstat(HTTPStatus.OK, "".join(present))] if present or not missing else []
    if missing:
        propstats.append(propstat(HTTPStatus.NOT_FOUND, "".join(missing)))
    return multistatus.response(address(resource), propstats)


def _address(request: "Request", mount: str, resource: Resource) -> str:
    asked = request.as_asked(resource.path)
    return (resource if asked == resource.path else resource._replace(path=asked)).href(mount)


def _document(parts: Iterator[str]) -> Iterator[bytes]:
    yield multistatus.BEGIN.encode()
    while portion := "".join(islice(parts, _PORTION)):
        yield portion.encode()
    yield multistatus.END.encode()
