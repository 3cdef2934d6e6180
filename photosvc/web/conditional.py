"""Conditional requests (RFC 9110 section 13): an answer that a client has already is not made again."""

from flask import Response, request

#: What an answer depends on besides its address: who asks.
_VARIES_BY = "Authorization, X-Auth-Token, X-Session-ID"


def is_fresh(etag: str | None) -> bool:
    """Whether the client has the answer with this tag."""
    return etag is not None and request.if_none_match.contains_weak(etag)


def tag(answer: Response, etag: str | None) -> Response:
    """Let clients keep the answer, each for itself, and ask with its tag whether it still holds."""
    if etag is not None:
        answer.set_etag(etag)
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["Vary"] = _VARIES_BY
    return answer
