"""The service key: the secrets of the database that it encrypts, and which one they are encrypted with.

The key is the file `secret_key` of the instance folder, or a setting. It signs links and encrypts second factors. The
database knows its fingerprint. While it is replaced (`auth.key_replacement`), there is a second key beside it.
Processes read both files where they need a secret: it makes no difference to them which of the two encrypted it.
"""

import base64
import logging
import secrets
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from photosvc.auth.errors import OtherServiceKeyError
from photosvc.auth.keys import decrypt, derive_key, encrypt
from photosvc.models import LibraryState, User
from photosvc.models.database.inserts import insert_into
from photosvc.settings import Settings, setting_fields

_LOG = logging.getLogger("photosvc")

#: What the derived keys are for.
SECOND_FACTOR, RECOVERY_CODES, RECOVERY_KEY = "second factor", "recovery codes", "recovery key"
SIGNING_KEYS = "signing keys"
#: The row of the fingerprint.
_NAME: Final = "service_key"


def fingerprint(key: str) -> int:
    """A number that tells keys apart and does not reveal them."""
    return int.from_bytes(derive_key(key, "fingerprint")[:8]) >> 1


def known_keys(settings: Settings) -> list[str]:
    """The key of this process, that of the file, and that of a replacement which is under way or was killed."""
    if settings.key_file is None:
        return [settings.secret_key]
    # The waiting file first: a key that is renamed to its place between the two reads is then still found.
    waiting = read_key(next_file(settings.key_file))
    placed = read_key(settings.key_file)
    return list(dict.fromkeys(filter(None, [settings.secret_key, placed, waiting])))


def stored_fingerprint(session: Session | Connection) -> int | None:
    """The fingerprint of the key that the database is encrypted with; None before anything was."""
    found: int | None = session.scalar(select(LibraryState.value).where(LibraryState.name == _NAME))
    return found


def encrypting_key(session: Session, settings: Settings) -> str:
    """The key to encrypt new secrets with; no replacement passes it until the session's write transaction ends.

    Lock the row of the account before: in the other order, the transaction and a replacement could wait for each other.

    Raises:
        OtherServiceKeyError: the secrets of the database are encrypted with a key that this process does not have.

    """
    present = claim(session, settings, exclusive=False)
    found = next((key for key in known_keys(settings) if fingerprint(key) == present), None)
    if found is None:
        raise OtherServiceKeyError
    return found


def claim(session: Session, settings: Settings, *, exclusive: bool) -> int:
    """The fingerprint in the database, whose row the write transaction locks; on first use that of the present key."""
    row = {"name": _NAME, "value": fingerprint(settings.secret_key)}
    session.execute(insert_into(LibraryState, session).values(row).on_conflict_do_nothing())
    locked = select(LibraryState.value).where(LibraryState.name == _NAME).with_for_update(read=not exclusive)
    return session.scalars(locked).one()


def store_fingerprint(session: Session, key: str) -> None:
    """Say that the secrets are encrypted with this key from now on."""
    session.execute(update(LibraryState).where(LibraryState.name == _NAME).values(value=fingerprint(key)))


def open_secret(settings: Settings, sealed: str, *, purpose: str, owner: str) -> str | None:
    """A secret that one of the known keys encrypted; None where none fits."""
    return open_by(known_keys(settings), sealed, purpose=purpose, owner=owner)


def open_by(keys: list[str], sealed: str, *, purpose: str, owner: str) -> str | None:
    """A secret that one of these keys encrypted; None where none fits."""
    opened = (decrypt(derive_key(key, purpose), sealed, owner=owner) for key in keys)
    return next((secret for secret in opened if secret is not None), None)


def seal(key: str, secret: str, *, purpose: str, owner: str) -> str:
    """A secret, encrypted for its owner with what is derived from `key` for this purpose."""
    return encrypt(derive_key(key, purpose), secret, owner=owner, nonce=secrets.token_bytes(12))


def key_owner(number: int) -> str:
    """What the signing key of this number is encrypted for."""
    return f"signing key {number}"


def recovery_keys(settings: Settings, user: User) -> list[bytes]:
    """The keys that the digests of an account's recovery codes may be made with.

    The codes themselves are not known, so a replacement keeps the key of their digests, encrypted.
    """
    if not user.recovery_key:
        return [derive_key(key, RECOVERY_CODES) for key in known_keys(settings)]
    kept = open_secret(settings, user.recovery_key, purpose=RECOVERY_KEY, owner=user.uid)
    return [] if kept is None else [base64.b64decode(kept)]


def check_key(settings: Settings, stored: int) -> None:
    """Make sure that this process has the key of the database; logs that a replacement was killed.

    Args:
        settings: say which keys it has.
        stored: the fingerprint in the database.

    Raises:
        OtherServiceKeyError: it has not; the message says where the key belongs.

    """
    if stored == fingerprint(settings.secret_key):
        return
    if stored not in map(fingerprint, known_keys(settings)):
        raise OtherServiceKeyError(_message(settings))
    _LOG.warning("the replacement of the service key was not finished: run svc keys rotate --service again")


def _message(settings: Settings) -> str:
    place = "PHOTOSVC_SECRET_KEY" if settings.key_file is None else "the file secret_key of the instance folder"
    return (
        f"The database belongs to another service key than this process has: put the right one into {place}. "
        "If it is lost, run `svc keys rotate --service --old-key-is-lost`."
    )


def fit_key(text: str) -> str:
    """The text, if it can be a key.

    Raises:
        ValueError: it is too short.

    """
    return str(setting_fields()["secret_key"]["parse"](text))


def next_file(file: Path) -> Path:
    """Where the new key waits: beside the real file, so that it can be renamed to it."""
    return file.resolve().with_name("secret_key.next")


def read_key(file: Path) -> str | None:
    """The key in a file; None where there is none, or one that a crash cut off."""
    try:
        return fit_key(file.read_text("utf-8").strip())
    except (OSError, ValueError):
        return None
