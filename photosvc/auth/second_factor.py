"""Two-factor authentication, and the password that is sent again to confirm a change.

The second factor is a time-based code (RFC 6238), accepted once, or a recovery code.

Like a log-in, the proof of a password has two steps: `prove_password` does the slow hashing, outside of any write
transaction; then `find_proven` makes sure, inside the transaction of the change, that the password is still the one
that was checked. The functions that take an `Operation` write its entry of the security log.
"""

import base64
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, not_, update
from sqlalchemy.orm import Session

from photosvc.auth.audit import Event
from photosvc.auth.credentials import end_login_sessions
from photosvc.auth.errors import (
    InvalidCredentialsError,
    InvalidPasscodeError,
    OwnSecondFactorError,
    PasscodeRequiredError,
    SecondFactorStateError,
)
from photosvc.auth.operation import Operation
from photosvc.auth.passwords import verify_password
from photosvc.auth.service_key import (
    RECOVERY_CODES,
    SECOND_FACTOR,
    derive_key,
    encrypting_keys,
    known_keys,
    open_secret,
    seal,
    sign,
)
from photosvc.core import ids
from photosvc.core.accounts import BY_PASSCODE, BY_RECOVERY_CODE
from photosvc.models import RecoveryCode, User

STEP_SECONDS = 30
#: Accepted steps before and after the present one: clocks differ (RFC 6238 section 5.2).
_SKEW = 1
_RECOVERY_CODES = 10
_RECOVERY_LENGTH = 16
_TOTP_CODE = re.compile(r"[0-9]{6}\Z")
_RECOVERY_CODE = re.compile(r"[0-9a-z]{16}\Z")
_MAX_CODE = 64
#: Column values of an account without a second factor.
_NONE: Final = {"totp_secret": "", "totp_confirmed": False}


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The secret for an authenticator app, in three forms; shown only once."""

    secret: str
    """Base 32, for typing."""
    uri: str
    """The same as an `otpauth://` URI."""
    qr_svg: str
    """The URI as a QR code."""


def enrol(operation: Operation, user: User) -> Enrolment:
    """Start to set up two-factor authentication: log-in asks for codes only after `confirm`.

    Raises:
        SecondFactorStateError: the second factor is on already.
        OtherServiceKeyError: this process does not have the key that secrets are encrypted with.
    """
    import pyotp
    import segno

    session, settings = operation.session, operation.settings
    secret = base64.b32encode(secrets.token_bytes(20)).decode("ascii")
    uri = pyotp.TOTP(secret).provisioning_uri(name=user.name, issuer_name=settings.site_name)
    session.refresh(user, with_for_update=True)
    sealed = seal(encrypting_keys(session, settings), secret, purpose=SECOND_FACTOR, owner=user.uid)
    changed = session.scalar(
        update(User)
        .where(User.id == user.id, not_(User.totp_confirmed))
        .values(totp_secret=sealed, totp_last_step=0, updated_at=operation.now)
        .returning(User.id)
    )
    if changed is None:
        raise SecondFactorStateError
    operation.record(Event.SECOND_FACTOR_STARTED, subject=user)
    return Enrolment(secret, uri, segno.make(uri, error="m", micro=False).svg_inline(scale=4, border=2))


def confirm(operation: Operation, user: User, *, code: str) -> tuple[str, ...]:
    """Turn the second factor on with a first code; return the recovery codes, which are shown only once.

    Login sessions of the account end except the one of this request; its app passwords stay valid.

    Raises:
        InvalidPasscodeError: the code is wrong.
        SecondFactorStateError: no secret is enrolled, or it is confirmed already.
        OtherServiceKeyError: this process does not have the key that secrets are encrypted with.
    """
    session, now = operation.session, operation.now
    session.refresh(user, with_for_update=True)
    key = derive_key(encrypting_keys(session, operation.settings)[0], RECOVERY_CODES)
    if user.totp_confirmed or not user.totp_secret:
        raise SecondFactorStateError
    if not _use_totp(operation, user, _plain(code)):
        raise InvalidPasscodeError(field="code")
    user.totp_confirmed, user.updated_at = True, now
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    codes = [ids.random_text(_RECOVERY_LENGTH, ids.BASE36) for _ in range(_RECOVERY_CODES)]
    session.add_all(RecoveryCode(user_id=user.id, digest=_digest(key, user, code), created_at=now) for code in codes)
    session.flush()
    end_login_sessions(session, user.id, keep=operation.credential_id)
    operation.record(Event.SECOND_FACTOR_ON, subject=user)
    return tuple("-".join(code[start : start + 4] for start in range(0, _RECOVERY_LENGTH, 4)) for code in codes)


def use_passcode(operation: Operation, user: User, code: str) -> str:
    """Use up a time-based or recovery code and return its kind; raise `InvalidPasscodeError` if it is wrong or used."""
    plain = _plain(code)
    if _use_totp(operation, user, plain):
        return BY_PASSCODE
    if _use_recovery(operation, user, plain):
        return BY_RECOVERY_CODE
    raise InvalidPasscodeError(field="code")


def require_passcode(operation: Operation, user: User, code: str | None) -> str | None:
    """Use a code as `use_passcode` does; return None for an account without a second factor, whatever the `code`.

    Raises:
        PasscodeRequiredError: there is no code.
        InvalidPasscodeError: it is wrong, or was used before.
    """
    if not user.totp_confirmed:
        return None
    if not code:
        raise PasscodeRequiredError(field="code")
    operation.session.refresh(user, with_for_update=True)
    return use_passcode(operation, user, code)


def end(operation: Operation, user: User, *, code: str | None) -> None:
    """Turn the own account's second factor off; raise `LoginError` if the code is missing or wrong."""
    require_passcode(operation, user, code)
    _turn_off(operation, user)


