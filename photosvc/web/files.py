"""Large answers and files: their places, byte ranges and preconditions (RFC 9110 sections 13 and 14).

A large answer occupies a thread until its client has received it, so only some are sent at the same time, of all
clients and of each. A file is sent whole, in ranges, or by the web server in front. Werkzeug's own range answers are
not used: it answers 416 where a range must be ignored, and 206 where 304 takes precedence.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from io import FileIO
from typing import Any, Final
from urllib.parse import quote
from weakref import finalize

from flask import Response, request
from werkzeug.datastructures import Headers
from werkzeug.http import http_date, parse_date, parse_etags, unquote_etag
from werkzeug.wsgi import wrap_file

from photosvc.core.files import disk_name
from photosvc.index.mounts import are_away
from photosvc.library.storage_errors import StorageFailedError
from photosvc.pictures.originals import OriginalChangedError
from photosvc.web.admission_gate import Cost
from photosvc.web.protector import principal
from photosvc.web.responses import ReadyResponse
from photosvc.web.service import Service, current_service

_SPEC: Final = re.compile(r"(\d{0,19})-(\d{0,19})", re.ASCII)
#: Size in bytes up to which an answer takes no place of large answers.
SMALL: Final = 1 << 20
_CHUNK: Final = 64 << 10
#: Headers of files that never change, and of files that clients must revalidate each time.
CACHED: Final = ("Cache-Control", "private, max-age=31536000, immutable")
CHECKED: Final = ("Cache-Control", "private, no-cache")
#: The header of originals: pages and pictures with scripts run none of them.
SANDBOX: Final = ("Content-Security-Policy", "default-src 'none'; sandbox")
#: Longest path in a header, percent-encoded.
_LONGEST_PATH: Final = 2000
HeaderList = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `start` up to, but not including, `stop`."""

    start: int
    stop: int

    @property
    def length(self) -> int:
        """Return the number of bytes."""
        return self.stop - self.start

    def content_range(self, size: int) -> str:
        """Return the value of `Content-Range` (section 14.4)."""
        return f"bytes {self.start}-{self.stop - 1}/{size}"


class RangeNotSatisfiableError(Exception):
    """The requested range does not overlap the file (section 15.5.17)."""


def parse_range(header: str, size: int) -> ByteRange | None:
    """Return the range of a `Range` header; None if it must or may be ignored.

    Other units, malformed headers and several ranges are ignored (section 14.2).

    Raises:
        RangeNotSatisfiableError: the range does not overlap the file.
    """
    unit, equals, spec = header.partition("=")
    match = _SPEC.fullmatch(spec.strip(" \t")) if equals and unit.strip().lower() == "bytes" else None
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if first and last and int(last) < int(first):
        return None
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
    if start >= stop:
        raise RangeNotSatisfiableError
    return ByteRange(start, stop)


def check_preconditions(headers: Headers, etag: str, modified: datetime | None) -> HTTPStatus | None:
    """Return 304 or 412 if a precondition of a GET or HEAD decides the answer; None if the file is to be sent.

    The entity tag is strong and without quotes, the time of the file's last change in whole seconds.
    """
    if match := headers.get("If-Match"):
        if not parse_etags(match).contains(etag):
            return HTTPStatus.PRECONDITION_FAILED
    elif modified and (since := parse_date(headers.get("If-Unmodified-Since"))) and modified > since:
        return HTTPStatus.PRECONDITION_FAILED
    if none_match := headers.get("If-None-Match"):
        return HTTPStatus.NOT_MODIFIED if parse_etags(none_match).contains_weak(etag) else None
    if modified and (since := parse_date(headers.get("If-Modified-Since"))) and modified <= since:
        return HTTPStatus.NOT_MODIFIED
    return None


