"""DELETE: a file or folder moves into the trash; the library, properties and locks follow in the same transaction."""

from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import Response

from photosvc.dav import locks, properties
from photosvc.dav.copying import check_depth, remove, source_of
from photosvc.library import disk

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request


def delete(request: "Request") -> Response:
    """Delete a file or folder: move it into the trash, unless it is junk or empty.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses it, or fails.
    """
    check_depth(request, request.find(request.path), ("infinity",))
    with disk.undo_on_error() as undo, request.writing(library=True) as session:
        found = source_of(request)
        request.check_conditions(found)
        request.check_unlocked(request.path, is_named=True)
        kept = remove(request, request.name, found, undo)
        request.relocation().gone(request.name, is_folder=found.is_folder, kept=kept)
        properties.remove_all(session, request.key(request.path))
        locks.release_all(session, request.key(request.path))
    return Response(status=HTTPStatus.NO_CONTENT)
