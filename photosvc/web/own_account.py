"""Log-ins as the API and the pages make them, and changes of the own account that need its password."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from flask import request
from sqlalchemy.orm import Session

from photosvc.auth import accounts, credentials, passwords, second_factor, throttle
from photosvc.auth import login as login_sessions
from photosvc.auth.audit import Event
from photosvc.auth.errors import LoginError
from photosvc.auth.login import Login
from photosvc.auth.operation import Operation
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.auth.second_factor import find_proven, prove_password
from photosvc.core.errors import InvalidValueError
from photosvc.models import User
from photosvc.records.accounts import CredentialSchema
from photosvc.web.auditing import operating, refuse, refusing_login
from photosvc.web.protector import principal
from photosvc.web.proxies import origin_of
from photosvc.web.service import Service, current_service

#: Interval of one process. `svc watch` deletes expired rows as well.
_SWEEP_INTERVAL: Final = timedelta(minutes=5)
#: Rows of each kind, so that a log-in that deletes them is hardly slower than others.
_MOST_SWEPT: Final = 100
Answer = TypeVar("Answer")
_CREDENTIAL = CredentialSchema()


def log_in(service: Service, username: str, password: str, code: str | None) -> Login:
    """Log in and return the new login session.

    Raises:
        LoginError: name, password or code is wrong or missing, or the account is disabled.
        PermissionDeniedError: a client's secret, or an app password that may not open sessions.
        ThrottledError: too many failures came from this address or for this account.
    """
    now, origin = service.now(), origin_of(request)
    with refusing_login(username):
        # A right app password is found before anything is counted, so that failures of others never make it wait.
        with service.reading() as connection:
            proof = login_sessions.find_app_password(connection, now, username=username, password=password)
        if proof is not None:
            with operating() as operation:
                return login_sessions.log_in(operation, proof, origin)
        with _attempt(service, username, origin.address, password, has_code=bool(code)) as settle:
            with service.reading() as connection:
                proof = login_sessions.check_login(connection, now, username=username, password=password, code=code)
            with operating() as operation:
                login = login_sessions.log_in(operation, proof, origin)
                settle(operation.session)
        return login


def log_in_by_token(service: Service, token: str) -> Login:
    """Log in by an app password without a user name, and return the new login session.

    Raises:
        LoginError: it is no app password.
        PermissionDeniedError: a client's secret or token, or an app password that may not open sessions.
    """
    with refusing_login(""):
        with service.reading() as connection:
            proof = login_sessions.check_app_password(connection, service.now(), token)
        with operating() as operation:
            return login_sessions.log_in(operation, proof, origin_of(request))


def finish_log_in(service: Service, half: str, code: str) -> Login:
    """Finish a log-in by the code of the second factor after a right password; return the login session.

    Raises:
        LoginError: the code is wrong, or the password was typed too long ago.
        ThrottledError: too many failures came from this address or for this account.
    """
    now, origin = service.now(), origin_of(request)
    with service.reading() as connection:
        proof, username = login_sessions.read_proof(connection, service.settings, now, half)
    attempt = _attempt(service, username, origin.address, has_code=bool(code))
    with refusing_login(username), attempt as settle, operating() as operation:
        login = login_sessions.log_in(operation, replace(proof, code=code or None), origin)
        settle(operation.session)
    return login


def sweep_sessions(service: Service) -> None:
    """Delete expired rows, unless others write or this process did so within the last five minutes.

    Log-ins are rare and slow by design, so this adds little to them.
    """
    service.only(_Sweeping).sweep(service)


class _Sweeping:
    """The deletions of expired rows by the log-ins of one process."""

    def __init__(self) -> None:
        self._swept_at: datetime | None = None

    def sweep(self, service: Service) -> None:
        now = service.now()
        if self._swept_at is not None and timedelta(0) <= now - self._swept_at < _SWEEP_INTERVAL:
            return
        if service.write_if_free(partial(_sweep, now=now)):
            self._swept_at = now


def _sweep(session: Session, now: datetime) -> None:
    credentials.sweep(session, now, most=_MOST_SWEPT)
    throttle.sweep(session, now, most=_MOST_SWEPT)


def _attempt(
    service: Service, username: str, address: str, password: str = "", *, has_code: bool
) -> AbstractContextManager[Callable[[Session], None]]:
    return service.throttle.login_attempt(
        service.now(), username=username, password=password, address=address, has_code=has_code
    )


@contextmanager
def proving(*, has_code: bool = False) -> Iterator[None]:
    """Wrap a check of the own account's password, and of a passcode if there is one.

    The wrapped code opens its own transactions.

    Raises:
        InvalidValueError: it is wrong. The status is not 401, which clients take for the end of their session.
        ThrottledError: too many attempts were wrong; the wrapped code did not run.
    """
    service = current_service()
    try:
        uid = principal().credential_uid
        with service.throttle.password_check(service.now(), credential_uid=uid, has_code=has_code):
            yield
    except LoginError as error:
        refuse(Event.PASSWORD_REFUSED, detail=error.field or "")
        raise InvalidValueError(error.message, field=error.field) from None


def with_password(
    user_uid: str, password: str, change: Callable[[Operation, User], Answer], *, has_code: bool = False
) -> Answer:
    """Check the account's password; return the result of `change` in a transaction in which it is still the same."""
    user = _find(user_uid)
    with proving(has_code=has_code):
        prove_password(user, password)
        with operating() as operation:
            return change(operation, find_proven(operation.session, user))


