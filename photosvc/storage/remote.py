"""A file that is read over HTTP by ranges, through a link that somebody else signed.

Every answer must be of the same version of the file, by its entity tag. The reader keeps some blocks and reads ahead
while it is read in order. All errors are `OSError`, as those of a disk: code that reads files needs no other cases.
"""

import errno
import hashlib
import io
import os
import re
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

#: Bytes of a block, the least that is read at once.
BLOCK: Final = 64 << 10
#: Most blocks that one request reads: 1 MiB.
_MOST_AHEAD: Final = 16
#: Most blocks that one open file keeps: 4 MiB.
_KEPT: Final = 64
#: Seconds for which the server may keep silent.
_SILENCE: Final = 20.0
#: Seconds after which a request ends although the server still sends.
LONGEST: Final = 120.0
#: Tries of one request: an idle connection may have been closed, and a busy server asks for a second try.
_TRIES: Final = 2
_LONGEST_TAG: Final = 1024
#: In the year 2255: times in nanoseconds have 64 bits.
_LAST_SECOND: Final = 9_000_000_000
_SPACE: Final = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})", re.ASCII)
_ERRORS: Final[dict[int, int]] = {
    HTTPStatus.UNAUTHORIZED: errno.EACCES,
    HTTPStatus.FORBIDDEN: errno.EACCES,
    HTTPStatus.NOT_FOUND: errno.ENOENT,
    HTTPStatus.PRECONDITION_FAILED: errno.ESTALE,
    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE: errno.ESTALE,
}


def content_key(etag: str, size: int) -> str:
    """Return 40 hexadecimal digits that stand for a content: equal for objects with equal tags and sizes."""
    return hashlib.sha1(f"{etag}\n{size}".encode(), usedforsecurity=False).hexdigest()


def stamp(seconds: int, etag: str) -> int:
    """Return a time of change in nanoseconds whose part below a second stands for the entity tag.

    Two versions that were written within one second so differ by their tags.
    """
    digest = hashlib.sha1(etag.encode(), usedforsecurity=False).digest()
    return max(0, min(seconds, _LAST_SECOND)) * 10**9 + int.from_bytes(digest[:8], "big") % 10**9


def plain_tag(etag: str) -> str:
    """Return an entity tag without quotes."""
    return etag.strip().removeprefix("W/").strip('"')


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file behind a signed link, as a list of the store described it."""

    link: str
    """A secret: it opens the file for everyone while the signature is valid."""
    name: str
    size: int
    mtime_ns: int
    """Its `stamp`."""

    def __repr__(self) -> str:
        """Return a text without the link, for tracebacks and logs."""
        return f"<RemoteFile {self.name!r}>"


class _Limited(io.RawIOBase):
    """The bytes that a server sends, until a time.

    Args:
        raw: reads them from the connection.
        connection: its limit of silence is set before each reading.
        end: the time, by `time.monotonic`.
    """

    def __init__(self, raw: io.RawIOBase, connection: socket.socket, end: float) -> None:
        super().__init__()
        self._raw, self._connection, self._end = raw, connection, end

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 - the type of buffers is new in Python 3.12
        """Fill the buffer with what has arrived, and return the number of bytes; 0 at the end.

        Raises:
            TimeoutError: the server keeps silent, or the time is over.
        """
        if (left := self._end - time.monotonic()) <= 0:
            raise TimeoutError
        self._connection.settimeout(min(left, _SILENCE))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Close the connection's side."""
        self._raw.close()
        super().close()


