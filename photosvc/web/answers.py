"""Answers: JSON, the headers of every answer, conditional requests (RFC 9110 section 13), pages, and the access log.

A page is the part of a list that the parameters `count` and `offset` ask for; headers tell which part it is.

The access log has one line for each request, without secrets. Addresses of pictures contain tokens, clients write
tokens in wrong places, and people type passwords into name fields: the line has `-` in place of secrets, no referrer,
and the id of a credential instead of a name.
"""

import gzip
import hashlib
import logging
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote_plus

import orjson
from flask import Response, g, request
from werkzeug.datastructures import Headers

from photosvc.auth.principal import Principal
from photosvc.core.clock import Clock
from photosvc.core.ids import digest
from photosvc.core.logs import FIELDS, as_text
from photosvc.search.reading.request import DEFAULT_COUNT, MAX_COUNT, parse_request
from photosvc.web.auditing import request_id
from photosvc.web.contract import Header, Parameters
from photosvc.web.contract import Headers as HeaderDocs
from photosvc.web.proxies import client_address
from photosvc.web.service import Service, current_service

#: The logger of the access log, at the level of information.
LOGGER: Final = "photosvc.access"
_LOG = logging.getLogger(LOGGER)
#: Key in the environ of a request whose line was logged.
_NOTED: Final = "photosvc.access"
_LONGEST: Final = 2000
_LONGEST_AGENT: Final = 200
#: Paths that contain tokens: thumbnails, covers and videos, sessions, and public links.
_PLACES: Final = (
    re.compile(r"(/(?:albums|labels)/+[^/]+/+t/+)[^/]+"),
    re.compile(r"(/(?:t|videos)/+[^/]+/+)[^/]+"),
    re.compile(r"(/sessions?/+)[^/]+"),
    re.compile(r"(/s/+)[^/]+"),
)
#: The shape of tokens, app passwords and client secrets anywhere in a line.
_SECRET: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{48,}|[0-9A-Za-z]{6}(?:-[0-9A-Za-z]{6}){3}|[0-9A-Za-z]{32}|[0-9a-z]{26}"
    r"|eyJ[\w-]+\.[\w.-]+)(?![0-9A-Za-z])"
)
_SECRET_NAME: Final = re.compile(r"t|code|.*(?:token|secret|pass|auth|session).*", re.IGNORECASE | re.DOTALL)
JSON = "application/json; charset=utf-8"
_SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
#: The most that is read of a body after its request was refused, in bytes and in seconds.
_DISCARD_BYTES, _DISCARD_SECONDS, _PIECE = 256 << 20, 2.0, 256 << 10
#: The `Cache-Control` of answers that each client may cache and has to revalidate.
_CACHED: Final = "private, no-cache"
#: A header that no view sets by itself, so that it shows whether the others were added.
_MARK = _SECURITY[0][0]
#: An answer depends on its address and on the credential, which these headers contain.
_VARIES_BY = "Authorization, X-Auth-Token, X-Session-ID, Cookie"
#: Names in `flask.g` of the request's own values; an app context that is older than the request would keep them.
_OF_REQUEST = (
    "photosvc_principal", "photosvc_refused", "photosvc_request_id", "photosvc_refusal_recorded", "photosvc_by_cookie",
)  # fmt: skip


def note_access(answer: Response, began: float | None = None) -> Response:
    """Log the request once its answer is sent.

    Args:
        began: the beginning, by the monotonic clock; None for a request without a route of this service.
    """
    environ = request.environ
    if _NOTED in environ or not _LOG.isEnabledFor(logging.INFO):
        return answer
    environ[_NOTED] = True
    who: Principal | None = None if began is None else g.get("photosvc_principal")
    values: dict[str, Any] = {
        "request_id": request_id(),
        "address": client_address(request),
        "method": request.method,
        "path": masked_path(request.path) + masked_query(request.query_string.decode("latin-1")),
        "status": answer.status_code,
        "bytes": answer.headers.get("Content-Length", ""),
        "credential_kind": "" if who is None else who.kind,
        "credential": "" if who is None else who.credential_uid,
        "agent": request.user_agent.string[:_LONGEST_AGENT],
    }
    clock = current_service().clock
    answer.call_on_close(partial(_log, values, clock, clock.monotonic() if began is None else began))
    return answer


