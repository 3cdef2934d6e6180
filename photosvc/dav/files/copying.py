"""COPY: the files are copied through the staging folder, as uploads are received."""

import stat
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from flask import Response
from wsgidav.dav_error import HTTP_FORBIDDEN, DAVError

from photosvc.dav.files.relocate import (
    Resource,
    check_depth,
    check_target,
    keep_replaced,
    remove,
    target_path,
)
from photosvc.dav.files.slots import patiently
from photosvc.dav.properties import stored
from photosvc.dav.tree import OriginalFile, OriginalFolder, members
from photosvc.library.files import disk
from photosvc.library.staging import Staging
from photosvc.library.staging.names import checked_name
from photosvc.library.uploads.waiting import QuotaExceededError, bytes_left
from photosvc.web.transfers.receiving import receiving

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request

#: Files and folders that are copied at a time.
MOST: Final = 10_000
_PIECE: Final = 1 << 20


def copy(request: "Request") -> Response:
    """Copy a file, or a folder with all in it or, with `Depth: 0`, without.

    A copy that fails half-way leaves what was copied (RFC 4918 section 9.8.5).

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it.

    """
    path = target_path(request)
    name = path.strip("/")
    found = request.existing()
    check_depth(request, found, ("0", "infinity"))
    deep = request.environ.get("HTTP_DEPTH") != "0"
    _check_size(request, found, deep=deep)
    with ExitStack() as slot:
        patiently(lambda: slot.enter_context(receiving()))
        replaced = _make_room(request, found, path, name)
        if isinstance(found, OriginalFile):
            _copy_file(request, found, name)
        elif deep:
            _copy_members(request, found, name)
    with request.writing() as session:
        stored.copy(session, request.key(request.path), request.key(path), request.user_uid, deep=deep)
        request.relocation().changed(name, is_folder=found.is_collection)
    return Response(status=201 if replaced is None else 204)


def _check_size(request: "Request", found: Resource, *, deep: bool) -> None:
    """Make sure, before anything is copied, that it is not too much.

    Raises:
        DAVError: 403, there are too many files and folders.
        QuotaExceededError: the account may not store so much.

    """
    count, size = 1, 0 if found.is_collection else found.status.st_size
    folders = [found.path.strip("/")] if found.is_collection and deep else []
    while folders:
        folder = folders.pop()
        for name, status in members(request.provider.root, folder):
            count += 1
            if count > MOST:
                raise DAVError(HTTP_FORBIDDEN, f"at most {MOST} files and folders are copied at a time")
            if stat.S_ISDIR(status.st_mode):
                folders.append(f"{folder}/{name}")
            else:
                size += status.st_size
    with request.service.loading() as session:
        left = bytes_left(session, request.service.settings, request.user_id)
    if left is not None and size > left:
        raise QuotaExceededError


def _make_room(request: "Request", found: Resource, path: str, name: str) -> Resource | None:
    """Check what may be replaced; where a folder is copied or replaced, remove it and make the new one."""
    with disk.undo_on_error() as undo, request.writing() as session:
        request.check_conditions(found)
        replaced = check_target(request, path)
        if replaced is not None and (replaced.is_collection or found.is_collection):
            kept = remove(request, name, replaced, undo)
            request.relocation().gone(name, is_folder=replaced.is_collection, kept=kept)
            stored.remove_all(session, request.key(path))
        if found.is_collection:
            disk.make_folder(request.provider.root, name)
            undo.callback(disk.remove_folder, request.provider.root, name)
    return replaced


def _copy_members(request: "Request", folder: OriginalFolder, name: str) -> None:
    for inner in folder.get_member_list():
        inner_name = f"{name}/{inner.name}"
        checked_name(inner_name)
        if isinstance(inner, OriginalFile):
            _copy_file(request, inner, inner_name)
        else:
            disk.make_folder(request.provider.root, inner_name)
            _copy_members(request, inner, inner_name)


def _copy_file(request: "Request", file: OriginalFile, name: str) -> None:
    status = file.status
    staging = Staging(request.provider.root)
    with (
        file.get_content() as source,
        staging.receive(most_bytes=status.st_size, expected_length=status.st_size) as part,
    ):
        while piece := source.read(_PIECE):
            part.write(piece)
        part.flush()
        with disk.undo_on_error() as undo, request.writing():
            request.check_writable(f"/{name}")
            keep_replaced(request, name, undo)
            request.count(name, part)
            part.place(name, replace=True, modified_at=file.status.st_mtime, make_folders=False)
