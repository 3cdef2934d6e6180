"""Log-in and log-out of accounts.

A log-in has two steps, each in a transaction of the caller. The first one only reads: `find_app_password`, or else
`check_login`, which does the slow hashing. Then `log_in` checks again that the account is unchanged, and writes.

Between the steps, the sign-in page asks for the code of the second factor. It sends back a signed text instead of the
password: the text states that the password was right, is valid for five minutes and opens nothing by itself.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from photosvc.auth import passwords, policy, tokens
from photosvc.auth.audit import Event
from photosvc.auth.credentials import delete_credentials, end_oldest_sessions
from photosvc.auth.errors import ClientLoginError, InvalidCredentialsError, InvalidTokenError, PasscodeRequiredError
from photosvc.auth.operation import Operation
from photosvc.auth.principal import NOWHERE, Origin, Principal
from photosvc.auth.scopes import EVERYTHING, Scope
from photosvc.auth.second_factor import require_passcode
from photosvc.auth.service_key import derive_key, parts_of, signed_text
from photosvc.core import ids
from photosvc.core.accounts import BY_APP_PASSWORD, BY_PASSWORD, is_name, normal_name
from photosvc.models import APP_PASSWORD, LOGIN_SESSION, Client, Credential, User
from photosvc.settings import Settings

_CLIENT_SECRET = re.compile(r"[0-9A-Za-z]{32}\Z")
#: Seconds for typing the code.
SECONDS: Final = 300
_PURPOSE: Final = "half log-in"


@dataclass(frozen=True, slots=True)
class Login:
    """A new login session: its access token, which is shown only now, and its principal."""

    secret: str
    principal: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The result of the first step: the account whose password was right."""

    user_id: int
    app_password: Principal | None = None
    """None if the proof is the account password, of the version below."""
    password_version: int = 0
    code: str | None = None
    fresh_hash: str | None = None
    """The password's hash with today's parameters, if the stored one is weaker."""


def find_app_password(
    connection: Connection, now: datetime, *, password: str, username: str | None = None
) -> Proof | None:
    """Return the proof that `password` is an app password, of the account of this name if one is given; else None.

    This is one indexed read. It needs no protection against guessing: app passwords have 137 random bits.

    Raises:
        InsufficientScopeError: the app password's scope does not cover sessions.
    """
    app_password = _app_password(connection, password, now)
    if app_password is None or app_password.user_id is None:
        return None
    if username is not None and app_password.user_name != normal_name(username):
        return None
    policy.decide(app_password, "session.create")
    return Proof(user_id=app_password.user_id, app_password=app_password)


def check_app_password(connection: Connection, now: datetime, secret: str) -> Proof:
    """Return the proof of `find_app_password` for a secret that is shown without a user name.

    Raises:
        InvalidCredentialsError: it is no app password.
        ClientLoginError: it is a client's secret or token.
        InsufficientScopeError: the app password's scope does not cover sessions.
    """
    if (proof := find_app_password(connection, now, password=secret)) is None:
        _refuse_clients(connection, secret, now)
        raise InvalidCredentialsError
    return proof


def check_login(
    connection: Connection, now: datetime, *, username: str, password: str, code: str | None = None
) -> Proof:
    """Check an account's password, and only the presence of a code for the second factor.

    Raises:
        InvalidCredentialsError: wrong name or password, or a disabled account; message and time are the same for all.
        PasscodeRequiredError: the password is right, the second factor is missing.
        ClientLoginError: the password is a client's secret or token.
        BusyError: too many passwords are checked at present.
    """
    name = normal_name(username)
    if _app_password(connection, password, now) is not None:
        raise InvalidCredentialsError  # an app password of another account
    _refuse_clients(connection, password, now)
    account = _check_account(connection, name, password)
    if account.totp_confirmed and not code:
        raise PasscodeRequiredError(user_id=account.id, password_version=account.password_version)
    fresh_hash = passwords.hash_password(password) if passwords.needs_rehash(account.password_hash) else None
    return Proof(
        user_id=account.id, password_version=account.password_version, code=code or None, fresh_hash=fresh_hash
    )


def log_in(operation: Operation, proof: Proof, origin: Origin = NOWHERE) -> Login:
    """Open a login session for a proof of the first step; the person who logs in is the actor of the security log.

    This uses up the passcode and ends the oldest session beyond the limit.

    Raises:
        InvalidCredentialsError: the account or the app password was removed, disabled or changed meanwhile.
        PasscodeRequiredError: the second factor was turned on meanwhile.
        InvalidPasscodeError: the second factor is wrong, or was used before.
    """
    if proof.app_password is not None:
        uid = proof.app_password.credential_id
        alive = select(Credential.id).where(Credential.id == uid, Credential.kind == APP_PASSWORD)
        if operation.session.scalar(alive.with_for_update()) is None:
            raise InvalidCredentialsError
        scope, method = proof.app_password.scope, BY_APP_PASSWORD
    else:
        scope, method = EVERYTHING, _use_account(operation, proof)
    login = _store(operation, proof, scope, method, origin)
    detail = login.principal.standing.replace("_", " ")
    by = operation.acting_as(login.principal)
    by.record(Event.LOGIN, target=login.principal.credential_uid, detail=detail)
    return login


