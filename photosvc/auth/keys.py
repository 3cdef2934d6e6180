"""The service key: keys derived from it for single purposes, the secrets it encrypts, and its replacement.

The key is the file `secret_key` of the instance folder, or a setting. It signs links and encrypts second factors. The
database stores its fingerprint. During a replacement there is a second key beside it. Processes read both files when
they need a secret, so either key may have encrypted it.

A replacement has three steps, and may be killed after each of them:

1. `prepare` writes the new key to `secret_key.next`.
2. `encrypt_again` encrypts all secrets with it and stores its fingerprint, in one transaction.
3. `put_in_place` renames it to `secret_key`, which ends the links that were signed with the old key.

Until the third step the old key stays in place. After the second, another run continues with the waiting key.
"""

import base64
import hashlib
import hmac
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, delete, or_, select, text, update
from sqlalchemy.orm import Session

from photosvc.auth.errors import OtherServiceKeyError
from photosvc.core.errors import InvalidValueError
from photosvc.core.machine import exclusive_lock
from photosvc.core.paths import flush_folder
from photosvc.models import LibraryState, RecoveryCode, StoredKey, User, named_number, set_named_numbers
from photosvc.models.statements import insert_into
from photosvc.settings import Settings, setting_fields

_NONCE = 12
_LOG = logging.getLogger("photosvc")
#: Purposes of the derived keys.
SECOND_FACTOR, RECOVERY_CODES, RECOVERY_KEY = "second factor", "recovery codes", "recovery key"
SIGNING_KEYS = "signing keys"


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


#: Name of the row that holds the fingerprint.
_NAME: Final = "service_key"


def fingerprint(key: str) -> int:
    """Return a number that distinguishes keys and does not reveal them."""
    return int.from_bytes(derive_key(key, "fingerprint")[:8]) >> 1


def known_keys(settings: Settings) -> list[str]:
    """Return the key of this process, the key in the file, and the key of a replacement under way or interrupted."""
    if settings.key_file is None:
        return [settings.secret_key]
    # The waiting file is read first: a key that is renamed to its place between the two reads is then still found.
    waiting = read_key(next_file(settings.key_file))
    placed = read_key(settings.key_file)
    return list(dict.fromkeys(filter(None, [settings.secret_key, placed, waiting])))


def stored_fingerprint(session: Session | Connection) -> int | None:
    """Return the fingerprint of the key that the database is encrypted with; None before anything was encrypted."""
    return named_number(session, _NAME)


def encrypting_key(session: Session, settings: Settings) -> str:
    """Return the key to encrypt new secrets with; no replacement can overtake the session's write transaction.

    Lock the account's row first: in the other order, the transaction and a replacement could wait for each other.

    Raises:
        OtherServiceKeyError: the secrets of the database are encrypted with a key that this process does not have.
    """
    present = claim(session, settings, exclusive=False)
    found = next((key for key in known_keys(settings) if fingerprint(key) == present), None)
    if found is None:
        raise OtherServiceKeyError
    return found


def claim(session: Session, settings: Settings, *, exclusive: bool) -> int:
    """Lock the row of the database's fingerprint for the write transaction and return the fingerprint.

    On first use, the fingerprint of the present key is stored.
    """
    row = {"name": _NAME, "value": fingerprint(settings.secret_key)}
    session.execute(insert_into(LibraryState, session).values(row).on_conflict_do_nothing())
    locked = select(LibraryState.value).where(LibraryState.name == _NAME).with_for_update(read=not exclusive)
    return session.scalars(locked).one()


def open_secret(settings: Settings, sealed: str, *, purpose: str, owner: str) -> str | None:
    """Return a secret that one of the known keys encrypted; None if none of them fits."""
    return open_by(known_keys(settings), sealed, purpose=purpose, owner=owner)


def open_by(keys: list[str], sealed: str, *, purpose: str, owner: str) -> str | None:
    """Return a secret that one of these keys encrypted for this purpose and owner; None if none of them fits."""
    for key in keys:
        with suppress(ValueError, InvalidTag):
            data = base64.urlsafe_b64decode(sealed.encode("ascii"))
            opened = AESGCM(derive_key(key, purpose)).decrypt(data[:_NONCE], data[_NONCE:], owner.encode("utf-8"))
            return opened.decode("utf-8")
    return None


