"""Answers whose body is a file: whole, in ranges, or sent by the web server in front."""

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from io import FileIO
from typing import Final
from urllib.parse import quote

from flask import Response, request
from werkzeug.http import http_date
from werkzeug.wsgi import wrap_file

from photosvc.core.paths import disk_name
from photosvc.pictures.originals import Original
from photosvc.search.reading.lookup import SeenFile
from photosvc.settings import Settings
from photosvc.web.answers.answer import ReadyResponse
from photosvc.web.current import current_service
from photosvc.web.transfers.ranges import (
    Range,
    RangeNotSatisfiableError,
    check_preconditions,
    parse_ranges,
    range_applies,
)
from photosvc.web.transfers.sending import SMALL, TransferredFile, begin_transfer

_CHUNK: Final = 64 << 10
#: Characters of a path in a header, percent-encoded.
_LONGEST_PATH: Final = 2000
Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """What is known of a file that is to be sent; the answer closes it."""

    file: FileIO
    size: int
    """Bytes."""
    content_type: str
    etag: str
    """Strong, without quotes."""
    internal: str
    """`originals/` or `cache/` and its name, as the library writes it, in that folder.

    Empty for a part of a file, which this service has to send.
    """
    modified_ns: int | None = None
    headers: Sequence[tuple[str, str]] = field(default_factory=tuple)
    start: int = 0
    """Where what is to be sent begins in the file."""


