"""The replacement of the service key by another, in three steps, after each of which it may be killed.

1. `prepare` writes the new key to `secret_key.next`.
2. `encrypt_again` encrypts all secrets with it and stores its fingerprint, in one transaction.
3. `put_in_place` renames it to `secret_key`, which ends the links that were signed with the old key.

Until the third, the old key stays where it was. After the second, another run continues with the key that waits.
"""

import base64
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, or_, select, text, update
from sqlalchemy.orm import Session

from photosvc.auth.errors import OtherServiceKeyError
from photosvc.auth.keys import derive_key
from photosvc.auth.service_key import (
    RECOVERY_CODES,
    RECOVERY_KEY,
    SECOND_FACTOR,
    SIGNING_KEYS,
    claim,
    fingerprint,
    fit_key,
    key_owner,
    known_keys,
    next_file,
    open_by,
    read_key,
    seal,
    store_fingerprint,
)
from photosvc.core.errors import InvalidValueError
from photosvc.core.folders.flushed import flush_folder
from photosvc.core.locks.lock import exclusive_lock
from photosvc.models import RecoveryCode, StoredKey, User
from photosvc.settings import Settings


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a replacement did."""

    accounts: int
    """Whose secrets are encrypted with the new key."""
    lost: int
    """Whose secrets no known key opens; they are left as they were."""


@contextmanager
def replacing(settings: Settings) -> Iterator[None]:
    """Let no other process of this machine replace the key meanwhile.

    Raises:
        ConflictError: one does.

    """
    if settings.key_file is None:
        yield
        return
    with exclusive_lock(settings.key_file.with_name("secret_key.lock"), "the service key is being replaced already"):
        yield


def prepare(settings: Settings, stored: int | None, given: str | None) -> str:
    """The new key, safe on the disk: `given`, or a random one, or that of a replacement whose second step was done.

    Args:
        settings: say where the key is.
        stored: the fingerprint in the database.
        given: a key of the caller's; needed where the key is no file.

    Raises:
        InvalidValueError: `given` is needed, or is not fit for a key.
        OSError: the file cannot be written; nothing has changed.

    """
    try:
        fresh = secrets.token_hex(32) if given is None else fit_key(given)
    except ValueError as error:
        msg = f"the new key is not valid: {error}"
        raise InvalidValueError(msg, field="key") from None
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
        session: that of a write transaction, which has to hold all of it.
        settings: have the old key.
        fresh: what `prepare` gave.
        lost: go on although the database is encrypted with a key that no longer exists anywhere.

    Raises:
        OtherServiceKeyError: it is encrypted with another key than the known ones.

    """
    if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer anyway
        session.execute(text(f"LOCK TABLE {User.__tablename__} IN EXCLUSIVE MODE"))
    stored = claim(session, settings, exclusive=True)
    known = list(dict.fromkeys([*known_keys(settings), fresh]))
    present = next((key for key in known if fingerprint(key) == stored), None)
    if present is None and not lost:
        raise OtherServiceKeyError
    outcomes = [_encrypt_account(session, user, known, present, fresh) for user in _accounts(session)]
    _encrypt_signing_keys(session, known, fresh)
    store_fingerprint(session, fresh)
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


def _accounts(session: Session) -> list[User]:
    with_codes = select(RecoveryCode.user_id)
    affected = select(User).where(or_(User.totp_secret != "", User.id.in_(with_codes))).order_by(User.id)
    return list(session.scalars(affected))


def _encrypt_account(session: Session, user: User, known: list[str], present: str | None, fresh: str) -> bool:
    """Whether a known key opened all secrets of the account, which `fresh` encrypts then."""
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
    """Encrypt the signing keys; those that no known key opens are useless and are replaced by new ones."""
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
    """Write a key so that it outlives a power cut, for the account that the present one belongs to."""
    owner = like.stat()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        if os.geteuid() == 0:  # run by the administrator of the machine
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        stream.write(key)
        stream.flush()
        os.fsync(descriptor)
    flush_folder(file.parent)