def seal(key: str, secret: str, *, purpose: str, owner: str) -> str:
    """Encrypt a secret with AES-256-GCM by the key that is derived from `key` for this purpose.

    It is bound to its owner, so that it cannot be moved to the row of another account.
    """
    nonce = secrets.token_bytes(_NONCE)
    sealed = AESGCM(derive_key(key, purpose)).encrypt(nonce, secret.encode("utf-8"), owner.encode("utf-8"))
    return base64.urlsafe_b64encode(nonce + sealed).decode("ascii")


def key_owner(number: int) -> str:
    """Return the owner for which the signing key of this number is encrypted."""
    return f"signing key {number}"


def recovery_keys(settings: Settings, user: User) -> list[bytes]:
    """Return the keys that may have made the digests of an account's recovery codes.

    The codes themselves are not known, so a replacement keeps the key of their digests, encrypted.
    """
    if not user.recovery_key:
        return [derive_key(key, RECOVERY_CODES) for key in known_keys(settings)]
    kept = open_secret(settings, user.recovery_key, purpose=RECOVERY_KEY, owner=user.uid)
    return [] if kept is None else [base64.b64decode(kept)]


def check_key(settings: Settings, stored: int) -> None:
    """Raise `OtherServiceKeyError` unless this process has the database's key; log whether a replacement was killed."""
    if stored == fingerprint(settings.secret_key):
        return
    if stored not in map(fingerprint, known_keys(settings)):
        place = "PHOTOSVC_SECRET_KEY" if settings.key_file is None else "the file secret_key of the instance folder"
        msg = (
            f"The database belongs to another service key than this process has: put the right one into {place}. "
            "If it is lost, run `svc keys rotate --service --old-key-is-lost`."
        )
        raise OtherServiceKeyError(msg)
    _LOG.warning("the replacement of the service key was not finished: run svc keys rotate --service again")


def fit_key(text: str) -> str:
    """Return the text, or raise `ValueError` if it is too short for a key."""
    return str(setting_fields()["secret_key"]["parse"](text))


def next_file(file: Path) -> Path:
    """Return the path of the waiting key: beside the key file, so that it can be renamed to it."""
    return file.resolve().with_name("secret_key.next")


def read_key(file: Path) -> str | None:
    """Return the key in a file; None if there is none, or if a crash cut it off."""
    try:
        return fit_key(file.read_text("utf-8").strip())
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Replaced:
    """The outcome of a replacement of the service key."""

    accounts: int
    """Accounts whose secrets are encrypted with the new key."""
    lost: int
    """Accounts whose secrets no known key opens; these secrets are left as they were."""


@contextmanager
def replacing(settings: Settings) -> Iterator[None]:
    """Keep other processes of this machine from replacing the key in the block; raise `ConflictError` if one does."""
    if settings.key_file is None:
        yield
        return
    with exclusive_lock(settings.key_file.with_name("secret_key.lock"), "the service key is being replaced already"):
        yield


def prepare(settings: Settings, stored: int | None, given: str | None) -> str:
    """Choose the new key and write it safely to the disk: `given`, a random one, or that of an interrupted replacement.

    A replacement was interrupted if its second step was done but not its third.

    Args:
        given: the caller's own key; needed if the key is a setting.

    Raises:
        InvalidValueError: `given` is needed, or cannot be a key.
        OSError: the file cannot be written; nothing has changed.
    """
    try:
        fresh = secrets.token_hex(32) if given is None else fit_key(given)
    except ValueError as error:
        raise InvalidValueError(f"the new key is not valid: {error}", field="key") from None
    if settings.key_file is None:
        if given is None:
            origin = settings.origins.get("secret_key", "app")
            msg = (
                f"PHOTOSVC_SECRET_KEY is set ({origin}): give the new key with --key-stdin, and set it there afterwards"
            )
            raise InvalidValueError(msg, field="key")
        return fresh
    file = next_file(settings.key_file)
    begun = read_key(file)
    if begun is not None and fingerprint(begun) == stored:
        if given not in {None, begun}:
            msg = "a replacement was killed: finish it without --key-stdin before you give another key"
            raise InvalidValueError(msg, field="key")
        return begun
    file.unlink(missing_ok=True)
    _write(file, fresh, like=settings.key_file)
    return fresh


