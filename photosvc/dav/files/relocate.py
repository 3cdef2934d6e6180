"""DELETE, MOVE and COPY: one rename on disk, and the library, properties and locks follow in the same transaction."""

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from flask import Response
from wsgidav.dav_error import (
    HTTP_BAD_REQUEST,
    HTTP_CONFLICT,
    HTTP_FORBIDDEN,
    HTTP_MEDIATYPE_NOT_SUPPORTED,
    HTTP_METHOD_NOT_ALLOWED,
    HTTP_PRECONDITION_FAILED,
    DAVError,
)

from photosvc.dav.addresses import path_of_url
from photosvc.dav.locking import locks
from photosvc.dav.properties import stored
from photosvc.dav.tree import OriginalFile, OriginalFolder
from photosvc.library.files import disk
from photosvc.library.files.relocation import is_junk
from photosvc.library.staging.errors import NameTakenError, StorageReadOnlyError
from photosvc.library.staging.names import checked_name
from photosvc.library.trash.folder import Trash

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request

Resource = OriginalFile | OriginalFolder


def delete(request: "Request") -> Response:
    """Delete a file or folder: it moves into the trash, except for junk and what is empty.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.

    """
    check_depth(request, request.find(request.path), ("infinity",))
    with disk.undo_on_error() as undo, request.writing() as session:
        found = _source(request)
        request.check_conditions(found)
        request.check_writable(request.parent_of(request.path))
        request.check_writable(request.path, deep=True)
        kept = remove(request, request.name, found, undo)
        request.relocation().gone(request.name, is_folder=found.is_collection, kept=kept)
        stored.remove_all(session, request.key(request.path))
        locks.release_all(session, request.key(request.path))
    return Response(status=204)


def move(request: "Request") -> Response:
    """Rename a file or folder.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.

    """
    path = target_path(request)
    name = path.strip("/")
    check_depth(request, request.find(request.path), ("infinity",))
    with disk.undo_on_error() as undo, request.writing() as session:
        found = _source(request)
        request.check_conditions(found)
        request.check_writable(request.path, deep=True)
        request.check_writable(request.parent_of(request.path))
        replaced = check_target(request, path)
        relocation = request.relocation()
        if replaced is not None:
            if replaced.is_collection or found.is_collection or relocation.knows(request.name):
                kept = remove(request, name, replaced, undo)
                relocation.gone(name, is_folder=replaced.is_collection, kept=kept)
            else:
                keep_replaced(request, name, undo)
        disk.rename(request.provider.root, request.name, name)
        undo.callback(disk.rename, request.provider.root, name, request.name)
        relocation.moved(request.name, name, is_folder=found.is_collection)
        locks.release_all(session, request.key(request.path))
        locks.release_all(session, request.key(path))
        stored.move(session, request.key(request.path), request.key(path))
    return Response(status=201 if replaced is None else 204)


def make_folder(request: "Request") -> Response:
    """Make a folder.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.

    """
    environ = request.environ
    if environ.get("CONTENT_LENGTH") not in {None, "", "0"} or "HTTP_TRANSFER_ENCODING" in environ:
        raise DAVError(HTTP_MEDIATYPE_NOT_SUPPORTED, "MKCOL has no body")
    checked_name(request.name or "/")
    parent = request.parent_of(request.path)
    with request.writing():
        if request.find(request.path) is not None:
            raise DAVError(HTTP_METHOD_NOT_ALLOWED, "there is something of this name already")
        if not isinstance(request.find(parent), OriginalFolder):
            raise DAVError(HTTP_CONFLICT, "the folder around it does not exist")
        request.check_conditions(None)
        request.check_writable(parent)
        try:
            disk.make_folder(request.provider.root, request.name)
        except NameTakenError:  # by another request meanwhile, or by a link
            raise DAVError(HTTP_METHOD_NOT_ALLOWED, "there is something of this name already") from None
    return Response(status=201)


def target_path(request: "Request") -> str:
    """The path in the header `Destination`.

    Raises:
        DAVError: 400, there is none; 403, it is the source itself, within it or around it.
        PhotosvcError: it is on another server, or no path.

    """
    given = request.environ.get("HTTP_DESTINATION")
    if not given:
        raise DAVError(HTTP_BAD_REQUEST, "the header Destination is missing")
    if request.environ.get("HTTP_OVERWRITE", "T") not in {"T", "F"}:
        raise DAVError(HTTP_BAD_REQUEST, "Overwrite is T or F")
    path = path_of_url(request.environ, request.provider.mount_path, given)
    source, target = request.path.rstrip("/") + "/", path.rstrip("/") + "/"
    if target.startswith(source) or source.startswith(target):
        raise DAVError(HTTP_FORBIDDEN, "the target is the source, within it or around it")
    checked_name(path.strip("/"))
    return path


def check_target(request: "Request", path: str) -> Resource | None:
    """What is at the target, which may be replaced.

    Raises:
        DAVError: 409, the folder around it does not exist; 412, it must not be replaced; 423, it is locked.

    """
    found = request.find(path)
    parent = request.parent_of(path)
    if not isinstance(request.find(parent), OriginalFolder):
        raise DAVError(HTTP_CONFLICT, "the folder of the target does not exist")
    if found is not None and request.environ.get("HTTP_OVERWRITE") == "F":
        raise DAVError(HTTP_PRECONDITION_FAILED, "the target exists")
    if found is None:
        request.check_writable(parent)
    request.check_writable(path, deep=True)
    return found


def keep_replaced(request: "Request", name: str, undo: ExitStack) -> None:
    """Keep the file of this name in the trash before it is replaced, if it is one of the library."""
    relocation = request.relocation()
    if relocation.knows(name):
        trash = Trash(request.provider.root)
        try:
            kept = trash.keep(name, request.service.now())
        except StorageReadOnlyError:  # the file system has no hard links, or really is read-only
            kept = trash.put(name, request.service.now())
            undo.callback(disk.rename, request.provider.root, kept, name)
        else:
            undo.callback(disk.remove, request.provider.root, kept)
        relocation.kept(name, kept)


def _source(request: "Request") -> Resource:
    found = request.existing()
    if not request.name:
        raise DAVError(HTTP_FORBIDDEN, "the folder of originals itself stays where it is")
    return found


def remove(request: "Request", name: str, found: Resource, undo: ExitStack) -> str | None:
    """Move into the trash, and give the name there; delete what is junk or empty, which is final but for folders."""
    root = request.provider.root
    if found.is_collection:
        with suppress(NameTakenError):  # it is not empty
            disk.remove_folder(root, name)
            undo.callback(disk.make_folder, root, name)
            return None
    elif found.status.st_size == 0 or is_junk(name):
        disk.remove(root, name)
        return None
    kept = Trash(root).put(name, request.service.now())
    undo.callback(disk.rename, root, kept, name)
    return kept


def check_depth(request: "Request", found: Resource | None, allowed: tuple[str, ...]) -> None:
    """Make sure that the header `Depth` fits (RFC 4918 sections 9.6.1 and 9.9.2); on files it means nothing."""
    if found is not None and found.is_collection and request.environ.get("HTTP_DEPTH", "infinity") not in allowed:
        raise DAVError(HTTP_BAD_REQUEST, "this Depth is not possible for folders")
