"""The pieces of resumable uploads: storing them, and adding the file to the originals when the last one has arrived."""

from collections.abc import Callable
from datetime import datetime
from hmac import compare_digest
from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import request
from sqlalchemy import delete, update

from photosvc.api.library.adding import add_uploads
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import FileProblemError
from photosvc.library.staging import Part
from photosvc.library.staging.errors import PartMissingError, TooLargeError
from photosvc.library.uploads.admit import REFUSED
from photosvc.library.uploads.waiting import find_upload
from photosvc.models import Upload
from photosvc.web.current import current_service
from photosvc.web.service.indexer import wake_indexer
from photosvc.web.transfers.multipart import read_piece
from photosvc.web.transfers.receiving import Sender, receiving
from photosvc.web.transfers.tus import ChecksumError

if TYPE_CHECKING:
    from hashlib import _Hash


class ExpiredUploadError(PhotosvcError):
    """The upload was not continued in time."""

    status = HTTPStatus.GONE


def append(part: Part, length: int, checksum: "tuple[_Hash, bytes] | None") -> None:
    """Write the request's body to a part.

    Raises:
        CutBodyError: the client went away; what came is kept, unless the piece has a checksum.
        ChecksumError: the checksum is another; nothing is kept.
        TooLargeError: the file would be longer than announced.

    """
    left = length - part.size
    if (request.content_length or 0) > left:
        raise TooLargeError
    request.max_content_length = left + 1
    if checksum is None:
        _each_piece(part.write)
        return
    digest, expected = checksum
    with part.on_trial():

        def write(piece: bytes) -> None:
            digest.update(piece)
            part.write(piece)

        _each_piece(write)
        if not compare_digest(digest.digest(), expected):
            raise ChecksumError


def _each_piece(take: Callable[[bytes], None]) -> None:
    stream = request.stream
    while piece := read_piece(stream):
        take(piece)


def measured(who: Sender, upload: Upload) -> int:
    """Bytes that have arrived; a file that is complete without the knowledge of its client is finished."""
    try:
        size = who.staging.size_of(upload.token)
    except PartMissingError:
        if not upload.hash:
            raise
        size = upload.size  # the server ended after it had placed the file
    if size < upload.size or (upload.hash and upload.bundle):
        return size
    with receiving():
        if not upload.hash:
            with who.staging.resume(upload.token, most_bytes=upload.size, expected_length=upload.size) as part:
                store(upload, part.sha1, upload.expires_at)
        if not upload.bundle:
            finish(who, upload)
    return size


def store(upload: Upload, sha1: str, expires_at: datetime) -> None:
    """Remember the hash of a complete file, and until when the upload may go on."""
    upload.hash = sha1
    with current_service().writing() as session:
        change = update(Upload).where(Upload.id == upload.id).values(hash=sha1, expires_at=expires_at)
        session.execute(change, execution_options={"synchronize_session": False})


def finish(who: Sender, upload: Upload) -> None:
    """Add a complete file to the originals.

    Raises:
        FileProblemError: it is refused; the upload is gone.

    """
    service = current_service()
    (outcome,) = add_uploads(who, [upload], service.now(), keep=True)
    if outcome.status == REFUSED and outcome.problem is not None:
        forget(who, upload)
        raise FileProblemError(outcome.problem.reason, *outcome.problem.details)
    wake_indexer(service)


def forget(who: Sender, upload: Upload) -> None:
    """Delete an upload and what has arrived of it."""
    with current_service().writing() as session:
        session.execute(delete(Upload).where(Upload.id == upload.id))
    who.staging.delete(upload.token)


def find(who: Sender, token: str) -> Upload:
    """The upload with this token.

    Raises:
        PartMissingError: the sender has none.
        ExpiredUploadError: it was not continued in time.

    """
    service = current_service()
    with service.loading() as session:
        upload = find_upload(session, who.user_id, token) if token.isalnum() else None
        session.expunge_all()
    service.end_reading()
    if upload is None:
        raise PartMissingError
    if upload.expires_at <= service.now():
        raise ExpiredUploadError
    return upload
