"""Public keys of clients, with which they prove who they are instead of by a secret (RFC 7517)."""

import warnings
from typing import TYPE_CHECKING, Any

import orjson
from joserfc.errors import JoseError

from photosvc.core.accounts import MOST_KEY_BYTES
from photosvc.core.errors import InvalidValueError

if TYPE_CHECKING:  # as in signing_keys
    from joserfc.jwk import ECKey, RSAKey

#: Of signatures by these keys, as RFC 7518 defines them.
ALGORITHMS = ("ES256", "ES384", "PS256", "RS256")
_MOST_KEYS = 10
_LEAST_RSA_BITS = 2048
_CURVES = frozenset({"P-256", "P-384"})
_PRIVATE = frozenset({"d", "k", "p", "q"})


def check_public_keys(text: str) -> str:
    """The JWK set in `text`, or the set of the single JWK in it, in the form that is stored.

    Raises:
        InvalidValueError: it is no set of one to ten public keys: RSA of 2048 bits or more, P-256 or P-384.

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
        with warnings.catch_warnings(action="ignore"):  # of short keys, which are refused below
            keys = parse_keys(stored)
    except (JoseError, ValueError, KeyError, TypeError, AttributeError):
        raise _invalid("a key cannot be read") from None
    for key in keys:
        bits = getattr(key.raw_value, "key_size", 0) if key.key_type == "RSA" else 0
        if bits < _LEAST_RSA_BITS and key.as_dict(private=False).get("crv") not in _CURVES:
            raise _invalid(f"a key has to be RSA of {_LEAST_RSA_BITS} bits or more, P-256 or P-384")
    return stored


def parse_keys(stored: str) -> "list[RSAKey | ECKey]":
    """The keys of a stored set.

    Raises:
        JoseError, ValueError, KeyError, TypeError: a key cannot be read.

    """
    from joserfc.jwk import ECKey, RSAKey

    kinds: dict[str, Any] = {"RSA": RSAKey, "EC": ECKey}
    return [kinds[member["kty"]].import_key(member) for member in orjson.loads(stored)["keys"]]


def _invalid(message: str) -> InvalidValueError:
    return InvalidValueError(message, field="public_keys")
