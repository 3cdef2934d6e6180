"""Headers of tus 1.0, the protocol of resumable uploads: https://tus.io/protocols/resumable-upload."""

import hashlib
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, ParamSpec

from flask import Response, after_this_request, request

from photosvc.core.errors import InvalidValueError, PhotosvcError

if TYPE_CHECKING:
    from hashlib import _Hash

Args = ParamSpec("Args")

VERSION: Final = "1.0.0"
#: Of checksums of pieces.
ALGORITHMS: Final = ("sha1", "sha256")
MOST_METADATA: Final = 2048


class VersionError(PhotosvcError):
    """Send the header Tus-Resumable: 1.0.0."""

    status = HTTPStatus.PRECONDITION_FAILED


class ChecksumError(PhotosvcError):
    """The checksum is not that of the piece, which was dropped."""

    status = 460  # type: ignore[assignment]  # of tus, not of HTTP


def with_tus_headers(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Add the headers of every answer, also of errors."""

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
    """Make sure that the client speaks this version of the protocol.

    Raises:
        VersionError: it does not.

    """
    if request.headers.get("Tus-Resumable") != VERSION:
        raise VersionError


def whole_number(header: str) -> int:
    """The bytes that a header of the request says.

    Raises:
        InvalidValueError: it is absent or no whole number.

    """
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        msg = f"{header}: send a whole number of bytes"
        raise InvalidValueError(msg, field=header)
    return int(text)


def upload_metadata() -> dict[str, str]:
    """Key -> value of the header Upload-Metadata; values that are no text are left out.

    Raises:
        InvalidValueError: it cannot be read, or is longer than what an answer repeats.

    """
    header = request.headers.get("Upload-Metadata", "")
    found: dict[str, str] = {}
    if len(header) > MOST_METADATA:
        msg = f"Upload-Metadata: send at most {MOST_METADATA:,} characters"
        raise InvalidValueError(msg, field="Upload-Metadata")
    try:
        for pair in filter(None, (pair.strip() for pair in header.split(","))):
            key, _, value = pair.partition(" ")
            found[key] = b64decode(value, validate=True).decode("utf-8", "replace")
    except (Base64Error, ValueError):
        msg = "Upload-Metadata: send pairs of a key and a value in Base64"
        raise InvalidValueError(msg, field="Upload-Metadata") from None
    return found


def upload_checksum() -> "tuple[_Hash, bytes] | None":
    """A new hash and the digest that the piece must have, by the header Upload-Checksum."""
    header = request.headers.get("Upload-Checksum")
    if header is None:
        return None
    algorithm, _, value = header.partition(" ")
    try:
        digest = b64decode(value, validate=True) if algorithm in ALGORITHMS else b""
    except (Base64Error, ValueError):
        digest = b""
    if not digest:
        msg = f"Upload-Checksum: send {' or '.join(ALGORITHMS)} and the digest in Base64"
        raise InvalidValueError(msg, field="Upload-Checksum")
    return hashlib.new(algorithm, usedforsecurity=False), digest
