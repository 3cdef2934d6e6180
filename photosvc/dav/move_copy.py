"""MOVE, COPY and MKCOL.

MOVE is one rename on disk; the library, properties and locks follow in the same transaction. COPY makes its files in
the staging folder, as uploads are received.
"""

import os
import stat
from http import HTTPStatus
from typing import Final

from flask import Response
from sqlalchemy.orm import Session

from photosvc.dav import locks, properties
from photosvc.dav.addresses import path_of_url
from photosvc.dav.delete import check_depth, keep_replaced, remove, source_of
from photosvc.dav.errors import ChangedMeanwhileError, DAVError
from photosvc.dav.get_put import place
from photosvc.dav.request import PATIENCE, DavRequest
from photosvc.dav.tree import Resource, etag_of, is_folder, walk
from photosvc.library import originals
from photosvc.library.originals import checked_name
from photosvc.library.staging import Staging
from photosvc.library.storage_errors import IncompleteError, NameTakenError, TooLargeError
from photosvc.library.upload_queue import QuotaExceededError, bytes_left
from photosvc.web.uploads import receiving

#: The most files and folders of one COPY.
MOST: Final = 10_000
_PIECE: Final = 1 << 20


def move(request: DavRequest) -> Response:
    """Rename a file or folder.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.
    """
    path = target_path(request)
    name = path.strip("/")
    request.check_disk(name, within=True)
    check_depth(request, request.find(request.path), ("infinity",))
    with originals.undo_on_error() as undo, request.writing(library=True) as session:
        source = source_of(request)
        request.check_conditions(source)
        request.check_unlocked(request.path, changes_folder=True)
        replaced = check_target(request, path)
        relocation = request.relocation()
        overwrites = replaced is not None and not (replaced.is_folder or source.is_folder)
        # Programs save new content under another name, which the library does not know, and move it over the file.
        overwrites = overwrites and not relocation.knows(request.name)
        if replaced is not None and overwrites:
            keep_replaced(request, name, replaced, undo)
        elif replaced is not None:
            remove(request, name, replaced, undo)
        # Uploads and other programs may have taken a free name meanwhile.
        rename = originals.rename if overwrites or source.is_folder else originals.rename_new
        rename(request.tree.root, request.name, name)
        undo.callback(rename, request.tree.root, name, request.name)
        relocation.moved(request.name, name, is_folder=source.is_folder)
        locks.release_all(session, request.key(request.path))
        locks.release_all(session, request.key(path))
        properties.move(session, request.key(request.path), request.key(path))
    return Response(status=201 if replaced is None else 204)


def check_copy(request: DavRequest, path: str) -> tuple[Resource, Resource | None]:
    """Return the file or folder to copy and the one at the target, if any, after the checks of a COPY.

    Raises:
        DAVError: the request cannot be met as it is.
    """
    source = request.existing()
    request.check_conditions(source)
    return source, check_target(request, path)


def make_folder(request: DavRequest) -> Response:
    """Make a folder.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.
    """
    environ = request.environ
    if environ.get("CONTENT_LENGTH") not in {None, "", "0"} or "HTTP_TRANSFER_ENCODING" in environ:
        raise DAVError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "MKCOL has no body")
    checked_name(request.name or "/")
    with request.writing():
        if request.find(request.path) is not None:
            raise FolderExistsError
        if not is_folder(request.find(request.parent_of(request.path))):
            raise DAVError(HTTPStatus.CONFLICT, "the folder around it does not exist")
        request.check_conditions(None)
        request.check_unlocked(request.path, changes_folder=True)
        try:
            originals.make_folder(request.tree.root, request.name)
        except NameTakenError:  # by another request meanwhile, or by a link
            raise FolderExistsError from None
    return Response(status=201)


