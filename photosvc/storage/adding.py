"""Adding files to a bucket: each by one request, so that none is ever half there, and never over an object."""

import hashlib
import os
from base64 import b64encode
from http import HTTPStatus
from io import BufferedReader
from typing import Final

from photosvc.core.errors import ConflictError, NeverPermittedError, PhotosvcError
from photosvc.storage.bucket import Bucket, BucketError, Listed, StoreAnswerError
from photosvc.storage.remote import content_key, plain_tag, stamp

#: The longest object that one request stores, in bytes.
LARGEST: Final = 5 << 30
_MISSING: Final = frozenset({"404", "NoSuchKey", "NotFound"})
_TAKEN: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412"})
_DENIED: Final = frozenset({"AccessDenied", "Forbidden", "403"})
_FULL: Final = frozenset(
    {"QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}
)
_TOO_LARGE: Final = frozenset({"EntityTooLarge", "413"})


class ObjectTakenError(ConflictError):
    """An object of this name exists already."""


class MayNotWriteError(NeverPermittedError):
    """The credentials of the bucket may not write to it: they need the right s3:PutObject."""


class BucketFullError(PhotosvcError):
    """The store has no space left for the file, or a quota of the bucket is used up."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


class ObjectTooLargeError(PhotosvcError):
    """The file is larger than a bucket accepts at once (5 GiB)."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


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


def find(bucket: Bucket, key: str) -> tuple[Listed, str] | None:
    """Return the object of a key without the prefix, and the hash of its content; None if there is none.

    Raises:
        BucketError: the store does not tell.
    """
    try:
        head = bucket.call("head_object", Key=bucket.prefix + key)
    except StoreAnswerError as error:
        if error.codes & _MISSING:
            return None
        raise
    try:
        tag, size, changed_at = plain_tag(head["ETag"]), int(head["ContentLength"]), head["LastModified"].timestamp()
        return Listed(key, size, stamp(int(changed_at), tag)), content_key(tag, size)
    except (KeyError, ValueError, OverflowError):
        raise BucketError(f"The answer of the store of {bucket.address} cannot be read.") from None


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
        for codes, fault in (
            (_TAKEN, ObjectTakenError),
            (_DENIED, MayNotWriteError),
            (_FULL, BucketFullError),
            (_TOO_LARGE, ObjectTooLargeError),
        ):
            if error.codes & codes:
                raise fault from None
        raise
    found = find(bucket, key)
    if found is None:
        raise BucketError(f"The store of {bucket.address} has lost a file that it accepted.")
    if found[1] != content_key(digest.hexdigest(), size):
        if found[0].size == size:  # else it is an object that another program has stored meanwhile
            remove(bucket, found[0])
        raise OtherTagsError
    return found[0]


def remove(bucket: Bucket, listed: Listed) -> None:
    """Remove an object that was just added, unless it has been replaced.

    Raises:
        BucketError: the store fails, or the credentials do not have the right s3:DeleteObject.
    """
    found = find(bucket, listed.key)
    if found is not None and found[0] == listed:
        bucket.call("delete_object", Key=bucket.prefix + listed.key)
