"""/uploads: large files in pieces that can be continued after an interruption, by the protocol tus 1.0.

Served are the core of https://tus.io/protocols/resumable-upload and what `_EXTENSIONS` names. A complete file is added
to the originals at once, or with the other files of `PUT /users/<uid>/upload/<token>` when its metadata name `upload`.
"""

from http import HTTPStatus
from typing import Final

from flask import Blueprint, Response, request, url_for
from werkzeug.exceptions import MethodNotAllowed, UnsupportedMediaType
from werkzeug.http import http_date

from photosvc.api.library.pieces import append, find, finish, forget, measured, store
from photosvc.api.library.uploads import UPLOAD_TOKEN
from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.library.uploads.waiting import LIFETIME, add_waiting
from photosvc.models import Upload
from photosvc.pictures.names import safe_name
from photosvc.web.actions import public
from photosvc.web.contract import Header, answers, refuses, takes_bytes, takes_headers
from photosvc.web.current import current_service
from photosvc.web.protector import require
from photosvc.web.transfers.receiving import receiving, sender
from photosvc.web.transfers.tus import (
    ALGORITHMS,
    MOST_METADATA,
    VERSION,
    check_version,
    upload_checksum,
    upload_metadata,
    whole_number,
    with_tus_headers,
)

_EXTENSIONS: Final = "creation,expiration,checksum,termination"
_PIECE_TYPE: Final = "application/offset+octet-stream"
_MIB: Final = 1 << 20


def add_routes(api: Blueprint) -> None:
    """Add the resumable uploads to the API."""
    for path, view, method in (
        ("/uploads", create_upload, "POST"),
        ("/uploads", describe_uploads, "OPTIONS"),
        ("/uploads/<token>", continue_upload, "PATCH"),
        ("/uploads/<token>", measure_upload, "HEAD"),
        ("/uploads/<token>", end_upload, "DELETE"),
        ("/uploads/<token>", override_method, "POST"),
        ("/uploads/<token>", describe_upload, "OPTIONS"),
    ):
        api.add_url_rule(path, view_func=view, methods=[method], provide_automatic_options=False)


@with_tus_headers
@public
@answers(None, "What is served, in headers.", 204)
def describe_uploads() -> Response:
    """The version of the protocol and its extensions."""
    answer = Response(status=HTTPStatus.NO_CONTENT)
    answer.headers["Tus-Version"] = VERSION
    answer.headers["Tus-Extension"] = _EXTENSIONS
    answer.headers["Tus-Max-Size"] = str(_largest())
    answer.headers["Tus-Checksum-Algorithm"] = ",".join(ALGORITHMS)
    return answer


@with_tus_headers
@public
@answers(None, "What is served, in headers.", 204)
def describe_upload(token: str) -> Response:  # noqa: ARG001 - alike for every upload
    """The version of the protocol and its extensions."""
    return describe_uploads()


@with_tus_headers
@require("files.upload")
@takes_headers(
    Tus_Resumable=VERSION, Upload_Length="Bytes of the file.", Upload_Metadata="`filename` and `upload`, in Base64."
)
@answers(None, "The upload has this address.", 201, headers={"Location": Header("string", "Where to send pieces.")})
@refuses(400, 412, 413, 503, 507)
def create_upload() -> Response:
    """Begin a resumable upload (tus 1.0, creation). `Upload-Length` says how long the file is.

    `Upload-Metadata` may name it (`filename`), and the token of an upload of several files (`upload`).
    """
    check_version()
    service, who = current_service(), sender()
    if "Upload-Concat" in request.headers:
        msg = "Upload-Concat: files are not put together from several uploads"
        raise InvalidValueError(msg, field="Upload-Concat")
    length, metadata = whole_number("Upload-Length"), upload_metadata()
    if length == 0:
        msg = "Upload-Length: an empty file is no picture"
        raise InvalidValueError(msg, field="Upload-Length")
    name = metadata.get("filename") or metadata.get("name") or "file"
    bundle = metadata.get("upload", "")
    if bundle and not UPLOAD_TOKEN.fullmatch(bundle):
        msg = "upload: the token has 1 to 200 letters, digits, dots, dashes, tildes and low lines"
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


@with_tus_headers
@require("files.upload")
@answers(None, "How much has arrived, in headers.")
@refuses(404, 410, 412, 422, 423, 429, 503, 507)
def measure_upload(token: str) -> Response:
    """Where to continue an upload: `Upload-Offset`.

    A file whose last piece got no answer, because the server ended, is added now: clients that learn that all
    of it has arrived send nothing more.
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


@with_tus_headers
@require("files.upload")
@takes_bytes(_PIECE_TYPE)
@takes_headers(
    Tus_Resumable=VERSION, Upload_Offset="Where the piece begins.", Upload_Checksum="`sha1` or `sha256`, and Base64."
)
@answers(
    None, "The piece is stored.", 204, headers={"Upload-Offset": Header("integer", "How much of the file has arrived.")}
)
@refuses(400, 404, 409, 410, 412, 413, 415, 422, 423, 429, 460, 503, 507)
def continue_upload(token: str) -> Response:
    """Send the next piece of a file, from `Upload-Offset` on. The last one adds the file to the library."""
    check_version()
    service, who = current_service(), sender()
    if request.mimetype != _PIECE_TYPE:
        msg = f"send pieces as {_PIECE_TYPE}"
        raise UnsupportedMediaType(msg)
    offset, checksum = whole_number("Upload-Offset"), upload_checksum()
    upload = find(who, token)
    expires_at = service.now() + LIFETIME
    if upload.finished:
        if offset != upload.size or request.content_length:
            msg = "The upload is complete."
            raise ConflictError(msg)
        size = upload.size
    else:
        with receiving():
            with who.staging.resume(token, most_bytes=upload.size, expected_length=upload.size) as part:
                if part.size != offset:
                    msg = f"The next piece begins at {part.size}."
                    raise ConflictError(msg, field="Upload-Offset")
                append(part, upload.size, checksum)
                size = part.size
                sha1 = part.sha1 if size == upload.size else ""
            store(upload, sha1, expires_at)
            if sha1 and not upload.bundle:
                finish(who, upload)
    answer = Response(status=HTTPStatus.NO_CONTENT)
    answer.headers["Upload-Offset"] = str(size)
    answer.headers["Upload-Expires"] = http_date(expires_at)
    return answer


@with_tus_headers
@require("files.upload")
@answers(None, "The upload is gone.", 204)
@refuses(404, 410, 412)
def end_upload(token: str) -> Response:
    """Give up an upload (tus 1.0, termination); a file that was added stays."""
    check_version()
    who = sender()
    forget(who, find(who, token))
    return Response(status=HTTPStatus.NO_CONTENT)


@with_tus_headers
@require("files.upload")
@answers(None, "As the method in `X-HTTP-Method-Override`.")
@refuses(400, 404, 405, 409, 410, 412, 413, 415, 422, 423, 429, 460, 503, 507)
def override_method(token: str) -> Response:
    """For clients that can only send POST: PATCH or DELETE, by the header `X-HTTP-Method-Override`."""
    views = {"PATCH": continue_upload, "DELETE": end_upload}
    view = views.get(request.headers.get("X-HTTP-Method-Override", "").upper())
    if view is None:
        check_version()
        raise MethodNotAllowed(["OPTIONS", "HEAD", "PATCH", "DELETE"])
    return view(token=token)


def _largest() -> int:
    return current_service().settings.max_file_size * _MIB
