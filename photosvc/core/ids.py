"""Identifiers and secrets: their formats, how they are made and recognised.

A UID is 16 characters: a prefix letter, six base-36 digits of Unix seconds and nine random base-36 digits
(46 bits). UIDs are hard to enumerate but not secret. Secrets have at least 134 random bits.
"""

import hashlib
import re
import secrets
import zlib
from datetime import datetime

BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
BASE62 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

PHOTO, FILE, ALBUM, MARKER, USER, CLIENT = "p", "f", "a", "m", "u", "c"
SUBJECT, LABEL, LINK = "j", "l", "s"

#: Bits of each half of an alias, and rounds of its permutation.
_HALF, _ROUNDS = 36, 4
_UID = re.compile(r"[a-z][0-9a-z]{15}\Z")
_ACCESS_TOKEN = re.compile(r"[0-9a-f]{48}\Z")
_LINK_TOKEN = re.compile(r"[0-9a-z]{26}\Z")
_APP_PASSWORD = re.compile(r"(?:[0-9A-Za-z]{6}-){3}[0-9A-Za-z]{6}\Z")
_SHA1 = re.compile(r"[0-9a-f]{40}\Z")


def random_text(length: int, alphabet: str) -> str:
    """Return a random text of `length` characters from a cryptographic source."""
    return "".join(secrets.choice(alphabet) for _ in range(length))


def new_uid(prefix: str, now: datetime) -> str:
    """Return a new UID that begins with `prefix` and the time `now`."""
    number = int(now.timestamp()) * 36**9 + secrets.randbelow(36**9)
    digits = ""
    for _ in range(15):
        number, digit = divmod(number, 36)
        digits = BASE36[digit] + digits
    return prefix + digits


def new_credential_uid() -> str:
    """Return a new identifier of a credential for lists: `sess` and eight random base-36 characters."""
    return "sess" + random_text(8, BASE36)


def computed_uid(prefix: str, text: str) -> str:
    """Return a UID that depends only on `text`: 16 characters with the prefix."""
    number = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    digits = ""
    for _ in range(16 - len(prefix)):
        number, digit = divmod(number, 36)
        digits += BASE36[digit]
    return prefix + digits


def computed_number(text: str) -> int:
    """Return a number of 31 bits that depends only on `text`, above the ids of all rows that clients know by number."""
    return 1 << 30 | zlib.crc32(text.encode()) & (1 << 30) - 1


def permuted(prefix: str, number: int, key: bytes) -> int:
    """Return a number of at most 72 bits that stands for the id of a row; without the key it reveals nothing.

    Four rounds of a keyed hash permute the numbers (Luby and Rackoff 1988), so that different ids stay different and
    `row_id_of` can compute the id from the number.
    """
    left, right = divmod(number, 1 << _HALF)
    for turn in range(_ROUNDS):
        left, right = right, left ^ _round(prefix, turn, right, key)
    return left << _HALF | right


def alias(prefix: str, number: int, key: bytes) -> str:
    """Return the alias of the id of a row: its number of `permuted`, written as a UID."""
    rest, digits = permuted(prefix, number, key), ""
    for _ in range(15):
        rest, digit = divmod(rest, 36)
        digits = BASE36[digit] + digits
    return prefix + digits


def row_id_of(prefix: str, text: str, key: bytes) -> int | None:
    """Return the id of the row for which an alias stands under this key; None for a text that is no alias."""
    number = int(text[1:], 36) if is_uid(text, prefix) else 1 << 2 * _HALF
    left, right = divmod(number, 1 << _HALF)
    if left >> _HALF:
        return None
    for turn in reversed(range(_ROUNDS)):
        left, right = right ^ _round(prefix, turn, left, key), left
    row_id = left << _HALF | right
    return row_id if row_id < 1 << 63 else None


def _round(prefix: str, turn: int, half: int, key: bytes) -> int:
    message = f"{prefix}{turn}{half}".encode()
    return int.from_bytes(hashlib.blake2b(message, key=key, digest_size=8).digest()) & ((1 << _HALF) - 1)


def is_uid(text: str, prefix: str) -> bool:
    """Return whether `text` has the format of a UID and begins with `prefix`."""
    return bool(_UID.match(text)) and text[0] == prefix


def is_hash(text: str) -> bool:
    """Return whether `text` has the format of a SHA-1 digest in lower-case hexadecimal."""
    return bool(_SHA1.match(text))


def new_access_token() -> str:
    """Return a new access token: 48 hexadecimal digits (192 random bits)."""
    return secrets.token_hex(24)


def is_access_token(text: str) -> bool:
    """Return whether `text` has the format of an access token."""
    return bool(_ACCESS_TOKEN.match(text))


def link_token(key: bytes) -> str:
    """Return the token of a public link from a key of its own, 32 bytes: 26 base-36 characters (134 bits)."""
    number = int.from_bytes(key, "big")
    return "".join(BASE36[number // 36**place % 36] for place in range(26))


def is_link_token(text: str) -> bool:
    """Return whether `text` has the format of the token of a public link."""
    return bool(_LINK_TOKEN.match(text))


def new_app_password() -> str:
    """Return a new app password: four groups of six joined by `-`, with a checksum at the end (137 random bits)."""
    body = random_text(23, BASE62)
    dashed = f"{body[:6]}-{body[6:12]}-{body[12:18]}-{body[18:]}"
    return dashed + _check_character(dashed)


def is_app_password(text: str) -> bool:
    """Return whether `text` has the format of an app password and its checksum is right."""
    return bool(_APP_PASSWORD.match(text)) and _check_character(text[:-1]) == text[-1]


def _check_character(text: str) -> str:
    return BASE62[zlib.crc32(text.encode("ascii")) % 62]


def new_client_secret() -> str:
    """Return a new client secret: 32 base-62 characters (190 random bits)."""
    return random_text(32, BASE62)


def digest(secret: str) -> str:
    """Return the SHA-256 digest of a random secret, in hexadecimal; only the digest is stored (OWASP ASVS 6.5.2)."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
