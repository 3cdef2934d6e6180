"""Conditional requests (RFC 9110 section 13): an answer that the client has cached is not computed."""

from flask import request

from photosvc.web.contract import Header

#: An answer depends on its address and on the credential, which these headers contain.
_VARIES_BY = "Authorization, X-Auth-Token, X-Session-ID"

#: The header in the contract of a view whose answers are tagged.
ETAG = {"ETag": Header("string", "The state of the answer; send it back as `If-None-Match`.")}


def is_fresh(etag: str | None) -> bool:
    """Whether the client has cached the answer with this tag."""
    given = request.environ.get("HTTP_IF_NONE_MATCH")
    return bool(given) and etag is not None and (given == f'"{etag}"' or request.if_none_match.contains_weak(etag))


def cache_headers(etag: str | None) -> list[tuple[str, str]]:
    """Headers that let each client cache its answer and revalidate it by its tag."""
    headers = [("Cache-Control", "private, no-cache"), ("Vary", _VARIES_BY)]
    return headers if etag is None else [*headers, ("ETag", f'"{etag}"')]