def log_out(operation: Operation, principal: Principal) -> None:
    """End the login session that `principal` acts with; raise `PermissionDeniedError` for other credentials."""
    policy.decide(principal, "session.end")
    delete_credentials(operation.session, Credential.id == principal.credential_id)
    operation.acting_as(principal).record(Event.LOGOUT, target=principal.credential_uid)


def _app_password(connection: Connection, password: str, now: datetime) -> Principal | None:
    if not ids.is_app_password(password):
        return None
    try:
        return tokens.verify(connection, password, now)
    except InvalidTokenError:
        return None


def _use_account(operation: Operation, proof: Proof) -> str:
    """Log in to the account; return the method."""
    user = operation.session.get(User, proof.user_id, populate_existing=True, with_for_update=True)
    if user is None or user.disabled or user.password_version != proof.password_version:
        raise InvalidCredentialsError
    method = require_passcode(operation, user, proof.code) or BY_PASSWORD
    user.login_at = operation.now
    user.password_hash = proof.fresh_hash or user.password_hash
    return method


def _refuse_clients(connection: Connection, password: str, now: datetime) -> None:
    if ids.is_access_token(password):
        try:
            shown = tokens.verify(connection, password, now)
        except InvalidTokenError:
            return
        if shown.kind != LOGIN_SESSION:
            raise ClientLoginError
    elif _CLIENT_SECRET.match(password):
        known = select(Client.id).where(Client.secret_digest == ids.digest(password))
        if connection.scalar(known) is not None:
            raise ClientLoginError


def _check_account(connection: Connection, name: str, password: str) -> Row[Any]:
    """Return the account of this name and password; an unknown name takes the same time."""
    columns: tuple[Any, ...] = (User.id, User.password_hash, User.password_version, User.disabled, User.totp_confirmed)
    # A name that no account can have is not sent to the database: it may hold characters that PostgreSQL refuses.
    account = connection.execute(select(*columns).where(User.name == (name if is_name(name) else ""))).first()
    matches = passwords.verify_password(password, account.password_hash if account else "")
    if account is None or not matches or account.disabled:
        raise InvalidCredentialsError
    return account


def _store(operation: Operation, proof: Proof, scope: Scope, method: str, origin: Origin) -> Login:
    session, settings, now = operation.session, operation.settings, operation.now
    parent = proof.app_password
    secret = ids.new_access_token()
    expires_at = now + timedelta(seconds=settings.session_max_age)
    if parent is not None and parent.expires_at is not None:
        expires_at = min(expires_at, parent.expires_at)
    parent_id = parent.credential_id if parent else None
    end_oldest_sessions(session, proof.user_id, parent_id, keep=settings.sessions_each - 1)
    session.add(
        Credential(
            uid=ids.new_credential_uid(),
            kind=LOGIN_SESSION,
            digest=ids.digest(secret),
            name=parent.credential_name if parent else "",
            scope=str(scope),
            user_id=proof.user_id,
            parent_id=parent_id,
            expires_at=expires_at,
            idle_seconds=settings.session_idle,
            last_used_at=now,
            last_ip=origin.address,
            user_agent=origin.user_agent,
            method=method,
            created_at=now,
        )
    )
    session.flush()
    return Login(secret, tokens.verify(session.connection(), secret, now))


def sign_proof(settings: Settings, now: datetime, error: PasscodeRequiredError) -> str:
    """Return the signed text for the account whose password was right; `read_proof` reads it."""
    key = derive_key(settings.secret_key, _PURPOSE)
    return signed_text(key, error.user_id, error.password_version, until=now + timedelta(seconds=SECONDS))


def read_proof(connection: Connection, settings: Settings, now: datetime, text: str) -> tuple[Proof, str]:
    """Return the proof of the password that a signed text contains, and the name of the account.

    Raises:
        InvalidCredentialsError: this service did not make the text, it is too old, or the account was removed.
    """
    parts = parts_of(derive_key(settings.secret_key, _PURPOSE), text, now=now)
    if parts is None:
        raise InvalidCredentialsError
    user_id, password_version = map(int, parts)
    name = connection.scalar(select(User.name).where(User.id == user_id))
    if name is None:
        raise InvalidCredentialsError
    return Proof(user_id=user_id, password_version=password_version), name
