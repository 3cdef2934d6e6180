"""Objects that a request stores, copies and deletes, and how they are brought back if it fails.

A store may take long, so it is never asked in a transaction: after checks, objects are stored or copied on the server;
then a transaction checks again and notes the change, in the database and in the mirror. A copy in the trash is deleted
only while the object that it was made of is there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.paths import disk_name
from photosvc.dav.dav_request import patiently
from photosvc.dav.errors import DAVError, PartlyDoneError
from photosvc.dav.tree import Original
from photosvc.index.mirror import add_placeholder, forget, look_again, remove_placeholder
from photosvc.library import disk
from photosvc.library.staging_part import typed_errors
from photosvc.storage import adding, groups, objects
from photosvc.storage.bucket import Bucket, BucketError, Listed
from photosvc.web.receiving import receiving

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request


T = TypeVar("T")


@dataclass(slots=True)
class Change:
    """The changes of one request in a bucket."""

    request: "Request"
    bucket: Bucket
    undo: ExitStack = field(default_factory=ExitStack)
    """The functions that bring objects and placeholders back."""
    _left: list[PhotosvcError] = field(default_factory=list)
    """Errors of objects that could not be brought back."""
    _seen: set[str] = field(default_factory=set)
    """Keys whose placeholders are brought up to date at the end."""

    def look(self, path: str) -> Listed | None:
        """Return the object at a path, whose placeholder is then up to date; None for folders."""
        found = self.request.find(path)
        if found is not None and found.is_folder:
            return None
        key = disk_name(path.strip("/"))
        self._seen.add(key)
        self.request.service.close()
        return self._look_again(key)

    def _look_again(self, key: str) -> Listed | None:
        with typed_errors():
            return look_again(self.bucket, key)

    def store(self, path: str, found: Original | None, stored: Listed) -> None:
        """Note a new object, while the checks go on to see what was at its path."""
        self.request.provider.remember(path, found, stored)
        self._seen.add(stored.key)

    def added(self, stored: Listed, former: Listed | None, copy: Listed | None) -> None:
        """Note an object that was stored, and the one that it replaced, with a copy of that unless it was empty."""
        self.undo.callback(self._bring_back, stored, former, copy)

    def copy(self, wanted: Sequence[tuple[Listed, str]]) -> list[Listed]:
        """Copy objects to these keys that have none, and return the copies in the same order."""
        made: list[Listed] = []
        self.undo.callback(self._remove, made)
        return self._copy(wanted, made)

    def keep(self, former: Sequence[Listed], deletion: str) -> list[Listed | None]:
        """Copy objects into the trash before they are replaced or deleted; None for empty ones and marks of folders.

        Args:
            deletion: the prefix of their names in the trash.
        """
        filled = [one for one in former if one.size]
        made: list[Listed] = []
        self.undo.callback(self._remove_kept, filled, made, deletion)
        self._copy([(one, deletion + one.key) for one in filled], made)
        by_key = {one.key: one for one in made}
        return [by_key.get(deletion + one.key) for one in former]

    def clear(self, former: Sequence[Listed], deletion: str) -> None:
        """Move objects into the trash; empty ones and marks of folders are deleted."""
        copies = self.keep(former, deletion)
        self.undo.callback(self._put_back, list(zip(former, copies, strict=True)))
        if failed := groups.delete_all(self.bucket, former):
            raise failed[0][1]

    def drop(self, copy: Listed | None) -> None:
        """Delete a copy in the trash that is not needed any more; if the store fails, it stays there."""
        if copy is not None:
            groups.delete_all(self.bucket, [copy])

    def place(self, placed: Sequence[Listed]) -> None:
        """Make the placeholders of objects."""
        with typed_errors():
            for one in placed:
                add_placeholder(self.bucket, one)

    def delete(self, sources: Sequence[Listed]) -> list[tuple[Listed, PhotosvcError]]:
        """Delete objects after the transaction; return those that are left, which then have placeholders again."""
        failed = groups.delete_all(self.bucket, sources)
        left = {one.key for one, _ in failed}
        self._seen |= left
        forget(self.bucket, [one for one in sources if one.key not in left])
        return failed

    def remove_empty(self, name: str) -> None:
        """Remove a folder of the mirror, and those in it, as far as they are empty."""
        disk.remove_empty_folders(self.bucket.mirror, name)

    def unplace(self, placed: Sequence[Listed]) -> None:
        """Remove the placeholders of objects."""
        with typed_errors():
            for one in placed:
                remove_placeholder(self.bucket, one)

    def _copy(self, wanted: Sequence[tuple[Listed, str]], made: list[Listed]) -> list[Listed]:
        groups.require_each(lambda one: made.append(objects.copy(self.bucket, *one)), wanted)
        by_key = {one.key: one for one in made}
        return [by_key[key] for _, key in wanted]

    def _remove(self, made: Sequence[Listed]) -> None:
        self._left += [error for _, error in groups.delete_all(self.bucket, made)]
        with suppress(PhotosvcError):
            self.unplace(made)

    def _remove_kept(self, former: Sequence[Listed], made: Sequence[Listed], deletion: str) -> None:
        originals = {deletion + one.key: one for one in former}

        def remove(copy: Listed) -> None:
            if objects.find(self.bucket, originals[copy.key].key) == originals[copy.key]:
                objects.delete(self.bucket, copy)
                self.unplace([copy])

        groups.for_each(remove, made)  # what stays in the trash is not lost

    def _bring_back(self, stored: Listed, former: Listed | None, copy: Listed | None) -> None:
        def bring_back(one: Listed | None) -> None:
            if one is None:
                objects.delete(self.bucket, stored)
            elif copy is not None:
                self._restored(copy, objects.copy(self.bucket, copy, one.key, stored))
            else:
                adding.add_empty(self.bucket, one.key, stored)

        self._try(bring_back, [former])

    def _put_back(self, former: Sequence[tuple[Listed, Listed | None]]) -> None:
        def put_back(pair: tuple[Listed, Listed | None]) -> None:
            one, copy = pair
            if objects.find(self.bucket, one.key) is not None:
                return
            if copy is not None:
                self._restored(copy, objects.copy(self.bucket, copy, one.key))
            else:
                adding.add_empty(self.bucket, one.key)

        self._try(put_back, former)

    def _restored(self, copy: Listed, restored: Listed) -> None:
        self.place([restored])
        groups.delete_all(self.bucket, [copy])

    def _try(self, act: Callable[[T], None], many: Sequence[T]) -> None:
        """Call a function for several objects, and note those that it cannot bring back."""
        failed = [error for _, error in groups.for_each(act, many, goes_on=True)]
        # At the others, another program has stored an object by now.
        self._left += [error for error in failed if not isinstance(error, ConflictError)]

    def end(self, error: Exception | None) -> None:
        """Bring placeholders up to date, because requests for one file may have overtaken each other.

        Raises:
            PartlyDoneError: the request fails, and some objects could not be brought back.
        """
        if not isinstance(error, BucketError):
            groups.for_each(self._look_again, list(self._seen), goes_on=True)
        if self._left and isinstance(error, PhotosvcError | DAVError):
            raise PartlyDoneError({self.request.path: error}) from None


@contextmanager
def changing(request: "Request") -> Iterator[Change]:
    """Hold a slot for the transfer, and bring everything back if the block fails before `undo` is emptied.

    Raises:
        PartlyDoneError: the block fails, and some objects could not be brought back.
    """
    bucket = request.service.settings.bucket
    if bucket is None:
        raise RuntimeError("the originals are in a folder")
    with ExitStack() as slot:
        patiently(lambda: slot.enter_context(receiving()))
        change = Change(request, bucket)
        try:
            with change.undo:
                yield change
                change.undo.pop_all()
        except Exception as error:
            change.end(error)
            raise
        change.end(None)
