"""Error answers: one handler for all exceptions, and a renderer for each of the two forms.

Ours is `{"code": 400, "error": "…", "details": [{"field": …, "message": …}]}`; the one of RFC 6749 is in
`web.oauth.errors`.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from authlib.oauth2 import OAuth2Error
from flask import Blueprint, Flask, Response
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from werkzeug.exceptions import HTTPException

from photosvc.auth.errors import InsufficientScopeError, InvalidTokenError, LoginError
from photosvc.core.errors import PhotosvcError
from photosvc.web.answer import json_answer
from photosvc.web.authorization import challenge
from photosvc.web.body import InvalidBodyError
from photosvc.web.protector import TokenRequiredError

_LOG = logging.getLogger("photosvc")

#: Seconds after which a request is worth another try when the database was busy.
_RETRY_AFTER = 5


class Failure(NamedTuple):
    """Why a request failed; everything but `error` may be shown to clients."""

    error: Exception
    status: int
    message: str
    retry_after: int | None = None
    """Seconds."""


Renderer: TypeAlias = Callable[[Failure], Response]


def render(failure: Failure) -> Response:
    """An error in our form. `code` repeats the status, except where clients tell cases apart by it."""
    error = failure.error
    code = error.code if isinstance(error, LoginError) else failure.status
    body: dict[str, object] = {"code": int(code), "error": failure.message}
    if isinstance(error, InvalidBodyError) and error.details:
        body["details"] = error.details
    elif isinstance(error, PhotosvcError) and error.field:
        body["details"] = [{"field": error.field, "message": error.message}]
    answer = json_answer(body, failure.status)
    answer.headers["Cache-Control"] = "no-store"
    if isinstance(error, HTTPException):  # keeps `Allow` and the like
        for name, value in error.get_headers():
            if name.lower() not in {"content-type", "content-length"}:
                answer.headers[name] = value
    elif isinstance(error, TokenRequiredError | LoginError):
        answer.headers["WWW-Authenticate"] = challenge()
    elif isinstance(error, InvalidTokenError):
        answer.headers["WWW-Authenticate"] = challenge("invalid_token", description=error.message)
    elif isinstance(error, InsufficientScopeError):
        answer.headers["WWW-Authenticate"] = challenge("insufficient_scope", scope=error.scope)
    return answer


def register_errors(target: Blueprint | Flask, renderer: Renderer = render) -> None:
    """Answer all errors of this blueprint or app in the form of `renderer`."""

    def on_error(error: Exception) -> Response:
        failure = _failure(error)
        answer = renderer(failure)
        if failure.retry_after is not None:
            answer.headers["Retry-After"] = str(failure.retry_after)
        return answer

    target.register_error_handler(Exception, on_error)


def _failure(error: Exception) -> Failure:
    match error:
        case PhotosvcError():
            return Failure(error, error.status, error.message, error.retry_after)
        case HTTPException():
            return Failure(error, error.code or 500, error.description or error.name)
        case OAuth2Error():
            return Failure(error, error.status_code, error.get_error_description())
        case OperationalError() | NoConnectionError():
            _LOG.error("database: %s", error.orig if isinstance(error, OperationalError) else error)
            return Failure(error, 503, "The database is busy or cannot be reached; try again.", _RETRY_AFTER)
        case _:  # a defect of ours: the log has all of it, the answer nothing
            _LOG.error("unexpected error", exc_info=error)
            return Failure(error, 500, "Something went wrong on our side.")
