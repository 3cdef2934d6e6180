"""Single objects of a bucket: looked up, copied and deleted on the server; none is replaced or deleted unseen.

A move is a copy, then the change of the library, then `delete`: a process that is killed in between leaves two objects
of one content, never none.
"""

from http import HTTPStatus
from typing import Any, Final

from photosvc.core.errors import ConflictError, InvalidValueError, NeverPermittedError, PhotosvcError
from photosvc.storage.bucket import Bucket, BucketError, Listed, StoreAnswerError

#: The longest object that one request stores or copies, in bytes.
LARGEST: Final = 5 << 30
_MISSING: Final = frozenset({"404", "NoSuchKey", "NotFound"})
_CONDITION: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412"})
_DENIED: Final = frozenset({"AccessDenied", "Forbidden", "403"})
#: Of stores that do not know a condition and do not ignore it either.
_UNKNOWN: Final = frozenset({"NotImplemented", "501"})


class ObjectTakenError(ConflictError):
    """An object of this name exists already."""


class ObjectChangedError(ConflictError):
    """The file in the bucket was replaced or deleted meanwhile."""


class MayNotWriteError(NeverPermittedError):
    """The credentials of the bucket may not write to it: they need the right s3:PutObject."""


class MayNotDeleteError(NeverPermittedError):
    """The credentials of the bucket may not delete from it: they need the right s3:DeleteObject."""


class BucketFullError(PhotosvcError):
    """The store has no space left for the file, or a quota of the bucket is used up."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


class KeyTooLongError(InvalidValueError):
    """The name is too long for the bucket: with its folders, a key has at most 1024 bytes."""


class ObjectTooLargeError(PhotosvcError):
    """The file is larger than a bucket stores or copies at once (5 GiB)."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


_WRITE_FAULTS: Final[tuple[tuple[frozenset[str], type[PhotosvcError]], ...]] = (
    (_CONDITION, ObjectTakenError),
    (_DENIED, MayNotWriteError),
    (frozenset({"QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}),
     BucketFullError),
    (frozenset({"EntityTooLarge", "413"}), ObjectTooLargeError),
    (frozenset({"KeyTooLongError"}), KeyTooLongError),
)  # fmt: skip


def find(bucket: Bucket, key: str) -> Listed | None:
    """Return the object of a key without the prefix, as lists describe it; None if there is none.

    Raises:
        BucketError: the store does not tell.
    """
    try:
        head = bucket.call("head_object", Key=bucket.prefix + key)
    except StoreAnswerError as error:
        if error.codes & _MISSING:
            return None
        raise
    return bucket.described(key, head, head.get("ContentLength"))


def write_fault(error: StoreAnswerError) -> PhotosvcError:
    """Return the error for the answer to a request that stores an object."""
    return next((fault() for codes, fault in _WRITE_FAULTS if error.codes & codes), error)


def require_version(bucket: Bucket, key: str, expected: Listed | None) -> dict[str, str]:
    """Check the object that a request will replace, and return the condition to send along.

    The object is looked up because some stores ignore conditions.

    Args:
        key: of the object, without the prefix.
        expected: the version to be replaced; None if there must be no object.

    Raises:
        ObjectTakenError: the key has another version.
        BucketError: the store does not tell.
    """
    if find(bucket, key) != expected:
        raise ObjectTakenError
    return {"IfNoneMatch": "*"} if expected is None else {"IfMatch": f'"{expected.etag}"'}


def copy(bucket: Bucket, source: Listed, key: str, replaced: Listed | None = None) -> Listed:
    """Copy an object within the bucket, and return the copy as lists describe it.

    No content comes to this machine. Metadata and tags are copied. The time of the copy is that of the request, and its
    entity tag may be another one, as for objects that were stored in parts.

    The source is not looked up: a store that knows `x-amz-copy-source-if-match` refuses all versions but `source`. The
    target is looked up, and a condition sent as well: a store that ignores it may replace an object that another
    program stores at the same moment.

    Args:
        source: the version to copy, from `find` or a list.
        key: of the copy, without the prefix.
        replaced: the version that the copy replaces; None if there must be no object of the key.

    Raises:
        ObjectChangedError: there is no object of this version.
        ObjectTakenError: the key has another version.
        MayNotWriteError: the credentials do not have the right.
        ObjectTooLargeError: one request cannot copy so much; nothing was sent.
        BucketFullError: a quota is used up.
        BucketError: the store fails. The copy may be there, whole, or come to be later.
    """
    if source.size > LARGEST:
        raise ObjectTooLargeError
    condition = require_version(bucket, key, replaced)
    sent: dict[str, Any] = {
        "Key": bucket.prefix + key,
        "CopySource": {"Bucket": bucket.name, "Key": bucket.prefix + source.key},
        "CopySourceIfMatch": f'"{source.etag}"',
    }
    try:
        call_if(bucket, "copy_object", condition, sent)
    except StoreAnswerError as error:
        if error.codes & _MISSING:
            raise ObjectChangedError from None
        if error.codes & _CONDITION:  # one of the two conditions; answers do not tell which
            raise (ObjectChangedError if find(bucket, key) == replaced else ObjectTakenError) from None
        raise write_fault(error) from None
    found = find(bucket, key)
    if found is None or found.size != source.size:
        raise BucketError(f"The store of {bucket.address} has lost a file that it copied.")
    return found


def delete(bucket: Bucket, listed: Listed) -> None:
    """Delete this version of an object; if there is none of its key any more, that is all right.

    The object is looked up, and `If-Match` sent as well: a store that ignores it may delete a version that another
    program stores at the same moment.

    Args:
        listed: the version, from `find`, `copy` or a list.

    Raises:
        ObjectChangedError: the key has another version by now, which stays.
        MayNotDeleteError: the credentials do not have the right.
        BucketError: the store fails. The object may be gone.
    """
    found = find(bucket, listed.key)
    if found is None:
        return
    if found != listed:
        raise ObjectChangedError
    try:
        call_if(bucket, "delete_object", {"IfMatch": f'"{listed.etag}"'}, {"Key": bucket.prefix + listed.key})
    except StoreAnswerError as error:
        if error.codes & _MISSING:
            return
        if error.codes & _CONDITION:
            raise ObjectChangedError from None
        if error.codes & _DENIED:
            raise MayNotDeleteError from None
        raise


def require_deletion(bucket: Bucket, key: str) -> None:
    """Check that the credentials may delete an object of this key, which no object has, by deleting it.

    Raises:
        MayNotDeleteError: they may not.
        BucketError: the store fails.
    """
    try:
        bucket.call("delete_object", Key=bucket.prefix + key)
    except StoreAnswerError as error:
        if error.codes & _DENIED:
            raise MayNotDeleteError from None
        if not error.codes & _MISSING:
            raise


def call_if(bucket: Bucket, method: str, condition: dict[str, str], sent: dict[str, Any]) -> dict[str, Any]:
    """Send a request with a condition, and without it to a store that refuses every request with one."""
    try:
        return bucket.call(method, **condition, **sent)
    except StoreAnswerError as error:
        if not error.codes & _UNKNOWN:
            raise
        if "Body" in sent:
            sent["Body"].seek(0)
        return bucket.call(method, **sent)
