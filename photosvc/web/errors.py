"""Error answers: one handler for all exceptions, and a renderer for each of the two forms.

The form of photosvc is `{"code": 400, "error": "…", "details": [{"field": …, "message": …}]}`; the one of OAuth
endpoints is `{"error": "…", "error_description": "…"}` (RFC 6749 section 5.2).
"""

import logging
import re
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple, TypeAlias

from authlib.oauth2.rfc6749 import OAuth2Error
from flask import Blueprint, Flask, Response, request
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from photosvc.auth.errors import (
    InsufficientScopeError,
    InvalidTokenError,
    LinkTokenError,
    LoginError,
    PasswordNeededError,
)
from photosvc.auth.metadata import API, resource_metadata_url
from photosvc.core.accounts import PROOF_SECONDS
from photosvc.core.errors import PermissionDeniedError, PhotosvcError, in_host
from photosvc.models.engine import DAMAGED, is_damaged
from photosvc.web.addresses import known_issuer
from photosvc.web.answers import json_answer
from photosvc.web.auditing import refuse_for, shown_id
from photosvc.web.contract import required_action
from photosvc.web.current import current_service
from photosvc.web.parts import WELL_KNOWN
from photosvc.web.protector import TokenRequiredError, TwoTokensError

_LOG = logging.getLogger("photosvc")
#: Seconds after which a client should try again when the database was busy.
_RETRY_AFTER = 5
#: Characters that a description must not contain.
_NOT_ALLOWED = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")
_MAX_DESCRIPTION = 200
_BEARER, _BASIC = 'Bearer realm="photosvc"', 'Basic realm="photosvc", charset="UTF-8"'


class Failure(NamedTuple):
    """The reason of a failed request; everything but `error` may be shown to clients."""

    error: Exception
    status: int
    message: str
    retry_after: int | None = None
    """In seconds."""


Renderer: TypeAlias = Callable[[Failure], Response]


def render(failure: Failure) -> Response:
    """Return an error in the form of photosvc; `code` is the status, except where clients distinguish cases by it."""
    error = failure.error
    code = error.code if isinstance(error, LoginError) else failure.status
    body: dict[str, object] = {"code": int(code), "error": failure.message}
    if isinstance(error, PhotosvcError) and error.details:
        body["details"] = error.details
    elif isinstance(error, PhotosvcError) and error.field:
        body["details"] = [{"field": error.field, "message": error.message}]
    if isinstance(error, PhotosvcError):
        body |= error.done
    answer = json_answer(body, failure.status)
    answer.headers["Cache-Control"] = "no-store"
    if isinstance(error, HTTPException):  # keeps `Allow` and the like
        for name, value in error.get_headers():
            if name.lower() not in {"content-type", "content-length"}:
                answer.headers[name] = value
    elif challenge := _challenge_for(error):
        answer.headers["WWW-Authenticate"] = challenge
    return answer


def oauth_error(status: int, error: str, description: str = "") -> Response:
    """Return an error answer that no cache keeps (RFC 6749 section 5.1)."""
    body = {"error": error}
    if description:
        body["error_description"] = _NOT_ALLOWED.sub("?", description)[:_MAX_DESCRIPTION]
    answer = json_answer(body, status)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Pragma"] = "no-cache"
    if status == HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = _BASIC
    return answer


def render_oauth(failure: Failure) -> Response:
    """Return an error by its RFC name."""
    error = failure.error
    if isinstance(error, OAuth2Error):
        name = error.error
    elif isinstance(error, HTTPException):  # a body that is too long or incomplete
        name = "invalid_request"
    elif failure.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        name = "temporarily_unavailable"
    elif failure.status == HTTPStatus.FORBIDDEN:
        name = "access_denied"
    elif failure.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        name = "invalid_request"
    else:
        name = "server_error"
    answer = oauth_error(failure.status, name, failure.message)
    if isinstance(error, MethodNotAllowed):
        answer.allow.update(error.valid_methods or ())
    return answer


