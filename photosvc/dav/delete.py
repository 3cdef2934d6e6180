"""DELETE, and the removal of files and folders that MOVE, COPY and PUT replace.

Files move into the trash, unless they are junk or empty.
"""

from contextlib import ExitStack, suppress
from http import HTTPStatus
from pathlib import Path

from flask import Response

from photosvc.dav import locks, properties
from photosvc.dav.errors import DAVError
from photosvc.dav.request import DavRequest
from photosvc.dav.tree import Resource
from photosvc.library import originals
from photosvc.library.originals import is_junk
from photosvc.library.storage_errors import NameTakenError, ParentMissingError
from photosvc.library.trash.folder import Trash


def delete(request: DavRequest) -> Response:
    """Delete a file or folder: move it into the trash, unless it is junk or empty.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the disk refuses the deletion, or fails.
    """
    check_depth(request, request.find(request.path), ("infinity",))
    with originals.undo_on_error() as undo, request.writing(library=True) as session:
        source = source_of(request)
        request.check_conditions(source)
        request.check_unlocked(request.path, changes_folder=True)
        remove(request, request.name, source, undo)
        properties.remove_all(session, request.key(request.path))
        locks.release_all(session, request.key(request.path))
    return Response(status=204)


def source_of(request: DavRequest) -> Resource:
    """Return the resource that a request moves or deletes.

    Raises:
        DAVError: 404, there is none; 403, it is the folder of originals.
    """
    source = request.existing()
    if not request.name:
        raise DAVError(HTTPStatus.FORBIDDEN, "the folder of originals itself stays where it is")
    return source


def check_depth(request: DavRequest, resource: Resource | None, allowed: tuple[str, ...]) -> None:
    """Check the header `Depth` of a request about a folder (RFC 4918 sections 9.6.1 and 9.9.2); files ignore it.

    Raises:
        DAVError: 400, its value is not allowed.
    """
    if resource is not None and resource.is_folder and request.environ.get("HTTP_DEPTH", "infinity") not in allowed:
        raise DAVError(HTTPStatus.BAD_REQUEST, "this Depth is not possible for folders")


def remove(request: DavRequest, name: str, resource: Resource, undo: ExitStack) -> None:
    """Move a resource into the trash, or delete it if it is junk or empty; the library follows.

    On an error, empty folders are made again; deleted files are not.
    """
    kept = _take_away(request, name, resource, undo)
    request.relocation().gone(name, is_folder=resource.is_folder, kept=kept)


def _take_away(request: DavRequest, name: str, resource: Resource, undo: ExitStack) -> str | None:
    """Remove a resource from its folder; return its name in the trash, None if it is deleted."""
    root = request.tree.root
    if resource.is_folder:
        with suppress(NameTakenError):  # it is not empty
            originals.remove_folder(root, name)
            undo.callback(originals.make_folder, root, name)
            return None
    elif not is_worth_keeping(resource):
        originals.remove_file(root, name)
        return None
    kept = Trash(root).put(name, request.service.now())
    undo.callback(originals.rename, root, kept, name)
    return kept


def is_worth_keeping(file: Resource) -> bool:
    """Return whether a removed or replaced file moves into the trash; junk and empty files do not."""
    return file.status.st_size > 0 and not is_junk(file.name)


def keep_replaced(request: DavRequest, name: str, replaced: Resource, undo: ExitStack) -> None:
    """Give a file a second name in the trash, before another file gets its name."""
    root, kept = request.tree.root, None
    if is_worth_keeping(replaced):
        kept = Trash(root).keep(name, request.service.now())
        undo.callback(_give_back, root, kept, name)
    request.relocation().replaced(name, kept)


def _give_back(root: Path, kept: str, name: str) -> None:
    """Give a file in the trash its former name again, which it may still have, or its replacement has."""
    originals.rename(root, kept, name)
    with suppress(ParentMissingError):  # still there if both names were of one file: POSIX renames nothing then
        originals.remove_file(root, kept)
