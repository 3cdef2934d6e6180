"""Verify what a request shows: one indexed read, from a secret to a principal.

This runs on every request: a statement compiled once, plain rows, no ORM objects.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, or_, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session, aliased

from photosvc.auth.errors import ExpiredTokenError, InvalidTokenError
from photosvc.auth.principal import ADMIN, CLIENT, VIEWER, Principal
from photosvc.auth.scopes import parse_scope
from photosvc.core import ids
from photosvc.models import Client, Credential, User
from photosvc.models.prepared import Prepared, prepare_statement

#: A credential's last use is written down at most so often, in seconds.
TOUCH_SECONDS = 60

#: Looks like a JWT; what it says is never read, its digest is looked up like any other.
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\Z")

_Parent = aliased(Credential)
_Sponsor = aliased(User)
"""Whoever a registered client belongs to, if anybody."""


class _Known(NamedTuple):
    """A credential and those it belongs to, as far as they exist."""

    id: int
    uid: str
    kind: str
    name: str
    scope: str
    created_at: datetime
    expires_at: datetime | None
    idle_seconds: int | None
    last_used_at: datetime | None
    parent_id: int | None
    parent_uid: str | None
    parent_expires_at: datetime | None
    user_id: int | None
    user_uid: str | None
    user_name: str | None
    user_role: str | None
    user_disabled: bool | None
    password_version: int | None
    client_id: int | None
    client_uid: str | None
    client_role: str | None
    client_enabled: bool | None
    sponsor_id: int | None
    sponsor_role: str | None
    sponsor_disabled: bool | None


#: In the order of `_Known`.
_COLUMNS: tuple[Any, ...] = (
    Credential.id,
    Credential.uid,
    Credential.kind,
    Credential.name,
    Credential.scope,
    Credential.created_at,
    Credential.expires_at,
    Credential.idle_seconds,
    Credential.last_used_at,
    Credential.parent_id,
    _Parent.uid.label("parent_uid"),
    _Parent.expires_at.label("parent_expires_at"),
    Credential.user_id,
    User.uid.label("user_uid"),
    User.name.label("user_name"),
    User.role.label("user_role"),
    User.disabled.label("user_disabled"),
    User.password_version,
    Credential.client_id,
    Client.uid.label("client_uid"),
    Client.role.label("client_role"),
    Client.enabled.label("client_enabled"),
    Client.user_id.label("sponsor_id"),
    _Sponsor.role.label("sponsor_role"),
    _Sponsor.disabled.label("sponsor_disabled"),
)

_JOINED = (
    select(*_COLUMNS)
    .select_from(Credential)
    .outerjoin(User, User.id == Credential.user_id)
    .outerjoin(Client, Client.id == Credential.client_id)
    .outerjoin(_Sponsor, _Sponsor.id == Client.user_id)
    .outerjoin(_Parent, _Parent.id == Credential.parent_id)
)
_BY_DIGEST = _JOINED.where(Credential.digest == bindparam("key"))
_BY_UID = _JOINED.where(Credential.uid == bindparam("key"))


def verify(connection: Connection, secret: str, now: datetime) -> Principal:
    """The principal behind an access token or app password.

    Raises:
        ExpiredTokenError: it has expired; `bearer.delete_expired` deletes it.
        InvalidTokenError: anything else is wrong with it. The sentence is the same for all.

    """
    if not (ids.is_access_token(secret) or ids.is_app_password(secret) or _JWT.match(secret)):
        raise InvalidTokenError
    return _principal(_read(connection, ids.digest(secret)), now)


def verify_uid(connection: Connection, credential_uid: str, now: datetime) -> Principal:
    """The principal behind a credential that something trusted (a signed link) names.

    Raises:
        InvalidTokenError: the credential is gone, expired or its owner is disabled.

    """
    return _principal(_read(connection, credential_uid, by_uid=True), now)


class Found(NamedTuple):
    """The credential behind a secret and the client it was issued to."""

    id: int
    client_id: int | None


def find(connection: Connection, secret: str) -> Found | None:
    """The credential whose secret this is, expired or not."""
    query = select(Credential.id, Credential.client_id).where(Credential.digest == ids.digest(secret))
    row = connection.execute(query).first()
    return None if row is None else Found(*row)


@lru_cache(maxsize=8)
def _prepared(dialect: Dialect, *, by_uid: bool) -> Prepared:
    return prepare_statement(_BY_UID if by_uid else _BY_DIGEST, dialect)


def _read(connection: Connection, key: str, *, by_uid: bool = False) -> _Known | None:
    rows = _prepared(connection.dialect, by_uid=by_uid).run(connection, {"key": key})
    return _Known._make(rows[0]) if rows else None


def _principal(row: _Known | None, now: datetime) -> Principal:
    if row is None or _is_orphan(row):
        raise InvalidTokenError
    if _is_over(row, now):
        raise ExpiredTokenError(row.id)
    if row.user_disabled or row.sponsor_disabled or row.client_enabled is False:
        raise InvalidTokenError
    return Principal(
        kind=row.kind,
        credential_id=row.id,
        credential_uid=row.uid,
        credential_name=row.name,
        scope=parse_scope(row.scope, known_only=False),
        role=row.user_role or row.client_role or CLIENT,
        sees_private=_sees_private(row),
        created_at=row.created_at,
        expires_at=row.expires_at,
        idle_seconds=row.idle_seconds,
        last_used_at=row.last_used_at,
        parent_id=row.parent_id,
        user_id=row.user_id,
        user_uid=row.user_uid,
        user_name=row.user_name,
        password_version=row.password_version or 0,
        client_id=row.client_id,
        client_uid=row.client_uid,
    )


def _is_orphan(row: _Known) -> bool:
    """Whether somebody it belongs to is gone: a host's database may not cascade, and without an owner it would gain."""
    return (
        (row.user_id is not None and row.user_uid is None)
        or (row.client_id is not None and row.client_uid is None)
        or (row.sponsor_id is not None and row.sponsor_role is None)
        or (row.parent_id is not None and row.parent_uid is None)
    )


def _is_over(row: _Known, now: datetime) -> bool:
    if row.expires_at is not None and now >= row.expires_at:
        return True
    if row.parent_expires_at is not None and now >= row.parent_expires_at:
        return True
    if row.idle_seconds is None:
        return False
    return bool(now >= (row.last_used_at or row.created_at) + timedelta(seconds=row.idle_seconds))


def _sees_private(row: _Known) -> bool:
    if row.user_id is not None:
        return bool(row.user_role != VIEWER)
    return bool(row.client_role == ADMIN and row.sponsor_role != VIEWER)


def needs_touch(principal: Principal, now: datetime) -> bool:
    """Whether the last use should be written down."""
    return principal.last_used_at is None or now >= principal.last_used_at + _touch_interval(principal)


def touch(session: Session, principal: Principal, now: datetime, *, address: str = "") -> bool:
    """Write down that a credential was used; says whether this call was the one that did.

    One conditional statement: of many requests at once, one writes.
    """
    due = now - _touch_interval(principal)
    result = session.connection().execute(
        update(Credential)
        .where(
            Credential.id == principal.credential_id,
            or_(Credential.last_used_at.is_(None), Credential.last_used_at <= due),
        )
        .values(last_used_at=now, last_ip=func.coalesce(address[:64] or None, Credential.last_ip))
    )
    return result.rowcount == 1


def _touch_interval(principal: Principal) -> timedelta:
    # A tenth of a short idle time, or a session in steady use would end for want of notes.
    idle = principal.idle_seconds or TOUCH_SECONDS * 10
    return timedelta(seconds=min(TOUCH_SECONDS, idle / 10))
