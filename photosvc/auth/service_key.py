"""The service key: keys derived from it for single purposes, and the secrets that it encrypts.

The file `secret_key` of the instance folder, or a setting, contains the key and, after it, former ones. The key signs
links and encrypts; the former ones only decrypt. The database stores the fingerprint of the key that encrypts it.

A replacement writes a new key before the others, and then encrypts the secrets again. If it is killed in between,
nothing is lost, because the former keys stay.
"""

import base64
import hashlib
import hmac
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from photosvc.auth.errors import OtherServiceKeyError
from photosvc.core.clock import Clock
from photosvc.core.errors import InvalidValueError
from photosvc.core.files import flush_folder
from photosvc.core.locks import exclusive_lock
from photosvc.models import LibraryState, StoredKey, User, read_counter, set_counters
from photosvc.models.statements import insert_into
from photosvc.settings import Settings, setting_fields

_LOG = logging.getLogger("photosvc")
#: Purposes of the derived keys.
SECOND_FACTOR, RECOVERY_CODES, SIGNING_KEYS = "second factor", "recovery codes", "signing keys"
#: The encrypted columns, each with the column of their owners and their purpose.
_SEALED: Final[tuple[tuple[Any, Any, str], ...]] = (
    (User.totp_secret, User.uid, SECOND_FACTOR),
    (StoredKey.sealed, StoredKey.number, SIGNING_KEYS),
)
#: Name of the row that holds the fingerprint.
_NAME: Final = "service_key"
_SEPARATOR: Final = "-"
#: Characters of a signature.
_SIGNATURE: Final = 22
#: Seconds between two checks of the file before links are made.
_CHECK_SECONDS: Final = 0.5
#: Characters of the longest signed text.
_LONGEST: Final = 200


@lru_cache(maxsize=64)
def derive_key(secret_key: str, purpose: str) -> bytes:
    """Derive 32 bytes for one purpose (HKDF-SHA256, RFC 5869)."""
    info = f"photosvc {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret_key.encode("utf-8", "surrogatepass"))


def sign(key: bytes, message: str) -> str:
    """Return 128 bits of HMAC-SHA256 over `message`, as 22 URL-safe characters."""
    mac = hmac.digest(key, message.encode("utf-8", "surrogatepass"), hashlib.sha256)[:16]
    return base64.urlsafe_b64encode(mac).decode("ascii").rstrip("=")


def is_signed(key: bytes, message: str, signature: str) -> bool:
    """Return whether `signature` is the signature of `message`; compare in constant time."""
    return hmac.compare_digest(sign(key, message).encode("ascii"), signature.encode("utf-8", "surrogatepass"))


def signed_text(key: bytes, *parts: object, until: datetime | None = None) -> str:
    """Return the parts, which contain no hyphens, and their signature as one text; `parts_of` reads it.

    Letters, digits, `-` and `_` need no escape in an address, and clients may insert the text into a template.

    Args:
        until: the end of its validity, in whole seconds.
    """
    end = () if until is None else (int(until.timestamp()),)
    message = _SEPARATOR.join(map(str, (*parts, *end)))
    return message + _SEPARATOR + sign(key, message)


def parts_of(key: bytes, text: str, *, now: datetime | None = None) -> list[str] | None:
    """Return the parts of a signed text; None if it was not signed with this key, is too long or no longer valid.

    Args:
        now: the present, for texts that were signed with `until`.
    """
    signed, signature = text[:-_SIGNATURE], text[-_SIGNATURE:]
    message = signed.removesuffix(_SEPARATOR)
    if len(text) > _LONGEST or message == signed or not is_signed(key, message, signature):
        return None
    parts = message.split(_SEPARATOR)
    if now is not None and now.timestamp() >= int(parts.pop()):
        return None
    return parts


def fingerprint(key: str) -> int:
    """Return a number that distinguishes keys and does not reveal them."""
    return int.from_bytes(derive_key(key, "fingerprint")[:8]) >> 1


def read_keys(file: Path) -> list[str]:
    """Return the keys in a file; none if there is no such file, or if a crash cut it off."""
    try:
        return split_keys(file.read_text("utf-8"))
    except (OSError, ValueError):
        return []


def split_keys(text: str) -> list[str]:
    """Return the keys in the text of the setting or file; raise `ValueError` if one is too short."""
    return str(setting_fields()["secret_key"]["parse"](text)).split()


class KeyFile:
    """The file of the service key, which this process reads again when another one has replaced it."""

    def __init__(self, file: Path | None, clock: Clock) -> None:
        self._file, self._clock = file, clock
        self._stamp: tuple[int, int] | None = None
        self._due = 0.0

    def read_new(self, *, seldom: bool = False) -> list[str]:
        """Return the keys in the file if it was replaced since the last call, else none.

        Args:
            seldom: check the file only every half second: that would cost a page of ten results 1 % of its time.
        """
        now = self._clock.monotonic()
        if self._file is None or (seldom and now < self._due):
            return []
        self._due = now + _CHECK_SECONDS
        try:
            status = self._file.stat()
        except OSError:  # processes that have read the key do without the file
            return []
        stamp = (status.st_ino, status.st_mtime_ns)
        keys = [] if stamp == self._stamp else read_keys(self._file)
        if keys:
            self._stamp = stamp
        return keys


