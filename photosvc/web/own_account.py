"""Changes of an account that its own user confirms with the password, from the API or the web page."""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from photosvc.auth import audit_log, bearer, passwords, second_factor, users
from photosvc.auth.audit_log import Event
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.auth.second_factor import find_proven, prove_password
from photosvc.models import APP_PASSWORD, LOGIN_SESSION, User
from photosvc.records.accounts import CredentialSchema
from photosvc.web.auditing import record
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.sessions import proving

Answer = TypeVar("Answer")
_CREDENTIAL = CredentialSchema()


def change_names(user_uid: str, *, display_name: str, email: str) -> None:
    """Change the display name and the email address of the account.

    Raises:
        InvalidValueError: a value is not valid.

    """
    service, changes = current_service(), {"display_name": display_name, "email": email}
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        record(session, Event.USER_CHANGED, subject=user, detail=audit_log.changes(user, changes))
        users.change_user(session, user, service.now(), display_name=display_name, email=email)


def add_app_password(user_uid: str, *, name: str, scope: str, lifetime: int, password: str) -> dict[str, Any]:
    """Create an app password; return its record, the only one with the secret.

    Args:
        user_uid: the UID of the account.
        name: the name of the app or device.
        scope: its scopes.
        lifetime: seconds, or -1.
        password: the password of the account.

    Raises:
        InvalidValueError: a value is not valid, or the password is wrong.
        AppPasswordLimitError: the account has as many app passwords as it may have.
        ThrottledError: too many passwords were wrong.

    """
    wanted = parse_scope(scope)
    check_grantable(principal(), wanted)

    def change(session: Session, user: User) -> dict[str, Any]:
        now = current_service().now()
        bearer.require_room(session, now, user)
        issued = bearer.issue(session, now, user=user, name=name, scope=wanted, lifetime=lifetime)
        made = issued.credential
        detail = audit_log.credential(made)
        record(session, Event.CREDENTIAL_MADE, subject=user, target=made.uid, detail=detail)
        return {**_CREDENTIAL.dump(made), "secret": issued.secret}

    return _proven(user_uid, password, change)


def remove_app_password(user_uid: str, credential: str) -> None:
    """Revoke an app password of the account, and the login sessions made from it.

    Raises:
        NotFoundError: the account has no app password of this UID.

    """
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        found = bearer.find_owned(session, user, APP_PASSWORD, credential)
        detail = audit_log.credential(found)
        record(session, Event.CREDENTIAL_ENDED, subject=user, target=found.uid, detail=detail)
        bearer.revoke(session, found.id)


def end_session(user_uid: str, credential: str) -> None:
    """End a login session of the account, at once on all workers.

    Raises:
        NotFoundError: the account has no login session of this UID.

    """
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        found = bearer.find_owned(session, user, LOGIN_SESSION, credential)
        bearer.revoke(session, found.id)
        record(session, Event.SESSION_ENDED, subject=user, target=found.uid)


def end_other_sessions(user_uid: str) -> int:
    """End all login sessions of the account except the one of this request; return their number."""
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        ended = bearer.end_sessions(session, user, keep=principal().credential_id)
        record(session, Event.SESSION_ENDED, subject=user, detail=f"all others ({ended})")
    return ended


def change_own_password(user_uid: str, *, old: str, new: str, code: str | None) -> None:
    """Change the password; other login sessions of the account end, its app passwords stay valid.

    Raises:
        InvalidValueError: the old password, the new one or the code of the second factor is not valid.
        ThrottledError: too many passwords were wrong.

    """
    service, who = current_service(), principal()
    with service.loading() as session:
        user = users.find_user(session, user_uid)
    with proving():
        prove_password(user, old, field="old")
        fresh = passwords.new_hash(new, user_name=user.name, field="new")
        with service.writing() as session:
            user = find_proven(session, user, field="old")
            second_factor.require_passcode(session, service.settings, service.now(), user, code)
            users.set_password(session, user, service.now(), fresh, keep=who.credential_id)
            record(session, Event.PASSWORD_CHANGED, subject=user)


def confirm_password(user_uid: str, password: str) -> None:
    """Check the account's password again: for the next hour, an administrator may change other accounts.

    Raises:
        InvalidValueError: the password is wrong.
        ThrottledError: too many passwords were wrong.

    """

    def change(session: Session, _user: User) -> None:
        bearer.renew_proof(session, principal().credential_id, current_service().now())

    _proven(user_uid, password, change)


def start_second_factor(user_uid: str, password: str) -> second_factor.Enrolment:
    """Start to set up two-factor authentication; log-in asks for codes after the first one was confirmed.

    Raises:
        InvalidValueError: the password is wrong.
        SecondFactorStateError: two-factor authentication is on already.
        ThrottledError: too many passwords were wrong.

    """

    def change(session: Session, user: User) -> second_factor.Enrolment:
        service = current_service()
        enrolment = second_factor.enrol(session, service.settings, service.now(), user)
        record(session, Event.SECOND_FACTOR_STARTED, subject=user)
        return enrolment

    return _proven(user_uid, password, change)


def confirm_second_factor(user_uid: str, code: str) -> tuple[str, ...]:
    """Turn two-factor authentication on with a first code; return the recovery codes, which are shown only once.

    Other login sessions of the account end; its app passwords stay valid.

    Raises:
        InvalidValueError: the code is wrong.
        SecondFactorStateError: nothing was started, or it is on already.
        ThrottledError: too many codes were wrong.

    """
    service = current_service()
    with proving(), service.writing() as session:
        user = users.find_user(session, user_uid)
        codes = second_factor.confirm(session, service.settings, service.now(), user, code=code)
        bearer.end_login_sessions(session, user.id, keep=principal().credential_id)
        record(session, Event.SECOND_FACTOR_ON, subject=user)
    return codes


def end_second_factor(user_uid: str, *, password: str, code: str | None) -> None:
    """Turn two-factor authentication off.

    Raises:
        InvalidValueError: the password or the code is wrong.
        ThrottledError: too many passwords or codes were wrong.

    """

    def change(session: Session, user: User) -> None:
        service = current_service()
        second_factor.require_passcode(session, service.settings, service.now(), user, code)
        second_factor.reset(session, service.now(), user)
        record(session, Event.SECOND_FACTOR_OFF, subject=user)

    _proven(user_uid, password, change)


def _proven(user_uid: str, password: str, change: Callable[[Session, User], Answer]) -> Answer:
    """Check the account's password; return the result of `change` in a transaction in which it is still the same."""
    service = current_service()
    with service.loading() as session:
        user = users.find_user(session, user_uid)
    with proving():
        prove_password(user, password)
        with service.writing() as session:
            return change(session, find_proven(session, user))
