"""Answers: JSON bytes, the headers of every answer, conditional requests (RFC 9110 section 13), and their count."""

from time import perf_counter
from typing import Any

import orjson
from flask import Response, g, request
from werkzeug.datastructures import Headers

from photosvc.web.current import current_service
from photosvc.web.requests.access_log import note_access

JSON = "application/json; charset=utf-8"

_SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)


#: The header that no view sets by itself, so that it shows whether the others were added.
_MARK = _SECURITY[0][0]


#: An answer depends on its address and on the credential, which these headers contain.
_VARIES_BY = "Authorization, X-Auth-Token, X-Session-ID, Cookie"


class ReadyResponse(Response):
    """An answer whose headers are complete: Werkzeug does not copy them to add missing ones.

    For the most frequent requests. It has no `Location`, a length only if its body is whole, and no default type.
    """

    default_mimetype = None

    def get_wsgi_headers(self, environ: Any) -> Headers:  # noqa: ANN401, ARG002 - as Werkzeug has it
        """The headers."""
        return self.headers


def json_answer(value: Any, status: int = 200, *, etag: str | None = None) -> Response:  # noqa: ANN401
    """`value` as a JSON answer; with an entity tag, one that the client may cache."""
    answer = json_text(orjson.dumps(value), status)
    if etag is not None:
        answer.headers.extend(cache_headers(etag))
    return answer


def json_text(body: bytes | str, status: int = 200) -> Response:
    """An answer whose body is already JSON."""
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
    """Whether the client has cached the answer with this tag."""
    given = request.environ.get("HTTP_IF_NONE_MATCH")
    return bool(given) and etag is not None and (given == f'"{etag}"' or request.if_none_match.contains_weak(etag))


def not_modified(etag: str | None) -> Response:
    """The answer to a client that has cached the one with this tag."""
    return ReadyResponse(status=304, headers=cache_headers(etag))


def cache_headers(etag: str | None) -> list[tuple[str, str]]:
    """Headers that let each client cache its answer and revalidate it by its tag."""
    headers = [("Cache-Control", "private, no-cache"), ("Vary", _VARIES_BY)]
    return headers if etag is None else [*headers, ("ETag", f'"{etag}"')]


#: What a request notes in `flask.g`, which in an app context that is older than the request outlives it.
_OF_REQUEST = (
    "photosvc_principal",
    "photosvc_request_id",
    "photosvc_refusal_recorded",
    "photosvc_by_cookie",
    "photosvc_commits",
)


def start_timer() -> None:
    """Note when the request began; forget what an earlier one noted in the same app context, as in tests of hosts."""
    noted = vars(g._get_current_object())  # noqa: SLF001 - the proxy would look it up each time
    noted["photosvc_began"] = perf_counter()
    for name in _OF_REQUEST:
        noted.pop(name, None)


def count_request(answer: Response) -> Response:
    """Count the request that `answer` is for, with the seconds until its headers were ready; log it if that is set."""
    began, rule = g.get("photosvc_began"), request.url_rule
    if current_service().settings.access_log:
        note_access(answer, began)
    if began is not None and rule is not None:  # a host can refuse a request before it reaches the blueprint
        current_service().requests.add((rule.rule, request.method, answer.status_code), perf_counter() - began)
    return answer