def send_file(found: FileAnswer, *, ranges: bool = True) -> Response:
    """The answer to a GET or HEAD for the file (RFC 9110 sections 13 to 15).

    Args:
        found: the file.
        ranges: whether parts of it may be asked for.

    """
    modified = None
    headers: Headers = [("ETag", f'"{found.etag}"'), *found.headers]
    if found.modified_ns is not None:
        modified = datetime.fromtimestamp(found.modified_ns // 10**9, UTC)
        headers.append(("Last-Modified", http_date(modified)))
    if ranges:
        headers.append(("Accept-Ranges", "bytes"))
    status = check_preconditions(request.headers, found.etag, modified)
    if status is not None:
        found.file.close()
        return ReadyResponse(status=status, headers=headers)
    try:
        parts = _parts(found, modified) if ranges else []
    except RangeNotSatisfiableError:
        found.file.close()
        headers += [("Content-Range", f"bytes */{found.size}"), ("Content-Length", "0")]
        return ReadyResponse(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=headers)
    # nginx compares `If-Match` with a tag of its own and refuses ranges that have to be ignored: not sent by it.
    if "If-Match" not in request.headers and bool(parts) == ("Range" in request.headers):
        sent = _sent_by_server(found, headers)
        if sent is not None:
            return sent
    if not parts:
        return _whole(found, headers)
    return _one_part(found, parts[0], headers) if len(parts) == 1 else _several_parts(found, parts, headers)


def send_bytes(data: bytes, content_type: str, etag: str, headers: Headers) -> Response:
    """As `send_file`, for what lies in memory."""
    headers = [("ETag", f'"{etag}"'), *headers]
    if (status := check_preconditions(request.headers, etag, None)) is not None:
        return ReadyResponse(status=status, headers=headers)
    headers += [("Content-Type", content_type), ("Content-Length", str(len(data)))]
    return ReadyResponse(data, headers=headers)


def original_of(settings: Settings, found: SeenFile) -> Original:
    """The file on disk of a row that may be seen."""
    known = (found.name, found.hash, found.size, found.mtime_ns, found.width, found.height, found.turn)
    return Original(settings.originals, *known)


def disposition(name: str, *, inline: bool = False) -> tuple[str, str]:
    """The header that names a file to be saved (RFC 6266): safe ASCII, and all of Unicode where that differs."""
    kind = "inline" if inline else "attachment"
    plain = re.sub(r"[^ !#$&-:<>@-\[\]-~]", "_", name)
    value = f'{kind}; filename="{plain}"'
    if plain != name:
        value += f"; filename*=UTF-8''{quote(name, safe='')}"
    return "Content-Disposition", value


def _parts(found: FileAnswer, modified: datetime | None) -> list[Range]:
    header = request.headers.get("Range")
    if not header or request.method != "GET" or not range_applies(request.headers, found.etag, modified):
        return []
    return parse_ranges(header, found.size)


def _sent_by_server(found: FileAnswer, headers: Headers) -> Response | None:
    """An empty answer that makes nginx or Apache send the file; None when the settings name no such server.

    None also for a file whose path would make the headers longer than the 4 KiB that nginx reads by default.
    """
    settings = current_service().settings
    if not (settings.sendfile_header and found.internal):
        return None
    root, _, name = disk_name(found.internal).partition("/")
    path = f"{settings.sendfile_prefix}/{root}/{name}"
    if settings.sendfile_header == "X-Sendfile":
        path = os.fspath((settings.originals if root == "originals" else settings.cache) / name)
    # Bytes that no header may contain, and bytes that are no UTF-8, are percent-encoded; all of these servers decode.
    encoded = quote(os.fsencode(path))
    if len(encoded) > _LONGEST_PATH:
        return None
    found.file.close()
    headers += [(settings.sendfile_header, encoded), ("Content-Type", found.content_type)]
    return ReadyResponse(headers=headers)


def _whole(found: FileAnswer, headers: Headers) -> Response:
    headers += [("Content-Type", found.content_type), ("Content-Length", str(found.size))]
    if request.method == "HEAD":
        found.file.close()
        return ReadyResponse(headers=headers)
    if not found.internal:
        return _streamed(found, headers, _read(found, Range(0, found.size)), found.size, HTTPStatus.OK)
    file = found.file
    if found.size > SMALL:
        with found.file:
            file = TransferredFile(os.dup(found.file.fileno()))
    body = wrap_file(request.environ, file, _CHUNK)  # the server closes it, and so the file
    return ReadyResponse(body, headers=headers, direct_passthrough=True)


def _one_part(found: FileAnswer, part: Range, headers: Headers) -> Response:
    headers += [
        ("Content-Type", found.content_type),
        ("Content-Range", part.content_range(found.size)),
        ("Content-Length", str(part.length)),
    ]
    return _streamed(found, headers, _read(found, part), part.length)


def _several_parts(found: FileAnswer, parts: Sequence[Range], headers: Headers) -> Response:
    """`multipart/byteranges` (section 14.6)."""
    boundary = secrets.token_hex(16)
    heads = [
        f"\r\n--{boundary}\r\nContent-Type: {found.content_type}\r\n"
        f"Content-Range: {part.content_range(found.size)}\r\n\r\n".encode("latin-1")
        for part in parts
    ]
    end = f"\r\n--{boundary}--\r\n".encode()

    def body() -> Iterator[bytes]:
        for head, part in zip(heads, parts, strict=True):
            yield head
            yield from _read(found, part)
        yield end

    size = sum(part.length for part in parts)
    length = sum(map(len, heads)) + size + len(end)
    headers += [("Content-Type", f"multipart/byteranges; boundary={boundary}"), ("Content-Length", str(length))]
    return _streamed(found, headers, body(), size)


def _streamed(
    found: FileAnswer,
    headers: Headers,
    body: Iterator[bytes],
    size: int,
    status: HTTPStatus = HTTPStatus.PARTIAL_CONTENT,
) -> Response:
    # Not passed through directly: Werkzeug would not call what is to be called at the end.
    answer = ReadyResponse(body, status, headers=headers)
    answer.call_on_close(found.file.close)
    if size > SMALL:
        try:
            answer.call_on_close(begin_transfer(answer))
        except BaseException:
            answer.close()
            raise
    return answer


def _read(found: FileAnswer, part: Range) -> Iterator[bytes]:
    position = part.start
    while position < part.stop:
        chunk = os.pread(found.file.fileno(), min(_CHUNK, part.stop - position), found.start + position)
        if not chunk:  # the file was cut meanwhile: the connection ends before the promised length
            return
        position += len(chunk)
        yield chunk
