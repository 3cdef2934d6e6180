"""The log-in of WebDAV.

A log-in is an app password as Basic or Bearer, or a login session as Bearer. The credential is checked on every
request, so that a revoked one ends at once. App passwords and tokens have 137 random bits and are found by their
SHA-256. An account password would cost a slow hash on every request and has no second factor there, so it is refused
unread.
"""

import base64
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from flask import Response, request

from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.principal import Principal
from photosvc.core import ids
from photosvc.core.accounts import normal_name
from photosvc.core.errors import PermissionDeniedError
from photosvc.web.protector import begin_as, principal, token_of, verify
from photosvc.web.service import current_service

Args = ParamSpec("Args")


class AppPasswordNeededError(InvalidTokenError):
    """Log in with your user name and an app password; WebDAV does not accept the password of the account."""


def logged_in(view: Callable[Args, Response]) -> Callable[Args, Response]:
    """Allow a view only with a credential of a user account, also one in `Authorization: Basic`."""

    @wraps(view)
    def with_account(*args: Args.args, **kwargs: Args.kwargs) -> Response:
        if _verified().user_uid is None:
            msg = "WebDAV needs a user account: tokens of clients cannot open it, with any scope."
            raise PermissionDeniedError(msg)
        return view(*args, **kwargs)

    return with_account


def _verified() -> Principal:
    header = request.environ.get("HTTP_AUTHORIZATION", "").strip(" \t")
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic" or token_of(request) is not None:
        return principal()
    username, password = _basic(encoded)
    if not ids.is_app_password(password):
        raise AppPasswordNeededError
    who = verify(current_service(), password)
    if who.user_name is None or who.user_name != normal_name(username):
        raise InvalidTokenError
    begin_as(who)
    return who


def _basic(encoded: str) -> tuple[str, str]:
    """Decode the user name and password of `Authorization: Basic` (RFC 7617)."""
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:  # not base64, not UTF-8
        raise AppPasswordNeededError from None
    if not colon:
        raise AppPasswordNeededError
    return name, password
