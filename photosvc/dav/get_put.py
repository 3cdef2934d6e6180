"""GET, HEAD and PUT: files are sent as downloads are, and received as uploads are, in the staging folder."""

import base64
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from http import HTTPStatus
from typing import Final

from flask import Response

from photosvc.core.files import clamped_time
from photosvc.core.text import parse_digits
from photosvc.dav.delete import keep_replaced
from photosvc.dav.errors import DAVError
from photosvc.dav.request import PATIENCE, DavRequest
from photosvc.dav.tree import Environ, Resource, content_type_of, etag_of, is_folder
from photosvc.library import originals
from photosvc.library.originals import checked_name
from photosvc.library.staging import Part, Staging
from photosvc.library.storage_errors import IncompleteError, NameTakenError
from photosvc.library.upload_queue import QuotaExceededError, bytes_left
from photosvc.web.files import SANDBOX, FileAnswer, send_file
from photosvc.web.responses import cache_headers
from photosvc.web.uploads import receiving

_PIECE: Final = 256 << 10
#: Size in bytes of a body up to which its request takes no slot of those that receive files.
_SMALL: Final = 64 << 10
#: The most bytes of a file, a limit of common file systems; also files too large for the indexer are stored.
_MOST: Final = 1 << 44
_HASHES: Final = {"MD5": "md5", "SHA1": "sha1", "SHA256": "sha256"}


def get(request: DavRequest) -> Response:
    """Send a file, whole or in ranges; for a folder, an empty body, because some clients test it with GET.

    Raises:
        DAVError: there is no such resource, or the header `If` does not hold.
        PhotosvcError: too many large files are being sent.
    """
    resource = request.existing()
    request.check_if()
    if resource.is_folder:
        return Response(content_type="text/html; charset=utf-8")
    request.service.close()  # sending a large file takes long and needs no database
    file = resource.get_content()
    status = os.fstat(file.fileno())
    answer = FileAnswer(
        file=file,
        size=status.st_size,
        content_type=content_type_of(resource.name),
        etag=etag_of(status),
        internal=f"originals{request.path}",
        modified_ns=clamped_time(status),
        headers=[*cache_headers(None), SANDBOX],
        patience=PATIENCE,
    )
    return send_file(answer)


def put(request: DavRequest) -> Response:
    """Store the body as a file.

    Raises:
        DAVError: the request is not valid, or a condition or lock forbids it.
        PhotosvcError: the file cannot be stored.
    """
    environ, name = request.environ, request.name
    if request.path.endswith("/"):
        raise DAVError(HTTPStatus.METHOD_NOT_ALLOWED, "a folder has no content")
    if "HTTP_CONTENT_RANGE" in environ:
        raise DAVError(HTTPStatus.BAD_REQUEST, "PUT replaces the whole file; a range cannot be stored")
    if environ.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise DAVError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the file without a content encoding")
    checked_name(name)
    modified_at = _modified_at(environ)
    _check_target(request)
    length, staging = _expected_length(environ), Staging(request.tree.root)
    most = _most_bytes(request, length)
    request.service.close()  # receiving a large file takes long and needs no database
    with ExitStack() as slot, staging.receive(most_bytes=_MOST, expected_length=length) as part:
        if length is None or length > _SMALL:
            slot.enter_context(receiving(PATIENCE))
        for piece in _pieces(environ):
            part.write(piece)
            if part.size > most:
                raise QuotaExceededError
        slot.close()
        _check_sum(environ, part)
        part.flush()
        replaced, etag = _place(request, part, modified_at)
    headers = {"ETag": f'"{etag}"'}
    if modified_at is not None:
        headers["X-OC-Mtime"] = "accepted"
    return Response(status=201 if replaced is None else 204, headers=headers)


def _place(request: DavRequest, part: Part, modified_at: int | None) -> tuple[Resource | None, str]:
    """Give a received file its name on disk; return the file that it replaced, if any, and the new entity tag."""
    name = request.name
    with originals.undo_on_error() as undo, request.writing(library=True):
        replaced = _check_target(request)
        try:
            status = place(request, part, replaced, name, modified_at, undo)
        except NameTakenError:
            replaces = request.environ.get("HTTP_IF_NONE_MATCH", "").strip() != "*"
            raise DAVError(HTTPStatus.METHOD_NOT_ALLOWED if replaces else HTTPStatus.PRECONDITION_FAILED) from None
        request.relocation().changed(name)
    return replaced, etag_of(status)