def masked_path(path: str) -> str:
    """Return the path with `-` in place of every part that is or looks like a secret."""
    for place in _PLACES:
        path = place.sub(r"\1-", path)
    return _SECRET.sub("-", path)[:_LONGEST]


def masked_query(query: str) -> str:
    """Return the query string, with its question mark, with `-` in place of values that are or look like secrets."""
    return "?" + "&".join(map(_masked_pair, query[:_LONGEST].split("&"))) if query else ""


def _masked_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if _SECRET.search(unquote_plus(name)):
        return "-"
    is_secret = _SECRET_NAME.fullmatch(unquote_plus(name)) or _SECRET.search(unquote_plus(value))
    return f"{name}{equals}-" if is_secret and equals else pair


def _log(values: dict[str, Any], clock: Clock, began: float) -> None:
    values["ms"] = round((clock.monotonic() - began) * 1000, 1)
    _LOG.info("%s", as_text(values), extra={FIELDS: values})


class ReadyResponse(Response):
    """An answer whose headers are complete: Werkzeug does not copy them to add missing ones.

    It is for the most frequent requests. It has no `Location`, a length only if its body is whole, and no default type.
    """

    default_mimetype = None

    def get_wsgi_headers(self, environ: Any) -> Headers:  # noqa: ANN401, ARG002 - as Werkzeug has it
        """Return the headers unchanged."""
        return self.headers


def json_answer(value: Any, status: int = 200) -> Response:  # noqa: ANN401
    """Return `value` as a JSON answer."""
    return json_text(orjson.dumps(value), status)


def cached_answer(value: Any, etag: str | None) -> Response:  # noqa: ANN401
    """Return `value` as a JSON answer that clients may cache, with this entity tag or that of its body."""
    answer = json_answer(value)
    answer.headers.extend(cache_headers(etag))
    return answer


def json_text(body: bytes | str, status: int = 200) -> Response:
    """Return an answer whose body is already JSON."""
    return Response(body, status, content_type=JSON)


def add_security_headers(answer: Response) -> Response:
    """Add the headers of every answer, which forbid sniffing, framing, caching and a referrer that contains a token."""
    headers = answer.headers
    if _MARK not in headers:  # the blueprint and, standing alone, the app call this
        present = {name for name, _ in headers}
        for name, value in _SECURITY:
            if name not in present:
                headers.add(name, value)
    return answer


def is_fresh(etag: str | None) -> bool:
    """Return whether the client has cached the answer with this tag."""
    given = request.environ.get("HTTP_IF_NONE_MATCH")
    return bool(given) and etag is not None and (given == f'"{etag}"' or request.if_none_match.contains_weak(etag))


def not_modified(etag: str | None, further: Iterable[tuple[str, str]] = ()) -> Response:
    """Return the answer, with `further` headers, to a client that has cached the one with this tag."""
    return ReadyResponse(status=304, headers=[*further, *cache_headers(etag)])


#: Headers that tell pages apart whose bodies are equal, such as empty ones.
_NUMBERS: Final = ("X-Count", "X-Limit", "X-Offset", "X-Total-Count")


def tag_by_body(answer: Response) -> Response:
    """Tag an answer that clients may cache by its numbers and body unless it has a tag; return 304 if it is cached.

    An answer that is streamed stays without a tag.
    """
    headers = answer.headers
    if answer.status_code != HTTPStatus.OK or headers.get("Cache-Control") != _CACHED or "ETag" in headers:
        return answer
    if request.method not in {"GET", "HEAD"} or answer.is_streamed:
        return answer
    numbers = digest("".join(f"{name} {headers.get(name)}\n" for name in _NUMBERS))
    tag = hashlib.blake2b(answer.get_data(), digest_size=16, key=numbers.encode()).hexdigest()
    if is_fresh(tag):
        left_out = {"cache-control", "vary", "content-type", "content-length"}
        return not_modified(tag, ((name, value) for name, value in headers if name.lower() not in left_out))
    headers["ETag"] = f'"{tag}"'
    return answer


