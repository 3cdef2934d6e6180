"""PROPFIND (RFC 4918 section 9.1): one read of the folder, one query for properties, one for locks, and a stream."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain, islice
from typing import Any, Final

from flask import Response
from sqlalchemy.orm import Session

from photosvc.dav import locks, properties, xml
from photosvc.dav.errors import FINITE_DEPTH, DAVError
from photosvc.dav.properties import LIVE, LOCKDISCOVERY, SUPPORTEDLOCK, LockProperties, quota_properties
from photosvc.dav.request import PATIENCE, DavRequest
from photosvc.dav.tree import Resource, Tree
from photosvc.dav.xml import DAV, XmlError, element, propstat, read_xml
from photosvc.models import DavLock
from photosvc.web.files import begin_transfer
from photosvc.web.protector import principal

#: The most files and folders of an answer with `Depth: infinity`.
MOST: Final = 10_000
#: Properties of a request up to which any number of files is listed; with more, `MOST_VALUES` limits the answer.
_FEW_NAMES: Final = 40
MOST_VALUES: Final = 100_000
#: The most files and folders of an answer that is sent without a slot.
_SHORT: Final = 1000
#: Resources that are rendered and sent together.
_PORTION: Final = 200
_LOCK_PROPERTIES: Final = (LOCKDISCOVERY, SUPPORTEDLOCK)
#: The properties that `allprop` and `propname` return: those that RFC 4918 defines.
_USUAL: Final = (*LIVE, *_LOCK_PROPERTIES)
#: The condition of an answer with too many values.
TOO_MANY_VALUES: Final = "number-of-matches-within-limits"


@dataclass(frozen=True, slots=True)
class PropertyRequest:
    """The properties that a PROPFIND requests."""

    names: tuple[str, ...]
    """Names in Clark notation."""
    dead: bool
    """True if all dead properties are requested, too."""
    values: bool = True
    """False if only names are requested."""


def propfind(request: DavRequest) -> Response:
    """Return the properties of a file or folder and, by the header `Depth`, of the resources in it.

    Raises:
        XmlError: the body is not a request for properties; further errors of `read_xml`.
        DAVError: 400, the header `Depth` is wrong; 403, over 10,000 resources at any depth; 507, too many properties
            of too many resources.
        PhotosvcError: too many large answers are being sent.
    """
    environ, tree, top = request.environ, request.tree, request.existing()
    request.check_if()
    depth = environ.get("HTTP_DEPTH", "infinity")
    if depth not in {"0", "1", "infinity"}:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the header Depth is 0, 1 or infinity")
    wanted = _read_request(environ)
    first, rest = _split(_resources(top, depth), len(wanted.names))
    with tree.service.reading(orm=True) as session:
        dead, covering = _stored(session, request.key(request.path), wanted, depth, tree)
        quota = quota_properties(session, tree.service.settings, principal().user_id or 0, wanted.names)
    tree.service.close()
    # Properties that no resource of the answer has are rendered once.
    known = {*LIVE, *_LOCK_PROPERTIES, *quota, *(name for own in dead.values() for name in own)}
    absent = {name: element(name) for name in wanted.names if name not in known}
    parts = (_response(request, resource, wanted, absent, dead, covering, quota) for resource in chain(first, rest))
    answer = Response(_document(parts), HTTPStatus.MULTI_STATUS, content_type=xml.CONTENT_TYPE)
    if len(first) > _SHORT:
        answer.call_on_close(begin_transfer(answer, PATIENCE))
    return answer


def _read_request(environ: Mapping[str, Any]) -> PropertyRequest:
    body = read_xml(environ, "propfind")
    if body is None:
        return PropertyRequest(_USUAL, dead=True)
    parts = {part.tag.removeprefix(DAV): part for part in body}
    kinds = [kind for kind in ("prop", "allprop", "propname") if kind in parts]
    if len(kinds) != 1:
        raise XmlError("a propfind has one of the elements `prop`, `allprop` and `propname`")
    if kinds == ["prop"]:
        return PropertyRequest(tuple(dict.fromkeys(part.tag for part in parts["prop"])), dead=False)
    included = (part.tag for part in parts.get("include", ()))
    return PropertyRequest(tuple(dict.fromkeys((*_USUAL, *included))), dead=True, values=kinds == ["allprop"])


def _split(resources: Iterable[Resource], names: int) -> tuple[list[Resource], Iterator[Resource]]:
    """Split a list into its beginning, whose length shows whether the list is long, and its rest.

    Raises:
        DAVError: 507, the answer would have too many values.
    """
    most = _SHORT if names <= _FEW_NAMES else MOST_VALUES // names
    rest = iter(resources)
    first = list(islice(rest, most + 1))
    if names > _FEW_NAMES and len(first) > most:
        # RFC 3253 section 3.8 and RFC 6578 section 3.6 have this condition for reports that are too large.
        raise DAVError(HTTPStatus.INSUFFICIENT_STORAGE, condition=TOO_MANY_VALUES)
    return first, rest


def _resources(top: Resource, depth: str) -> Iterable[Resource]:
    """Return the resources of the answer, the one of the request first."""
    if depth == "0" or not top.is_folder:
        return [top]
    if depth == "1":
        return chain([top], top.members())
    listed, folders = [top], [top]
    while folders and len(listed) <= MOST:
        folder = folders.pop()
        # A subfolder that cannot be read, or was removed meanwhile, is listed without members.
        with nullcontext() if folder is top else suppress(DAVError):
            for member in islice(folder.members(), MOST + 1 - len(listed)):
                listed.append(member)
                if member.is_folder:
                    folders.append(member)
    if len(listed) > MOST:
        raise DAVError(HTTPStatus.FORBIDDEN, condition=FINITE_DEPTH)
    return listed


def _stored(
    session: Session, path: str, wanted: PropertyRequest, depth: str, tree: Tree
) -> tuple[properties.DeadProperties, LockProperties]:
    """Return the dead properties and the locks of all resources of the answer."""
    dead: properties.DeadProperties = {}
    names = None if wanted.dead else [name for name in wanted.names if name not in _USUAL]
    if names is None or names:
        dead = properties.find_all(session, path, names, depth)
    now = tree.service.now()
    covering: list[DavLock] = []
    if LOCKDISCOVERY in wanted.names and wanted.values:
        covering += locks.covering(session, now, path)
        if depth != "0":
            covering += locks.inside(session, now, path, locks.MOST)
    return dead, LockProperties(covering, now, tree.mount_path)


def _response(
    request: DavRequest,
    resource: Resource,
    wanted: PropertyRequest,
    absent: Mapping[str, str],
    dead: properties.DeadProperties,
    covering: LockProperties,
    quota: Mapping[str, str],
) -> str:
    path = request.key(resource.path)
    own = dead.get(path, {})
    present, missing = [], list(absent.values())
    for name in wanted.names:
        if name in absent:
            continue
        if name in LIVE:
            value = LIVE[name](resource)
            rendered = None if value is None else element(name, value if wanted.values else "")
        elif name in _LOCK_PROPERTIES:
            rendered = element(name, covering.value(name, path) if wanted.values else "")
        elif name in quota and resource.is_folder:
            rendered = element(name, quota[name] if wanted.values else "")
        else:
            rendered = own.get(name)
        if rendered is not None:
            present.append(rendered)
        elif not wanted.dead or name not in _USUAL:
            missing.append(element(name))
    if wanted.dead:
        others = {name: value for name, value in own.items() if name not in wanted.names}
        present += others.values() if wanted.values else map(element, others)
    propstats = [propstat(HTTPStatus.OK, "".join(present))] if present or not missing else []
    if missing:
        propstats.append(propstat(HTTPStatus.NOT_FOUND, "".join(missing)))
    return xml.response(resource.href(request.in_client_spelling(resource.path)), propstats)


def _document(parts: Iterator[str]) -> Iterator[bytes]:
    yield xml.BEGIN.encode()
    while portion := "".join(islice(parts, _PORTION)):
        yield portion.encode()
    yield xml.END.encode()
