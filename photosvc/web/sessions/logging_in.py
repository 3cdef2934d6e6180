"""Logging in, from the API or the web page: a password, or an app password, for a login session."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Final

from flask import request
from sqlalchemy.orm import Session

from photosvc.auth.audit.events import Event
from photosvc.auth.credentials import bearer, half_login, login_sessions
from photosvc.auth.credentials.origin import Origin
from photosvc.auth.throttle import buckets
from photosvc.web.auditing import record, refusing_login
from photosvc.web.current import Service
from photosvc.web.requests.client_address import origin_of

#: Of one process. `svc watch` deletes what has expired as well.
_SWEEP_INTERVAL: Final = timedelta(minutes=5)
#: Rows of a kind, so that the log-in that deletes them is hardly slower than others.
_MOST_SWEPT: Final = 100


def log_in(service: Service, username: str, password: str, code: str | None) -> login_sessions.Login:
    """A new login session.

    Raises:
        LoginError: name, password or code is wrong or missing, or the account is disabled.
        PermissionDeniedError: a client's secret, or an app password that may not open sessions.
        ThrottledError: too many failures came from here or for this account.

    """
    with refusing_login(username):
        return _log_in(service, username, password, code, origin_of(request))


def finish_log_in(service: Service, half: str, code: str) -> login_sessions.Login:
    """The login session of a log-in whose password was right, by the code of the second factor.

    Raises:
        LoginError: the code is wrong, or the password was typed too long ago.
        ThrottledError: too many failures came from here or for this account.

    """
    now, origin = service.now(), origin_of(request)
    with service.reading() as connection:
        proof, username = half_login.account_of(connection, service.settings, now, half)
    with refusing_login(username), _attempt(service, username, origin.address) as settle, service.writing() as session:
        login = open_session(session, service, replace(proof, code=code or None), origin)
        settle(session)
    return login


def sweep_sessions(service: Service) -> None:
    """Delete what has expired, unless others write or this process did so within the last five minutes.

    Log-ins are rare and slow by design, so it adds little to them.
    """
    now = service.now()

    def sweep(session: Session) -> None:
        bearer.sweep(session, now, most=_MOST_SWEPT)
        buckets.sweep(session, now, most=_MOST_SWEPT)
        service.swept_at = now

    if service.swept_at is None or not timedelta(0) <= now - service.swept_at < _SWEEP_INTERVAL:
        service.write_if_free(sweep)


def open_session(
    session: Session, service: Service, proof: login_sessions.Proof, origin: Origin
) -> login_sessions.Login:
    """A login session for what was proved, as an entry of the security log too."""
    login = login_sessions.open_login(session, service.settings, service.now(), proof, origin)
    made = login.principal
    record(session, Event.LOGIN, by=made, target=made.credential_uid, detail=made.standing.replace("_", " "))
    return login


def _log_in(service: Service, username: str, password: str, code: str | None, origin: Origin) -> login_sessions.Login:
    now = service.now()
    # A right app password is found before anything is counted, so that failures of others never make it wait.
    with service.reading() as connection:
        proof = login_sessions.find_app_password(connection, now, username=username, password=password)
    if proof is not None:
        with service.writing() as session:
            return open_session(session, service, proof, origin)
    return _by_account_password(service, username, password, code, origin)


def _attempt(
    service: Service, username: str, address: str, password: str = ""
) -> AbstractContextManager[Callable[[Session], None]]:
    return service.throttle.login_attempt(service.now(), username=username, password=password, address=address)


def _by_account_password(
    service: Service, username: str, password: str, code: str | None, origin: Origin
) -> login_sessions.Login:
    """A login session by the password of an account, under the limits for failures."""
    now = service.now()
    with _attempt(service, username, origin.address, password) as settle:
        with service.reading() as connection:
            proof = login_sessions.check_login(connection, now, username=username, password=password, code=code)
        with service.writing() as session:
            login = open_session(session, service, proof, origin)
            settle(session)
    return login
