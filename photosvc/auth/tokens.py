"""Secrets that requests show: verified with one indexed read by their digest, and refused once they have expired.

Verification runs on every request, so the statement is compiled once and returns plain rows.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple, get_args, get_type_hints

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session, aliased

from photosvc.auth.errors import ExpiredTokenError, InvalidTokenError
from photosvc.auth.policy import SHARERS, UPLOADERS
from photosvc.auth.principal import NOWHERE, Origin, Principal, Shared
from photosvc.auth.scopes import parse_scope
from photosvc.core import ids
from photosvc.core.accounts import ADMIN, CLIENT, GUEST, VISITOR, WITHOUT_PRIVATE
from photosvc.models import VISIT, AlbumShare, Client, Credential, Link, User, Visit
from photosvc.models.statements import Prepared, prepare_statement

#: Seconds between two updates of a credential's last use.
TOUCH_SECONDS = 60
_Parent = aliased(Credential)
_ClientOwner = aliased(User)
"""The account of a registered client."""
_LinkOwner = aliased(User)
"""The account that made a public link."""
_Sharer = aliased(User)
"""The account that shared an album with another one."""
#: Written into the statement: as a bound value, the databases would not take it.
_BLANK: Final[Any] = literal_column("' '")
#: The shape of a JWT. Its claims are never read; its digest is looked up like that of any other token.
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\Z")


def open_shares() -> ColumnElement[bool]:
    """Return the condition for open shares: their maker, if it is an account, is enabled and may still share albums."""
    may_share = or_(*(_Sharer.role == role for role in sorted(SHARERS)))
    maker = select(_Sharer.id).where(_Sharer.id == AlbumShare.owner_id, _Sharer.disabled.is_(False), may_share)
    return or_(AlbumShare.owner_id.is_(None), maker.exists())


#: UIDs of the albums that are shared with the guest who owns a credential or its client, in one text.
_ALBUMS: Final = (
    select(func.aggregate_strings(AlbumShare.album_uid, _BLANK))
    .where(
        func.coalesce(User.role, _ClientOwner.role) == GUEST,
        AlbumShare.user_id == func.coalesce(Credential.user_id, Client.user_id),
        open_shares(),
    )
    .correlate(Credential, Client, User, _ClientOwner)
    .scalar_subquery()
)


class CredentialRow(NamedTuple):
    """A row of the statement: a credential and its owners, each field with the expression that it is read from."""

    id: Annotated[int, Credential.id]
    uid: Annotated[str, Credential.uid]
    kind: Annotated[str, Credential.kind]
    name: Annotated[str, Credential.name]
    scope: Annotated[str, Credential.scope]
    created_at: Annotated[datetime, Credential.created_at]
    expires_at: Annotated[datetime | None, Credential.expires_at]
    idle_seconds: Annotated[int | None, Credential.idle_seconds]
    last_used_at: Annotated[datetime | None, Credential.last_used_at]
    proved_at: Annotated[datetime | None, Credential.proved_at]
    parent_id: Annotated[int | None, Credential.parent_id]
    parent_uid: Annotated[str | None, _Parent.uid]
    parent_expires_at: Annotated[datetime | None, _Parent.expires_at]
    user_id: Annotated[int | None, Credential.user_id]
    user_uid: Annotated[str | None, User.uid]
    user_name: Annotated[str | None, User.name]
    user_role: Annotated[str | None, User.role]
    user_disabled: Annotated[bool | None, User.disabled]
    password_version: Annotated[int | None, User.password_version]
    client_id: Annotated[int | None, Credential.client_id]
    client_uid: Annotated[str | None, Client.uid]
    client_role: Annotated[str | None, Client.role]
    client_enabled: Annotated[bool | None, Client.enabled]
    client_owner_id: Annotated[int | None, Client.user_id]
    client_owner_role: Annotated[str | None, _ClientOwner.role]
    client_owner_disabled: Annotated[bool | None, _ClientOwner.disabled]
    link_uid: Annotated[str | None, Link.uid]
    link_album_uid: Annotated[str | None, Link.album_uid]
    link_expires_at: Annotated[datetime | None, Link.expires_at]
    link_downloads: Annotated[bool | None, Link.downloads]
    link_metadata: Annotated[bool | None, Link.metadata_shown]
    link_uploads: Annotated[bool | None, Link.uploads]
    link_owner_id: Annotated[int | None, Link.user_id]
    link_owner_uid: Annotated[str | None, _LinkOwner.uid]
    link_owner_role: Annotated[str | None, _LinkOwner.role]
    link_owner_disabled: Annotated[bool | None, _LinkOwner.disabled]
    albums: Annotated[str | None, _ALBUMS]


_COLUMNS: list[Any] = [
    get_args(hint)[1].label(name) for name, hint in get_type_hints(CredentialRow, include_extras=True).items()
]
_JOINED = (
    select(*_COLUMNS)
    .select_from(Credential)
    .outerjoin(User, User.id == Credential.user_id)
    .outerjoin(Client, Client.id == Credential.client_id)
    .outerjoin(_ClientOwner, _ClientOwner.id == Client.user_id)
    .outerjoin(_Parent, _Parent.id == Credential.parent_id)
    .outerjoin(Visit, Visit.credential_id == Credential.id)
    .outerjoin(Link, Link.id == Visit.link_id)
    .outerjoin(_LinkOwner, _LinkOwner.id == Link.user_id)
)
_BY_DIGEST = _JOINED.where(Credential.digest == bindparam("key"))
_BY_UID = _JOINED.where(Credential.uid == bindparam("key"))


def is_jwt(secret: str) -> bool:
    """Return whether a secret has the shape of a JWT."""
    return _JWT.match(secret) is not None


def verify(connection: Connection, secret: str, now: datetime) -> Principal:
    """Return the principal behind an access token or app password.

    Raises:
        ExpiredTokenError: it has expired; its row is to be deleted.
        InvalidTokenError: it is not valid; the message is the same for all reasons.
    """
    if not (ids.is_access_token(secret) or ids.is_app_password(secret) or is_jwt(secret)):
        raise InvalidTokenError
    return _principal_of(_read(connection, ids.digest(secret)), now)


def verify_uid(connection: Connection, credential_uid: str, now: datetime) -> Principal:
    """Return the principal of a UID from a trusted source (a signed link), or raise `InvalidTokenError`."""
    return _principal_of(_read(connection, credential_uid, by_uid=True), now)


class TokenRow(NamedTuple):
    """A credential that a request shows, and the client that it was issued to."""

    id: int
    uid: str
    client_id: int | None


def find(connection: Connection, secret: str) -> TokenRow | None:
    """Return the credential with this secret, expired or not."""
    query = select(Credential.id, Credential.uid, Credential.client_id).where(Credential.digest == ids.digest(secret))
    row = connection.execute(query).first()
    return None if row is None else TokenRow(*row)


@lru_cache(maxsize=8)
def _prepared(dialect: Dialect, *, by_uid: bool) -> Prepared:
    return prepare_statement(_BY_UID if by_uid else _BY_DIGEST, dialect)


def _read(connection: Connection, key: str, *, by_uid: bool = False) -> CredentialRow | None:
    rows = _prepared(connection.dialect, by_uid=by_uid).run(connection, {"key": key})
    return CredentialRow._make(rows[0]) if rows else None


def _principal_of(row: CredentialRow | None, now: datetime) -> Principal:
    if row is None or _is_orphan(row):
        raise InvalidTokenError
    if has_expired(row, now) or _is_over(row.parent_expires_at, now) or _is_over(row.link_expires_at, now):
        raise ExpiredTokenError(row.id)
    if row.user_disabled or row.client_owner_disabled or row.client_enabled is False or not _is_opened(row):
        raise InvalidTokenError
    return Principal(
        kind=row.kind,
        credential_id=row.id,
        credential_uid=row.uid,
        credential_name=row.name,
        scope=parse_scope(row.scope, known_only=False),
        role=_role(row),
        sees_private=_sees_private(row),
        created_at=row.created_at,
        expires_at=row.expires_at,
        idle_seconds=row.idle_seconds,
        last_used_at=row.last_used_at,
        proved_at=row.proved_at,
        parent_id=row.parent_id,
        user_id=row.user_id,
        user_uid=row.user_uid,
        user_name=row.user_name,
        password_version=row.password_version or 0,
        client_id=row.client_id,
        client_uid=row.client_uid,
        shared=_shared(row),
    )


def _is_opened(row: CredentialRow) -> bool:
    """Return whether the account that made the link of a visit, if one did, is enabled and may still make links."""
    return not row.link_owner_disabled and (row.link_owner_role is None or row.link_owner_role in SHARERS)


def _role(row: CredentialRow) -> str:
    if row.kind == VISIT:
        return VISITOR
    return GUEST if row.client_owner_role == GUEST else row.user_role or row.client_role or CLIENT


def _shared(row: CredentialRow) -> Shared | None:
    if row.kind == VISIT:
        downloads, metadata = bool(row.link_downloads), bool(row.link_metadata)
        uploads_for = row.link_owner_id if row.link_uploads and row.link_owner_role in UPLOADERS else None
        return Shared(row.link_uid or "", (row.link_album_uid or "",), downloads, metadata, uploads_for)
    if _role(row) != GUEST:
        return None
    return Shared("", tuple(sorted((row.albums or "").split())), downloads=True, metadata=True)


def _is_orphan(row: CredentialRow) -> bool:
    """Return whether an owner was deleted. A host's database may not cascade, and no owner would mean more rights."""
    return (
        (row.user_id is not None and row.user_uid is None)
        or (row.client_id is not None and row.client_uid is None)
        or (row.client_owner_id is not None and row.client_owner_role is None)
        or (row.parent_id is not None and row.parent_uid is None)
        or (row.kind == VISIT and row.link_uid is None)
        or (row.link_owner_id is not None and row.link_owner_uid is None)
    )


