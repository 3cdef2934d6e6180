"""Errors of the disk with the originals, and of files that cannot be stored on it."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

from photosvc.core.errors import ConflictError, InvalidValueError, NeverPermittedError, PhotosvcError


class ReadOnlyError(NeverPermittedError):
    """The originals of this service are read-only (PHOTOSVC_READONLY)."""


class TooLargeError(PhotosvcError):
    """The file is larger than allowed."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class IncompleteError(PhotosvcError):
    """The length of the file is not the announced one."""

    status = HTTPStatus.BAD_REQUEST


class NameRefusedError(InvalidValueError):
    """No file can be stored under this name."""


class NameTakenError(ConflictError):
    """A file or folder of this name exists already."""


class ParentMissingError(ConflictError):
    """The folder around the file does not exist, or is no folder."""


class PartLockedError(PhotosvcError):
    """Another request is writing to this upload."""

    status = HTTPStatus.LOCKED


class PartMissingError(PhotosvcError):
    """There is no such upload."""

    status = HTTPStatus.NOT_FOUND


class StorageFullError(PhotosvcError):
    """There is no space left for the file."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


class StorageReadOnlyError(NeverPermittedError):
    """The folder of originals cannot be written to."""


class StorageFailedError(PhotosvcError):
    """The disk of the originals is missing or does not respond; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 30


_BY_NUMBER: Final[dict[int, type[PhotosvcError]]] = {
    errno.ENOSPC: StorageFullError,
    errno.EDQUOT: StorageFullError,
    errno.EFBIG: TooLargeError,
    errno.EROFS: StorageReadOnlyError,
    errno.EACCES: StorageReadOnlyError,
    errno.EPERM: StorageReadOnlyError,
    errno.ENAMETOOLONG: NameRefusedError,
    errno.EILSEQ: NameRefusedError,
    errno.EINVAL: NameRefusedError,
    errno.EEXIST: NameTakenError,
    errno.EISDIR: NameTakenError,
    errno.ENOTEMPTY: NameTakenError,
    errno.ENOENT: ParentMissingError,
    errno.ENOTDIR: ParentMissingError,
    errno.ELOOP: ParentMissingError,
}


@contextmanager
def typed_errors() -> Iterator[None]:
    """Turn errors of the operating system in the block into errors of this module."""
    try:
        yield
    except OSError as error:
        raise _BY_NUMBER.get(error.errno or errno.EIO, StorageFailedError) from error
