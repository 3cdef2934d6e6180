"""Errors of OAuth endpoints in the form of RFC 6749 section 5.2: `{"error": "…", "error_description": "…"}`."""

import re
from http import HTTPStatus

from authlib.oauth2.rfc6749 import OAuth2Error
from flask import Response
from werkzeug.exceptions import HTTPException

from photosvc.web.answer import json_answer
from photosvc.web.errors import Failure

#: Characters that a description must not contain.
_NOT_ALLOWED = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")
_MAX_DESCRIPTION = 200

_CHALLENGE = 'Basic realm="photosvc", charset="UTF-8"'


def oauth_error(status: int, error: str, description: str = "") -> Response:
    """An error answer that no cache keeps (section 5.1)."""
    body = {"error": error}
    if description:
        body["error_description"] = _NOT_ALLOWED.sub("?", description)[:_MAX_DESCRIPTION]
    answer = json_answer(body, status)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Pragma"] = "no-cache"
    if status == HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = _CHALLENGE
    return answer


def render_oauth(failure: Failure) -> Response:
    """An error under the name that the RFC has for it."""
    error = failure.error
    if isinstance(error, OAuth2Error):
        name = error.error
    elif isinstance(error, HTTPException):  # a body that is too long or incomplete
        name = "invalid_request"
    elif failure.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        name = "temporarily_unavailable"
    else:
        name = "server_error"
    return oauth_error(failure.status, name, failure.message)