def render_by_path(failure: Failure) -> Response:
    """Return an error of the routing, which belongs to no blueprint, in the form of the endpoints beside it."""
    return (render_oauth if request.path.startswith(f"{API}/oauth/") else render)(failure)


def register_errors(target: Blueprint | Flask, renderer: Renderer = render) -> None:
    """Answer all errors of this blueprint or app in the form of `renderer`."""
    target.register_error_handler(Exception, lambda error: error_answer(error, renderer))


def error_answer(error: Exception, renderer: Renderer = render) -> Response:
    """Return the answer to a request that failed with this exception, and log exceptions that are defects."""
    refuse_for(error, required_action())
    failure = _failure(error)
    answer = renderer(failure)
    if failure.retry_after is not None:
        answer.headers["Retry-After"] = str(failure.retry_after)
    if (known := shown_id()) is not None:
        answer.headers["X-Request-ID"] = known
    return answer


def _challenge_for(error: Exception) -> str | None:
    """Return the challenge for a credential that this request needs; None if it lacks something else."""
    match error:
        case TokenRequiredError() | LoginError() | LinkTokenError():  # no bearer token was shown, so no error code
            return _challenge()
        case InvalidTokenError():
            return _challenge("invalid_token", description=error.message)
        case InsufficientScopeError():
            return _challenge("insufficient_scope", scope=error.scope)
        case TwoTokensError():
            return _challenge("invalid_request", description=error.message)
        case PasswordNeededError():  # RFC 9470, but 403: clients take a 401 for the end of their session
            return _challenge("insufficient_user_authentication", max_age=PROOF_SECONDS)
        case PermissionDeniedError() if error.by_credential:
            return _challenge("insufficient_scope")
        case _:
            return None


def _challenge(error: str = "", *, scope: str = "", description: str = "", max_age: int = 0) -> str:
    """Return a `WWW-Authenticate` value; without `error` when the request had no token (RFC 6750 section 3).

    It names the address of the resource's metadata (RFC 9728 section 5.1) where that is known and served.
    """
    parts = [_BEARER]
    if error:
        parts.append(f'error="{error}"')
    if description:
        parts.append(f'error_description="{description}"')
    if scope:
        parts.append(f'scope="{scope}"')
    if max_age:
        parts.append(f'max_age="{max_age}"')
    service = current_service()
    if WELL_KNOWN in service.parts and (issuer := known_issuer(service)):
        parts.append(f'resource_metadata="{resource_metadata_url(issuer)}"')
    return ", ".join(parts)


def _failure(error: Exception) -> Failure:
    match error:
        case PhotosvcError():
            message = error.message if current_service().is_alone else in_host(error.message)
            return Failure(error, error.status, message, error.retry_after)
        case HTTPException():
            return Failure(error, error.code or 500, error.description or error.name)
        case OAuth2Error():
            return Failure(error, error.status_code, error.get_error_description())
        case OperationalError() | NoConnectionError():
            report = current_service().outages.report
            report(_LOG, "database: %s", error.orig if isinstance(error, OperationalError) else error)
            return Failure(error, 503, "The database is busy or cannot be reached; try again.", _RETRY_AFTER)
        case DatabaseError() if is_damaged(error):
            current_service().outages.report(_LOG, "database: %s (%s)", DAMAGED, error.orig)
            return Failure(error, 503, "The database is damaged; the operator must restore it.", _RETRY_AFTER)
        case _ if _is_broken_body(error):
            return Failure(error, 400, "The body of the request is cut off or not in valid chunks.")
        case _:  # a defect: logged in full, not described to clients
            _LOG.error("unexpected error", exc_info=error)
            return Failure(error, 500, "Internal error; the log has details.")


def _is_broken_body(error: Exception) -> bool:
    """Return whether gunicorn found an invalid chunk while the body was read; its module is there only if it serves."""
    server = sys.modules.get("gunicorn.http.errors")
    return server is not None and isinstance(error, server.ParseException)
