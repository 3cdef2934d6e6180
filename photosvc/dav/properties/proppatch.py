"""PROPPATCH (RFC 4918 section 9.2): all changes of a request in one transaction, or none.

The method of WsgiDAV writes one property after the other, and leaves half of them when one fails.
"""

from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element

from flask import Response
from werkzeug.http import parse_date

from photosvc.core.errors import PhotosvcError
from photosvc.dav.properties import multistatus, stored
from photosvc.dav.properties.live import LAST_SECOND, Resource
from photosvc.dav.properties.multistatus import element, propstat
from photosvc.dav.properties.xml_body import DAV, XmlError, element_text, read_xml
from photosvc.dav.tree import OriginalFile, OriginalFolder
from photosvc.library.files import disk

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request

_MICROSOFT: Final = "{urn:schemas-microsoft-com:}Win32"
#: What Windows sets for each file that it copies, without a meaning here.
_IGNORED: Final = {_MICROSOFT + name for name in ("CreationTime", "LastAccessTime", "FileAttributes")}
#: By what Windows and rclone set the time of the last change.
_MODIFIED: Final = {_MICROSOFT + "LastModifiedTime", f"{DAV}lastmodified"}
_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"

#: Name -> the element to store; None: to remove.
Changes = dict[str, Element | None]


def proppatch(request: "Request") -> Response:
    """Change properties of a file or folder.

    Raises:
        XmlError: the body is not a change of properties; further errors of `read_xml`.
        DAVError: there is no such resource, a condition does not hold, or 423, it is locked.

    """
    request.existing()
    body = read_xml(request.environ, "propertyupdate")
    if body is None:
        raise XmlError
    changes = dict(_changes(body))
    modified = [_time(one) for name, one in changes.items() if name in _MODIFIED]
    refused = {name: status for name, one in changes.items() if (status := _refusal(name, one))}
    path, user_uid = request.key(request.path), request.user_uid
    values = {name: None if one is None else element_text(one) for name, one in changes.items()}
    kept = {name: value for name, value in values.items() if name not in _IGNORED | _MODIFIED}
    written = {name: value for name, value in kept.items() if value is not None}
    with request.writing() as session:
        found = request.existing()
        request.check_conditions(found)
        request.check_writable(request.path)
        if not refused:
            try:
                stored.check(session, path, written, user_uid)
            except stored.PropertyLimitError as error:
                refused = dict.fromkeys(written, error.status)
        if not refused:
            stored.remove(session, path, kept.keys() - written.keys())
            stored.write(session, path, written, user_uid)
    if modified and modified[-1] is not None and not refused:
        with suppress(PhotosvcError):  # gone meanwhile
            disk.set_modified(request.provider.root, request.name, modified[-1])
    return _answer(request, found, changes, refused)


def _changes(body: Element) -> Iterator[tuple[str, Element | None]]:
    """The changes in the order of the request; a later one of the same property replaces an earlier one."""
    for part in body:
        if part.tag not in {f"{DAV}set", f"{DAV}remove"}:  # RFC 4918 section 17: others are left out
            continue
        for holder in part.iterfind(f"{DAV}prop"):
            language = holder.get(_LANGUAGE) or part.get(_LANGUAGE) or body.get(_LANGUAGE) or ""
            for one in holder:
                if language:
                    one.attrib.setdefault(_LANGUAGE, language)
                yield one.tag, one if part.tag == f"{DAV}set" else None


def _refusal(name: str, value: Element | None) -> HTTPStatus | None:
    """The status of a property that cannot be changed so."""
    if name in _MODIFIED:
        return HTTPStatus.CONFLICT if value is not None and _time(value) is None else None
    return HTTPStatus.FORBIDDEN if name.startswith(DAV) else None


def _time(value: Element | None) -> float | None:
    """A time as an HTTP date or in seconds since 1970; None when it is neither, or removed."""
    text = "" if value is None else (value.text or "").strip()
    if text.isascii() and text.isdigit():
        return float(text) if len(text) < 13 and int(text) <= LAST_SECOND else None
    date = parse_date(text)
    return None if date is None else date.timestamp()


def _answer(
    request: "Request", found: OriginalFile | OriginalFolder, changes: Changes, refused: dict[str, HTTPStatus]
) -> Response:
    by_status: dict[HTTPStatus, list[str]] = {}
    for name in changes:
        status = refused.get(name, HTTPStatus.FAILED_DEPENDENCY if refused else HTTPStatus.OK)
        by_status.setdefault(status, []).append(element(name))
    propstats = [propstat(status, "".join(names)) for status, names in by_status.items()]
    href = Resource(request.as_asked(found.path.rstrip("/")), found.name, found.status).href(
        request.provider.mount_path
    )
    parts = (multistatus.BEGIN, multistatus.response(href, propstats), multistatus.END)
    return Response("".join(parts), HTTPStatus.MULTI_STATUS, content_type=multistatus.CONTENT_TYPE)
