"""Every error as one JSON shape: `{"code": 400, "error": "…", "details": [{"field": …, "message": …}]}`."""

import logging
from collections.abc import Mapping, Sequence

from flask import Blueprint, Flask, Response
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from werkzeug.exceptions import HTTPException

from photosvc.auth.errors import InsufficientScopeError, InvalidTokenError, LoginError, ThrottledError
from photosvc.core.errors import PhotosvcError
from photosvc.web.answer import json_answer
from photosvc.web.authorization import challenge
from photosvc.web.body import InvalidBodyError
from photosvc.web.current import current_service
from photosvc.web.protector import TokenRequiredError

Details = Sequence[Mapping[str, str]]

_LOG = logging.getLogger("photosvc")


def error_answer(
    status: int, message: str, field: str | None = None, *, code: int | None = None, details: Details = ()
) -> Response:
    """The canonical error answer. `code` repeats the status but where clients tell cases apart by it."""
    body: dict[str, object] = {"code": int(code or status), "error": message}
    if details:
        body["details"] = details
    elif field:
        body["details"] = [{"field": field, "message": message}]
    answer = json_answer(body, status)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def on_photosvc_error(error: PhotosvcError) -> Response:
    """An error of ours: its message was written for people."""
    _abandon()
    details = error.details if isinstance(error, InvalidBodyError) else ()
    code = error.code if isinstance(error, LoginError) else None
    answer = error_answer(error.status, error.message, error.field, code=code, details=details)
    if isinstance(error, ThrottledError):
        answer.headers["Retry-After"] = str(error.retry_after)
    elif isinstance(error, TokenRequiredError | LoginError):
        answer.headers["WWW-Authenticate"] = challenge()
    elif isinstance(error, InvalidTokenError):
        answer.headers["WWW-Authenticate"] = challenge("invalid_token", description=error.message)
    elif isinstance(error, InsufficientScopeError):
        answer.headers["WWW-Authenticate"] = challenge("insufficient_scope", scope=error.scope)
    return answer


def on_http_error(error: HTTPException) -> Response:
    """An error of Flask or Werkzeug, keeping headers such as `Allow`."""
    _abandon()
    answer = error_answer(error.code or 500, error.description or error.name)
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            answer.headers[name] = value
    return answer


def on_database_error(error: OperationalError | NoConnectionError) -> Response:
    """The database is busy, full or away: worth another try, and nobody's input is at fault."""
    _abandon()
    _LOG.error("database: %s", error.orig if isinstance(error, OperationalError) else error)
    answer = error_answer(503, "The database is busy or cannot be reached; try again.")
    answer.headers["Retry-After"] = "5"
    return answer


def on_surprise(error: Exception) -> Response:
    """Anything else is a bug of ours: logged whole, told without details."""
    _abandon()
    _LOG.error("unexpected error", exc_info=error)
    return error_answer(500, "Something went wrong on our side.")


def register_errors(target: Blueprint | Flask) -> None:
    """Answer errors of this blueprint (or, standing alone, of the whole app) in our shape."""
    target.register_error_handler(PhotosvcError, on_photosvc_error)
    target.register_error_handler(HTTPException, on_http_error)
    target.register_error_handler(OperationalError, on_database_error)
    target.register_error_handler(NoConnectionError, on_database_error)
    target.register_error_handler(Exception, on_surprise)


def _abandon() -> None:
    """Nothing of a failed request stays."""
    current_service().session.rollback()
