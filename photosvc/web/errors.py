"""Error answers: one handler for all exceptions, a renderer for each of the two forms, and icons for pictures.

The form of photosvc is `{"code": 400, "error": "…", "details": [{"field": …, "message": …}]}`; the one of OAuth
endpoints is `{"error": "…", "error_description": "…"}` (RFC 6749 section 5.2). Clients that accept images, and pages,
get an icon in place of a picture that cannot be shown.
"""

import logging
import re
import sys
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Final, NamedTuple, ParamSpec, TypeAlias

from authlib.oauth2.rfc6749 import OAuth2Error
from flask import Blueprint, Flask, Response, request
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from photosvc.auth.discovery import API, PROTECTED_RESOURCE, well_known_url
from photosvc.auth.errors import (
    InsufficientScopeError,
    InvalidTokenError,
    LinkTokenError,
    LoginError,
    PasswordNeededError,
)
from photosvc.core.accounts import PROOF_SECONDS
from photosvc.core.errors import PermissionDeniedError, PhotosvcError, in_host
from photosvc.core.logs import OUTAGE_SECONDS
from photosvc.models.engine import DAMAGED, is_damaged, is_unreachable
from photosvc.web.auditing import refuse_for, shown_id
from photosvc.web.contract import required_action
from photosvc.web.parts import WELL_KNOWN
from photosvc.web.protector import TokenRequiredError, TwoTokensError
from photosvc.web.refusals import REFUSALS
from photosvc.web.responses import NotModified, json_answer
from photosvc.web.service import current_service

_LOG = logging.getLogger("photosvc")
#: Seconds after which a client should try again when the database was busy.
_RETRY_AFTER = 5
#: Characters that a description must not contain.
_NOT_ALLOWED = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")
_MAX_DESCRIPTION = 200
_BEARER, BASIC = 'Bearer realm="photosvc"', 'Basic realm="photosvc", charset="UTF-8"'
Args = ParamSpec("Args")
_ICON: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="96" height="96" fill="none" stroke="#888" '
    b'stroke-width="1.5"><rect x="3" y="5" width="18" height="14" rx="2"/><circle cx="8.5" cy="10" r="1.5"/>'
    b'<path d="M4 17l5-4 4 3 3-2 4 3"/><path d="M3 3l18 18"/></svg>'
)
#: The same icon, small in the middle of a space of any shape.
_SMALL_ICON: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120" width="1200" height="1200" fill="none" '
    b'stroke="#888" stroke-width="1.5"><g transform="translate(48 48)">'
    + _ICON[_ICON.index(b"<rect") : -6]
    + b"</g></svg>"
)
#: Caching of the icon by a page: pictures that cannot be decoded are not tried again for as long.
_REMEMBERED: Final = "private, max-age=300"
_ICON_TYPE: Final = "image/svg+xml"
_QUIET: Final = frozenset({
    HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.SERVICE_UNAVAILABLE,
})  # fmt: skip
#: Limit, because Werkzeug takes quadratic time for blanks in `Accept`, even for requests without a valid token.
_LONGEST_ACCEPT: Final = 1000


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
    say = current_service().say
    body: dict[str, object] = {"code": int(code), "error": say(failure.message)}
    if isinstance(error, PhotosvcError):
        of_field = [{"field": error.field, "message": error.message}] if error.field else []
        if details := error.details or of_field:
            body["details"] = [{"field": detail["field"], "message": say(detail["message"])} for detail in details]
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
        answer.headers["WWW-Authenticate"] = BASIC
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
    if isinstance(error, NotModified):
        return error.answer
    refuse_for(error, required_action())
    failure = _failure(current_service().explained(error))
    REFUSALS.count(failure.status, failure.error)
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
    parameters = {"error": error, "error_description": description, "scope": scope, "max_age": max_age}
    parts = [_BEARER, *(f'{name}="{value}"' for name, value in parameters.items() if value)]
    service = current_service()
    if WELL_KNOWN in service.parts and (issuer := service.known_issuer):
        parts.append(f'resource_metadata="{well_known_url(issuer, PROTECTED_RESOURCE)}"')
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
            _report_outage(error, "database: %s", error.orig if isinstance(error, OperationalError) else error)
            return Failure(error, 503, "The database is busy or cannot be reached; try again.", _RETRY_AFTER)
        case DatabaseError() if is_damaged(error):
            _report_outage(error, "database: %s (%s)", DAMAGED, error.orig)
            return Failure(error, 503, "The database is damaged; the operator must restore it.", _RETRY_AFTER)
        case _ if _is_broken_body(error):
            return Failure(error, 400, "The body of the request is cut off or not in valid chunks.")
        case _:  # a defect: logged in full, not described to clients
            _LOG.error("unexpected error", exc_info=error)
            return Failure(error, 500, "Internal error; the log has details.")


def _report_outage(error: Exception, message: str, *arguments: object) -> None:
    """Log a failure of the database; after one of a lock or a full disk, other requests succeed during the outage."""
    pause = 0.0 if isinstance(error, DBAPIError) and is_unreachable(error) else OUTAGE_SECONDS
    current_service().outages.report(_LOG, message, *arguments, pause=pause)


def _is_broken_body(error: Exception) -> bool:
    """Return whether gunicorn found an invalid chunk while the body was read; its module is there only if it serves."""
    server = sys.modules.get("gunicorn.http.errors")
    return server is not None and isinstance(error, server.ParseException)


def or_icon(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Answer errors of the view with an icon and the same status if `Accept` names image types."""

    @wraps(view)
    def shown(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        try:
            return view(*args, **kwargs)
        except PhotosvcError as error:
            if error.status == HTTPStatus.INTERNAL_SERVER_ERROR or not accepts("image/"):
                raise
            answer = error_answer(error)
            answer.data, answer.content_type = _ICON, _ICON_TYPE
            answer.headers["Vary"] = "Accept"
            return answer

    return shown


def quiet(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Answer errors that are no fault of the page with 2xx if the address has `quiet`: browsers would log them.

    A picture that is not ready is 202 without a body, with `Retry-After`; one that cannot be shown is an icon.
    """

    @wraps(view)
    def shown(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        try:
            return view(*args, **kwargs)
        except PhotosvcError as error:
            if not is_quiet() or error.status not in _QUIET:
                raise
            answer = error_answer(error)
            if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
                answer.data, answer.status_code = b"", HTTPStatus.ACCEPTED
            else:
                answer.data, answer.status_code, answer.content_type = _SMALL_ICON, HTTPStatus.OK, _ICON_TYPE
                answer.headers["Cache-Control"] = _REMEMBERED
            return answer

    return shown


def is_quiet() -> bool:
    """Return whether the address has the parameter `quiet`."""
    return "quiet" in request.args


def accepts(start: str) -> bool:
    """Return whether `Accept` names a media type that begins with `start`; False for a header over 1,000 characters."""
    header = request.headers.get("Accept", "")
    if start not in header or len(header) > _LONGEST_ACCEPT:
        return False
    return any(kind.startswith(start) for kind, quality in request.accept_mimetypes if quality > 0)
