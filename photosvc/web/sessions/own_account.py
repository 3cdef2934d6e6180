"""Changes of an account that its own user confirms with the password: from the API or the web page."""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from photosvc.auth.accounts import passwords, second_factor, users
from photosvc.auth.accounts.proof import find_proven, prove_password
from photosvc.auth.audit import described
from photosvc.auth.audit.events import Event
from photosvc.auth.credentials import bearer, open_sessions
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.models import APP_PASSWORD, LOGIN_SESSION, User
from photosvc.records.accounts import CredentialSchema
from photosvc.web.auditing import record
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.sessions.proving import proving

Answer = TypeVar("Answer")
_CREDENTIAL = CredentialSchema()


def change_names(user_uid: str, *, display_name: str, email: str) -> None:
    """Change what the account is called, and its address.

    Raises:
        InvalidValueError: one of them is not valid.

    """
    service, changes = current_service(), {"display_name": display_name, "email": email}
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        record(session, Event.USER_CHANGED, subject=user, detail=described.changes(user, changes))
        users.change_user(session, user, service.now(), display_name=display_name, email=email)


def add_app_password(user_uid: str, *, name: str, scope: str, lifetime: int, password: str) -> dict[str, Any]:
    """Make an app password; gives its record, with the secret that only this record has.

    Args:
        user_uid: of the account.
        name: what the app or device is called.
        scope: its scopes.
        lifetime: seconds, or -1.
        password: of the account.

    Raises:
        InvalidValueError: a value is not valid, or the password is wrong.
        AppPasswordLimitError: the account has as many as it may have.
        ThrottledError: too many passwords were wrong.

    """
    wanted = parse_scope(scope)
    check_grantable(principal(), wanted)

    def change(session: Session, user: User) -> dict[str, Any]:
        now = current_service().now()
        bearer.require_room(session, now, user)
        issued = bearer.issue(session, now, user=user, name=name, scope=wanted, lifetime=lifetime)
        made = issued.credential
        detail = described.credential(made)
        record(session, Event.CREDENTIAL_MADE, subject=user, target=made.uid, detail=detail)
        return {**_CREDENTIAL.dump(made), "secret": issued.secret}

    return _proven(user_uid, password, change)


def remove_app_password(user_uid: str, credential: str) -> None:
    """Revoke an app password of the account, and the login sessions made from it.

    Raises:
        NotFoundError: the account has none of this UID.

    """
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        found = open_sessions.find_owned(session, user, APP_PASSWORD, credential)
        detail = described.credential(found)
        record(session, Event.CREDENTIAL_ENDED, subject=user, target=found.uid, detail=detail)
        bearer.revoke(session, found.id)


def end_session(user_uid: str, credential: str) -> None:
    """End a login session of the account, at once on all workers.

    Raises:
        NotFoundError: the account has none of this UID.

    """
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        found = open_sessions.find_owned(session, user, LOGIN_SESSION, credential)
        bearer.revoke(session, found.id)
        record(session, Event.SESSION_ENDED, subject=user, target=found.uid)


def end_other_sessions(user_uid: str) -> int:
    """End all login sessions of the account but the one of this request; gives how many."""
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        ended = open_sessions.end_sessions(session, user, keep=principal().credential_id)
        record(session, Event.SESSION_ENDED, subject=user, detail=f"all others ({ended})")
    return ended


def change_own_password(user_uid: str, *, old: str, new: str, code: str | None) -> None:
    """Change the password; other login sessions of the account end, its app passwords stay valid.

    Raises:
        InvalidValueError: the old password, the new one or the code of the second factor will not do.
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
    """Send the account's password again: for an hour from now on, an administrator may change other accounts.

    Raises:
        InvalidValueError: it is wrong.
        ThrottledError: too many passwords were wrong.

    """

    def change(session: Session, _user: User) -> None:
        open_sessions.renew_proof(session, principal().credential_id, current_service().now())

    _proven(user_uid, password, change)


def start_second_factor(user_uid: str, password: str) -> second_factor.Enrolment:
    """Start to set up two-factor authentication; log-in asks for codes once one was confirmed.

    Raises:
        InvalidValueError: the password is wrong.
        SecondFactorStateError: it is on already.
        ThrottledError: too many passwords were wrong.

    """

    def change(session: Session, user: User) -> second_factor.Enrolment:
        service = current_service()
        enrolment = second_factor.enrol(session, service.settings, service.now(), user)
        record(session, Event.SECOND_FACTOR_STARTED, subject=user)
        return enrolment

    return _proven(user_uid, password, change)


def confirm_second_factor(user_uid: str, code: str) -> tuple[str, ...]:
    """Turn two-factor authentication on with a first code; gives the recovery codes, which are shown only once.

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
        ThrottledError: too many were wrong.

    """

    def change(session: Session, user: User) -> None:
        service = current_service()
        second_factor.require_passcode(session, service.settings, service.now(), user, code)
        second_factor.reset(session, service.now(), user)
        record(session, Event.SECOND_FACTOR_OFF, subject=user)

    _proven(user_uid, password, change)


def _proven(user_uid: str, password: str, change: Callable[[Session, User], Answer]) -> Answer:
    """What `change` gives, in the transaction in which the account's password is the one that was sent."""
    service = current_service()
    with service.loading() as session:
        user = users.find_user(session, user_uid)
    with proving():
        prove_password(user, password)
        with service.writing() as session:
            return change(session, find_proven(session, user))
