"""The WebDAV server: the log-in, and a function for each method.

A log-in is an app password as Basic or Bearer, or a login session as Bearer. The credential is checked on every
request, so that a revoked one ends at once. App passwords and tokens have 137 random bits and are found by their
SHA-256. An account password would cost a slow hash on every request and has no second factor there, so it is refused
unread.
"""

import base64
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec
from urllib.parse import quote

from flask import Response, request

from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.principal import Principal
from photosvc.core import ids
from photosvc.core.accounts import normal_name
from photosvc.core.errors import PermissionDeniedError
from photosvc.dav.addresses import path_in, spelled
from photosvc.dav.errors import DAVError, UnfitPathError, dav_error_answer
from photosvc.dav.get_put import get, put
from photosvc.dav.lock_methods import lock, unlock
from photosvc.dav.move_copy import copy, delete, make_folder, move
from photosvc.dav.properties import proppatch
from photosvc.dav.propfind import propfind
from photosvc.dav.request import Request
from photosvc.dav.tree import Originals
from photosvc.library.originals import is_junk
from photosvc.web.indexer import wake_indexer
from photosvc.web.protector import begin_as, principal, token_of, verify
from photosvc.web.service import current_service

Args = ParamSpec("Args")
#: Methods with a second name. They wake the indexer even for hidden files: programs save under a hidden name first.
_NAMING: Final = frozenset({"MOVE", "COPY"})
#: Methods that change everything in a folder.
_WHOLE: Final = frozenset({"DELETE", "MOVE", "COPY"})
_METHODS: Final[dict[str, Callable[[Request], Response]]] = {
    "GET": get,
    "HEAD": get,
    "PROPFIND": propfind,
    "PROPPATCH": proppatch,
    "PUT": put,
    "MKCOL": make_folder,
    "DELETE": delete,
    "MOVE": move,
    "COPY": copy,
    "LOCK": lock,
    "UNLOCK": unlock,
}


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


def respond(folder: str) -> Response:
    """Answer the present request; its view has checked that its principal may make it.

    Args:
        folder: the path of the folder of originals within the app.

    Raises:
        PhotosvcError: the request fails; `dav.errors.error_answer` renders the error.
    """
    service, environ = current_service(), request.environ
    if "#" in environ.get("RAW_URI", ""):  # gunicorn cuts it off: the path could then name the folder around the file
        raise UnfitPathError
    mount = environ["SCRIPT_NAME"] + folder
    provider = Originals(service, mount)
    asked = path_in(environ["PATH_INFO"], folder)
    present = Request(provider, environ, spelled(provider.root, asked), asked)
    present.check_disk(present.name, within=environ["REQUEST_METHOD"] in _WHOLE or present.is_deep)
    try:
        return _METHODS[environ["REQUEST_METHOD"]](present)
    except DAVError as error:
        return dav_error_answer(error, quote(mount))
    finally:  # a part may be done
        if present.has_wished and (environ["REQUEST_METHOD"] in _NAMING or not is_junk(present.name)):
            wake_indexer(service)