def confirm_password(user_uid: str, password: str) -> None:
    """Check the account's password: for the next hour, an administrator may change other accounts."""
    with_password(user_uid, password, lambda operation, _user: credentials.renew_proof(operation))


def add_app_password(
    user_uid: str, *, name: str, scope: str, lifetime: int, password: str, code: str | None
) -> dict[str, Any]:
    """Create an app password as `credentials.issue` does; return its record, the only one with the secret.

    Log-ins by an app password need no code, so this one does where the account has a second factor.
    """
    wanted = parse_scope(scope)
    check_grantable(principal(), wanted)  # before the password is checked and counted

    def issue(operation: Operation, user: User) -> dict[str, Any]:
        second_factor.require_passcode(operation, user, code)
        issued = credentials.issue(operation, user, name=name, scope=wanted, lifetime=lifetime)
        return {**_CREDENTIAL.dump(issued.credential), "secret": issued.secret}

    return with_password(user_uid, password, issue, has_code=bool(code))


def change_password(user_uid: str, *, old: str, new: str, code: str | None) -> None:
    """Change the password; other login sessions of the account end, its app passwords stay valid.

    Raises:
        InvalidValueError: the old password, the new one or the code of the second factor is not valid.
    """
    user = _find(user_uid)
    with proving(has_code=bool(code)):
        prove_password(user, old, field="old")
        fresh = passwords.new_hash(new, user_name=user.name, field="new")
        with operating() as operation:
            proven = find_proven(operation.session, user, field="old")
            accounts.change_own_password(operation, proven, fresh, code=code)


def confirm_second_factor(user_uid: str, code: str) -> tuple[str, ...]:
    """Turn two-factor authentication on; raise `InvalidValueError` if the code is wrong."""
    with proving(has_code=True), operating() as operation:
        return second_factor.confirm(operation, accounts.find_user(operation.session, user_uid), code=code)


def end_second_factor(user_uid: str, *, password: str, code: str | None) -> None:
    """Turn two-factor authentication off as `second_factor.end` does."""
    with_password(user_uid, password, partial(second_factor.end, code=code), has_code=bool(code))


def _find(user_uid: str) -> User:
    with current_service().reading(orm=True) as session:
        return accounts.find_user(session, user_uid)
