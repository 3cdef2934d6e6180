"""Assertions: signed statements by which a client proves who it is without a secret (RFC 7523 section 3)."""

import base64
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from joserfc.errors import JoseError

from photosvc.auth.oauth.client_authentication import refused
from photosvc.auth.oauth.client_keys import ALGORITHMS, parse_keys
from photosvc.core import ids

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

_LONGEST = 8 * 1024
_LONGEST_ID = 256
#: How long an assertion may still be valid: Authlib's clients take an hour. Its id is kept until then, so that it is
#: accepted once.
_LONGEST_LIFE = timedelta(minutes=65)
#: By which the clocks of client and service may differ.
_LEEWAY = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Assertion:
    """What remains to be checked of an assertion: that it is new."""

    key: str
    """Identifies it."""
    expires_at: datetime


def client_of(assertion: str) -> str:
    """The client that an assertion claims to be of; nothing is verified.

    Raises:
        InvalidClientError: it cannot be read.

    """
    try:
        header, payload, signature = assertion[: _LONGEST + 1].split(".")
        claims = orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except ValueError:
        raise refused() from None
    subject = claims.get("sub") if isinstance(claims, dict) else None
    if not (header and signature and isinstance(subject, str)) or len(assertion) > _LONGEST:
        raise refused()
    return subject


def check_assertion(
    assertion: str, stored_keys: str, *, client_id: str, audiences: Collection[str], now: datetime
) -> Assertion:
    """Verify the signature and claims of a client's assertion.

    Args:
        assertion: the JWT.
        stored_keys: the client's keys.
        client_id: of the client.
        audiences: its only audience must be one of these; another service that it names could use it here too.
        now: the present.

    Raises:
        InvalidClientError: it is not valid; the error is the same for all reasons.

    """
    claims = _verified(assertion, stored_keys)
    audience = claims.get("aud")
    if isinstance(audience, list) and len(audience) == 1:
        audience = audience[0]
    expires_at, own_id = _time(claims, "exp"), claims.get("jti")
    if (
        claims.get("iss") != client_id
        or claims.get("sub") != client_id
        or not isinstance(audience, str)
        or audience not in audiences
        or expires_at is None
        or not now < expires_at <= now + _LONGEST_LIFE
        or not all(_time(claims, name, missing=now) <= now + _LEEWAY for name in ("nbf", "iat"))  # type: ignore[operator]
        or not (isinstance(own_id, str) and 1 <= len(own_id) <= _LONGEST_ID)
    ):
        raise refused()
    return Assertion("assertion:" + ids.digest(f"{client_id} {own_id}"), expires_at)


def _verified(assertion: str, stored_keys: str) -> dict[str, Any]:
    """The claims, if one of the keys signed them."""
    from joserfc import jwt

    for key in parse_keys(stored_keys):
        try:
            claims: dict[str, Any] = jwt.decode(assertion, key, algorithms=list(ALGORITHMS)).claims
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            continue
        return claims
    raise refused()


def _time(claims: dict[str, Any], name: str, *, missing: datetime | None = None) -> datetime | None:
    """The time of a claim; `missing` when it is absent.

    Raises:
        InvalidClientError: it is no time.

    """
    value = claims.get(name)
    if value is None:
        return missing
    try:
        if isinstance(value, bool):
            raise refused()
        return datetime.fromtimestamp(value, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise refused() from None
