"""MOVE, COPY and MKCOL.

MOVE is one rename on disk; the library, properties and locks follow in the same transaction. COPY makes its files in
the staging folder, as uploads are received.
"""

import stat
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from flask import Response
from sqlalchemy.orm import Session

from photosvc.dav import locks, properties
from photosvc.dav.addresses import path_of_url
from photosvc.dav.dav_request import patiently
from photosvc.dav.errors import DAVError
from photosvc.dav.tree import Original, is_folder, walk
from photosvc.library import disk
from photosvc.library.relocation import is_junk
from photosvc.library.staging import Staging
from photosvc.library.staging_part import NameTakenError, StorageReadOnlyError, checked_name
from photosvc.library.trash_folder import Trash
from photosvc.library.upload_albums import QuotaExceededError, bytes_left
from photosvc.web.receiving import receiving

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request

#: The most files and folders of one COPY.
MOST: Final = 10_000
_PIECE: Final = 1 << 20


def move(request: "Request") -> Response:
    """Rename a file or folder.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.
    """
    path = target_path(request)
    name = path.strip("/")
    request.check_disk(name, within=True)
    check_depth(request, request.find(request.path), ("infinity",))
    with disk.undo_on_error() as undo, request.writing() as session:
        found, replaced = check_move(request, path)
        relocation = request.relocation()
        if replaced is not None:
            if replaced.is_folder or found.is_folder or relocation.knows(request.name):
                kept = remove(request, name, replaced, undo)
                relocation.gone(name, is_folder=replaced.is_folder, kept=kept)
            else:
                keep_replaced(request, name, undo)
        disk.rename(request.provider.root, request.name, name)
        undo.callback(disk.rename, request.provider.root, name, request.name)
        relocation.moved(request.name, name, is_folder=found.is_folder)
        locks.release_all(session, request.key(request.path))
        locks.release_all(session, request.key(path))
        properties.move(session, request.key(request.path), request.key(path))
    return Response(status=201 if replaced is None else 204)


def check_move(request: "Request", path: str) -> tuple[Original, Original | None]:
    """Return the file or folder to move and the one at the target, if any, after the checks of a MOVE.

    Raises:
        DAVError: the request cannot be met as it is.
    """
    found = source_of(request)
    request.check_conditions(found)
    request.check_writable(request.path, deep=True)
    request.check_writable(request.parent_of(request.path))
    return found, check_target(request, path)


def make_folder(request: "Request") -> Response:
    """Make a folder.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.
    """
    require_no_body(request)
    with request.writing():
        check_new_folder(request)
        try:
            disk.make_folder(request.provider.root, request.name)
        except NameTakenError:  # by another request meanwhile, or by a link
            raise FolderExistsError from None
    return Response(status=201)


