"""Headers of tus 1.0, the protocol of resumable uploads (https://tus.io/protocols/resumable-upload)."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Final, ParamSpec

from flask import Response, after_this_request, request

from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.core.text import parse_digits

Args = ParamSpec("Args")
VERSION: Final = "1.0.0"
MOST_METADATA: Final = 2048


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


def bytes_in_header(header: str) -> int:
    """Return the number of bytes in a header of the request, or raise `InvalidValueError` if it has none."""
    number = parse_digits(request.headers.get(header, ""))
    if number is None:
        raise InvalidValueError(f"{header}: send a whole number of bytes", field=header)
    return number


def upload_metadata() -> dict[str, str]:
    """Return the keys and values of the header Upload-Metadata; values that are not text are left out.

    Raises:
        InvalidValueError: the header cannot be read, or is too long to be repeated in an answer.
    """
    header = request.headers.get("Upload-Metadata", "")
    pairs: dict[str, str] = {}
    if len(header) > MOST_METADATA:
        raise InvalidValueError(f"Upload-Metadata: send at most {MOST_METADATA:,} characters", field="Upload-Metadata")
    try:
        for pair in filter(None, (pair.strip() for pair in header.split(","))):
            key, _, value = pair.partition(" ")
            pairs[key] = b64decode(value, validate=True).decode("utf-8", "replace")
    except (Base64Error, ValueError):
        msg = "Upload-Metadata: send pairs of a key and a value in Base64"
        raise InvalidValueError(msg, field="Upload-Metadata") from None
    return pairs