class RemoteReader(io.RawIOBase, BinaryIO):
    """A `RemoteFile`, open for reading.

    Raises:
        OSError: ESTALE, it is another version than described; ENOENT, it is gone; EACCES, the link does not hold; and
            the errors of networks and of disks that fail.
    """

    def __init__(self, file: RemoteFile) -> None:
        super().__init__()
        self._file = file
        self._position = 0
        self._connection: HTTPConnection | None = None
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._next, self._ahead = -1, 1
        self.etag = ""
        """The entity tag of its version, without quotes."""
        self.received = 0
        """Bytes of content that the server has sent."""
        if file.size:
            self._block(0)
        else:
            self._fetch(0, 0)

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return self._file.size

    @property
    def mtime_ns(self) -> int:
        """Return the stamp of its version."""
        return self._file.mtime_ns

    @property
    def content_key(self) -> str:
        """Return the key of its content."""
        return content_key(self.etag, self._file.size)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to an offset from the beginning, the position or the end."""
        position = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence] + offset
        if position < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._position = position
        return position

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - the type of buffers is new in Python 3.12
        """Fill the buffer from one block and return the number of bytes; 0 at the end."""
        data = self.read_at(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from this offset, all of one block; none at the end."""
        if offset >= self.size or length <= 0:
            return b""
        number, start = divmod(offset, BLOCK)
        return self._block(number)[start : start + length]

    def close(self) -> None:
        """Close the connection."""
        self._blocks.clear()
        self._disconnect()
        super().close()

    def _block(self, number: int) -> bytes:
        if (kept := self._blocks.get(number)) is not None:
            self._blocks.move_to_end(number)
            return kept
        # In order, each request reads twice as much as the one before; elsewhere, only what is needed.
        self._ahead = min(self._ahead * 2, _MOST_AHEAD) if number == self._next else 1
        start = number * BLOCK
        stop = min(start + self._ahead * BLOCK, self.size)
        data = self._fetch(start, stop)
        for offset in range(0, len(data), BLOCK):
            self._blocks[number + offset // BLOCK] = data[offset : offset + BLOCK]
        self._next = number + self._ahead
        while len(self._blocks) > _KEPT:
            self._blocks.popitem(last=False)
        return data[:BLOCK]

    def _fetch(self, start: int, stop: int) -> bytes:
        """Return these bytes, or none of an empty file."""
        from http.client import HTTPException  # workers and commands that read no remote file start without it

        headers = {"Range": f"bytes={start}-{stop - 1}"} if stop else {}
        if self.etag:
            headers["If-Match"] = f'"{self.etag}"'
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._read(self._ask(headers), start, stop)
            except TimeoutError:
                self._disconnect()
                raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)) from None
            except (OSError, HTTPException, ValueError) as error:
                self._disconnect()
                number = _number(error)
                if number in _ERRORS.values() or not tries_left:
                    raise OSError(number, os.strerror(number)) from None
        raise AssertionError("unreachable")

    def _ask(self, headers: dict[str, str]) -> "HTTPResponse":
        from http.client import HTTPConnection, HTTPResponse, HTTPSConnection

        end = time.monotonic() + LONGEST

        def limited(connection: socket.socket, *given: Any, **named: Any) -> HTTPResponse:  # noqa: ANN401
            answer = HTTPResponse(connection, *given, **named)
            answer.fp = io.BufferedReader(_Limited(answer.fp.detach(), connection, end))
            return answer

        parts = urlsplit(self._file.link)
        if self._connection is None:
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            self._connection = kind(parts.netloc, timeout=_SILENCE)
        self._connection.response_class = limited  # type: ignore[assignment]
        self._connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
        return self._connection.getresponse()

    def _read(self, answer: "HTTPResponse", start: int, stop: int) -> bytes:
        from email.utils import parsedate_to_datetime

        if (refusal := _ERRORS.get(answer.status)) is not None:
            raise OSError(refusal, os.strerror(refusal))
        part = _SPACE.fullmatch(answer.headers.get("Content-Range", ""))
        size = int(answer.headers.get("Content-Length", "-1")) if part is None else int(part[3])
        etag = plain_tag(answer.headers.get("ETag", ""))
        if not 200 <= answer.status < 300 or not etag or len(etag) > _LONGEST_TAG:
            raise OSError(errno.EREMOTEIO, os.strerror(errno.EREMOTEIO))
        changed_at = int(parsedate_to_datetime(answer.headers.get("Last-Modified", "")).timestamp())
        is_described = size == self.size and stamp(changed_at, etag) == self._file.mtime_ns
        if not is_described or (self.etag and etag != self.etag):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        if stop and (part is None or (int(part[1]), int(part[2])) != (start, stop - 1)) and (start, stop) != (0, size):
            raise OSError(errno.EREMOTEIO, os.strerror(errno.EREMOTEIO))  # a server that does not know ranges
        data = answer.read(stop - start) if stop else b""
        if len(data) != stop - start:
            raise OSError(errno.EREMOTEIO, os.strerror(errno.EREMOTEIO))
        if not answer.isclosed():
            self._disconnect()
        self.etag = etag
        self.received += len(data)
        return data

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _number(error: Exception) -> int:
    """Return the number of the system error that stands for this error."""
    if isinstance(error, socket.gaierror):
        return errno.EHOSTUNREACH
    if isinstance(error, OSError) and error.errno in errno.errorcode:
        return error.errno or errno.EREMOTEIO
    return errno.EREMOTEIO