def has_expired(credential: CredentialRow | Credential, now: datetime) -> bool:
    """Return whether a credential is too old or was idle for too long, whatever it was made from."""
    if _is_over(credential.expires_at, now):
        return True
    if credential.idle_seconds is None:
        return False
    last_use = credential.last_used_at or credential.created_at
    return now >= last_use + timedelta(seconds=credential.idle_seconds)


def is_expired(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """Return the condition of the database for credentials that are too old."""
    return Credential.expires_at <= now


def is_idle(idle_seconds: int, now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for credentials with this limit that were idle for too long, one for each index."""
    end, limited = now - timedelta(seconds=idle_seconds), Credential.idle_seconds == idle_seconds
    return (
        and_(limited, Credential.last_used_at <= end),
        and_(limited, Credential.last_used_at.is_(None), Credential.created_at <= end),
    )


def _is_over(end: datetime | None, now: datetime) -> bool:
    return end is not None and now >= end


def _sees_private(row: CredentialRow) -> bool:
    if row.user_id is not None:
        return row.user_role not in WITHOUT_PRIVATE
    return row.client_role == ADMIN and row.client_owner_role not in WITHOUT_PRIVATE


def needs_touch(principal: Principal, now: datetime) -> bool:
    """Return whether the stored time of the last use is due for an update."""
    return principal.last_used_at is None or now >= principal.last_used_at + _touch_interval(principal)


def touch(session: Session, principal: Principal, now: datetime, origin: Origin = NOWHERE) -> bool:
    """Store that a credential was used, and from where; return whether this call stored it.

    One conditional statement: of many simultaneous requests, one writes.
    """
    due = now - _touch_interval(principal)
    result = session.connection().execute(
        update(Credential)
        .where(
            Credential.id == principal.credential_id,
            or_(Credential.last_used_at.is_(None), Credential.last_used_at <= due),
        )
        .values(
            last_used_at=now,
            last_ip=func.coalesce(origin.address or None, Credential.last_ip),
            user_agent=func.coalesce(origin.user_agent or None, Credential.user_agent),
        )
    )
    return result.rowcount == 1


def _touch_interval(principal: Principal) -> timedelta:
    # The step is at most a tenth of the idle time, so that a session in constant use does not end as idle.
    idle = principal.idle_seconds or TOUCH_SECONDS * 10
    return timedelta(seconds=min(TOUCH_SECONDS, idle / 10))
