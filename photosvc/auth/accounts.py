"""Operations on accounts: add, change, remove; passwords and second factors, with their security log entries.

Callers hash and check passwords before the write transaction of the operation begins: hashing takes about 20 ms. For an
account that does not exist, operations raise the error of `users.find_user`.

The person who started the service makes the first account of a library in a browser, with a code printed there. The
code is typed, so that no address and no log of a proxy contains it. The instance folder keeps its digest until there is
an account. Starting the service again replaces the code.
"""

import hmac
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from photosvc.auth import audit_log, bearer, second_factor, users
from photosvc.auth.audit_log import Event
from photosvc.auth.errors import OwnSecondFactorError
from photosvc.auth.operation import Operation
from photosvc.core import ids
from photosvc.core.paths import flush_folder, write_flushed
from photosvc.models import User

#: Rights of an account, which its own user cannot change.
_RIGHTS = frozenset({"role", "disabled"})
_FILE: Final = "first_account"
#: No letters and digits that look alike. Eight characters have 39 random bits, and failures are counted.
_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_LENGTH: Final = 8
_LONGEST: Final = 64


def add(operation: Operation, user: User, *, remark: str = "") -> User:
    """Store a new account of `users.new_user`; `remark` is added to the entry of the security log.

    Raises:
        UserExistsError: the name is taken.
    """
    users.add_user(operation.session, user)
    operation.record(Event.USER_ADDED, subject=user, detail=f"role {user.role}{remark}")
    operation.session.refresh(user)
    return user


def change(
    operation: Operation,
    user_uid: str,
    *,
    role: str | None = None,
    display_name: str | None = None,
    email: str | None = None,
    disabled: bool | None = None,
) -> User:
    """Change the given values of an account; its role and whether it is disabled only with the right to change others.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        LastAdminError: no enabled administrator would be left; the command line may do that.
        PermissionDeniedError: the account's own user cannot change its rights, or must confirm the password again.
    """
    user = users.find_user(operation.session, user_uid)
    changes = {"role": role, "display_name": display_name, "email": email, "disabled": disabled}
    if any(changes[name] not in {None, getattr(user, name)} for name in _RIGHTS):
        operation.check_allowed("users.change")
    operation.record(Event.USER_CHANGED, subject=user, detail=audit_log.changes(user, changes))
    return users.change_user(
        operation.session,
        user,
        operation.now,
        role=role,
        display_name=display_name,
        email=email,
        disabled=disabled,
        keep_admin=not operation.is_command,
    )


def remove(operation: Operation, user_uid: str) -> None:
    """Remove an account with all of its credentials.

    Raises:
        LastAdminError: no enabled administrator would be left; the command line may do that.
    """
    user = users.find_user(operation.session, user_uid)
    operation.record(Event.USER_REMOVED, subject=user)
    users.remove_user(operation.session, user, keep_admin=not operation.is_command)


def remove_all(operation: Operation) -> int:
    """Remove every account with all of its credentials; return their number."""
    count = users.remove_all_users(operation.session)
    operation.record(Event.USER_REMOVED, detail=f"all {count} accounts")
    return count


def set_password(operation: Operation, user_uid: str, password_hash: str) -> None:
    """Set the password of an account: its login sessions end, its app passwords stay valid."""
    user = users.find_user(operation.session, user_uid)
    users.set_password(operation.session, user, operation.now, password_hash)
    operation.record(Event.PASSWORD_CHANGED, subject=user)


def change_own_password(operation: Operation, user: User, password_hash: str, *, code: str | None) -> None:
    """Change the password of `find_proven`'s account; its login sessions end except the one of this request.

    Raises:
        LoginError: the code of the second factor is missing or wrong.
    """
    second_factor.require_passcode(operation.session, operation.settings, operation.now, user, code)
    users.set_password(operation.session, user, operation.now, password_hash, keep=operation.credential_id)
    operation.record(Event.PASSWORD_CHANGED, subject=user)


def confirm_password(operation: Operation, _user: User) -> None:
    """Store that the password was sent: for the next hour, an administrator may change other accounts."""
    bearer.renew_proof(operation.session, operation.credential_id or 0, operation.now)


def start_second_factor(operation: Operation, user: User) -> second_factor.Enrolment:
    """Start to set up two-factor authentication; log-in asks for codes after the first one was confirmed.

    Raises:
        SecondFactorStateError: two-factor authentication is on already.
    """
    enrolment = second_factor.enrol(operation.session, operation.settings, operation.now, user)
    operation.record(Event.SECOND_FACTOR_STARTED, subject=user)
    return enrolment


def confirm_second_factor(operation: Operation, user_uid: str, code: str) -> tuple[str, ...]:
    """Turn two-factor authentication on with a first code; return the recovery codes, which are shown only once.

    Login sessions of the account end except the one of this request; its app passwords stay valid.

    Raises:
        InvalidPasscodeError: the code is wrong.
        SecondFactorStateError: nothing was started, or it is on already.
    """
    user = users.find_user(operation.session, user_uid)
    codes = second_factor.confirm(operation.session, operation.settings, operation.now, user, code=code)
    bearer.end_login_sessions(operation.session, user.id, keep=operation.credential_id)
    operation.record(Event.SECOND_FACTOR_ON, subject=user)
    return codes


def end_second_factor(operation: Operation, user: User, *, code: str | None) -> None:
    """Turn two-factor authentication of the own account off.

    Raises:
        LoginError: the code is missing or wrong.
    """
    second_factor.require_passcode(operation.session, operation.settings, operation.now, user, code)
    _turn_off(operation, user)


def reset_second_factor(operation: Operation, user_uid: str) -> None:
    """Turn two-factor authentication off for an account whose owner lost both the phone and the recovery codes.

    Raises:
        OwnSecondFactorError: it is the administrator's own account.
    """
    user = users.find_user(operation.session, user_uid)
    if operation.principal is not None and user.uid == operation.principal.user_uid:
        raise OwnSecondFactorError
    _turn_off(operation, user)


def _turn_off(operation: Operation, user: User) -> None:
    second_factor.reset(operation.session, operation.now, user)
    operation.record(Event.SECOND_FACTOR_OFF, subject=user)


def has_accounts(connection: Connection | Session) -> bool:
    """Return whether there is any account."""
    return connection.scalar(select(User.id).limit(1)) is not None


def offer(instance: Path) -> str:
    """Make and return a new code, which replaces the previous one."""
    code = ids.random_text(_LENGTH, _ALPHABET)
    temporary = instance / f".{_FILE}.{secrets.token_hex(8)}"
    write_flushed(temporary, ids.digest(code).encode())
    temporary.replace(instance / _FILE)
    flush_folder(instance)
    return f"{code[:4]}-{code[4:]}"


def is_offered(instance: Path) -> bool:
    """Return whether a code is stored."""
    return (instance / _FILE).is_file()


def is_code(instance: Path, typed: str) -> bool:
    """Return whether `typed` is the code, in any case and with any blanks and dashes."""
    plain = "".join(typed[:_LONGEST].replace("-", " ").split()).upper()
    try:
        stored = (instance / _FILE).read_text("ascii").strip()
    except (OSError, ValueError):
        return False
    return hmac.compare_digest(ids.digest(plain), stored)


def withdraw(instance: Path) -> None:
    """Delete the code if there is one."""
    with suppress(OSError):
        (instance / _FILE).unlink(missing_ok=True)