class FolderExistsError(DAVError):
    """The error of a MKCOL whose name is taken."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.METHOD_NOT_ALLOWED, "a file or folder of this name exists already")


def require_no_body(request: "Request") -> None:
    """Check that a MKCOL has no body, and a name that a folder may have.

    Raises:
        DAVError: 415, it has a body.
        NameRefusedError: no folder can have the name.
    """
    environ = request.environ
    if environ.get("CONTENT_LENGTH") not in {None, "", "0"} or "HTTP_TRANSFER_ENCODING" in environ:
        raise DAVError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "MKCOL has no body")
    checked_name(request.name or "/")


def check_new_folder(request: "Request") -> None:
    """Check that a MKCOL may make its folder.

    Raises:
        DAVError: it may not.
    """
    parent = request.parent_of(request.path)
    if request.find(request.path) is not None:
        raise FolderExistsError
    if not is_folder(request.find(parent)):
        raise DAVError(HTTPStatus.CONFLICT, "the folder around it does not exist")
    request.check_conditions(None)
    request.check_writable(parent)


def target_path(request: "Request") -> str:
    """Return the path in the header `Destination`.

    Raises:
        DAVError: 400, there is none; 403, it is the source itself, within it or around it.
        PhotosvcError: it is on another server, or not a path.
    """
    given = request.environ.get("HTTP_DESTINATION")
    if not given:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the header Destination is missing")
    if request.environ.get("HTTP_OVERWRITE", "T") not in {"T", "F"}:
        raise DAVError(HTTPStatus.BAD_REQUEST, "Overwrite is T or F")
    path = path_of_url(request.environ, request.provider.mount_path, given)
    source, target = request.path.rstrip("/") + "/", path.rstrip("/") + "/"
    if target.startswith(source) or source.startswith(target):
        raise DAVError(HTTPStatus.FORBIDDEN, "the target is the source, within it or around it")
    checked_name(path.strip("/"))
    return path


def check_target(request: "Request", path: str) -> Original | None:
    """Return the file or folder at the target, if any, after checking that it may be replaced.

    Raises:
        DAVError: 409, the folder around it does not exist; 412, it must not be replaced; 423, it is locked.
    """
    found = request.find(path)
    parent = request.parent_of(path)
    if not is_folder(request.find(parent)):
        raise DAVError(HTTPStatus.CONFLICT, "the folder of the target does not exist")
    if found is not None and request.environ.get("HTTP_OVERWRITE") == "F":
        raise DAVError(HTTPStatus.PRECONDITION_FAILED, "the target exists")
    if found is None:
        request.check_writable(parent)
    request.check_writable(path, deep=True)
    return found


def keep_replaced(request: "Request", name: str, undo: ExitStack) -> None:
    """Keep the file of this name in the trash before it is replaced, if the library knows it."""
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


def source_of(request: "Request") -> Original:
    """Return the resource that a request moves or deletes.

    Raises:
        DAVError: 404, there is none; 403, it is the folder of originals.
    """
    found = request.existing()
    if not request.name:
        raise DAVError(HTTPStatus.FORBIDDEN, "the folder of originals itself stays where it is")
    return found


def remove(request: "Request", name: str, found: Original, undo: ExitStack) -> str | None:
    """Move a resource into the trash and return its name there; delete it if it is junk or empty, and return None.

    On an error, empty folders are made again; deleted files are not.
    """
    root = request.provider.root
    if found.is_folder:
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


def check_depth(request: "Request", found: Original | None, allowed: tuple[str, ...]) -> None:
    """Check that the header `Depth` fits (RFC 4918 sections 9.6.1 and 9.9.2); on files it means nothing.

    Raises:
        DAVError: 400, it does not.
    """
    if found is not None and found.is_folder and request.environ.get("HTTP_DEPTH", "infinity") not in allowed:
        raise DAVError(HTTPStatus.BAD_REQUEST, "this Depth is not possible for folders")


def copy(request: "Request") -> Response:
    """Copy a file, or a folder with everything in it (with `Depth: 0` without).

    A copy that fails half-way leaves the files copied so far (RFC 4918 section 9.8.5).

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.
    """
    path, found, deep = copy_of(request)
    name = path.strip("/")

    def follow(session: Session) -> None:
        properties.copy(session, request.key(request.path), request.key(path), request.user_uid, deep=deep)
        request.relocation().changed(name, is_folder=found.is_folder)

    with ExitStack() as slot:
        patiently(lambda: slot.enter_context(receiving()))
        replaced = _make_room(request, found, path, name)
        if not found.is_folder:
            _copy_file(request, found, name, follow)
        elif deep:
            _copy_members(request, found, name)
    if found.is_folder:
        with request.writing() as session:
            follow(session)
    return Response(status=201 if replaced is None else 204)


def copy_of(request: "Request") -> tuple[str, Original, bool]:
    """Return the target of a COPY, the file or folder to copy, and true if all that is in it is copied too.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk has no room for it.
    """
    path = target_path(request)
    request.check_disk(path.strip("/"), within=True)
    found = request.existing()
    check_depth(request, found, ("0", "infinity"))
    deep = request.environ.get("HTTP_DEPTH") != "0"
    _check_size(request, found, deep=deep)
    return path, found, deep


def _check_size(request: "Request", found: Original, *, deep: bool) -> None:
    """Check the number and size of all files, also against the quota of the account, before any is copied."""
    count, size = 1, 0 if found.is_folder else found.status.st_size
    for _, status in walk(request.provider.root, found.path.strip("/")) if found.is_folder and deep else ():
        count += 1
        if count > MOST:
            raise DAVError(HTTPStatus.FORBIDDEN, f"at most {MOST} files and folders are copied at a time")
        size += 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    with request.service.reading(orm=True) as session:
        left = bytes_left(session, request.service.settings, request.user_id)
    if left is not None and size > left:
        raise QuotaExceededError


def _make_room(request: "Request", found: Original, path: str, name: str) -> Original | None:
    """Check the target; where a folder is copied or replaced, remove the target and make the new folder."""
    with disk.undo_on_error() as undo, request.writing() as session:
        request.check_conditions(found)
        replaced = check_target(request, path)
        if replaced is not None and (replaced.is_folder or found.is_folder):
            kept = remove(request, name, replaced, undo)
            request.relocation().gone(name, is_folder=replaced.is_folder, kept=kept)
            properties.remove_all(session, request.key(path))
        if found.is_folder:
            disk.make_folder(request.provider.root, name)
            undo.callback(disk.remove_folder, request.provider.root, name)
    return replaced


def _copy_members(request: "Request", folder: Original, name: str) -> None:
    for inner in folder.members():
        inner_name = f"{name}/{inner.name}"
        checked_name(inner_name)
        if not inner.is_folder:
            _copy_file(request, inner, inner_name)
        else:
            disk.make_folder(request.provider.root, inner_name)
            _copy_members(request, inner, inner_name)


def _copy_file(request: "Request", file: Original, name: str, follow: Callable[[Session], None] | None = None) -> None:
    """Copy a file; `follow` is called in the transaction that gives the copy its name."""
    status = file.status
    with (
        file.get_content() as source,
        Staging(request.provider.root).receive(most_bytes=status.st_size, expected_length=status.st_size) as part,
    ):
        while piece := source.read(_PIECE):
            part.write(piece)
        part.flush()
        with disk.undo_on_error() as undo, request.writing() as session:
            request.check_writable(f"/{name}")
            keep_replaced(request, name, undo)
            request.count((name, part.hash, part.size))
            part.place(name, replace=True, modified_at=status.st_mtime, make_folders=False, undo=undo)
            if follow is not None:
                follow(session)
