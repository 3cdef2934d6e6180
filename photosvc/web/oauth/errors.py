"""Errors of OAuth endpoints as `{"error": "…", "error_description": "…"}` (RFC 6749 section 5.2)."""

import logging
import re
from http import HTTPStatus

from authlib.oauth2.rfc6749 import OAuth2Error
from flask import Blueprint, Response
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from werkzeug.exceptions import HTTPException

from photosvc.auth.errors import ThrottledError
from photosvc.core.errors import PhotosvcError
from photosvc.web.answer import json_answer
from photosvc.web.current import current_service

_LOG = logging.getLogger("photosvc")

#: What a description must not hold.
_NOT_ALLOWED = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")
_LONGEST = 200

_CHALLENGE = 'Basic realm="photosvc", charset="UTF-8"'


def oauth_error(status: int, error: str, description: str = "") -> Response:
    """An error answer, kept by nobody (section 5.1)."""
    body = {"error": error}
    if description:
        body["error_description"] = _NOT_ALLOWED.sub("?", description)[:_LONGEST]
    answer = json_answer(body, status)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Pragma"] = "no-cache"
    if status == HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = _CHALLENGE
    return answer


def on_oauth_error(error: OAuth2Error) -> Response:
    """An error that the RFCs name."""
    _abandon()
    return oauth_error(error.status_code, error.error, error.get_error_description())


def on_photosvc_error(error: PhotosvcError) -> Response:
    """An error of ours: too many failures, a schema that does not fit, a key that cannot be read."""
    _abandon()
    busy = error.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
    answer = oauth_error(error.status, "temporarily_unavailable" if busy else "server_error", error.message)
    if isinstance(error, ThrottledError):
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer


def on_http_error(error: HTTPException) -> Response:
    """A body that is too long, or cut off."""
    _abandon()
    return oauth_error(error.code or 400, "invalid_request", error.description or error.name)


def on_database_error(error: OperationalError | NoConnectionError) -> Response:
    """The database is busy, full or away."""
    _abandon()
    _LOG.error("database: %s", error.orig if isinstance(error, OperationalError) else error)
    answer = oauth_error(503, "temporarily_unavailable", "The database is busy or cannot be reached; try again.")
    answer.headers["Retry-After"] = "5"
    return answer


def on_surprise(error: Exception) -> Response:
    """Anything else is a bug of ours: logged whole, told without details."""
    _abandon()
    _LOG.error("unexpected error", exc_info=error)
    return oauth_error(500, "server_error", "Something went wrong on our side.")


def register_oauth_errors(target: Blueprint) -> None:
    """Answer errors of this blueprint in the form of RFC 6749."""
    target.register_error_handler(OAuth2Error, on_oauth_error)
    target.register_error_handler(PhotosvcError, on_photosvc_error)
    target.register_error_handler(HTTPException, on_http_error)
    target.register_error_handler(OperationalError, on_database_error)
    target.register_error_handler(NoConnectionError, on_database_error)
    target.register_error_handler(Exception, on_surprise)


def _abandon() -> None:
    """Nothing of a failed request stays."""
    current_service().session.rollback()
