"""Forms with files, read piece by piece, so that memory stays flat for bodies of any size (RFC 7578)."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import IO, Final

from flask import request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Epilogue, Event, MultipartDecoder, NeedData

from photosvc.core.errors import PhotosvcError
from photosvc.web.contract import InvalidBodyError

#: Bytes read at once, and the most bytes in memory: a part with longer headers is refused.
_PIECE: Final = 64 << 10
_MOST_KEPT: Final = _PIECE + (16 << 10)
#: Most parts that are not files.
_MOST_FIELDS: Final = 100
#: The longest boundary (RFC 2046 section 5.1.1).
_LONGEST_BOUNDARY: Final = 70


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