def reset(operation: Operation, user: User) -> None:
    """Turn two-factor authentication off for an account whose owner lost both the phone and the recovery codes.

    Raises:
        OwnSecondFactorError: it is the administrator's own account.
    """
    if operation.principal is not None and user.uid == operation.principal.user_uid:
        raise OwnSecondFactorError
    _turn_off(operation, user)


def _turn_off(operation: Operation, user: User) -> None:
    user_id = user.id
    operation.session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    operation.session.execute(update(User).where(User.id == user_id).values(**_NONE, updated_at=operation.now))
    operation.record(Event.SECOND_FACTOR_OFF, subject=user)


def _use_totp(operation: Operation, user: User, code: str) -> bool:
    import pyotp

    secret = open_secret(known_keys(operation.settings), user.totp_secret, purpose=SECOND_FACTOR, owner=user.uid)
    if secret is None or not _TOTP_CODE.match(code):
        return False
    present = int(operation.now.timestamp()) // STEP_SECONDS
    totp = pyotp.TOTP(secret)
    steps = [
        step
        for step in range(present - _SKEW, present + _SKEW + 1)
        if hmac.compare_digest(totp.generate_otp(step), code)
    ]
    # One conditional statement: of two requests with the same code, the second finds the step already used.
    return any(
        operation.session.scalar(
            update(User)
            .where(User.id == user.id, User.totp_secret == user.totp_secret, User.totp_last_step < step)
            .values(totp_last_step=step)
            .returning(User.id)
        )
        is not None
        for step in steps
    )


def _use_recovery(operation: Operation, user: User, code: str) -> bool:
    if not _RECOVERY_CODE.match(code):
        return False
    keys = [derive_key(key, RECOVERY_CODES) for key in known_keys(operation.settings)]
    digests = [_digest(key, user, code) for key in keys]
    spent = operation.session.scalar(
        delete(RecoveryCode)
        .where(RecoveryCode.user_id == user.id, RecoveryCode.digest.in_(digests))
        .returning(RecoveryCode.id)
    )
    return spent is not None


def _plain(code: str) -> str:
    return re.sub(r"[\s-]", "", code[:_MAX_CODE]).lower()


def _digest(key: bytes, user: User, code: str) -> str:
    # 82 random bits are too few for a plain hash (ASVS 6.5.2). With a key, a stolen database reveals no code.
    return sign(key, f"{user.uid} {code}")


def prove_password(user: User, password: str, *, field: str = "password") -> None:
    """Raise `InvalidCredentialsError`, which names `field`, unless `password` is the account's.

    This takes about 20 ms: call it before a write transaction.
    """
    if not verify_password(password, user.password_hash):
        raise InvalidCredentialsError(field=field)


def find_proven(session: Session, proven: User, *, field: str = "password") -> User:
    """Return the account whose password was checked, locked until the session's write transaction ends.

    Raises:
        InvalidCredentialsError: the password was changed, or the account removed, meanwhile; the error names `field`.
    """
    user = session.get(User, proven.id, with_for_update=True, populate_existing=True)
    if user is None or user.password_version != proven.password_version:
        raise InvalidCredentialsError(field=field)
    return user
