"""LOCK and UNLOCK (RFC 4918 sections 9.10 and 9.11), each checked and written in one transaction."""

import re
from contextlib import ExitStack
from datetime import timedelta
from http import HTTPStatus
from typing import Final
from uuid import uuid4
from xml.etree.ElementTree import Element

from flask import Response
from sqlalchemy.orm import Session

from photosvc.dav import addresses, locks, xml
from photosvc.dav.errors import NO_CONFLICT, TOKEN_MATCHES, DAVError, locked
from photosvc.dav.properties import LOCKDISCOVERY, LockProperties
from photosvc.dav.request import DavRequest
from photosvc.dav.tree import is_folder
from photosvc.dav.xml import DAV, XmlError, element, element_text, read_xml
from photosvc.library import originals
from photosvc.library.originals import checked_name
from photosvc.models import DavLock
from photosvc.web.protector import principal

#: The most seconds that a lock lasts unless it is refreshed; also its duration if the client names none.
LONGEST_TIME: Final = 3600
#: The most characters of the element `owner`.
LONGEST_OWNER: Final = 4096
_SECONDS: Final = re.compile(r"second-([0-9]+)\Z")
_MOST_DIGITS: Final = 9


def lock(request: DavRequest) -> Response:
    """Lock a file or folder, or make an empty file where there is none; without a body, refresh a lock.

    Raises:
        DAVError: the request is not valid; 423, other locks forbid it.
        PhotosvcError: the body cannot be read, there are too many locks, or the disk refuses the file.
    """
    depth = request.environ.get("HTTP_DEPTH", "infinity")
    if depth not in {"0", "infinity"}:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the Depth of a lock is 0 or infinity")
    body = read_xml(request.environ, "lockinfo")
    seconds = _seconds(request.environ.get("HTTP_TIMEOUT", ""))
    with ExitStack() as stack:
        undo = stack.enter_context(originals.undo_on_error())
        session = stack.enter_context(request.writing())
        resource = request.find(request.path)
        request.check_conditions(resource)
        if body is None:
            held = _refreshed(request, session, seconds)
        else:
            held = _requested_lock(request, body, seconds, deep=depth == "infinity")
            if held.deep and is_folder(resource) and "/" not in request.name:
                # Any account may lock, and would keep all others from a large part of the library.
                raise DAVError(
                    HTTPStatus.FORBIDDEN,
                    "the folder of originals and the folders in it are locked with Depth 0 only: lock a folder further"
                    " down, or a file",
                )
            if resource is None:
                _check_new_file(request)
            if roots := locks.grant(session, request.service.now(), held):
                raise locked(NO_CONFLICT, roots)
            if resource is None:
                originals.make_empty(request.tree.root, request.name)
                undo.callback(originals.remove_file, request.tree.root, request.name)
        content = _document(request, held)
        token = held.token
    headers = {} if body is None else {"Lock-Token": f"<{token}>"}
    status = 201 if resource is None and body is not None else 200
    return Response(content, status, headers, content_type=xml.CONTENT_TYPE)


def unlock(request: DavRequest) -> Response:
    """Release a lock of the own account or, for administrators, of any account.

    Raises:
        DAVError: 409, no such lock covers the resource; 403, it is another account's; 400, the token is missing.
    """
    token = request.environ.get("HTTP_LOCK_TOKEN", "").strip().removeprefix("<").removesuffix(">")
    if not token:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the header Lock-Token is missing")
    with request.writing() as session:
        request.check_conditions(request.find(request.path))
        held = _covering(request, session, token)
        if held is None:
            raise DAVError(HTTPStatus.CONFLICT, condition=TOKEN_MATCHES)
        if held.user_uid != request.user_uid and principal().role != "admin":
            raise DAVError(HTTPStatus.FORBIDDEN, "the lock was granted to another account")
        locks.release(session, token)
    return Response(status=204)


def _refreshed(request: DavRequest, session: Session, seconds: int) -> DavLock:
    if len(request.tokens) != 1:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the header If names the one lock that lasts longer")
    held = _covering(request, session, *request.tokens)
    if held is None:
        raise DAVError(HTTPStatus.PRECONDITION_FAILED, condition=TOKEN_MATCHES)
    if held.user_uid != request.user_uid:
        raise DAVError(HTTPStatus.FORBIDDEN, "the lock was granted to another account")
    held.seconds, held.expires_at = seconds, request.service.now() + timedelta(seconds=seconds)
    return held


def _covering(request: DavRequest, session: Session, token: str) -> DavLock | None:
    """Return the lock with this token, if it covers the resource."""
    covering = locks.covering(session, request.service.now(), request.key(request.path))
    return next((lock for lock in covering if lock.token == token), None)


def _requested_lock(request: DavRequest, body: Element, seconds: int, *, deep: bool) -> DavLock:
    """Return the lock that a body describes, not granted yet."""
    scopes = {part.tag.removeprefix(DAV) for part in body.iterfind(f"{DAV}lockscope/*")}
    types = {part.tag.removeprefix(DAV) for part in body.iterfind(f"{DAV}locktype/*")}
    if scopes not in ({"exclusive"}, {"shared"}) or types != {"write"}:
        raise XmlError("a lock is exclusive or shared, and of the type write")
    described = body.find(f"{DAV}owner")
    owner = "" if described is None else element_text(described)
    if len(owner) > LONGEST_OWNER:
        raise DAVError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a lock owner has at most {LONGEST_OWNER} characters")
    root = request.key(request.path)
    if len(root) > addresses.LONGEST:
        raise DAVError(HTTPStatus.FORBIDDEN, f"only paths of at most {addresses.LONGEST} characters can be locked")
    return DavLock(
        token=f"opaquelocktoken:{uuid4()}",
        root=root,
        user_uid=request.user_uid,
        exclusive=scopes == {"exclusive"},
        deep=deep,
        owner=owner,
        seconds=seconds,
        expires_at=request.service.now() + timedelta(seconds=seconds),
    )


def _check_new_file(request: DavRequest) -> None:
    """Check that a new file of this name may be made: its folder must exist, and not be locked."""
    parent = request.parent_of(request.path)
    if request.path.endswith("/") or not is_folder(request.find(parent)):
        raise DAVError(HTTPStatus.CONFLICT, "the folder does not exist")
    checked_name(request.name)
    request.check_writable(parent)


def _seconds(timeout: str) -> int:
    """Return the duration of a lock in seconds, by the first known entry of the header `Timeout`."""
    for entry in timeout.lower().split(","):
        match = _SECONDS.match(entry.strip())
        if entry.strip() == "infinite" or (match and len(match[1]) > _MOST_DIGITS):
            return LONGEST_TIME
        if match:
            return max(1, min(int(match[1]), LONGEST_TIME))
    return LONGEST_TIME


def _document(request: DavRequest, held: DavLock) -> str:
    """Render the body of the answer: the lock in the property `lockdiscovery`."""
    shown = LockProperties([held], request.service.now(), request.tree.mount_path).value(LOCKDISCOVERY, held.root)
    return xml.document("prop", element(LOCKDISCOVERY, shown))
