"""Responses: JSON, the headers of every one, and conditional requests (RFC 9110 section 13)."""

import gzip
import hashlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final

import orjson
from flask import Response, request
from werkzeug.datastructures import Headers

from photosvc.core.ids import digest

JSON = "application/json; charset=utf-8"
_SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
#: The `Cache-Control` of answers that each client may cache and has to revalidate.
_CACHED: Final = "private, no-cache"
#: A header that no view sets by itself, so that it shows whether the others were added.
_MARK = _SECURITY[0][0]
#: An answer depends on its address and on the credential, which is in one of these headers.
_VARIES_BY = "Authorization, X-Auth-Token, X-Session-ID, Cookie"


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
    present = {name for name, _ in headers}
    if _MARK not in present:  # the blueprint and, standing alone, the app call this
        for name, value in _SECURITY:
            if name not in present:
                headers.add(name, value)
    return answer


def is_fresh(etag: str | None) -> bool:
    """Return whether the client has cached the answer with this tag."""
    given = request.environ.get("HTTP_IF_NONE_MATCH")
    return bool(given) and etag is not None and (given == f'"{etag}"' or request.if_none_match.contains_weak(etag))


class NotModified(Exception):  # noqa: N818 - no error
    """The client has cached the answer.

    Args:
        answer: the answer of status 304.
    """

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


def require_modified(etag: str | None, headers: Iterable[tuple[str, str]] = ()) -> None:
    """Raise `NotModified`, with these headers, if the client has cached the answer with this tag."""
    if is_fresh(etag):
        raise NotModified(_not_modified(etag, headers))


def _not_modified(etag: str | None, headers: Iterable[tuple[str, str]]) -> Response:
    return ReadyResponse(status=HTTPStatus.NOT_MODIFIED, headers=[*headers, *cache_headers(etag)])


#: Headers that distinguish pages with equal bodies, such as empty pages.
_NUMBERS: Final = ("X-Count", "X-Limit", "X-Offset", "X-Total-Count")


def tag_by_body(answer: Response) -> Response:
    """Tag an answer that clients may cache by its numbers and body unless it has a tag; return 304 if it is cached.

    An answer that is streamed stays without a tag.
    """
    headers = answer.headers
    present = dict([*headers])  # `Headers` compares each name in lower case at each look
    if answer.status_code != HTTPStatus.OK or present.get("Cache-Control") != _CACHED or "ETag" in present:
        return answer
    if request.method not in {"GET", "HEAD"} or answer.is_streamed:
        return answer
    numbers = digest("".join(f"{name} {headers.get(name)}\n" for name in _NUMBERS))
    tag = hashlib.blake2b(answer.get_data(), digest_size=16, key=numbers.encode()).hexdigest()
    if is_fresh(tag):
        left_out = {"cache-control", "vary", "content-type", "content-length"}
        return _not_modified(tag, ((name, value) for name, value in headers if name.lower() not in left_out))
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
