"""Keys for single purposes, derived from the secret key of the service."""

import base64
import hashlib
import hmac
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_NONCE = 12


@lru_cache(maxsize=64)
def derive_key(secret_key: str, purpose: str) -> bytes:
    """32 bytes for one purpose (HKDF-SHA256, RFC 5869)."""
    info = f"photosvc {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret_key.encode("utf-8", "surrogatepass"))


def sign(key: bytes, message: str) -> str:
    """128 bits of HMAC-SHA256 over `message`, as 22 URL-safe characters."""
    mac = hmac.digest(key, message.encode("utf-8", "surrogatepass"), hashlib.sha256)[:16]
    return base64.urlsafe_b64encode(mac).decode("ascii").rstrip("=")


def is_signed(key: bytes, message: str, signature: str) -> bool:
    """Whether `signature` is that of `message`, compared in constant time."""
    return hmac.compare_digest(sign(key, message).encode("ascii"), signature.encode("utf-8", "surrogatepass"))


def encrypt(key: bytes, text: str, *, owner: str, nonce: bytes) -> str:
    """`text` encrypted with AES-256-GCM and bound to `owner`, so that it cannot be moved to the row of another account.

    Args:
        key: 32 bytes.
        text: the plain text.
        owner: authenticated, not encrypted.
        nonce: 12 random bytes, never used twice with the same key.

    """
    sealed = AESGCM(key).encrypt(nonce, text.encode("utf-8"), owner.encode("utf-8"))
    return base64.urlsafe_b64encode(nonce + sealed).decode("ascii")


def decrypt(key: bytes, sealed: str, *, owner: str) -> str | None:
    """The text that was encrypted for `owner`; None if key, owner or ciphertext do not match."""
    try:
        data = base64.urlsafe_b64decode(sealed.encode("ascii"))
        return AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], owner.encode("utf-8")).decode("utf-8")
    except (ValueError, InvalidTag):
        return None
