"""Tokens for links that carry no header: previews (thumbnails only) and downloads (originals, one hour).

Both are signed with the service key, so nothing is stored. Both name their owner: a link shows what the owner may see
when it is used. They are part of URLs, so they open nothing else (RFC 9700 section 4.3.2).

Signed by `auth.keys`, not by itsdangerous: its check accepts tokens that were changed (a last character whose unused
bits differ, appended non-ASCII characters), and its tokens are longer (67 characters instead of 46).
"""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.auth import policy
from photosvc.auth.credentials import tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.keys import derive_key, is_signed, sign
from photosvc.auth.principal import Principal
from photosvc.core.accounts import VIEWER
from photosvc.models import User
from photosvc.settings import Settings

#: Seconds a download token lasts.
DOWNLOAD_SECONDS = 3600
_SEPARATOR = "."
_MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class PreviewRight:
    """What a preview token shows."""

    sees_private: bool


def preview_token(settings: Settings, principal: Principal) -> str:
    """The same for all log-ins of an account until its password changes; for clients, as long as the credential."""
    if principal.user_uid is not None:
        return _signed(settings, "preview", principal.user_uid, str(principal.password_version))
    return _signed(settings, "preview", principal.credential_uid, "0")


def download_token(settings: Settings, principal: Principal, now: datetime) -> str:
    """Valid for an hour, and only as long as the credential."""
    expires = int(now.timestamp()) + DOWNLOAD_SECONDS
    return _signed(settings, "download", principal.credential_uid, str(expires))


def verify_preview(session: Session, settings: Settings, token: str, now: datetime) -> PreviewRight:
    """What this preview token shows.

    Raises:
        InvalidTokenError: the signature is wrong, or its owner was removed or disabled or has another password.

    """
    owner, version = _opened(settings, "preview", token)
    if owner.startswith("sess"):
        return PreviewRight(tokens.verify_uid(session.connection(), owner, now).sees_private)
    row = session.execute(
        select(User.role, User.disabled, User.password_version).where(User.uid == owner)
    ).one_or_none()
    if row is None or row.disabled or str(row.password_version) != version:
        raise InvalidTokenError
    return PreviewRight(sees_private=row.role != VIEWER)


def verify_download(session: Session, settings: Settings, token: str, now: datetime) -> Principal:
    """The principal that downloads with this token.

    Raises:
        InvalidTokenError: the signature is wrong, it is an hour old, or its credential is not valid.
        PermissionDeniedError: the credential may not download.

    """
    owner, expires = _opened(settings, "download", token)
    if now.timestamp() >= int(expires):
        raise InvalidTokenError
    principal = tokens.verify_uid(session.connection(), owner, now)
    policy.decide(principal, "photos.download")
    return principal


def _signed(settings: Settings, purpose: str, owner: str, detail: str) -> str:
    return _sign(_key(settings, purpose), f"{owner}{_SEPARATOR}{detail}")


@lru_cache(maxsize=256)
def _sign(key: bytes, message: str) -> str:
    """Cached: every answer of the search has two tokens, mostly the same as the previous answer."""
    return message + _SEPARATOR + sign(key, message)


def _opened(settings: Settings, purpose: str, token: str) -> tuple[str, str]:
    message, _, signature = token[:_MAX_LENGTH].rpartition(_SEPARATOR)
    if not is_signed(_key(settings, purpose), message, signature):
        raise InvalidTokenError
    owner, _, detail = message.partition(_SEPARATOR)
    return owner, detail


def _key(settings: Settings, purpose: str) -> bytes:
    return derive_key(settings.secret_key, f"{purpose} token")
