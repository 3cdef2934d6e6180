"""Keys for single purposes, all derived from the service's one secret key."""

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
    """32 bytes for one purpose (HKDF-SHA256, RFC 5869): a key for one thing opens no other."""
    info = f"photosvc {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret_key.encode("utf-8", "surrogatepass"))


def sign(key: bytes, message: str) -> str:
    """128 bits of HMAC-SHA256 over `message`, as 22 characters fit for URLs."""
    mac = hmac.digest(key, message.encode("utf-8", "surrogatepass"), hashlib.sha256)[:16]
    return base64.urlsafe_b64encode(mac).decode("ascii").rstrip("=")


def is_signed(key: bytes, message: str, signature: str) -> bool:
    """Whether `signature` is that of `message`; takes the same time whatever is wrong."""
    return hmac.compare_digest(sign(key, message).encode("ascii"), signature.encode("utf-8", "surrogatepass"))


def encrypt(key: bytes, text: str, *, owner: str, nonce: bytes) -> str:
    """`text` sealed with AES-256-GCM; only `owner` can open it, so that no row can be moved to another.

    Args:
        key: 32 bytes.
        text: what to hide.
        owner: bound to it, not hidden.
        nonce: 12 random bytes, never twice with the same key.

    """
    sealed = AESGCM(key).encrypt(nonce, text.encode("utf-8"), owner.encode("utf-8"))
    return base64.urlsafe_b64encode(nonce + sealed).decode("ascii")


def decrypt(key: bytes, sealed: str, *, owner: str) -> str | None:
    """The text that was sealed for `owner`; None when the key, the owner or the text is another."""
    try:
        data = base64.urlsafe_b64decode(sealed.encode("ascii"))
        return AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], owner.encode("utf-8")).decode("utf-8")
    except (ValueError, InvalidTag):
        return None
