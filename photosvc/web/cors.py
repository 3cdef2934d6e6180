"""Requests by scripts of pages on other origins (CORS), for the origins that `PHOTOSVC_CORS_ORIGINS` names.

Browsers send such a request without cookies and show its answer to the script only if headers allow that (Fetch
Standard, section 3.2). Access-Control-Allow-Credentials is never sent: a script needs a token of its own.
"""

from typing import Final

from flask import Request, Response, request

from photosvc.web.service import current_service

#: Headers that requests may have; the mark of our own pages is not among them.
_ALLOWED: Final = (
    "Authorization, Content-Type, If-Match, If-None-Match, Range, Tus-Resumable, Upload-Length, Upload-Metadata, "
    "Upload-Offset, X-Auth-Token, X-Session-ID"
)
#: Seconds for which a browser may keep the answer to its question.
_MAX_AGE: Final = "600"


def is_allowed(request: Request) -> bool:
    """Return whether the page that sent a request is on one of the allowed origins."""
    return request.headers.get("Origin", "") in current_service().settings.cors_origins.split()


def add_cors_headers(answer: Response) -> Response:
    """Add the headers by which a browser shows the answer to a script of an allowed origin."""
    if not current_service().settings.cors_origins:
        return answer
    answer.vary.add("Origin")
    if not is_allowed(request):
        return answer
    answer.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
    answer.headers["Access-Control-Expose-Headers"] = "*"
    if request.method == "OPTIONS":
        answer.headers["Access-Control-Allow-Methods"] = answer.headers.get("Allow", "")
        answer.headers["Access-Control-Allow-Headers"] = _ALLOWED
        answer.headers["Access-Control-Max-Age"] = _MAX_AGE
    return answer
