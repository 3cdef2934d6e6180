"""Forms with files, read piece by piece: memory stays flat for bodies of any size (RFC 7578)."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import IO, Final

from flask import request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Epilogue, Event, MultipartDecoder, NeedData

from photosvc.core.errors import PhotosvcError
from photosvc.web.requests.json_body import InvalidBodyError

#: Bytes read at once, and the most that are kept: a part whose headers are longer is refused.
_PIECE: Final = 64 << 10
_MOST_KEPT: Final = _PIECE + (16 << 10)
#: Parts that are no files.
_MOST_FIELDS: Final = 100
#: The longest boundary (RFC 2046 section 5.1.1).
_LONGEST_BOUNDARY: Final = 70


class CutBodyError(PhotosvcError):
    """The request ended, or stopped for too long, before all of its body came."""

    status = HTTPStatus.BAD_REQUEST


def form_events(*, max_files: int, max_bytes: int) -> Iterator[Event]:
    """The beginnings of fields and files of the request's form, each followed by its data.

    Args:
        max_files: files that the form may have.
        max_bytes: its whole length.

    Raises:
        InvalidBodyError: the body is no such form.
        RequestEntityTooLarge: it has too many parts, too long headers, or is too long.
        CutBodyError: the client went away.

    """
    boundary = request.mimetype_params.get("boundary", "").encode("ascii", "replace")
    if request.mimetype != "multipart/form-data" or not 0 < len(boundary) <= _LONGEST_BOUNDARY:
        msg = "send a form with files, as multipart/form-data"
        raise InvalidBodyError(msg)
    decoder = MultipartDecoder(boundary, max_form_memory_size=_MOST_KEPT, max_parts=max_files + _MOST_FIELDS)
    request.max_content_length = max_bytes
    stream = request.stream
    while True:
        piece = read_piece(stream)
        try:
            decoder.receive_data(piece or None)
            yield from _events(decoder)
        except (ValueError, AttributeError):  # what the decoder raises for parts and headers that are not valid
            msg = "the body is not a valid form"
            raise InvalidBodyError(msg) from None
        if not piece:
            return


def _events(decoder: MultipartDecoder) -> Iterator[Event]:
    while not isinstance(event := decoder.next_event(), NeedData):
        yield event
        if isinstance(event, Epilogue):
            return


def read_piece(stream: IO[bytes]) -> bytes:
    """The next bytes of a request's body; none at its end.

    Raises:
        CutBodyError: the client went away or stopped sending.
        RequestEntityTooLarge: the body is longer than allowed.

    """
    try:
        return stream.read(_PIECE)
    except RequestEntityTooLarge:
        raise
    except (OSError, ValueError):
        raise CutBodyError from None
