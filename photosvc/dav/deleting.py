"""DELETE: a file or folder moves into the trash, and the library, properties and locks follow in the same transaction.

On disk this is one rename. Of originals in a bucket, the store is asked before and after the transaction.
"""

import stat
from collections.abc import Collection
from contextlib import ExitStack, suppress
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING

from flask import Response
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.core.paths import disk_name
from photosvc.dav import locks, properties
from photosvc.dav.copying import MOST, check_depth, is_worth_keeping, remove, source_of
from photosvc.dav.dav_request import patiently
from photosvc.dav.errors import DAVError
from photosvc.dav.tree import Original, walk
from photosvc.index.mirror import add_placeholder, forget
from photosvc.library import disk
from photosvc.library.trash_bucket import is_version
from photosvc.library.trash_deletion import deleting
from photosvc.library.trash_folder import Trash, within
from photosvc.storage.bucket import Bucket
from photosvc.storage.groups import SECONDS, delete_all
from photosvc.storage.objects import ObjectChangedError, find
from photosvc.storage.objects import delete as delete_object
from photosvc.web.receiving import receiving

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request


def delete(request: "Request") -> Response:
    """Delete a file or folder: move it into the trash, unless it is junk or empty.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk or the store refuses it, or fails.
    """
    check_depth(request, request.find(request.path), ("infinity",))
    bucket = request.service.settings.bucket
    if bucket is not None:
        _delete_objects(request, bucket)
        return Response(status=204)
    with disk.undo_on_error() as undo, request.writing(library=True) as session:
        found = _deletable(request)
        _follow(request, session, found, remove(request, request.name, found, undo))
    return Response(status=204)


def _deletable(request: "Request") -> Original:
    """Return the resource of a request if its conditions and the locks let it be deleted."""
    found = source_of(request)
    request.check_conditions(found)
    request.check_unlocked(request.path, is_named=True)
    return found


def _follow(request: "Request", session: Session, found: Original, kept: str | None) -> None:
    """Let the library, properties and locks follow; `kept` is the name in the trash, if the resource is there."""
    request.relocation().gone(request.name, is_folder=found.is_folder, kept=kept)
    properties.remove_all(session, request.key(request.path))
    locks.release_all(session, request.key(request.path))


def _delete_objects(request: "Request", bucket: Bucket) -> None:
    found, trash = _deletable(request), Trash(request.provider.root, bucket)
    names = _names(request, found)
    request.service.close()  # the store may take long
    with ExitStack() as slot:
        patiently(lambda: slot.enter_context(receiving()))
        if not names and not found.is_folder:
            _delete_object(trash, bucket, request.name)
        _move_into_trash(request, trash, names)
        if found.is_folder:
            _delete_marks(bucket, request.name)


def _move_into_trash(request: "Request", trash: Trash, names: Collection[str]) -> None:
    """Move these files into the trash, and remove the placeholder or folder of the request; the rows follow."""
    root = trash.originals
    with deleting(trash, request.service.now(), names) as deletion, request.writing() as session:
        found = _deletable(request)
        is_kept = bool(deletion.take(_names(request, found)))
        if found.is_folder:
            disk.remove_empty_folders(root, request.name)
        elif not is_kept:
            disk.remove(root, request.name)
        _follow(request, session, found, within(deletion.name) + request.name if is_kept else None)


def _names(request: "Request", found: Original) -> list[str]:
    """Return the names of files that move into the trash: all of a folder, or one that is neither junk nor empty."""
    if not found.is_folder:
        return [request.name] if is_worth_keeping(found) else []
    inside = walk(request.provider.root, request.name)
    names = list(islice((name for name, status in inside if not stat.S_ISDIR(status.st_mode)), MOST + 1))
    if len(names) > MOST:
        raise DAVError(HTTPStatus.FORBIDDEN, f"at most {MOST} files are deleted at a time")
    return names


def _delete_object(trash: Trash, bucket: Bucket, name: str) -> None:
    """Delete an object that is not kept, before the transaction: the store may refuse it.

    Another version than the one that was looked at may be a photo: it stays, and gets a new placeholder.
    """
    if (one := find(bucket, disk_name(name))) is None:
        return
    if not is_version(trash, name, one):
        add_placeholder(bucket, one)
        raise ObjectChangedError
    delete_object(bucket, one)


def _delete_marks(bucket: Bucket, folder: str) -> None:
    """Delete the marks of a deleted folder and of those in it; where one stays, there is an empty folder again.

    An object with content is no mark, whatever its key: another program has stored it.
    """
    with suppress(PhotosvcError):
        listed = bucket.objects(disk_name(folder), seconds=SECONDS)
        marks = [one for one in listed if one.key.endswith("/") and not one.size]
        left = {one.key for one, _ in delete_all(bucket, marks)}
        forget(bucket, [one for one in reversed(marks) if one.key not in left])
