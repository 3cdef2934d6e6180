"""Tokens of links, which carry no header: for previews (thumbnails, videos) and downloads (originals too, one hour).

They are signed with the service key, so nothing is stored, and name their owner: a link shows what the owner may see
when it is used. They are part of URLs, so they open nothing else (RFC 9700 section 4.3.2). They are not signed by
itsdangerous: its check accepts changed tokens (a last character whose unused bits differ, appended non-ASCII
characters).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from sqlalchemy import Connection

from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.principal import Principal, is_host_uid
from photosvc.auth.service_key import derive_key, parts_of, signed_text
from photosvc.auth.tokens import verify_uid
from photosvc.settings import Settings

#: Lifetime of a download token.
DOWNLOAD_LIFETIME: Final = timedelta(hours=1)
_ALMOST_A_MINUTE: Final = timedelta(seconds=59, microseconds=999_999)
#: A function that returns the signed-in user of a host app, or None when no user is signed in.
HostLoader: TypeAlias = Callable[[], Principal | None]
_NO_HOST: Final[HostLoader] = lambda: None  # noqa: E731


def preview_token(settings: Settings, principal: Principal) -> str:
    """Return the preview token of a credential, always the same one, so that browsers keep the thumbnails it opened.

    It is valid as long as the credential lives and its account keeps its role and password.
    """
    return signed_text(_preview_key(settings), principal.credential_uid, _rights(principal))


def download_token(settings: Settings, principal: Principal, now: datetime) -> str:
    """Return a token that is valid for an hour, and only as long as a preview token of the same credential.

    It ends at a full minute, so that a client gets the same one again with its next answers.
    """
    end = (now + DOWNLOAD_LIFETIME + _ALMOST_A_MINUTE).replace(second=0, microsecond=0)
    return signed_text(_download_key(settings), principal.credential_uid, _rights(principal), until=end)


def verify_any(
    connection: Connection, settings: Settings, token: str, now: datetime, host_user: HostLoader = _NO_HOST
) -> Principal:
    """Return the principal of a preview or download token; either opens thumbnails.

    Raises:
        InvalidTokenError: the signature is wrong, its credential has ended, or the role or password of the account
            has changed since.
    """
    parts = parts_of(_preview_key(settings), token)
    if parts is None:
        return verify_download(connection, settings, token, now, host_user)
    return _unchanged(connection, parts, now, host_user)


def verify_download(
    connection: Connection, settings: Settings, token: str, now: datetime, host_user: HostLoader = _NO_HOST
) -> Principal:
    """Return the principal of a download token.

    Raises:
        InvalidTokenError: it is not valid, for the same reasons as a preview token, or it is an hour old.
    """
    parts = parts_of(_download_key(settings), token, now=now)
    if parts is None:
        raise InvalidTokenError
    return _unchanged(connection, parts, now, host_user)


def _unchanged(connection: Connection, parts: list[str], now: datetime, host_user: HostLoader) -> Principal:
    """Return the principal that a token names, or raise `InvalidTokenError` if its rights have changed since."""
    credential_uid, rights = parts
    if is_host_uid(credential_uid):  # nothing is stored about host users: their links open while they are signed in
        signed_in = host_user()
        if signed_in is None or signed_in.credential_uid != credential_uid:
            raise InvalidTokenError
        principal = signed_in
    else:
        principal = verify_uid(connection, credential_uid, now)
    if _rights(principal) != rights:
        raise InvalidTokenError
    return principal


def _rights(principal: Principal) -> str:
    """Return a text whose change ends the tokens of a principal.

    It has the version of the password and the first letter of the role. Viewers and visitors share a letter: an account
    never becomes a link.
    """
    return f"{principal.password_version}{principal.role[0]}"


def alias_key(settings: Settings, who: Principal) -> bytes:
    """Return the key by which ids are hidden from visitors of a link without metadata; empty for all others."""
    if who.shared is None or who.shared.metadata:
        return b""
    return derive_key(settings.secret_key, f"ids for {who.shared.link_uid}")


def _preview_key(settings: Settings) -> bytes:
    return derive_key(settings.secret_key, "preview token")


def _download_key(settings: Settings) -> bytes:
    return derive_key(settings.secret_key, "download token")
