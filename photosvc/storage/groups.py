"""Many objects of a bucket at a time: listed, copied and deleted on the server, within limits of number and time."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from itertools import islice
from typing import Final, TypeVar

from photosvc.core.errors import PhotosvcError
from photosvc.storage import objects
from photosvc.storage.bucket import Bucket, Listed, TooSlowError

#: The most objects that one request copies or deletes.
MOST: Final = 1000
#: Seconds after which no further object is begun.
SECONDS: Final = 60.0
_AT_ONCE: Final = 8
T = TypeVar("T")


class TooManyObjectsError(PhotosvcError):
    """A folder of a bucket is moved, copied or deleted with at most 1000 objects at a time."""

    status = HTTPStatus.FORBIDDEN


def listed(bucket: Bucket, folder: str, most: int = MOST) -> list[Listed]:
    """Return all objects below a folder, also marks of folders and files that are never indexed.

    Raises:
        TooManyObjectsError: there are more than `most`.
        BucketError: the list cannot be read, or not within `SECONDS`.
    """
    found = list(islice(bucket.objects(folder, seconds=SECONDS), most + 1))
    if len(found) > most:
        raise TooManyObjectsError
    return found


def delete_all(bucket: Bucket, versions: Iterable[Listed]) -> list[tuple[Listed, PhotosvcError]]:
    """Delete versions of objects, in any order; return those that may still be there, each with its error."""
    return for_each(lambda one: objects.delete(bucket, one), list(versions), goes_on=True)


def require_each(act: Callable[[T], object], many: Sequence[T]) -> None:
    """Call a function for several values at a time; none begins after an error, or when the time is over.

    Raises:
        TooSlowError: values are left.
        PhotosvcError: the first error of the function.
    """
    if failed := for_each(act, many):
        raise failed[0][1]


def for_each(act: Callable[[T], object], many: Sequence[T], *, goes_on: bool = False) -> list[tuple[T, PhotosvcError]]:
    """Call a function for several values at a time; return those that fail, and the rest when the time is over.

    Args:
        goes_on: true if the values after one that fails are tried nevertheless.
    """
    end = time.monotonic() + SECONDS
    failed: list[tuple[T, PhotosvcError]] = []

    def attempt(one: T) -> None:
        if failed and not goes_on:
            return
        try:
            if time.monotonic() > end:
                raise TooSlowError
            act(one)
        except PhotosvcError as error:
            failed.append((one, error))

    if len(many) == 1:
        attempt(many[0])
    elif many:
        with ThreadPoolExecutor(_AT_ONCE, "objects") as pool:
            list(pool.map(attempt, many))
    return failed