def place(
    request: DavRequest, part: Part, replaced: Resource | None, name: str, modified_at: float | None, undo: ExitStack
) -> os.stat_result:
    """Give a received file its name in the open write transaction, and return its status there.

    Raises:
        NameTakenError: the name is that of a link, a device or a folder, or of a file that was not there a moment ago.
        PhotosvcError: the disk refuses it, or the account may not store so much.
    """
    if replaced is not None:
        keep_replaced(request, name, replaced, undo)
    request.count_in_quota((name, part.hash, part.size))
    is_over = replaced is not None
    return part.place(name, replace=is_over, modified_at=modified_at, make_folders=False, undo=undo)


def _check_target(request: DavRequest) -> Resource | None:
    """Check the request, before and after its body is received; return the file to replace, if any.

    Raises:
        DAVError: a condition, a lock or the folder forbids storing the file.
    """
    file = request.find(request.path)
    if is_folder(file):
        raise DAVError(HTTPStatus.METHOD_NOT_ALLOWED, "there is a folder of this name")
    if not is_folder(request.find(request.parent_of(request.path))):
        raise DAVError(HTTPStatus.CONFLICT, "the folder of the file does not exist")
    request.check_conditions(file)
    request.check_unlocked(request.path, changes_folder=file is None)
    return file


def _most_bytes(request: DavRequest, length: int | None) -> int:
    """Return the number of bytes that the account may still store.

    Raises:
        QuotaExceededError: the announced length is larger.
    """
    with request.service.reading(orm=True) as session:
        left = bytes_left(session, request.service.settings, request.user_id)
    if left is not None and (length or 0) > left:
        raise QuotaExceededError
    return _MOST if left is None else left


def _expected_length(environ: Environ) -> int | None:
    """Return the announced length in bytes; macOS Finder sends files in chunks, and their length in its own header."""
    headers = {environ.get("CONTENT_LENGTH") or "", environ.get("HTTP_X_EXPECTED_ENTITY_LENGTH", "").strip()} - {""}
    lengths = {parse_digits(header) for header in headers}
    if None in lengths:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the length is not a number")
    if len(lengths) > 1:
        raise IncompleteError
    return lengths.pop() if lengths else None


def _modified_at(environ: Environ) -> int | None:
    """Return the modification time in the header `X-OC-Mtime`, in seconds since 1970."""
    header = environ.get("HTTP_X_OC_MTIME", "").strip()
    if not header:
        return None
    seconds = parse_digits(header)
    if seconds is None:
        raise DAVError(HTTPStatus.BAD_REQUEST, "X-OC-Mtime is not a number of seconds")
    return seconds


def _pieces(environ: Environ) -> Iterator[bytes]:
    length = environ.get("CONTENT_LENGTH")
    left = int(length) if length else _MOST
    if not length and not environ.get("wsgi.input_terminated"):
        return  # without a length and an end, there is no body
    while left:
        try:
            piece = environ["wsgi.input"].read(min(_PIECE, left))
        except OSError:  # gunicorn: the client went away, or its chunks are wrong
            raise IncompleteError from None
        if not piece:
            return
        left -= len(piece)
        yield piece


def _check_sum(environ: Environ, part: Part) -> None:
    """Compare the content with the header `OC-Checksum`, such as `SHA1:0123…`; unknown algorithms are ignored."""
    kind, _, expected = environ.get("HTTP_OC_CHECKSUM", "").strip().partition(":")
    kind = kind.upper().replace("-", "")
    if not expected or kind not in _HASHES:
        return
    if kind == "SHA1":
        digest = part.hash
    else:
        with part.path.open("rb") as file:
            digest = hashlib.file_digest(file, _HASHES[kind]).hexdigest()
    if expected.strip().lower() not in {digest, base64.b64encode(bytes.fromhex(digest)).decode().lower()}:
        raise DAVError(HTTPStatus.BAD_REQUEST, "the content does not have the checksum of OC-Checksum")