def revalidated(answer: Response) -> Response:
    """Tag a public answer by its whole body and compress it if the client accepts that, or return 304 if it is cached.

    The answer must not contain a secret: anyone who chooses other parts could infer it from the packed length (BREACH).
    """
    body = answer.get_data()
    tag = hashlib.blake2b(body, digest_size=16).hexdigest()
    if request.accept_encodings["gzip"]:
        tag += "-gzip"
        answer.set_data(gzip.compress(body, 6, mtime=0))
        answer.headers["Content-Encoding"] = "gzip"
    answer.vary.add("Accept-Encoding")
    answer.set_etag(tag)
    answer.make_conditional(request)
    return answer


def cache_headers(etag: str | None) -> list[tuple[str, str]]:
    """Return headers that let each client cache its answer and revalidate it by its tag.

    Without a tag, `tag_by_body` adds one.
    """
    headers = [("Cache-Control", _CACHED), ("Vary", _VARIES_BY)]
    return headers if etag is None else [*headers, ("ETag", f'"{etag}"')]


def begin_request(*, is_ready: bool = True) -> Service:
    """Begin a request and return its service; forget notes of an earlier one in the same app context, as in hosts.

    Args:
        is_ready: False for requests that are answered without the database.

    Raises:
        PhotosvcError: the database does not fit.
    """
    service = current_service()
    noted = vars(g._get_current_object())  # noqa: SLF001 - the proxy would look it up each time
    noted["photosvc_began"] = service.clock.monotonic()
    for name in _OF_REQUEST:
        noted.pop(name, None)
    if is_ready:
        service.require_schema()
        service.follow_key(seldom=True)
        service.warn_of_unread_proxy(request)
    return service


def finish_request(answer: Response) -> Response:
    """End the transaction of a request, and log it if that is set.

    The hooks of a host app come later and may commit: on SQLite, an open transaction of ours could block that.
    """
    service = current_service()
    service.close()
    if answer.status_code >= HTTPStatus.BAD_REQUEST and service.settings.proxies:
        _discard_body(service.clock)
    if service.settings.access_log:
        note_access(answer, g.get("photosvc_began"))
    return answer


def _discard_body(clock: Clock) -> None:
    """Read the rest of a refused body, which the proxy in front has whole: a proxy that cannot send it answers 502."""
    end, left, body = clock.monotonic() + _DISCARD_SECONDS, _DISCARD_BYTES, request.environ["wsgi.input"]
    with suppress(OSError, ValueError):  # the server says so itself
        while left > 0 and clock.monotonic() < end and (piece := body.read(_PIECE)):
            left -= len(piece)


@dataclass(frozen=True, slots=True)
class PageOfList:
    """The part of a list that a request asks for."""

    count: int
    """The most entries on the page."""
    offset: int
    """Entries before the page."""

    def answer(self, answer: Response, found: int) -> Response:
        """Return the answer with the headers of a page that has `found` entries."""
        answer.headers.extend(page_numbers(found, self.count, self.offset))
        return answer


def page_parameters(entries: str, count: str = "") -> Parameters:
    """Return the parameters of a page.

    Args:
        entries: what the list contains, in the plural, such as `files`.
        count: the entries that `count` limits; by default, those on a page.
    """
    limits = {"type": "integer", "minimum": 1, "default": DEFAULT_COUNT}
    name = entries.capitalize()
    return {
        "count": (limits, f"{count or f'{name} on a page.'} A larger number counts as {MAX_COUNT:,}."),
        "offset": ({"type": "integer", "minimum": 0, "default": 0}, f"{name} to skip."),
    }


def page_headers(entries: str) -> HeaderDocs:
    """Return the headers of a page of these entries, for the contract of a view."""
    name = entries.capitalize()
    return {
        "X-Count": Header("integer", f"{name} on this page."),
        "X-Limit": Header("integer", f"The most {entries} that a page can have."),
        "X-Offset": Header("integer", f"{name} before it."),
    }


def page_numbers(found: int, limit: int, offset: int) -> list[tuple[str, str]]:
    """Return the headers of a page: its number of entries, its limit, and the number of entries before it."""
    return [("X-Count", str(found)), ("X-Limit", str(limit)), ("X-Offset", str(offset))]


def read_page() -> PageOfList:
    """Return the page that this request asks for, or raise `InvalidValueError`."""
    asked = parse_request({name: request.args.get(name, "") for name in ("count", "offset")}, current_service().today())
    return PageOfList(asked.count, asked.offset)
