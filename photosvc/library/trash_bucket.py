"""Objects of a bucket on their way into the trash and back, and out of the trash for good.

Their keys are those that the files would have on disk. A store may take long, so it is never asked in a transaction: an
object is copied before the transaction that notes the change, and deleted under its former key after it. A process that
is killed in between leaves both; `settle` deletes the one that is too many.
"""

import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from photosvc.core.errors import PhotosvcError
from photosvc.core.paths import clean_name, disk_name
from photosvc.index.mirror import LONGEST_KEY, forget, is_placeholder
from photosvc.index.scan import TRASH_FOLDER, UNFINISHED, disk_path
from photosvc.library.staging_part import NameRefusedError
from photosvc.library.trash_folder import Kept, Trash, within
from photosvc.storage import groups
from photosvc.storage.bucket import Bucket, BucketError, Listed, StoreAnswerError, TooSlowError
from photosvc.storage.objects import ObjectChangedError, ObjectTakenError, copy, delete, find, require_deletion

_LOG: Final = logging.getLogger("photosvc")


def require_right(bucket: Bucket, *names: str) -> None:
    """Check that the credentials may delete objects of the trash, and originals in the folders of those named.

    The rights of both may differ. No object has the keys that are deleted.

    Raises:
        MayNotDeleteError: they may not.
        BucketError: the store fails.
    """
    for name in (f"{TRASH_FOLDER}/none", *map(disk_name, names)):
        folder, slash, _ = name.rpartition("/")
        require_deletion(bucket, f"{folder}{slash}.photosvc-none")


@dataclass(slots=True)
class Moves:
    """Objects that move within a bucket."""

    bucket: Bucket
    copied: dict[str, tuple[Listed, Listed]] = field(default_factory=dict, init=False)
    """Former name -> the object that had it, and its copy."""
    taken: set[str] = field(default_factory=set, init=False)
    """Former names of objects that were not copied, because other objects have the new names."""

    def copy(self, targets: Mapping[str, str], is_meant: Callable[[str, Listed], bool]) -> None:
        """Copy objects to new names; those that are gone are left out.

        Args:
            targets: former name -> new name.
            is_meant: returns whether the object of a former name is the version to move.

        Raises:
            NameRefusedError: a new name is too long for a key.
            ObjectChangedError: there is another version.
            PhotosvcError: one of `photosvc.storage.objects.copy`.
        """

        def move(name: str) -> None:
            key = disk_name(targets[name])
            if len(f"{self.bucket.prefix}{key}".encode("utf-8", "surrogateescape")) > LONGEST_KEY:
                raise NameRefusedError("The name is too long.", field="name")
            found = find(self.bucket, disk_name(name))
            if found is None:
                return
            if not is_meant(name, found):
                raise ObjectChangedError
            try:
                self.copied[name] = found, copy(self.bucket, found, key)
            except ObjectTakenError:
                self.taken.add(name)

        groups.require_each(move, list(targets))

    def finish(self, names: Collection[str]) -> bool:
        """Delete the objects of these former names, and return whether none is left.

        A version that was stored meanwhile stays: it is another file.
        """

        def remove(name: str) -> None:
            with suppress(ObjectChangedError):
                delete(self.bucket, self.copied[name][0])

        moved = [name for name in names if name in self.copied]
        is_finished = self._ends(remove, moved)
        forget(self.bucket, [self.copied[name][0] for name in moved])
        return is_finished

    def take_back(self, names: Collection[str]) -> bool:
        """Delete the copies of these objects, each only if its object is still there; return whether none is left.

        A copy that the mirror shows stays. Where a store ignores conditions, it may be what another request has made
        of the same object, and noted, which deletes the object now.
        """

        def remove(name: str) -> None:
            found, copied = self.copied[name]
            if not os.path.lexists(self.bucket.mirror / copied.key) and find(self.bucket, found.key) == found:
                delete(self.bucket, copied)

        return self._ends(remove, [name for name in names if name in self.copied])

    def undo(self, error: BaseException) -> bool:
        """Delete the copies after an error; return false if some may be left."""
        if not isinstance(error, BucketError):
            return self.take_back(self.copied.keys())
        # There may be copies of which nothing is known. A store that cannot be reached is not asked again, which would
        # take until it gives up.
        if isinstance(error, StoreAnswerError | TooSlowError):
            self.take_back(self.copied.keys())
        return False

    @staticmethod
    def _ends(act: Callable[[str], None], names: Sequence[str]) -> bool:
        try:
            groups.require_each(act, names)
        except PhotosvcError as error:
            _LOG.warning("trash: objects are left for later: %s", error.message)
            return False
        return True


