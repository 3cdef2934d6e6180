"""The HTTP client of readers that ask another program's API.

It promises: answers are bounded in bytes and in time; a failure that may pass (429, 5xx, a broken connection) is asked
again a few times, after the wait that the server names; no redirect is followed, so that the key goes to no other
server; JSON has the types that the caller names; every failure is a `RemoteError` with one sentence that contains
neither the key nor text of the server.
"""

import http.client
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from photosvc.core.clock import Clock
from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError

#: Bytes of an answer in JSON, unless the caller names more; 1,000 photos with their faces have 5 MB.
MAX_ANSWER: Final = 16 << 20
_PIECE: Final = 1 << 16
#: Seconds without a byte, and seconds for a whole answer in JSON.
_SILENCE: Final = 60.0
_LONGEST: Final = 300.0
#: Bytes per second below which a download is given up, once `_LONGEST` is over.
_SLOWEST: Final = 10_000
#: Number of requests for one answer, and the longest wait before one of them in seconds.
_TRIES: Final = 6
_MOST_WAIT: Final = 60.0
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_KEY: Final = re.compile(r"[!-~]{1,4096}", re.ASCII)
#: Pairs of surrogates and other escapes, which stay, or one surrogate: programs cut texts inside of an emoji.
_SURROGATES: Final = re.compile(
    rb"(\\[^u]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
Answer = TypeVar("Answer")
_BLANKS: Final = re.compile(r"[\x00-\x20\x7f]")


class RemoteError(PhotosvcError):
    """The other program cannot be read.

    Args:
        answer: the status of its answer; 0 without one.
    """

    status = HTTPStatus.BAD_GATEWAY

    def __init__(self, message: str, *, answer: int = 0) -> None:
        super().__init__(message)
        self.answer = answer


class CutOffError(RemoteError):
    """A transfer broke off; another try may succeed."""


class _AgainError(Exception):
    """A failure that may pass.

    Args:
        sentence: the failure, if it does not pass.
        wait: seconds that the server named; None if it named none.
        answer: the status of the answer; 0 without one.
    """

    def __init__(self, sentence: str, wait: float | None = None, answer: int = 0) -> None:
        super().__init__(sentence)
        self.sentence, self.wait, self.answer = sentence, wait, answer


def read_key(file: Path) -> str:
    """Return the key in the first line of a file.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: it cannot be read, or has no key.
    """
    try:
        with file.open("rb") as opened:
            line = opened.readline(8192)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {file}.") from None
    except OSError as error:
        raise InvalidValueError(f"{file} cannot be read: {error.strerror}.") from None
    key = line.decode("ascii", "replace").strip()
    if not _KEY.fullmatch(key):
        raise InvalidValueError(f"{file} has no key in its first line.")
    return key


@dataclass(slots=True)
class RemoteApi:
    """The API of a server.

    Args:
        address: its address as a person typed it, `http://…` or `https://…`, with the path of an installation below a
            folder.
        headers: sent with each request, the key among them.
        clock: waits between two requests for the same answer.

    Raises:
        InvalidValueError: the address is not valid.
    """

    address: str
    headers: Mapping[str, str]
    clock: Clock
    _base: str = field(init=False)
    _connection: http.client.HTTPConnection = field(init=False)
    _has_answered: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Check the address."""
        sentence = f"{self.address!r:.200} is no address of a server, such as https://photos.example.com"
        try:
            parts = urlsplit(self.address)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise InvalidValueError(sentence, field="URL") from None
        is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
        if parts.scheme not in ("http", "https") or not host or not is_plain or _BLANKS.search(self.address):
            raise InvalidValueError(sentence, field="URL")
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise InvalidValueError(sentence, field="URL") from None
        if not parts.path.isascii():
            raise InvalidValueError(sentence, field="URL")
        self._base = parts.path.rstrip("/")
        if parts.scheme == "https":
            self._connection = http.client.HTTPSConnection(
                host, port, timeout=_SILENCE, context=ssl.create_default_context()
            )
        else:
            self._connection = http.client.HTTPConnection(host, port, timeout=_SILENCE)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def get(
        self, path: str, kind: type[Answer], parameters: Mapping[str, str | int] | None = None, most: int = MAX_ANSWER
    ) -> Answer:
        """Return the JSON of an answer to GET.

        Args:
            kind: a type that msgspec decodes; lists of `msgspec.Raw` let the caller judge each record.
            most: bytes of the answer.

        Raises:
            RemoteError: the server refused, failed again and again, or answered with something else.
        """
        return self._json("GET", f"{path}?{urlencode(parameters)}" if parameters else path, None, kind, most)

    def post(self, path: str, kind: type[Answer], body: Mapping[str, object]) -> Answer:
        """Return the JSON of an answer to POST, which must change nothing there; raise as `get` does."""
        return self._json("POST", path, msgspec.json.encode(body), kind, MAX_ANSWER)

    def pieces(self, path: str, most_bytes: int) -> Iterator[bytes]:
        """Yield the bytes of a file as they come. After the first byte, nothing is asked again: the caller begins anew.

        Raises:
            CutOffError: the transfer broke off, or was too slow.
            RemoteError: as `get`; or the file has more than `most_bytes`.
        """
        for attempt in range(1, _TRIES + 1):
            with self._tried(attempt):
                response = self._ask("GET", path, None)
                break
        began, done = self.clock.monotonic(), 0
        stated, named = response.length, self._named(path)
        try:
            while piece := response.read1(_PIECE):
                done += len(piece)
                if done > most_bytes:
                    raise RemoteError(f"{named} has more than {most_bytes:,} bytes", answer=HTTPStatus.OK)
                yield piece
                seconds = self.clock.monotonic() - began
                if seconds > _LONGEST and done < seconds * _SLOWEST:
                    raise CutOffError(f"{named} comes too slowly")
            if stated is not None and done < stated:
                raise CutOffError(f"{named} was cut off after {done:,} bytes")
        except (OSError, http.client.HTTPException):
            raise CutOffError(f"{named} was cut off after {done:,} bytes") from None
        finally:
            self._end(response)

    def _json(self, method: str, path: str, body: bytes | None, kind: type[Answer], most: int) -> Answer:
        for attempt in range(1, _TRIES + 1):
            with self._tried(attempt):
                content = self._content(self._ask(method, path, body), path, most)
                break
        content = _SURROGATES.sub(lambda match: match[1] or rb"\ufffd", content)
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            msg = f"{self._named(path)} is not answered as expected: is this the address of the right program?"
            raise RemoteError(msg, answer=HTTPStatus.OK) from None

    @contextmanager
    def _tried(self, attempt: int) -> Iterator[None]:
        """Wait after a failure that may pass; raise it after the last attempt."""
        try:
            yield
        except _AgainError as error:
            self.close()
            # A server that never answered is more likely misspelled than busy.
            if attempt == _TRIES or (attempt > 1 and not (error.answer or self._has_answered)):
                msg = f"{error.sentence}, {attempt} times: try again later"
                raise RemoteError(msg, answer=error.answer) from None
            if attempt == 1 and not error.answer:  # servers close connections that were idle
                return
            wait = 2.0 ** (attempt - 1) if error.wait is None else error.wait
            self.clock.sleep(min(wait, _MOST_WAIT))

    def _ask(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        """Return the successful answer, whose body is not read yet."""
        headers = {"Accept-Encoding": "identity", "User-Agent": "photosvc", **self.headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        host = self._connection.host
        try:
            self._connection.request(method, f"{self._base}{path}", body, headers)
            response = self._connection.getresponse()
        except ssl.SSLCertVerificationError:
            raise RemoteError(
                f"The certificate of {host} is not trusted: the environment variable SSL_CERT_FILE names a file with "
                "further authorities"
            ) from None
        except ConnectionRefusedError:
            raise _AgainError(f"{host} refuses connections") from None
        except (OSError, http.client.HTTPException) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "no valid answer"
            raise _AgainError(f"{host} cannot be reached: {reason}") from None
        self._has_answered = True
        if response.status in (200, 201):
            return response
        self.close()
        raise self._failure(response, path)

    def _failure(self, response: http.client.HTTPResponse, path: str) -> Exception:
        """Return the error for an answer without success."""
        status = response.status
        named = self._named(path)
        if status in _AGAIN:
            return _AgainError(f"{named} answers {status}", self._wait(response), status)
        sentences = {
            401: "the key is not valid",
            403: "the key has no permission for it",
            404: "there is no such thing: is this the address of the right program?",
        }
        sentence = sentences.get(status, "that is not expected")
        if 300 <= status < 400:
            sentence = "that is a redirect: name the address to which it leads"
        return RemoteError(f"{named} answers {status}: {sentence}", answer=status)

    def _wait(self, response: http.client.HTTPResponse) -> float | None:
        """Return the seconds of Retry-After (RFC 9110 section 10.2.3); None without a valid one."""
        text = (response.getheader("Retry-After") or "")[:64].strip()
        if text.isascii() and text.isdigit():
            return float(text)
        try:
            return max(0.0, (parsedate_to_datetime(text) - self.clock()).total_seconds())
        except (TypeError, ValueError):  # it is no date, or has no zone
            return None

    def _content(self, response: http.client.HTTPResponse, path: str, most: int) -> bytes:
        """Return the whole body of an answer."""
        end = self.clock.monotonic() + _LONGEST
        pieces, done = [], 0
        stated = response.length
        try:
            while piece := response.read1(_PIECE):
                done += len(piece)
                pieces.append(piece)
                if done > most or self.clock.monotonic() > end:
                    raise RemoteError(f"{self._named(path)} is too long")
        except (OSError, http.client.HTTPException):
            raise _AgainError(f"{self._named(path)} was cut off") from None
        finally:
            self._end(response)
        if stated is not None and done < stated:
            raise _AgainError(f"{self._named(path)} was cut off")
        return b"".join(pieces)

    def _end(self, response: http.client.HTTPResponse) -> None:
        """Keep the connection for the next request if this answer was read to its end, which `read1` does not note."""
        if response.length == 0:
            response.close()
        elif not response.isclosed():  # the rest of it would be read as the next answer
            self.close()

    def _named(self, path: str) -> str:
        """Return a request in words, without its parameters."""
        return f"{self._connection.host}{self._base}{path.partition('?')[0]}"
