"""PUT, MOVE, COPY, MKCOL and new empty files of LOCK, for originals in a bucket.

The sources of a MOVE are deleted after the transaction. A process that is killed leaves two objects of one content at
worst, and what was replaced is in the trash.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from flask import Response

from photosvc.core.paths import clean_name, disk_name
from photosvc.dav import locks, properties
from photosvc.dav.bucket_changes import Change, changing
from photosvc.dav.copying import (
    FolderExistsError,
    check_copy,
    check_depth,
    check_move,
    check_new_folder,
    copy_of,
    require_no_body,
    target_path,
)
from photosvc.dav.errors import ChangedMeanwhileError, DAVError, PartlyDoneError
from photosvc.dav.tree import Original
from photosvc.library import disk
from photosvc.library.relocation import Relocation, is_junk
from photosvc.library.staging_part import NameTakenError, ParentMissingError, Part, typed_errors
from photosvc.library.trash_folder import new_deletion, within
from photosvc.storage import adding, groups, objects
from photosvc.storage.bucket import Bucket, Listed
from photosvc.storage.objects import ObjectTakenError

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request

#: Tries of a PUT without conditions while others replace the same file.
_TRIES: Final = 5


def store_file(
    request: "Request", part: Part, check: Callable[[], Original | None]
) -> tuple[Original | None, Original | None]:
    """Store a received file; return the file that it replaced, if any, and the new one.

    Args:
        check: checks that it may be stored, and returns the file to replace.

    Raises:
        DAVError: a condition or lock forbids it.
        PhotosvcError: the store fails or refuses it, or the account may not store so much.
    """
    for left in reversed(range(_TRIES)):
        try:
            found = _store_once(request, part, check)
        except ObjectTakenError:
            if not left:
                raise ChangedMeanwhileError from None
        else:
            return found, request.find(request.path)
    raise AssertionError("unreachable")


def _store_once(request: "Request", part: Part, check: Callable[[], Original | None]) -> Original | None:
    name, path = request.name, request.path
    part.require_whole()
    with changing(request) as change:
        former = change.look(path)
        found = check()
        request.service.close()
        copy = change.keep([former], _deletion(request))[0] if former is not None else None
        try:
            with typed_errors(), part.path.open("rb") as file:
                stored = adding.add(change.bucket, disk_name(name), file, former)
        except adding.OtherTagsError as error:
            if error.stored is not None:
                change.added(error.stored, former, copy)
            raise
        change.added(stored, former, copy)
        change.store(path, found, stored)
        with request.writing():
            check()
            relocation = request.relocation()
            is_kept = copy is not None and not is_junk(name)
            if copy is not None and is_kept:
                change.place([copy])
                relocation.replaced(name, clean_name(copy.key))
            request.count((name, part.hash, part.size))
            change.place([stored])
            relocation.changed(name)
        change.undo.pop_all()
        request.provider.forget(path)
        if not is_kept:
            change.drop(copy)
    return found


@contextmanager
def new_empty_file(request: "Request", check: Callable[[], None]) -> Iterator[Callable[[], None] | None]:
    """Store the empty object of a LOCK, for the block that grants it; without an error it stays.

    Yields:
        A function that shows it among the originals; None if the path has a file or folder.
    """
    with changing(request) as change:
        change.look(request.path)
        if request.find(request.path) is not None:
            yield None
            return
        request.check_conditions(None)
        check()
        request.service.close()
        stored = adding.add_empty(change.bucket, disk_name(request.name))
        change.added(stored, None, None)
        change.store(request.path, None, stored)
        yield lambda: change.place([stored])


def make_folder(request: "Request") -> Response:
    """Make a folder: an empty object whose key ends with a slash.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the store fails or refuses it.
    """
    require_no_body(request)
    mark = f"{disk_name(request.name)}/"
    with changing(request) as change:
        if change.look(request.path) is not None:
            raise FolderExistsError
        listed = change.bucket.objects(mark[:-1], seconds=groups.SECONDS)
        if request.find(request.path) is not None and next(listed, None) is None:
            change.remove_empty(request.name)  # the indexer read its list before the folder was deleted
        check_new_folder(request)
        request.service.close()
        try:
            stored = adding.add_empty(change.bucket, mark)
        except ObjectTakenError:  # the folder is not in the mirror yet, or another request makes it
            change.place([Listed(mark, 0, 0, "")])
            raise FolderExistsError from None
        change.added(stored, None, None)
        with request.writing():
            request.check_conditions(None)
            request.check_writable(request.parent_of(request.path))
            change.undo.callback(change.remove_empty, request.name)
            with suppress(NameTakenError):  # the indexer has seen the new object
                disk.make_folder(request.provider.root, request.name)
    return Response(status=201)


@dataclass(frozen=True, slots=True)
class _Copied:
    """A file or folder that was copied in the store, and what it replaces."""

    found: Original
    replaced: Original | None
    name: str
    """Of the target."""
    sources: Sequence[Listed]
    copies: Sequence[Listed]
    """The copies of the sources, in the same order, or the mark of a folder that has none."""
    kept: str | None
    """The name in the trash of what was at the target; None if nothing was, or only empty files."""
    copy: Listed | None
    """The object in the trash of a file that a file has replaced; it is not needed if that is junk."""
    cleared: Sequence[Listed] | None
    """The objects that were deleted at the target; None if there is no folder on either side."""


def move(request: "Request") -> Response:
    """Move a file or folder: copy its objects on the server, then delete the former ones.

    Raises:
        DAVError: the request cannot be met as it is; some former objects could not be deleted.
        PhotosvcError: the store fails or refuses it, or the folder has too many objects.
    """
    path = target_path(request)
    name = path.strip("/")
    request.check_disk(name, within=True)
    check_depth(request, request.find(request.path), ("infinity",))
    with changing(request) as change:
        single, over = change.look(request.path), change.look(path)
        found, replaced = check_move(request, path)
        request.service.close()
        _require_right(change.bucket, request.name, name)
        copied = _copied(change, found, replaced, name, _sources(change.bucket, found, single), over)
        with request.writing() as session:
            relocation = _checked_again(change, copied, lambda: check_move(request, path))
            is_known = relocation.knows(request.name)
            is_kept = _follow_replaced(change, copied, relocation, is_known=is_known)
            change.undo.callback(_quietly, lambda: change.place(copied.sources))
            disk.rename(request.provider.root, request.name, name)
            change.undo.callback(disk.rename, request.provider.root, name, request.name)
            change.place(copied.copies)
            relocation.moved(request.name, name, is_folder=found.is_folder)
            for source, one in zip(copied.sources, copied.copies, strict=False):
                relocation.stored_again(source, one)
            locks.release_all(session, request.key(request.path))
            locks.release_all(session, request.key(path))
            properties.move(session, request.key(request.path), request.key(path))
        _end(change, copied, path, is_kept=is_kept)
        _delete_sources(change, copied.sources)
    return Response(status=201 if replaced is None else 204)


def copy(request: "Request") -> Response:
    """Copy a file, or a folder with everything in it (with `Depth: 0` without), on the server: all of it or nothing.

    Raises:
        DAVError: the request cannot be met as it is.
        PhotosvcError: the store fails or refuses it, or the folder has too many objects.
    """
    path, _, deep = copy_of(request)
    name = path.strip("/")

    with changing(request) as change:
        single, over = change.look(request.path), change.look(path)
        found, replaced = check_copy(request, path)
        request.service.close()
        if replaced is not None and (replaced.is_folder or found.is_folder):
            _require_right(change.bucket, name)
        sources = _sources(change.bucket, found, single) if deep or not found.is_folder else []
        copied = _copied(change, found, replaced, name, sources, over)
        with request.writing() as session:
            relocation = _checked_again(change, copied, lambda: check_copy(request, path))
            is_kept = _follow_replaced(change, copied, relocation, is_known=False)
            request.count(*((clean_name(one.key), one.content_key, one.size) for one in copied.copies if one.size))
            change.place(copied.copies)
            properties.copy(session, request.key(request.path), request.key(path), request.user_uid, deep=deep)
            relocation.changed(name, is_folder=found.is_folder)
        _end(change, copied, path, is_kept=is_kept)
    return Response(status=201 if replaced is None else 204)


def _deletion(request: "Request") -> str:
    return within(new_deletion(request.service.now()))


def _require_right(bucket: Bucket, *names: str) -> None:
    """Check that objects may be deleted here: else a request could end half-way, and not be undone."""
    for folder in {disk_name(name).rpartition("/")[0] for name in names}:
        objects.require_deletion(bucket, f"{folder}/.photosvc-none".removeprefix("/"))


def _sources(bucket: Bucket, found: Original, single: Listed | None) -> list[Listed]:
    """Return the objects of a file or folder."""
    if found.is_folder:
        return groups.listed(bucket, disk_name(found.path.strip("/")))
    if single is None:
        raise DAVError(HTTPStatus.NOT_FOUND)
    return [single]


def _copied(
    change: Change,
    found: Original,
    replaced: Original | None,
    name: str,
    sources: Sequence[Listed],
    over: Listed | None,
) -> _Copied:
    """Copy the objects of a file or folder to the target.

    A file replaces a file (`over`) at once; otherwise, what is at the target moves into the trash before.
    """
    bucket, key, deletion = change.bucket, disk_name(name), _deletion(change.request)
    if over is not None and not found.is_folder:
        former = change.keep([over], deletion)[0]
        stored = objects.copy(bucket, sources[0], key, over)
        change.added(stored, over, former)
        change.store(f"/{name}", replaced, stored)
        kept = clean_name(former.key) if former is not None and not is_junk(name) else None
        return _Copied(found, replaced, name, sources, [stored], kept, former, None)
    cleared = None
    if replaced is None and found.is_folder:
        change.undo.callback(change.remove_empty, name)
    elif replaced is not None:
        cleared = [over] if over is not None else groups.listed(bucket, key)
        change.clear(cleared, deletion)
    start = len(disk_name(found.path.strip("/")))
    copies = change.copy([(one, key + one.key[start:]) for one in sources])
    if not found.is_folder:
        change.store(f"/{name}", replaced, copies[0])
    elif not copies:
        copies = [adding.add_empty(bucket, f"{key}/")]
        change.added(copies[0], None, None)
    kept = deletion + name if any(one.size for one in cleared or ()) else None
    return _Copied(found, replaced, name, sources, copies, kept, None, cleared)


def _checked_again(
    change: Change, copied: _Copied, check: Callable[[], tuple[Original, Original | None]]
) -> Relocation:
    """Check in the transaction that source and target are still what the store was asked to change."""
    if copied.found.is_folder:  # the indexer may have shown the copies before the library notes them
        change.unplace(copied.copies)
        if copied.replaced is None:
            change.remove_empty(copied.name)
    found, there = check()
    _require_same(copied.found, found)
    if there is not None or copied.cleared is None:  # else the indexer has seen that it is gone
        _require_same(copied.replaced, there)
    return change.request.relocation()


def _require_same(before: Original | None, now: Original | None) -> None:
    if (before is None) != (now is None) or (before and now and before.etag != now.etag):
        raise ChangedMeanwhileError


def _follow_replaced(change: Change, copied: _Copied, relocation: Relocation, *, is_known: bool) -> bool:
    """Let library and mirror follow what is replaced; return whether its copy in the trash stays there.

    If the library has the file that replaces another one (`is_known`), both are photos of their own.
    """
    root, name = change.request.provider.root, copied.name
    if copied.replaced is None:
        return False
    if copied.cleared is not None:
        change.undo.callback(_quietly, lambda: change.place(copied.cleared or ()))
        if copied.kept is None:
            change.unplace(copied.cleared)
            change.remove_empty(name)
        else:
            with suppress(ParentMissingError):  # else the indexer has seen that it is gone
                disk.rename(root, name, copied.kept, make_folders=True)
                change.undo.callback(disk.rename, root, copied.kept, name)
        relocation.gone(name, is_folder=copied.replaced.is_folder, kept=copied.kept)
        return copied.kept is not None
    if copied.kept is not None and copied.copy is not None:
        change.place([copied.copy])
    if is_known:
        relocation.gone(name, is_folder=False, kept=copied.kept)
    else:
        relocation.replaced(name, copied.kept)
    return copied.kept is not None


def _quietly(act: Callable[[], None]) -> None:
    with suppress(Exception):
        act()


def _end(change: Change, copied: _Copied, path: str, *, is_kept: bool) -> None:
    """End the part of a request that can be undone."""
    change.undo.pop_all()
    change.request.provider.forget(path)
    if not is_kept:
        change.drop(copied.copy)


def _delete_sources(change: Change, sources: Sequence[Listed]) -> None:
    """Delete the former objects of a MOVE; `PartlyDoneError` names those left: they are files beside the moved ones."""
    if failed := {clean_name(one.key): error for one, error in change.delete(sources)}:
        with change.request.writing():
            for name in failed:
                change.request.relocation().changed(name)
        raise PartlyDoneError({f"/{name}": error for name, error in failed.items()})