def range_applies(headers: Headers, etag: str, modified: datetime | None) -> bool:
    """Return whether `If-Range` allows a range answer: its tag is strong and equal, or its date is exact (13.1.5)."""
    condition = headers.get("If-Range", "").strip()
    if not condition:
        return True
    if condition.startswith(('"', "W/")):
        tag, weak = unquote_etag(condition)
        return tag == etag and not weak
    return modified is not None and parse_date(condition) == modified


class TransferredFile(FileIO):
    """An open file whose place is freed when it is closed."""

    def __init__(self, descriptor: int, patience: float) -> None:
        """Take over the descriptor, which is closed with this file, and take a place as `begin_transfer` does."""
        self._free: finalize[[], Any] | None = None
        super().__init__(descriptor)
        try:
            self._free = begin_transfer(self, patience)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file and free its place."""
        super().close()
        if self._free is not None:
            self._free()


def begin_transfer(answer: Any, patience: float = 0) -> "finalize[[], Any]":  # noqa: ANN401
    """Take a place for a large answer, waiting for it at most `patience` seconds; return the function that frees it.

    It also runs when the answer is dropped unread.

    Raises:
        NotAdmittedError: there is no place.
    """
    free = current_service().gate.take(Cost.TRANSFER, principal().owner_uid, patience=patience)
    return finalize(answer, free)


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """A file to send, with the values of its headers; the answer closes it."""

    file: FileIO
    size: int
    """In bytes."""
    content_type: str
    etag: str
    """Strong, without quotes."""
    internal: str
    """`originals/` or `cache/`, followed by the name in that folder as the library writes it.

    Empty for a part of a file, which this service has to send itself.
    """
    modified_ns: int | None = None
    headers: Sequence[tuple[str, str]] = field(default_factory=tuple)
    start: int = 0
    """Position in the file of the first byte to send."""
    patience: float = 0
    """Seconds to wait for a place, if the file is large."""

    @property
    def is_whole_on_disk(self) -> bool:
        """Return whether a server may send the file by its descriptor or name."""
        return bool(self.internal)


def send_file(answer: FileAnswer, *, ranges: bool = True) -> Response:
    """Return the answer to a GET or HEAD for the file (RFC 9110 sections 13 to 15).

    Args:
        ranges: False ignores requests for parts of it.
    """
    modified = None
    headers: HeaderList = [("ETag", f'"{answer.etag}"'), *answer.headers]
    if answer.modified_ns is not None:
        modified = datetime.fromtimestamp(answer.modified_ns // 10**9, UTC)
        headers.append(("Last-Modified", http_date(modified)))
    if ranges:
        headers.append(("Accept-Ranges", "bytes"))
    status = check_preconditions(request.headers, answer.etag, modified)
    if status is not None:
        answer.file.close()
        return ReadyResponse(status=status, headers=headers)
    try:
        part = _part(answer, modified) if ranges else None
    except RangeNotSatisfiableError:
        answer.file.close()
        headers += [("Content-Range", f"bytes */{answer.size}"), ("Content-Length", "0")]
        return ReadyResponse(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=headers)
    # nginx would compare `If-Match` with its own tag and refuse ranges that must be ignored.
    if "If-Match" not in request.headers and (part is not None) == ("Range" in request.headers):
        sent = _sent_by_server(answer, headers)
        if sent is not None:
            return sent
    return _whole(answer, headers) if part is None else _one_part(answer, part, headers)


def send_bytes(data: bytes, content_type: str, etag: str, headers: HeaderList) -> Response:
    """Return the answer for bytes in memory, as `send_file` does for a file."""
    headers = [("ETag", f'"{etag}"'), *headers]
    if (status := check_preconditions(request.headers, etag, None)) is not None:
        return ReadyResponse(status=status, headers=headers)
    headers += [("Content-Type", content_type), ("Content-Length", str(len(data)))]
    return ReadyResponse(data, headers=headers)


@contextmanager
def while_there(service: Service, name: str) -> Iterator[None]:
    """Raise `StorageFailedError` for a missing original inside the block if its whole disk is missing."""
    try:
        yield
    except OriginalChangedError:
        with service.reading(orm=True) as session:
            away = are_away(session, service.settings.originals, name)
        service.close()
        if away:
            raise StorageFailedError from None
        raise


def disposition(name: str) -> tuple[str, str]:
    """Return the header that names a file to be saved (RFC 6266): safe ASCII, and all of Unicode where that differs."""
    plain = re.sub(r"[^ !#$&-:<>@-\[\]-~]", "_", name)
    value = f'attachment; filename="{plain}"'
    if plain != name:
        value += f"; filename*=UTF-8''{quote(name, safe='')}"
    return "Content-Disposition", value


def _part(answer: FileAnswer, modified: datetime | None) -> ByteRange | None:
    header = request.headers.get("Range")
    if not header or request.method != "GET" or not range_applies(request.headers, answer.etag, modified):
        return None
    return parse_range(header, answer.size)


def _sent_by_server(answer: FileAnswer, headers: HeaderList) -> Response | None:
    """Return an empty answer that makes nginx or Apache send the file; None if the settings name no such server.

    Also None for long paths: nginx reads at most 4 KiB of headers by default.
    """
    settings = current_service().settings
    if not (settings.sendfile_header and answer.is_whole_on_disk):
        return None
    root, _, name = disk_name(answer.internal).partition("/")
    path = f"{settings.sendfile_prefix}/{root}/{name}"
    if settings.sendfile_header == "X-Sendfile":
        path = os.fspath((settings.originals if root == "originals" else settings.cache) / name)
    # Bytes that are not UTF-8, or that no header may contain, are percent-encoded; nginx and Apache decode them.
    encoded = quote(os.fsencode(path))
    if len(encoded) > _LONGEST_PATH:
        return None
    answer.file.close()
    # The server says itself that it sends parts.
    kept = [header for header in headers if header[0] != "Accept-Ranges"]
    return ReadyResponse(headers=[*kept, (settings.sendfile_header, encoded), ("Content-Type", answer.content_type)])


def _whole(answer: FileAnswer, headers: HeaderList) -> Response:
    headers += [("Content-Type", answer.content_type), ("Content-Length", str(answer.size))]
    if request.method == "HEAD":
        answer.file.close()
        return ReadyResponse(headers=headers)
    if not answer.is_whole_on_disk:
        return _streamed(answer, headers, _read(answer, ByteRange(0, answer.size)), answer.size, HTTPStatus.OK)
    file = answer.file
    if answer.size > SMALL:
        with answer.file:
            file = TransferredFile(os.dup(answer.file.fileno()), answer.patience)
    body = wrap_file(request.environ, file, _CHUNK)  # the server closes it, and so the file
    return ReadyResponse(body, headers=headers, direct_passthrough=True)


def _one_part(answer: FileAnswer, part: ByteRange, headers: HeaderList) -> Response:
    headers += [
        ("Content-Type", answer.content_type),
        ("Content-Range", part.content_range(answer.size)),
        ("Content-Length", str(part.length)),
    ]
    return _streamed(answer, headers, _read(answer, part), part.length)


def _streamed(
    answer: FileAnswer,
    headers: HeaderList,
    body: Iterator[bytes],
    size: int,
    status: HTTPStatus = HTTPStatus.PARTIAL_CONTENT,
) -> Response:
    # Direct pass-through is off: Werkzeug would not call the functions for the end of the answer.
    response = ReadyResponse(body, status, headers=headers)
    response.call_on_close(answer.file.close)
    if size > SMALL:
        try:
            response.call_on_close(begin_transfer(response, answer.patience))
        except BaseException:
            response.close()
            raise
    return response


def _read(answer: FileAnswer, part: ByteRange) -> Iterator[bytes]:
    position = part.start
    while position < part.stop:
        chunk = os.pread(answer.file.fileno(), min(_CHUNK, part.stop - position), answer.start + position)
        if not chunk:  # the file was cut meanwhile: the connection ends before the promised length
            return
        position += len(chunk)
        yield chunk
