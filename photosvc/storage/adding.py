"""Adding files to a bucket: each by one request, so that none is ever half there; no object is replaced unseen."""

import hashlib
import os
from base64 import b64encode
from contextlib import suppress
from io import BufferedRandom, BufferedReader
from tempfile import TemporaryFile

from photosvc.storage.bucket import Bucket, BucketError, Listed, StoreAnswerError
from photosvc.storage.objects import (
    LARGEST,
    ObjectChangedError,
    ObjectTooLargeError,
    call_if,
    delete,
    find,
    require_version,
    write_fault,
)
from photosvc.storage.remote import content_key, plain_tag


class OtherTagsError(BucketError):
    """The store gives objects other tags than the MD5 of their content, as with KMS; no file can be added to it.

    Args:
        stored: the object with the file, if it has replaced another one.
    """

    def __init__(self, stored: Listed | None = None) -> None:
        super().__init__()
        self.stored = stored


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


def add(bucket: Bucket, key: str, file: BufferedReader | BufferedRandom, replaced: Listed | None = None) -> Listed:
    """Store a file and return the object as lists describe it.

    Args:
        key: without the prefix.
        file: open for reading; the caller closes it.
        replaced: the version that the file replaces; None if there must be no object of the key.

    Raises:
        ObjectTakenError: the key has another version.
        MayNotWriteError: the credentials do not have the right.
        BucketFullError: a quota is used up.
        ObjectTooLargeError: one request cannot store so much.
        OtherTagsError: the hash of the object will not be that of the file; a new object is removed again.
        BucketError: the store fails. The object may be there, whole.
    """
    size = os.fstat(file.fileno()).st_size
    if size > LARGEST:
        raise ObjectTooLargeError
    condition = require_version(bucket, key, replaced)
    file.seek(0)
    digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
    file.seek(0)
    md5 = b64encode(digest.digest()).decode()
    sent = {"Key": bucket.prefix + key, "Body": file, "ContentLength": size, "ContentMD5": md5}
    try:
        answer = call_if(bucket, "put_object", condition, sent)
    except StoreAnswerError as error:
        raise write_fault(error) from None
    found = find(bucket, key)
    if found is None:
        raise BucketError(f"The store of {bucket.address} has lost a file that it accepted.")
    if found.content_key != content_key(digest.hexdigest(), size):
        is_own = found.etag == plain_tag(answer.get("ETag", ""))  # else another program has stored an object meanwhile
        if is_own and replaced is None:
            remove(bucket, found)
        raise OtherTagsError(found if is_own and replaced is not None else None)
    return found


def add_empty(bucket: Bucket, key: str, replaced: Listed | None = None) -> Listed:
    """Store an empty object, or the mark of a folder, whose key ends with a slash; see `add`."""
    with TemporaryFile() as file:
        return add(bucket, key, file, replaced)


def remove(bucket: Bucket, listed: Listed) -> None:
    """Remove an object that was just added, unless it has been replaced.

    Raises:
        BucketError: the store fails.
        MayNotDeleteError: the credentials do not have the right.
    """
    with suppress(ObjectChangedError):
        delete(bucket, listed)