@contextmanager
def restoring(bucket: Bucket | None, files: Sequence[Kept]) -> Iterator[Moves | None]:
    """Copy the objects of files in the trash to their former names; yield None if the originals are on disk.

    The block with the transaction adds those to `taken` that are not restored. After it, the objects that are too many
    are deleted.

    Raises:
        PhotosvcError: the store refuses it, or fails.
    """
    if bucket is None:
        yield None
        return
    require_right(bucket)
    objects = Moves(bucket)
    try:
        objects.copy({kept.path: kept.name for kept in files if kept.folder == TRASH_FOLDER}, lambda _, __: True)
        yield objects
    except BaseException as error:
        objects.undo(error)
        raise
    objects.finish(objects.copied.keys() - objects.taken)
    objects.take_back(objects.taken)


def settle(trash: Trash, bucket: Bucket, deletion: str, *, is_noted: bool) -> list[str]:
    """Finish the deletion of a process that ended if the library has noted it, else undo it.

    An object is only deleted if the other one of its content is there.

    Args:
        deletion: its name; the caller holds its lock.
        is_noted: true if rows of the library are in it.

    Returns:
        The former names of objects that are gone from there.

    Raises:
        PhotosvcError: the store fails, or refuses to delete; the deletion stays unfinished.
    """
    prefix, unfinished = within(deletion), within(deletion + UNFINISHED)
    copies = {clean_name(one.key.removeprefix(prefix)): one for one in _objects(bucket, deletion)}
    taken = {kept.name for kept in trash.files(deletion + UNFINISHED)}
    gone: list[str] = []

    def settle_one(name: str) -> None:
        found = find(bucket, disk_name(name))
        if found is None:
            gone.append(name)
        elif not (is_noted and name in taken):
            delete(bucket, copies[name])
        elif is_version(trash, unfinished + name, found):
            delete(bucket, found)

    groups.require_each(settle_one, list(copies))
    return gone


def delete_objects(trash: Trash, deletion: str) -> None:
    """Delete the objects of a deletion for good.

    Raises:
        PhotosvcError: the store fails, or refuses it.
    """
    if (bucket := trash.bucket) is not None:
        groups.require_each(lambda one: delete(bucket, one), list(_objects(bucket, deletion)))


def _objects(bucket: Bucket, deletion: str) -> Iterator[Listed]:
    return bucket.objects(within(deletion).rstrip("/"), seconds=groups.SECONDS)


def delete_copy(trash: Trash, item: str, name: str) -> bool:
    """Delete an object of the trash if the object of its former name has the same content; return whether it had.

    Raises:
        PhotosvcError: the store fails, or refuses it.
    """
    if (bucket := trash.bucket) is None or not _may_be_same(trash, item, name):
        return False
    kept, found = find(bucket, disk_name(item)), find(bucket, disk_name(name))
    if kept is None or found is None or (kept.etag, kept.size) != (found.etag, found.size):
        return False
    delete(bucket, kept)
    return True


def _may_be_same(trash: Trash, item: str, name: str) -> bool:
    """Return whether both have placeholders of one size and one entity tag, so that the store need not be asked."""
    try:
        kept, found = (os.lstat(disk_path(trash.originals, one)) for one in (item, name))
    except OSError:
        return False
    return kept.st_size == found.st_size and kept.st_mtime_ns % 10**9 == found.st_mtime_ns % 10**9


def is_version(trash: Trash, name: str, listed: Listed) -> bool:
    """Return whether the placeholder of this name is of this version of an object."""
    with suppress(OSError):
        return is_placeholder(os.lstat(disk_path(trash.originals, name)), listed)
    return False