def encrypt_again(session: Session, settings: Settings, fresh: str, *, lost: bool = False) -> Replaced:
    """Encrypt all secrets of the database with the key `fresh`.

    Args:
        fresh: the result of `prepare`.
        lost: continue although the database is encrypted with a key that no longer exists anywhere.

    Raises:
        OtherServiceKeyError: the database is encrypted with an unknown key.
    """
    if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer anyway
        session.execute(text(f"LOCK TABLE {User.__tablename__} IN EXCLUSIVE MODE"))
    stored = claim(session, settings, exclusive=True)
    known = list(dict.fromkeys([*known_keys(settings), fresh]))
    present = next((key for key in known if fingerprint(key) == stored), None)
    if present is None and not lost:
        raise OtherServiceKeyError
    with_codes = select(RecoveryCode.user_id)
    affected = select(User).where(or_(User.totp_secret != "", User.id.in_(with_codes))).order_by(User.id)
    outcomes = [_encrypt_account(session, user, known, present, fresh) for user in session.scalars(affected).all()]
    _encrypt_signing_keys(session, known, fresh)
    set_named_numbers(session, {_NAME: fingerprint(fresh)})
    return Replaced(accounts=outcomes.count(True), lost=outcomes.count(False))


def put_in_place(settings: Settings) -> None:
    """Make the new key the one that all processes read; they notice it with their next request.

    Raises:
        OSError: the folder cannot be written.
    """
    if settings.key_file is not None:
        file = settings.key_file.resolve()
        next_file(file).replace(file)
        flush_folder(file.parent)


def _encrypt_account(session: Session, user: User, known: list[str], present: str | None, fresh: str) -> bool:
    """Encrypt all secrets of the account with `fresh`; return whether a known key opened each of them."""
    values: dict[str, str] = {}
    if user.totp_secret:
        opened = open_by(known, user.totp_secret, purpose=SECOND_FACTOR, owner=user.uid)
        if opened is None:
            return False
        values["totp_secret"] = seal(fresh, opened, purpose=SECOND_FACTOR, owner=user.uid)
    if user.recovery_key:
        kept = open_by(known, user.recovery_key, purpose=RECOVERY_KEY, owner=user.uid)
    else:
        kept = base64.b64encode(derive_key(present or known[0], RECOVERY_CODES)).decode()
    if kept is None:
        return False
    if user.recovery_key or present != fresh:
        values["recovery_key"] = seal(fresh, kept, purpose=RECOVERY_KEY, owner=user.uid)
    session.execute(update(User).where(User.id == user.id).values(values))
    return True


def _encrypt_signing_keys(session: Session, known: list[str], fresh: str) -> None:
    """Encrypt the signing keys again; delete those that no known key opens, so that new ones are made."""
    for row in session.scalars(select(StoredKey).order_by(StoredKey.number)):
        owner = key_owner(row.number)
        opened = open_by(known, row.sealed, purpose=SIGNING_KEYS, owner=owner)
        chosen = StoredKey.number == row.number
        if opened is None:
            session.execute(delete(StoredKey).where(chosen))
        else:
            sealed = seal(fresh, opened, purpose=SIGNING_KEYS, owner=owner)
            session.execute(update(StoredKey).where(chosen).values(sealed=sealed))


def _write(file: Path, key: str, *, like: Path) -> None:
    """Write a key so that it outlives a power cut and belongs to the owner of the file `like`."""
    owner = like.stat()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        if os.geteuid() == 0:  # run by the administrator of the machine
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        stream.write(key)
        stream.flush()
        os.fsync(descriptor)
    flush_folder(file.parent)
