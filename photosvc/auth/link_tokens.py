"""Tokens for links, which carry no header: for previews (thumbnails, videos) and downloads (originals too, one hour).

Both are signed with the service key, so nothing is stored. Both name their owner: a link shows what the owner may see
when it is used. They are part of URLs, so they open nothing else (RFC 9700 section 4.3.2). Tokens of a host app's user
open links only while that user is signed in there.

Signed by `auth.keys`, not by itsdangerous: its check accepts tokens that were changed (a last character whose unused
bits differ, appended non-ASCII characters), and its tokens are longer (67 characters instead of 46).
"""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Final, TypeAlias

from sqlalchemy import Connection

from photosvc.auth import tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.keys import derive_key, is_signed, sign
from photosvc.auth.principal import Principal, is_host_uid
from photosvc.settings import Settings

#: Lifetime of a download token in seconds.
DOWNLOAD_SECONDS = 3600
_SEPARATOR = "."
_MAX_LENGTH = 200
#: A function that returns the signed-in user of a host app, or None when no user is signed in.
HostLoader: TypeAlias = Callable[[], Principal | None]
_NO_HOST: Final[HostLoader] = lambda: None  # noqa: E731


def preview_token(settings: Settings, principal: Principal) -> str:
    """Return the preview token of a credential, always the same one, so that browsers keep the thumbnails it opened.

    It is valid as long as the credential lives and its account keeps its role and password.
    """
    return _signed(settings, "preview", principal.credential_uid, _standing(principal))


def download_token(settings: Settings, principal: Principal, now: datetime) -> str:
    """Return a token that is valid for an hour, and only as long as a preview token of the same credential."""
    expires = int(now.timestamp()) + DOWNLOAD_SECONDS
    return _signed(settings, "download", principal.credential_uid, f"{_standing(principal)}{_SEPARATOR}{expires}")


def verify_preview(
    connection: Connection, settings: Settings, token: str, now: datetime, host_user: HostLoader = _NO_HOST
) -> Principal:
    """Return the principal of a preview token.

    Raises:
        InvalidTokenError: the signature is wrong, its credential has ended, or the role or password of the account
            has changed since.
    """
    credential_uid, standing = _opened(settings, "preview", token)
    return _unchanged(connection, credential_uid, standing, now, host_user)


def verify_any(
    connection: Connection, settings: Settings, token: str, now: datetime, host_user: HostLoader = _NO_HOST
) -> Principal:
    """Return the principal of a preview or download token: a download token opens thumbnails and videos too.

    Raises:
        InvalidTokenError: it is not a token of either kind, or not valid any more.
    """
    try:
        return verify_preview(connection, settings, token, now, host_user)
    except InvalidTokenError:
        return verify_download(connection, settings, token, now, host_user)


def verify_download(
    connection: Connection, settings: Settings, token: str, now: datetime, host_user: HostLoader = _NO_HOST
) -> Principal:
    """Return the principal of a download token.

    Raises:
        InvalidTokenError: it is not valid, for the same reasons as a preview token, or it is an hour old.
    """
    credential_uid, detail = _opened(settings, "download", token)
    standing, _, expires = detail.partition(_SEPARATOR)
    if now.timestamp() >= int(expires):
        raise InvalidTokenError
    return _unchanged(connection, credential_uid, standing, now, host_user)


def _unchanged(
    connection: Connection, credential_uid: str, standing: str, now: datetime, host_user: HostLoader
) -> Principal:
    if is_host_uid(credential_uid):  # nothing is stored about host users: their links open while they are signed in
        signed_in = host_user()
        if signed_in is None or signed_in.credential_uid != credential_uid:
            raise InvalidTokenError
        principal = signed_in
    else:
        principal = tokens.verify_uid(connection, credential_uid, now)
    if _standing(principal) != standing:
        raise InvalidTokenError
    return principal


def _standing(principal: Principal) -> str:
    """Return the text whose change ends the token: the password's version and the role's initial, which is unique."""
    return f"{principal.password_version}{principal.role[0]}"


def _signed(settings: Settings, purpose: str, owner: str, detail: str) -> str:
    return _sign(_key(settings, purpose), f"{owner}{_SEPARATOR}{detail}")


@lru_cache(maxsize=256)
def _sign(key: bytes, message: str) -> str:
    """Return a signed token; cached, because most search answers have the same two tokens as the previous one."""
    return message + _SEPARATOR + sign(key, message)


def _opened(settings: Settings, purpose: str, token: str) -> tuple[str, str]:
    message, _, signature = token[:_MAX_LENGTH].rpartition(_SEPARATOR)
    if not is_signed(_key(settings, purpose), message, signature):
        raise InvalidTokenError
    owner, _, detail = message.partition(_SEPARATOR)
    return owner, detail


def _key(settings: Settings, purpose: str) -> bytes:
    return derive_key(settings.secret_key, f"{purpose} token")