class FolderExistsError(DAVError):
    """The error of a MKCOL whose name is taken."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.METHOD_NOT_ALLOWED, "a file or folder of this name exists already")


def target_path(request: DavRequest) -> str:
    """Return the path in the header `Destination`.

    Raises:
        DAVError: 400, the header is missing; 403, the path is the source, inside it or around it.
        PhotosvcError: the address is on another server, or not a path.
    """
    url = request.environ.get("HTTP_DESTINATION")
    if not url:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the header Destination is missing")
    if request.environ.get("HTTP_OVERWRITE", "T") not in {"T", "F"}:
        raise DAVError(HTTPStatus.BAD_REQUEST, "Overwrite is T or F")
    path = path_of_url(request.environ, request.tree.mount_path, url)
    source, target = request.path.rstrip("/") + "/", path.rstrip("/") + "/"
    if target.startswith(source) or source.startswith(target):
        raise DAVError(HTTPStatus.FORBIDDEN, "the target is the source, within it or around it")
    checked_name(path.strip("/"))
    return path


def check_target(request: DavRequest, path: str) -> Resource | None:
    """Return the file or folder at the target, if any, after checking that it may be replaced.

    Raises:
        DAVError: 409, the folder around it does not exist; 412, it must not be replaced; 423, it is locked.
    """
    target = request.find(path)
    if not is_folder(request.find(request.parent_of(path))):
        raise DAVError(HTTPStatus.CONFLICT, "the folder of the target does not exist")
    if target is not None and request.environ.get("HTTP_OVERWRITE") == "F":
        raise DAVError(HTTPStatus.PRECONDITION_FAILED, "the target exists")
    request.check_unlocked(path, changes_folder=target is None)
    return target


def copy(request: DavRequest) -> Response:
    """Copy a file, or a folder with everything in it (with `Depth: 0` without).

    A copy that fails half-way leaves the files copied so far (RFC 4918 section 9.8.5).

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.
    """
    path = target_path(request)
    request.check_disk(path.strip("/"), within=True)
    source, deep = request.existing(), request.environ.get("HTTP_DEPTH") != "0"
    check_depth(request, source, ("0", "infinity"))
    _check_size(request, source, deep=deep)
    check_copy(request, path)  # and again before each copy gets its name
    request.service.close()  # copying takes long and needs no database
    with receiving(PATIENCE):
        if not source.is_folder:
            replaced = _copy_file(request, source, path)
        else:
            replaced = _copy_folder(request, source, path)
            if deep:
                _copy_members(request, source, path)
    return Response(status=201 if replaced is None else 204)


def _check_size(request: DavRequest, source: Resource, *, deep: bool) -> None:
    """Check the number and total size of the files to copy, also against the quota of the account.

    Raises:
        DAVError: 403, there are too many.
        QuotaExceededError: the account may not store that much.
    """
    count, size = 1, 0 if source.is_folder else source.status.st_size
    for _, status in walk(request.tree.root, source.path.strip("/")) if source.is_folder and deep else ():
        count += 1
        if count > MOST:
            raise DAVError(HTTPStatus.FORBIDDEN, f"at most {MOST} files and folders are copied at a time")
        size += 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    with request.service.reading(orm=True) as session:
        left = bytes_left(session, request.service.settings, request.user_id)
    if left is not None and size > left:
        raise QuotaExceededError


def _copy_folder(request: DavRequest, source: Resource, path: str) -> Resource | None:
    """Make an empty copy of a folder; return the file or folder that it replaces, if any."""
    name = path.strip("/")
    with originals.undo_on_error() as undo, request.writing(library=True) as session:
        replaced = _check_copied(request, source, path)
        if replaced is not None and not _path_in_source(request, source):
            remove(request, name, replaced, undo)
        originals.make_folder(request.tree.root, name)
        undo.callback(originals.remove_folder, request.tree.root, name)
        _follow(request, session, source, path)
    return replaced


def _copy_members(request: DavRequest, folder: Resource, path: str) -> None:
    for inner in list(folder.members()):
        inner_path = f"{path.rstrip('/')}/{inner.name}"
        checked_name(inner_path.strip("/"))
        if not inner.is_folder:
            _copy_file(request, inner, inner_path)
        else:
            _copy_folder(request, inner, inner_path)
            _copy_members(request, inner, inner_path)


def _copy_file(request: DavRequest, file: Resource, path: str) -> Resource | None:
    """Copy a file; return the file or folder that the copy replaces, if any."""
    name = path.strip("/")
    with file.get_content() as content:
        status = os.fstat(content.fileno())
        staging = Staging(request.tree.root)
        with staging.receive(most_bytes=status.st_size, expected_length=status.st_size) as part:
            try:
                while piece := content.read(_PIECE):
                    part.write(piece)
                part.require_whole()
            except (IncompleteError, TooLargeError):
                raise ChangedMeanwhileError from None
            part.flush()
            if os.fstat(content.fileno()).st_mtime_ns != status.st_mtime_ns:  # another program writes to the file
                raise ChangedMeanwhileError
            with originals.undo_on_error() as undo, request.writing(library=True) as session:
                replaced = _check_copied(request, file, path, status)
                if replaced is not None and replaced.is_folder:
                    remove(request, name, replaced, undo)
                place(request, part, None if is_folder(replaced) else replaced, name, status.st_mtime, undo)
                _follow(request, session, file, path)
    return replaced


def _check_copied(
    request: DavRequest, source: Resource, path: str, status: os.stat_result | None = None
) -> Resource | None:
    """Return the file or folder that a copy replaces, if any, after the checks; `status` is that of the copied file.

    Raises:
        DAVError: the request cannot be met as it is.
        ChangedMeanwhileError: the copied file has changed since the conditions were checked.
    """
    if _path_in_source(request, source):
        return check_target(request, path)
    present, replaced = check_copy(request, path)
    if present.is_folder != source.is_folder or (status is not None and present.etag != etag_of(status)):
        raise ChangedMeanwhileError
    return replaced


def _follow(request: DavRequest, session: Session, source: Resource, path: str) -> None:
    """Let properties and library follow in the transaction of each copy: they know of it even if the next one fails."""
    properties.copy(session, request.key(source.path), request.key(path), request.user_uid)
    inner = _path_in_source(request, source)  # the indexer is asked once for a copied folder, not for each subfolder
    request.relocation().changed(path.strip("/").removesuffix(inner), is_folder=source.is_folder or bool(inner))


def _path_in_source(request: DavRequest, source: Resource) -> str:
    """Return the path of a resource below the copied folder; empty for the folder itself."""
    return source.path.rstrip("/").removeprefix(request.path.rstrip("/"))
