"""Reception of files: forms, read piece by piece, and tus 1.0, the protocol of resumable uploads.

Each request that sends files occupies a thread until its last byte, so only some are read at the same time. Forms are
read in pieces, so that memory stays flat for bodies of any size (RFC 7578). The headers of tus are those of
https://tus.io/protocols/resumable-upload.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from http import HTTPStatus
from typing import IO, Final, NamedTuple, ParamSpec

from flask import Response, after_this_request, request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Epilogue, Event, MultipartDecoder, NeedData

from photosvc.core.errors import InvalidValueError, PermissionDeniedError, PhotosvcError
from photosvc.library.content import check_disk
from photosvc.library.staging import Staging
from photosvc.library.storage_errors import ReadOnlyError
from photosvc.models import VISIT
from photosvc.web.admission_gate import Cost
from photosvc.web.contract import InvalidBodyError
from photosvc.web.protector import principal
from photosvc.web.service import current_service

#: Bytes read at once, and the most that are kept: a part with longer headers is refused.
_PIECE: Final = 64 << 10
_MOST_KEPT: Final = _PIECE + (16 << 10)
#: Most parts that are not files.
_MOST_FIELDS: Final = 100
#: The longest boundary (RFC 2046 section 5.1.1).
_LONGEST_BOUNDARY: Final = 70
Args = ParamSpec("Args")
VERSION: Final = "1.0.0"
MOST_METADATA: Final = 2048


def form_events(*, max_files: int, max_bytes: int) -> Iterator[Event]:
    """Yield the beginnings of fields and files of the request's form, each followed by its data.

    Raises:
        InvalidBodyError: the body is not a form with files.
        RequestEntityTooLarge: the form has too many parts, too long headers, or is too long.
        PhotosvcError: the client disconnected or stopped sending.
    """
    boundary = request.mimetype_params.get("boundary", "").encode("ascii", "replace")
    if request.mimetype != "multipart/form-data" or not 0 < len(boundary) <= _LONGEST_BOUNDARY:
        raise InvalidBodyError("send a form with files, as multipart/form-data")
    decoder = MultipartDecoder(boundary, max_form_memory_size=_MOST_KEPT, max_parts=max_files + _MOST_FIELDS)
    request.max_content_length = max_bytes
    stream = request.stream
    while True:
        piece = read_piece(stream)
        try:
            decoder.receive_data(piece or None)
            yield from _events(decoder)
        except (ValueError, AttributeError):  # raised by the decoder for parts and headers that are not valid
            raise InvalidBodyError("the body is not a valid form") from None
        if not piece:
            return


def _events(decoder: MultipartDecoder) -> Iterator[Event]:
    while not isinstance(event := decoder.next_event(), NeedData):
        yield event
        if isinstance(event, Epilogue):
            return


def read_piece(stream: IO[bytes]) -> bytes:
    """Return the next bytes of a request's body; empty at its end.

    Raises:
        PhotosvcError: the client disconnected or stopped sending.
        RequestEntityTooLarge: the body is longer than allowed.
    """
    try:
        return stream.read(_PIECE)
    except RequestEntityTooLarge:
        raise
    except (OSError, ValueError):
        msg = "The request ended, or stopped for too long, before all of its body came."
        raise PhotosvcError(msg, status=HTTPStatus.BAD_REQUEST) from None


class Sender(NamedTuple):
    """An account that sends files, or in whose quota a visitor of its link does."""

    user_id: int
    staging: Staging
    link_uid: str = ""
    """The UID of the link of a visitor; empty for accounts."""


def sender() -> Sender:
    """Return the account that sends files in this request.

    Raises:
        ReadOnlyError: the service accepts no files.
        PermissionDeniedError: the credential belongs to no account, or to a link that takes no files.
        StorageFailedError: the disk of the originals is missing.
    """
    service = current_service()
    settings = service.settings
    if settings.readonly:
        raise ReadOnlyError
    who = principal()
    link = who.shared if who.kind == VISIT else None
    user_id = who.user_id if link is None else link.uploads_for
    if user_id is None:
        raise PermissionDeniedError
    with service.reading(orm=True) as session:
        check_disk(session, settings)
    return Sender(user_id, Staging(settings.originals), "" if link is None else link.link_uid)


def receiving(patience: float = 0) -> AbstractContextManager[None]:
    """Hold a place for requests that send files, for which this one waits at most `patience` seconds.

    Raises:
        NotAdmittedError: there is no place.
    """
    return current_service().gate.holding(Cost.RECEIVE, principal().owner_uid, patience=patience)


def with_tus_headers(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Add the headers of tus to every answer of the view, including errors."""

    @wraps(view)
    def wrapped(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        @after_this_request
        def add(answer: Response) -> Response:
            answer.headers["Tus-Resumable"] = VERSION
            if answer.status_code == HTTPStatus.PRECONDITION_FAILED:
                answer.headers["Tus-Version"] = VERSION
            return answer

        return view(*args, **kwargs)

    return wrapped


def check_version() -> None:
    """Raise `PhotosvcError` with status 412 unless the client uses this version of the protocol."""
    if request.headers.get("Tus-Resumable") != VERSION:
        raise PhotosvcError("Send the header Tus-Resumable: 1.0.0.", status=HTTPStatus.PRECONDITION_FAILED)


def whole_number(header: str) -> int:
    """Return the number of bytes in a header of the request, or raise `InvalidValueError` if it has none."""
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InvalidValueError(f"{header}: send a whole number of bytes", field=header)
    return int(text)


def upload_metadata() -> dict[str, str]:
    """Return the keys and values of the header Upload-Metadata; values that are not text are left out.

    Raises:
        InvalidValueError: the header cannot be read, or is too long to be repeated in an answer.
    """
    header = request.headers.get("Upload-Metadata", "")
    found: dict[str, str] = {}
    if len(header) > MOST_METADATA:
        raise InvalidValueError(f"Upload-Metadata: send at most {MOST_METADATA:,} characters", field="Upload-Metadata")
    try:
        for pair in filter(None, (pair.strip() for pair in header.split(","))):
            key, _, value = pair.partition(" ")
            found[key] = b64decode(value, validate=True).decode("utf-8", "replace")
    except (Base64Error, ValueError):
        msg = "Upload-Metadata: send pairs of a key and a value in Base64"
        raise InvalidValueError(msg, field="Upload-Metadata") from None
    return found
