"""Logging in and out (spec section 4.3)."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, delete, select
from sqlalchemy.orm import Session

from photosvc.auth import policy
from photosvc.auth.accounts import passwords, second_factor
from photosvc.auth.accounts.user_names import is_name, normal_name
from photosvc.auth.credentials import tokens
from photosvc.auth.credentials.bearer import new_credential_uid
from photosvc.auth.errors import (
    ClientLoginError,
    InvalidCredentialsError,
    InvalidTokenError,
    PasscodeRequiredError,
)
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import EVERYTHING, Scope
from photosvc.core import ids
from photosvc.models import APP_PASSWORD, LOGIN_SESSION, Client, Credential, User
from photosvc.models.database import begin_write
from photosvc.settings import Settings

_CLIENT_SECRET = re.compile(r"[0-9A-Za-z]{32}\Z")


@dataclass(frozen=True, slots=True)
class Login:
    """A new login session: its access token, shown this once, and who it stands for."""

    secret: str
    principal: Principal


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a log-in comes from, as far as it says so."""

    address: str = ""
    user_agent: str = ""


def log_in(
    session: Session,
    settings: Settings,
    now: datetime,
    *,
    username: str,
    password: str,
    code: str | None = None,
    origin: Origin | None = None,
) -> Login:
    """A login session for an app password, or for an account's password and second factor.

    Slow work is done before the transaction that writes begins; a read-only one that is open ends here.

    Raises:
        InvalidCredentialsError: wrong name or password, or a disabled account. Which one is not told, nor how fast.
        PasscodeRequiredError: the password is right, the second factor is missing.
        InvalidPasscodeError: the second factor is wrong or used up.
        InsufficientScopeError: the app password's scope leaves sessions out.
        ClientLoginError: the password is a client's secret or token.

    """
    name = normal_name(username)
    parent = _app_password(session, password, now)
    if parent is not None:
        return _exchange(session, settings, now, parent, name, origin or Origin())
    _refuse_clients(session, password, now)
    account = _check_account(session, name, password)
    if account.totp_confirmed and not code:
        raise PasscodeRequiredError
    fresh_hash = passwords.hash_password(password) if passwords.needs_rehash(account.password_hash) else None

    begin_write(session)
    user = session.get(User, account.id, populate_existing=True, with_for_update=True)
    if user is None or user.disabled or user.password_version != account.password_version:
        raise InvalidCredentialsError
    if user.totp_confirmed:
        if not code:
            raise PasscodeRequiredError
        second_factor.use_passcode(session, settings, now, user, code)
    user.login_at = now
    user.password_hash = fresh_hash or user.password_hash
    return _open(session, settings, now, user.id, EVERYTHING, origin or Origin())


def log_out(session: Session, principal: Principal) -> None:
    """End the login session that `principal` acts with.

    Raises:
        PermissionDeniedError: it acts with something else.

    """
    policy.decide(principal, "session.end")
    begin_write(session)
    session.execute(delete(Credential).where(Credential.id == principal.credential_id))


def _app_password(session: Session, password: str, now: datetime) -> Principal | None:
    if not ids.is_app_password(password):
        return None
    try:
        return tokens.verify(session.connection(), password, now)
    except InvalidTokenError:
        return None


def _exchange(
    session: Session, settings: Settings, now: datetime, parent: Principal, name: str, origin: Origin
) -> Login:
    if parent.user_name != name or parent.user_id is None:
        raise InvalidCredentialsError
    policy.decide(parent, "session.create")
    begin_write(session)
    alive = select(Credential.id).where(Credential.id == parent.credential_id, Credential.kind == APP_PASSWORD)
    if session.scalar(alive.with_for_update()) is None:
        raise InvalidCredentialsError
    return _open(session, settings, now, parent.user_id, parent.scope, origin, parent)


def _refuse_clients(session: Session, password: str, now: datetime) -> None:
    if ids.is_access_token(password):
        try:
            shown = tokens.verify(session.connection(), password, now)
        except InvalidTokenError:
            return
        if shown.kind != LOGIN_SESSION:
            raise ClientLoginError
    elif _CLIENT_SECRET.match(password):
        known = select(Client.id).where(Client.secret_digest == ids.digest(password))
        if session.scalar(known) is not None:
            raise ClientLoginError


def _check_account(session: Session, name: str, password: str) -> Row[Any]:
    """The account of this name and password; takes as long whether or not it exists."""
    columns: tuple[Any, ...] = (User.id, User.password_hash, User.password_version, User.disabled, User.totp_confirmed)
    # A name no account can have is not asked for: it may hold what a database refuses.
    account = session.execute(select(*columns).where(User.name == (name if is_name(name) else ""))).first()
    matches = passwords.verify_password(password, account.password_hash if account else "")
    if account is None or not matches or account.disabled:
        raise InvalidCredentialsError
    return account


def _open(
    session: Session,
    settings: Settings,
    now: datetime,
    user_id: int,
    scope: Scope,
    origin: Origin,
    parent: Principal | None = None,
) -> Login:
    secret = ids.new_access_token()
    expires_at = now + timedelta(seconds=settings.session_max_age)
    if parent is not None and parent.expires_at is not None:
        expires_at = min(expires_at, parent.expires_at)
    session.add(
        Credential(
            uid=new_credential_uid(),
            kind=LOGIN_SESSION,
            digest=ids.digest(secret),
            name=parent.credential_name if parent else "",
            scope=str(scope),
            user_id=user_id,
            parent_id=parent.credential_id if parent else None,
            expires_at=expires_at,
            idle_seconds=settings.session_idle,
            last_used_at=now,
            last_ip=_printable(origin.address, 64),
            user_agent=_printable(origin.user_agent, 255),
            created_at=now,
        )
    )
    session.flush()
    return Login(secret, tokens.verify(session.connection(), secret, now))


def _printable(text: str, length: int) -> str:
    return "".join(character for character in text[:length] if character.isprintable())
