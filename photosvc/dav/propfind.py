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
from photosvc.dav.request import PATIENCE, Request
from photosvc.dav.tree import Original, Originals
from photosvc.dav.xml import DAV, XmlError, element, propstat, read_xml
from photosvc.models import DavLock
from photosvc.web.files import begin_transfer
from photosvc.web.protector import principal

#: The most files and folders of an answer with `Depth: infinity`.
MOST: Final = 10_000
#: Up to this many properties may be asked for of any number of files; with more, the values of an answer are limited.
_FEW: Final = 40
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
class Asked:
    """The properties that a request asks for."""

    names: tuple[str, ...]
    """Names in Clark notation."""
    dead: bool
    """True if all dead properties are asked for, too."""
    values: bool = True


def propfind(request: Request) -> Response:
    """Return the properties of a file or folder and, by the header `Depth`, of the resources in it.

    Raises:
        XmlError: the body is not a request for properties; further errors of `read_xml`.
        DAVError: 400, the header `Depth` is wrong; 403, over 10,000 resources at any depth; 507, too many properties
            of too many resources.
        PhotosvcError: too many large answers are being sent.
    """
    environ, provider, found = request.environ, request.provider, request.existing()
    request.check_if()
    depth = environ.get("HTTP_DEPTH", "infinity")
    if depth not in {"0", "1", "infinity"}:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the header Depth is 0, 1 or infinity")
    asked = _asked(environ)
    first, rest = _begun(_resources(found, depth), len(asked.names))
    with provider.service.reading(orm=True) as session:
        dead, covering = _stored(session, request.key(request.path), asked, depth, provider)
        quota = quota_properties(session, provider.service.settings, principal().user_id or 0, asked.names)
    provider.service.close()
    # The properties that no resource of the answer has are rendered once for all.
    known = {*LIVE, *_LOCK_PROPERTIES, *quota, *(name for own in dead.values() for name in own)}
    absent = {name: element(name) for name in asked.names if name not in known}
    parts = (_response(request, one, asked, absent, dead, covering, quota) for one in chain(first, rest))
    answer = Response(_document(parts), HTTPStatus.MULTI_STATUS, content_type=xml.CONTENT_TYPE)
    if len(first) > _SHORT:
        answer.call_on_close(begin_transfer(answer, PATIENCE))
    return answer


def _asked(environ: Mapping[str, Any]) -> Asked:
    body = read_xml(environ, "propfind")
    if body is None:
        return Asked(_USUAL, dead=True)
    parts = {part.tag.removeprefix(DAV): part for part in body}
    kinds = [kind for kind in ("prop", "allprop", "propname") if kind in parts]
    if len(kinds) != 1:
        raise XmlError("a propfind has one of the elements `prop`, `allprop` and `propname`")
    if kinds == ["prop"]:
        return Asked(tuple(dict.fromkeys(one.tag for one in parts["prop"])), dead=False)
    included = (one.tag for one in parts.get("include", ()))
    return Asked(tuple(dict.fromkeys((*_USUAL, *included))), dead=True, values=kinds == ["allprop"])


def _begun(resources: Iterable[Original], names: int) -> tuple[list[Original], Iterator[Original]]:
    """Split a list into its beginning, whose length shows whether the list is long, and its rest."""
    most = _SHORT if names <= _FEW else MOST_VALUES // names
    rest = iter(resources)
    first = list(islice(rest, most + 1))
    if names > _FEW and len(first) > most:
        # RFC 3253 section 3.8 and RFC 6578 section 3.6 have this condition for reports that are too large.
        raise DAVError(HTTPStatus.INSUFFICIENT_STORAGE, condition=TOO_MANY_VALUES)
    return first, rest


def _resources(found: Original, depth: str) -> Iterable[Original]:
    if depth == "0" or not found.is_folder:
        return [found]
    if depth == "1":
        return chain([found], found.members())
    tree, folders = [found], [found]
    while folders and len(tree) <= MOST:
        folder = folders.pop()
        # A folder in it that cannot be read, or is gone by now, is listed without members.
        with nullcontext() if folder is found else suppress(DAVError):
            for one in islice(folder.members(), MOST + 1 - len(tree)):
                tree.append(one)
                if one.is_folder:
                    folders.append(one)
    if len(tree) > MOST:
        raise DAVError(HTTPStatus.FORBIDDEN, condition=FINITE_DEPTH)
    return tree


def _stored(
    session: Session, path: str, asked: Asked, depth: str, provider: Originals
) -> tuple[properties.Found, LockProperties]:
    """Read the dead properties and locks of all resources of the answer."""
    dead: properties.Found = {}
    names = None if asked.dead else [name for name in asked.names if name not in _USUAL]
    if names is None or names:
        dead = properties.find_all(session, path, names, depth)
    now = provider.service.now()
    found: list[DavLock] = []
    if LOCKDISCOVERY in asked.names and asked.values:
        found += locks.covering(session, now, path)
        if depth != "0":
            found += locks.inside(session, now, path, locks.MOST)
    return dead, LockProperties(found, now, provider.mount_path)


def _response(
    request: Request,
    resource: Original,
    asked: Asked,
    absent: Mapping[str, str],
    dead: properties.Found,
    covering: LockProperties,
    quota: Mapping[str, str],
) -> str:
    path = request.key(resource.path)
    own = dead.get(path, {})
    present, missing = [], list(absent.values())
    for name in asked.names:
        if name in absent:
            continue
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
    return xml.response(resource.href(request.as_asked(resource.path)), propstats)


def _document(parts: Iterator[str]) -> Iterator[bytes]:
    yield xml.BEGIN.encode()
    while portion := "".join(islice(parts, _PORTION)):
        yield portion.encode()
    yield xml.END.encode()
