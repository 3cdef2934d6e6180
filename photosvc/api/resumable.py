"""Resumable uploads: large files in pieces, by the protocol tus 1.0 at /uploads.

The routes serve the core of https://tus.io/protocols/resumable-upload and the extensions in `_EXTENSIONS`. A complete
file is added to the originals at once, or, if its metadata name `upload`, with the other files of
`PUT /users/<uid>/upload/<token>`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from flask import Response, request, url_for
from sqlalchemy import delete, update
from werkzeug.exceptions import UnsupportedMediaType
from werkzeug.http import http_date

from photosvc.core.errors import ConflictError, InvalidValueError, PhotosvcError
from photosvc.core.problems import FileProblemError
from photosvc.library.admission import REFUSED
from photosvc.library.staging import Part
from photosvc.library.storage_errors import PartLockedError, PartMissingError, TooLargeError
from photosvc.library.upload_queue import LIFETIME, UPLOAD_TOKEN, add_waiting, find_upload
from photosvc.models import Upload
from photosvc.models.statements import UNLOADED
from photosvc.pictures.download_names import safe_name
from photosvc.web.contract import Header, answers, public, takes_bytes, takes_headers
from photosvc.web.forms import read_piece
from photosvc.web.indexer import wake_indexer
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import require
from photosvc.web.service import current_service
from photosvc.web.tus import MOST_METADATA, VERSION, bytes_in_header, check_version, upload_metadata, with_tus_headers
from photosvc.web.uploads import Sender, add_uploads, has_vanished, receiving, sender

resumable = OwnBlueprint("resumable", __name__)

#: Time after the last piece during which a missing file counts as being added by another request.
_ADDING: Final = timedelta(minutes=1)
_EXTENSIONS: Final = "creation,expiration,termination"
_PIECE_TYPE: Final = "application/offset+octet-stream"
_MIB: Final = 1 << 20


def append(part: Part, length: int) -> None:
    """Write the request's body to a part.

    Raises:
        PhotosvcError: the client disconnected; the bytes that arrived are kept.
        TooLargeError: the file would be longer than announced.
    """
    left = length - part.size
    if (request.content_length or 0) > left:
        raise TooLargeError
    request.max_content_length = left + 1
    while piece := read_piece(request.stream):
        part.write(piece)


def measured(who: Sender, upload: Upload) -> int:
    """Return the number of received bytes; add a complete file whose last piece got no answer."""
    try:
        size = who.staging.size_of(upload.token)
    except PartMissingError:
        upload = find(who, upload.token)  # another request may have added the file meanwhile
        if upload.finished:
            return upload.size
        if not upload.hash:
            raise
        size = upload.size  # the server ended after it had placed the file
    if size < upload.size or (upload.hash and upload.bundle):
        return size
    with receiving():
        if not upload.hash:
            with who.staging.resume(upload.token, most_bytes=upload.size, expected_length=upload.size) as part:
                store(upload, part.hash, upload.expires_at)
        if not upload.bundle:
            finish(who, upload)
    return size


@contextmanager
def adding_elsewhere(who: Sender, token: str) -> Iterator[None]:
    """Raise `PartLockedError` instead of `PartMissingError` in the block if another request is adding the part.

    Raises:
        PartLockedError: another request is adding the file, or has added it; HEAD shows the progress.
        PartMissingError: the part is gone.
    """
    try:
        yield
    except PartMissingError:
        if find(who, token).hash:
            raise PartLockedError from None
        raise


def store(upload: Upload, content_hash: str, expires_at: datetime) -> None:
    """Store the hash of a complete file, or an empty one, and the time at which the upload expires."""
    upload.hash = content_hash
    with current_service().writing() as session:
        change = update(Upload).where(Upload.id == upload.id).values(hash=content_hash, expires_at=expires_at)
        session.execute(change, execution_options=UNLOADED)


def finish(who: Sender, upload: Upload) -> None:
    """Add a complete file to the originals.

    Raises:
        FileProblemError: the file is refused; the upload is gone.
        PartLockedError: another request seems to be adding the file.
    """
    service = current_service()
    (outcome,) = add_uploads(who, [upload], service.now(), keep=True)
    if has_vanished(outcome) and upload.expires_at - LIFETIME + _ADDING > service.now():
        raise PartLockedError
    if outcome.status == REFUSED and outcome.problem is not None:
        forget(who, upload)
        raise FileProblemError(outcome.problem.reason, *outcome.problem.details)
    wake_indexer(service)


def forget(who: Sender, upload: Upload) -> None:
    """Delete an upload with the bytes that have arrived."""
    with current_service().writing() as session:
        session.execute(delete(Upload).where(Upload.id == upload.id))
    who.staging.delete(upload.token)


def find(who: Sender, token: str) -> Upload:
    """Return the upload with this token.

    Raises:
        PartMissingError: the sender has no such upload.
        PhotosvcError: the upload was not continued in time.
    """
    service = current_service()
    with service.reading(orm=True) as session:
        upload = find_upload(session, who.user_id, token) if token.isalnum() else None
        session.expunge_all()
    service.end_reading()
    if upload is None:
        raise PartMissingError
    if upload.expires_at <= service.now():
        raise PhotosvcError("The upload was not continued in time.", status=HTTPStatus.GONE)
    return upload


@resumable.route("/uploads", methods=["OPTIONS"], provide_automatic_options=False)
@resumable.route("/uploads/<token>", methods=["OPTIONS"], endpoint="describe_upload", provide_automatic_options=False)
@with_tus_headers
@public
@answers(None, "Supported versions and extensions, in headers.", 204)
def describe_uploads(token: str = "") -> Response:  # noqa: ARG001 - alike for every upload
    """Show the version of the protocol and its extensions."""
    answer = Response(status=HTTPStatus.NO_CONTENT)
    answer.headers["Tus-Version"] = VERSION
    answer.headers["Tus-Extension"] = _EXTENSIONS
    answer.headers["Tus-Max-Size"] = str(_largest())
    return answer


@resumable.post("/uploads", provide_automatic_options=False)
@with_tus_headers
@require("files.upload")
@takes_headers(
    Tus_Resumable=VERSION, Upload_Length="Bytes of the file.", Upload_Metadata="`filename` and `upload`, in Base64."
)
@answers(
    None,
    "The upload was created.",
    201,
    headers={"Location": Header("string", "The address for its pieces.")},
    refuses=(400, 412, 413, 503, 507),
)
def create_upload() -> Response:
    """Begin a resumable upload (tus 1.0, creation) of `Upload-Length` bytes.

    `Upload-Metadata` may contain the name of the file (`filename`), and the token of an upload of several files
    (`upload`).
    """
    check_version()
    service, who = current_service(), sender()
    if "Upload-Concat" in request.headers:
        raise InvalidValueError("Upload-Concat: files are not put together from several uploads", field="Upload-Concat")
    length, metadata = bytes_in_header("Upload-Length"), upload_metadata()
    if length == 0:
        raise InvalidValueError("Upload-Length: the file is empty", field="Upload-Length")
    name = metadata.get("filename") or metadata.get("name") or "file"
    bundle = metadata.get("upload", "")
    if bundle and not UPLOAD_TOKEN.fullmatch(bundle):
        msg = "upload: the token has 1 to 200 letters, digits, dots, hyphens, tildes and underscores"
        raise InvalidValueError(msg, field="Upload-Metadata")
    now = service.now()
    with who.staging.receive(most_bytes=_largest(), expected_length=length, keep=True) as part:
        upload = Upload(
            token=part.token,
            user_id=who.user_id,
            bundle=bundle,
            name=safe_name(name.replace("\\", "/").rpartition("/")[2]),
            size=length,
            described=request.headers.get("Upload-Metadata", ""),
            created_at=now,
            expires_at=now + LIFETIME,
        )
        with service.writing() as session:
            add_waiting(session, service.settings, [upload])
    answer = Response(status=HTTPStatus.CREATED)
    answer.headers["Location"] = url_for(".continue_upload", token=part.token)
    answer.headers["Upload-Expires"] = http_date(now + LIFETIME)
    return answer


@resumable.route("/uploads/<token>", methods=["HEAD"], provide_automatic_options=False)
@with_tus_headers
@require("files.upload")
@answers(None, "Size of the received part, in headers.", refuses=(404, 410, 412, 422, 423, 429, 503, 507))
def measure_upload(token: str) -> Response:
    """Show in `Upload-Offset` where to continue an upload.

    A complete file whose last piece got no answer, because the server ended, is added now: clients send nothing more
    once all of it has arrived.
    """
    check_version()
    who = sender()
    upload = find(who, token)
    size = upload.size if upload.finished else measured(who, upload)
    answer = Response()
    answer.headers["Upload-Offset"] = str(size)
    answer.headers["Upload-Length"] = str(upload.size)
    answer.headers["Upload-Expires"] = http_date(upload.expires_at)
    if 0 < len(upload.described) <= MOST_METADATA:
        answer.headers["Upload-Metadata"] = upload.described
    return answer


@resumable.patch("/uploads/<token>", provide_automatic_options=False)
@with_tus_headers
@require("files.upload")
@takes_bytes(_PIECE_TYPE)
@takes_headers(Tus_Resumable=VERSION, Upload_Offset="Where the piece begins.")
@answers(
    None,
    "The piece is stored.",
    204,
    headers={"Upload-Offset": Header("integer", "Bytes received so far.")},
    refuses=(400, 404, 409, 410, 412, 413, 415, 422, 423, 429, 503, 507),
)
def continue_upload(token: str) -> Response:
    """Send the next piece of a file, from `Upload-Offset` on. The last one adds the file to the library."""
    check_version()
    service, who = current_service(), sender()
    if request.mimetype != _PIECE_TYPE:
        raise UnsupportedMediaType(f"send pieces as {_PIECE_TYPE}")
    offset = bytes_in_header("Upload-Offset")
    upload = find(who, token)
    expires_at = service.now() + LIFETIME
    if upload.finished:
        if offset != upload.size or request.content_length:
            raise ConflictError("The upload is complete.")
        size = upload.size
    else:
        with receiving():
            with (
                adding_elsewhere(who, token),
                who.staging.resume(token, most_bytes=upload.size, expected_length=upload.size) as part,
            ):
                if part.size != offset:
                    raise ConflictError(f"The next piece begins at {part.size}.", field="Upload-Offset")
                append(part, upload.size)
                size = part.size
                content_hash = part.hash if size == upload.size else ""
            store(upload, content_hash, expires_at)
            if content_hash and not upload.bundle:
                finish(who, upload)
    answer = Response(status=HTTPStatus.NO_CONTENT)
    answer.headers["Upload-Offset"] = str(size)
    answer.headers["Upload-Expires"] = http_date(expires_at)
    return answer


@resumable.delete("/uploads/<token>", provide_automatic_options=False)
@with_tus_headers
@require("files.upload")
@answers(None, "The upload is gone.", 204, refuses=(404, 410, 412))
def end_upload(token: str) -> Response:
    """Cancel an upload (tus 1.0, termination); a file that was added stays."""
    check_version()
    who = sender()
    forget(who, find(who, token))
    return Response(status=HTTPStatus.NO_CONTENT)


def _largest() -> int:
    return current_service().settings.max_file_size * _MIB
