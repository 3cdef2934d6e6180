"""Logging in and out (spec section 4.3).

A log-in has two steps, each in a transaction of the caller: `find_app_password` or else `check_login`, which does the
slow hashing, reads; then `open_login` writes. What another request may have changed in between is checked again by the
second step.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, delete, select
from sqlalchemy.orm import Session

from photosvc.auth import policy
from photosvc.auth.accounts import passwords, second_factor
from photosvc.auth.accounts.user_names import is_name, normal_name
from photosvc.auth.credentials import tokens
from photosvc.auth.credentials.bearer import end_oldest_sessions, new_credential_uid
from photosvc.auth.credentials.origin import NOWHERE, Origin
from photosvc.auth.errors import (
    ClientLoginError,
    InvalidCredentialsError,
    InvalidTokenError,
    PasscodeRequiredError,
)
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import EVERYTHING, Scope
from photosvc.core import ids
from photosvc.core.accounts import BY_APP_PASSWORD, BY_PASSWORD
from photosvc.models import APP_PASSWORD, LOGIN_SESSION, Client, Credential, User
from photosvc.settings import Settings

_CLIENT_SECRET = re.compile(r"[0-9A-Za-z]{32}\Z")


@dataclass(frozen=True, slots=True)
class Login:
    """A new login session: its access token, which is shown only now, and its principal."""

    secret: str
    principal: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the first step found: whose password it was."""

    user_id: int
    app_password: Principal | None = None
    """None: an account password, of the version below."""
    password_version: int = 0
    code: str | None = None
    fresh_hash: str | None = None
    """The password's hash with today's parameters, if the stored one is weaker."""


def find_app_password(connection: Connection, now: datetime, *, username: str, password: str) -> Proof | None:
    """The proof that `password` is an app password of the account of this name; None if it is not.

    It is one read by an index and needs no protection against guessing: app passwords have 137 random bits.

    Raises:
        InsufficientScopeError: its scope does not cover sessions.

    """
    found = _app_password(connection, password, now)
    if found is None or found.user_id is None or found.user_name != normal_name(username):
        return None
    policy.decide(found, "session.create")
    return Proof(user_id=found.user_id, app_password=found)


def check_login(
    connection: Connection, now: datetime, *, username: str, password: str, code: str | None = None
) -> Proof:
    """Check an account's password; the second factor is only checked to be there.

    Raises:
        InvalidCredentialsError: wrong name or password, or a disabled account; message and time are the same for all.
        PasscodeRequiredError: the password is right, the second factor is missing.
        ClientLoginError: the password is a client's secret or token.
        BusyError: too many passwords are checked at present.

    """
    name = normal_name(username)
    if _app_password(connection, password, now) is not None:
        raise InvalidCredentialsError  # of another account
    _refuse_clients(connection, password, now)
    account = _check_account(connection, name, password)
    if account.totp_confirmed and not code:
        raise PasscodeRequiredError(user_id=account.id, password_version=account.password_version)
    fresh_hash = passwords.hash_password(password) if passwords.needs_rehash(account.password_hash) else None
    return Proof(
        user_id=account.id, password_version=account.password_version, code=code or None, fresh_hash=fresh_hash
    )


def open_login(session: Session, settings: Settings, now: datetime, proof: Proof, origin: Origin = NOWHERE) -> Login:
    """A login session for what the first step found; spends the passcode, and ends the oldest session beyond the limit.

    Raises:
        InvalidCredentialsError: the account or the app password was removed, disabled or changed meanwhile.
        PasscodeRequiredError: the second factor was turned on meanwhile.
        InvalidPasscodeError: the second factor is wrong, or was used before.

    """
    if proof.app_password is not None:
        uid = proof.app_password.credential_id
        alive = select(Credential.id).where(Credential.id == uid, Credential.kind == APP_PASSWORD)
        if session.scalar(alive.with_for_update()) is None:
            raise InvalidCredentialsError
        scope, method = proof.app_password.scope, BY_APP_PASSWORD
    else:
        scope, method = EVERYTHING, _use_account(session, settings, now, proof)
    return _store(session, settings, now, proof, scope, method, origin)


def log_out(session: Session, principal: Principal) -> None:
    """End the login session that `principal` acts with.

    Raises:
        PermissionDeniedError: it acts with another kind of credential.

    """
    policy.decide(principal, "session.end")
    session.execute(delete(Credential).where(Credential.id == principal.credential_id))


def _app_password(connection: Connection, password: str, now: datetime) -> Principal | None:
    if not ids.is_app_password(password):
        return None
    try:
        return tokens.verify(connection, password, now)
    except InvalidTokenError:
        return None


def _use_account(session: Session, settings: Settings, now: datetime, proof: Proof) -> str:
    """Log in to the account; gives by which method."""
    user = session.get(User, proof.user_id, populate_existing=True, with_for_update=True)
    if user is None or user.disabled or user.password_version != proof.password_version:
        raise InvalidCredentialsError
    method = second_factor.require_passcode(session, settings, now, user, proof.code) or BY_PASSWORD
    user.login_at = now
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
    """The account of this name and password; an unknown name takes the same time."""
    columns: tuple[Any, ...] = (User.id, User.password_hash, User.password_version, User.disabled, User.totp_confirmed)
    # A name that no account can have is not sent to the database: it may hold characters that PostgreSQL refuses.
    account = connection.execute(select(*columns).where(User.name == (name if is_name(name) else ""))).first()
    matches = passwords.verify_password(password, account.password_hash if account else "")
    if account is None or not matches or account.disabled:
        raise InvalidCredentialsError
    return account


def _store(
    session: Session, settings: Settings, now: datetime, proof: Proof, scope: Scope, method: str, origin: Origin
) -> Login:
    parent = proof.app_password
    secret = ids.new_access_token()
    expires_at = now + timedelta(seconds=settings.session_max_age)
    if parent is not None and parent.expires_at is not None:
        expires_at = min(expires_at, parent.expires_at)
    parent_id = parent.credential_id if parent else None
    end_oldest_sessions(session, proof.user_id, parent_id, keep=settings.sessions_each - 1)
    session.add(
        Credential(
            uid=new_credential_uid(),
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
