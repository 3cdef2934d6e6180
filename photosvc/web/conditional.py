"""Conditional requests (RFC 9110 section 13): an answer that a client has already is not made again."""

from flask import request

from photosvc.web.contract import Header

#: What an answer depends on besides its address: who asks.
_VARIES_BY = "Authorization, X-Auth-Token, X-Session-ID"

#: The header in the contract of a view whose answers are tagged.
ETAG = {"ETag": Header("string", "The state of the answer; send it back as `If-None-Match`.")}


def is_fresh(etag: str | None) -> bool:
    """Whether the client has the answer with this tag."""
    given = request.environ.get("HTTP_IF_NONE_MATCH")
    return bool(given) and etag is not None and (given == f'"{etag}"' or request.if_none_match.contains_weak(etag))


def cache_headers(etag: str | None) -> list[tuple[str, str]]:
    """Let clients keep the answer, each for itself, and ask with its tag whether it still holds."""
    headers = [("Cache-Control", "private, no-cache"), ("Vary", _VARIES_BY)]
    return headers if etag is None else [*headers, ("ETag", f'"{etag}"')]
