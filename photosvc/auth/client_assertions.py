"""Client assertions: signed statements that replace the secrets of clients, and the public keys that verify them.

RFC 7523 section 3 defines the assertions, RFC 7517 the keys.
"""

import base64
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
from joserfc.errors import JoseError

from photosvc.auth.grants import refused
from photosvc.core import ids
from photosvc.core.accounts import MOST_KEY_BYTES
from photosvc.core.errors import InvalidValueError

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

#: Signature algorithms, as RFC 7518 defines them.
ALGORITHMS = ("ES256", "ES384", "PS256", "RS256")
_MOST_KEYS = 10
_LEAST_RSA_BITS = 2048
_CURVES = frozenset({"P-256", "P-384"})
_PRIVATE = frozenset({"d", "k", "p", "q"})
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_LONGEST = 8 * 1024
_LONGEST_ID = 256
#: Longest remaining life of an assertion: Authlib's clients use an hour. Its id is kept until it expires, so that it is
#: accepted once.
_LONGEST_LIFE = timedelta(minutes=65)
#: Allowed difference between the clocks of client and service.
_LEEWAY = timedelta(seconds=60)


def check_public_keys(text: str) -> str:
    """Return the JWK set in `text`, or the set of the single JWK in it, in the form that is stored.

    Raises:
        InvalidValueError: it is not a set of one to ten public keys: RSA of 2048 bits or more, P-256 or P-384.

    """
    try:
        document = orjson.loads(text) if len(text) <= MOST_KEY_BYTES else None
    except orjson.JSONDecodeError:
        document = None
    members = document.get("keys", [document]) if isinstance(document, dict) else None
    if not (isinstance(members, list) and 1 <= len(members) <= _MOST_KEYS):
        raise _invalid(f"expected a JSON Web Key, or a set of 1 to {_MOST_KEYS}, in at most {MOST_KEY_BYTES} bytes")
    for member in members:
        if isinstance(member, dict) and _PRIVATE & member.keys():
            raise _invalid("the key is private or symmetric: register the public key and keep the other")
    stored = orjson.dumps({"keys": members}).decode()
    try:
        with warnings.catch_warnings(action="ignore"):  # warnings about short keys, which are refused below
            keys = parse_keys(stored)
    except (JoseError, ValueError, KeyError, TypeError, AttributeError):
        raise _invalid("a key cannot be read") from None
    for key in keys:
        bits = getattr(key.raw_value, "key_size", 0) if key.key_type == "RSA" else 0
        if bits < _LEAST_RSA_BITS and key.as_dict(private=False).get("crv") not in _CURVES:
            raise _invalid(f"a key has to be RSA of {_LEAST_RSA_BITS} bits or more, P-256 or P-384")
    return stored


def parse_keys(stored: str) -> "list[RSAKey | ECKey]":
    """Return the keys of a stored set.

    Raises:
        JoseError, ValueError, KeyError, TypeError: a key cannot be read.

    """
    from joserfc.jwk import ECKey, RSAKey

    kinds: dict[str, Any] = {"RSA": RSAKey, "EC": ECKey}
    return [kinds[member["kty"]].import_key(member) for member in orjson.loads(stored)["keys"]]


def _invalid(message: str) -> InvalidValueError:
    return InvalidValueError(message, field="public_keys")


@dataclass(frozen=True, slots=True)
class Assertion:
    """A valid assertion, except that it may have been used before."""

    key: str
    """The key under which its use is remembered."""
    expires_at: datetime


def client_of(assertion: str) -> str:
    """Return the `client_id` that an assertion claims; nothing is verified.

    Raises:
        InvalidClientError: the assertion cannot be read.

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
        client_id: the client's `client_id`.
        audiences: the only audience must be one of these: another service that it names could use the assertion here.
        now: the present.

    Raises:
        InvalidClientError: the assertion is not valid; the error is the same for all reasons.

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
    """Return the claims if one of the keys signed them."""
    from joserfc import jwt

    for key in parse_keys(stored_keys):
        try:
            claims: dict[str, Any] = jwt.decode(assertion, key, algorithms=list(ALGORITHMS)).claims
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            continue
        return claims
    raise refused()


def _time(claims: dict[str, Any], name: str, *, missing: datetime | None = None) -> datetime | None:
    """Return the time in a claim; `missing` when the claim is absent.

    Raises:
        InvalidClientError: the claim is not a time.

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
