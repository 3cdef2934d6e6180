"""Adding files to a bucket: each by one request, so that none is ever half there, and never over an object."""

import hashlib
import os
from base64 import b64encode
from contextlib import suppress
from io import BufferedReader

from photosvc.storage.bucket import Bucket, BucketError, Listed, StoreAnswerError
from photosvc.storage.objects import (
    LARGEST,
    ObjectChangedError,
    ObjectTakenError,
    ObjectTooLargeError,
    delete,
    find,
    write_fault,
)
from photosvc.storage.remote import content_key


class OtherTagsError(BucketError):
    """The store gives objects other tags than the MD5 of their content, as with KMS; no file can be added to it."""


class ObjectHash:
    """A hash of content, in the form that indexed objects have."""

    def __init__(self) -> None:
        self._digest = hashlib.md5(usedforsecurity=False)
        self._size = 0

    def update(self, data: bytes | memoryview, /) -> None:
        """Append bytes."""
        self._digest.update(data)
        self._size += len(data)

    def hexdigest(self) -> str:
        """Return the hash of an object with these bytes, stored by one request."""
        return content_key(self._digest.hexdigest(), self._size)


def add(bucket: Bucket, key: str, file: BufferedReader) -> Listed:
    """Store a file under a key that no object has, and return the object as lists describe it.

    Args:
        bucket: the bucket.
        key: without the prefix.
        file: open for reading; the caller closes it.

    Raises:
        ObjectTakenError: there is an object of this key.
        MayNotWriteError: the credentials do not have the right.
        BucketFullError: a quota is used up.
        ObjectTooLargeError: one request cannot store so much.
        OtherTagsError: the hash of the object will not be that of the file; the object is removed again.
        BucketError: the store fails. The object may be there, whole.
    """
    size = os.fstat(file.fileno()).st_size
    if size > LARGEST:
        raise ObjectTooLargeError
    # Some stores do not know If-None-Match and ignore it.
    if find(bucket, key) is not None:
        raise ObjectTakenError
    file.seek(0)
    digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
    file.seek(0)
    try:
        bucket.call(
            "put_object",
            Key=bucket.prefix + key,
            Body=file,
            ContentLength=size,
            ContentMD5=b64encode(digest.digest()).decode(),
            IfNoneMatch="*",
        )
    except StoreAnswerError as error:
        raise write_fault(error) from None
    found = find(bucket, key)
    if found is None:
        raise BucketError(f"The store of {bucket.address} has lost a file that it accepted.")
    if found.content_key != content_key(digest.hexdigest(), size):
        if found.size == size:  # else it is an object that another program has stored meanwhile
            remove(bucket, found)
        raise OtherTagsError
    return found


def remove(bucket: Bucket, listed: Listed) -> None:
    """Remove an object that was just added, unless it has been replaced.

    Raises:
        BucketError: the store fails.
        MayNotDeleteError: the credentials do not have the right.
    """
    with suppress(ObjectChangedError):
        delete(bucket, listed)