def known_keys(settings: Settings) -> tuple[str, ...]:
    """Return the service key and the former ones, in the file as it is now and in this process."""
    in_file = [] if settings.key_file is None else read_keys(settings.key_file)
    return tuple(dict.fromkeys([*in_file, settings.secret_key, *settings.former_keys]))


def stored_fingerprint(session: Session | Connection) -> int | None:
    """Return the fingerprint of the key that the database is encrypted with; None before anything was encrypted."""
    return read_counter(session, _NAME)


def claim(session: Session, settings: Settings) -> int:
    """Return the database's fingerprint; on first use, store that of the present key."""
    stored = stored_fingerprint(session)
    if stored is None:
        row = {"name": _NAME, "value": fingerprint(settings.secret_key)}
        session.execute(insert_into(LibraryState, session).values(row).on_conflict_do_nothing())
        stored = stored_fingerprint(session)
    return stored or 0


def encrypting_keys(session: Session, settings: Settings) -> tuple[str, ...]:
    """Return the known keys, to encrypt new secrets with the first of them.

    Raises:
        OtherServiceKeyError: the secrets of the database are encrypted with a key that this process does not have.
    """
    keys = known_keys(settings)
    if claim(session, settings) not in map(fingerprint, keys):
        raise OtherServiceKeyError
    return keys


def check_key(settings: Settings, stored: int) -> None:
    """Raise `OtherServiceKeyError` unless this process has the database's key; log whether it is a former one."""
    if stored == fingerprint(settings.secret_key):
        return
    if stored not in map(fingerprint, known_keys(settings)):
        place = "PHOTOSVC_SECRET_KEY" if settings.key_file is None else "the file secret_key of the instance folder"
        msg = (
            f"The database belongs to another service key than this process has: put the right one into {place}. "
            "If it is lost, run `svc keys rotate --service --old-key-is-lost`."
        )
        raise OtherServiceKeyError(msg)
    _LOG.warning("secrets are still encrypted with a former service key: run svc keys rotate --service")


def seal(keys: tuple[str, ...], secret: str, *, purpose: str, owner: object) -> str:
    """Encrypt a secret for a purpose and an owner, so that it cannot be moved to the row of another account."""
    return _box(keys, purpose, owner).encrypt(secret.encode()).decode()


def open_secret(keys: tuple[str, ...], sealed: str, *, purpose: str, owner: object) -> str | None:
    """Return a secret that one of these keys encrypted for this purpose and owner; None if no key fits."""
    try:
        return _box(keys, purpose, owner).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _box(keys: tuple[str, ...], purpose: str, owner: object) -> MultiFernet:
    derived = (derive_key(key, f"{purpose} of {owner}") for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])


@contextmanager
def replacing(settings: Settings) -> Iterator[None]:
    """Keep other processes of this machine from replacing the key in the block; raise `ConflictError` if one does."""
    if settings.key_file is None:
        yield
        return
    with exclusive_lock(settings.key_file.with_name("secret_key.lock"), "the service key is being replaced already"):
        yield


def add_key(settings: Settings) -> None:
    """Write a new key before the others into the file; other processes notice it with their next request.

    Raises:
        InvalidValueError: the key is a setting.
        OSError: the file cannot be written; nothing has changed.
    """
    if settings.key_file is None:
        origin = settings.origins.get("secret_key", "app")
        msg = (
            f"PHOTOSVC_SECRET_KEY is set ({origin}): put a new key and a space before the present one there, restart "
            "the service, and run this again"
        )
        raise InvalidValueError(msg, field="key")
    file = settings.key_file.resolve()
    keys, owner, fresh = (secrets.token_hex(32), *known_keys(settings)), file.stat(), file.with_name("secret_key.next")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        if os.geteuid() == 0:  # run by the administrator of the machine
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        stream.write("\n".join(keys))
        stream.flush()
        os.fsync(descriptor)
    fresh.replace(file)
    flush_folder(file.parent)


@dataclass(frozen=True, slots=True)
class Replaced:
    """The outcome of a replacement of the service key."""

    accounts: int
    """Accounts with a second factor that is encrypted with the new key."""
    lost: int
    """Accounts whose second factor cannot be decrypted by a known key; it stays unchanged."""


def encrypt_again(session: Session, settings: Settings, *, lost: bool = False) -> Replaced:
    """Encrypt all secrets of the database with the first of the known keys.

    Args:
        lost: continue although the database is encrypted with a key that no longer exists anywhere.

    Raises:
        OtherServiceKeyError: the database is encrypted with an unknown key.
    """
    keys = known_keys(settings)
    stored = session.scalar(select(LibraryState.value).where(LibraryState.name == _NAME).with_for_update())
    if not lost and stored not in {None, *map(fingerprint, keys)}:
        raise OtherServiceKeyError
    lost_factors = factors = 0
    for column, owner, purpose in _SEALED:
        for name, sealed in session.execute(select(owner, column).where(column != "").order_by(owner)).all():
            factors += purpose == SECOND_FACTOR
            try:
                fresh = _box(keys, purpose, name).rotate(sealed.encode()).decode()
            except InvalidToken:
                lost_factors += purpose == SECOND_FACTOR
            else:
                own = (owner == name, column == sealed)  # the account may have enrolled again meanwhile
                session.execute(update(column.class_).where(*own).values({column.key: fresh}))
    set_counters(session, {_NAME: fingerprint(keys[0])})
    return Replaced(factors - lost_factors, lost_factors)
