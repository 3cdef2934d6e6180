"""App passwords, access tokens and login sessions: issued, listed, found, revoked, and deleted once expired.

`issue`, `revoke`, `revoke_owned`, `revoke_all` and `end_sessions` take an `Operation`, check its rights and write its
entry of the security log. `login` opens login sessions, `grants` stores the tokens of clients.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import cast

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Delete,
    Row,
    Table,
    bindparam,
    delete,
    func,
    not_,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.orm import Session, selectinload

from photosvc.auth import audit
from photosvc.auth.audit import Event
from photosvc.auth.errors import AppPasswordLimitError
from photosvc.auth.operation import Operation
from photosvc.auth.scopes import Scope
from photosvc.auth.tokens import has_expired, is_expired, is_idle
from photosvc.core import ids
from photosvc.core.accounts import CREDENTIAL_LIFETIME, MAX_CREDENTIAL_LIFETIME, NO_LIMIT
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.message import Message
from photosvc.core.text import storable
from photosvc.models import ACCESS_TOKEN, APP_PASSWORD, LOGIN_SESSION, Client, Credential, User, Visit
from photosvc.models.engine import MOST_SWEPT
from photosvc.models.statements import in_portions
from photosvc.records import limits

#: App passwords that an account may have at the same time. Each of them may open several sessions.
MOST_APP_PASSWORDS = 100
_UID = re.compile(r"sess[0-9a-z]{8}\Z")
#: Sessions in one list, the most recently used ones.
MOST_LISTED = 1000

_IDS: BindParameter[int] = bindparam("ids", expanding=True)
#: The columns of credentials that `end_credentials` needs.
ENDED = select(Credential.id, Credential.uid)
_CHILDREN = ENDED.where(Credential.parent_id.in_(_IDS))


@dataclass(frozen=True, slots=True)
class Issued:
    """A new credential and its secret, which is shown only now and not stored."""

    credential: Credential
    secret: str


def issue(
    operation: Operation, user: User | None = None, *, name: str, scope: Scope, lifetime: int = CREDENTIAL_LIFETIME
) -> Issued:
    """Issue an app password of `user` or, without a user, an access token for a device.

    Args:
        lifetime: seconds; -1 for no limit.

    Raises:
        AppPasswordLimitError: the account has the most app passwords allowed; the command line may add more.
        InvalidValueError: the name, scope or lifetime (field `expires`) is not valid.
        ScopeTooWideError: the scope is wider than that of the credential that makes it.
    """
    operation.check_grantable(scope)
    if user is not None and not operation.is_command:
        _require_room(operation, user)
    secret = ids.new_access_token() if user is None else ids.new_app_password()
    credential = Credential(
        uid=ids.new_credential_uid(),
        kind=ACCESS_TOKEN if user is None else APP_PASSWORD,
        digest=ids.digest(secret),
        name=check_name(name),
        scope=str(check_scope(scope)),
        user_id=None if user is None else user.id,
        expires_at=expiry(lifetime, operation.now),
        created_at=operation.now,
    )
    operation.session.add(credential)
    operation.session.flush()
    operation.record(
        Event.CREDENTIAL_MADE, subject=user, target=credential.uid, detail=audit.describe_credential(credential)
    )
    return Issued(credential, secret)


def _require_room(operation: Operation, user: User) -> None:
    """Raise `AppPasswordLimitError` unless the account may have one more; lock it until the transaction ends."""
    operation.session.execute(select(User.id).where(User.id == user.id).with_for_update())
    valid = or_(Credential.expires_at.is_(None), not_(is_expired(operation.now)))
    own = select(func.count()).where(Credential.user_id == user.id, Credential.kind == APP_PASSWORD, valid)
    if (operation.session.scalar(own) or 0) >= MOST_APP_PASSWORDS:
        raise AppPasswordLimitError


def check_name(name: str) -> str:
    """Return the trimmed name, or raise `InvalidValueError` unless it has 1 to 160 printable characters."""
    name = name.strip()
    if not 1 <= len(name) <= limits.NAME or not name.isprintable():
        raise InvalidValueError(Message("a name has 1 to {most} printable characters", most=limits.NAME), field="name")
    return name


def check_scope(scope: Scope) -> Scope:
    """Return the scope, or raise `InvalidValueError` if it covers nothing."""
    if not scope:
        raise InvalidValueError("the scope covers nothing; `*` covers everything", field="scope")
    return scope


def expiry(lifetime: int, now: datetime) -> datetime | None:
    """Return the time at which a credential with this lifetime in seconds expires; None for -1.

    Raises:
        InvalidValueError: 0, another negative number, or more than a hundred years.
    """
    if lifetime == NO_LIMIT:
        return None
    if not 1 <= lifetime <= MAX_CREDENTIAL_LIFETIME:
        msg = f"a lifetime is 1 to {MAX_CREDENTIAL_LIFETIME} seconds, or -1 for no limit"
        raise InvalidValueError(msg, field="expires")
    return now + timedelta(seconds=lifetime)


def list_credentials(
    session: Session, *, user: User | None = None, kinds: Sequence[str] = (), search: str = "", limit: int = 100
) -> list[Credential]:
    """Return credentials with their users and clients, the most recently used first.

    Args:
        search: a UID, or the beginning of a name, user name or kind.
    """
    statement = (
        select(Credential)
        .outerjoin(User, User.id == Credential.user_id)
        .options(selectinload(Credential.user), selectinload(Credential.client))
        .order_by(func.coalesce(Credential.last_used_at, Credential.created_at).desc(), Credential.id.desc())
        .limit(limit)
    )
    if user is not None:
        statement = statement.where(Credential.user_id == user.id)
    if kinds:
        statement = statement.where(Credential.kind.in_(kinds))
    if search:
        search = storable(search)
        statement = statement.where(
            or_(
                Credential.uid == search.lower(),
                Credential.name.istartswith(search, autoescape=True),
                Credential.kind.istartswith(search, autoescape=True),
                User.name.istartswith(search, autoescape=True),
            )
        )
    return list(session.scalars(statement))


def find_credential(session: Session, identifier: str) -> Credential:
    """Return the credential with this UID or this secret, or raise `NotFoundError`."""
    is_uid = bool(_UID.match(identifier))
    column, key = (Credential.uid, identifier) if is_uid else (Credential.digest, ids.digest(identifier))
    credential = session.scalar(select(Credential).where(column == key))
    if credential is None:
        # Other text may be a secret, which no message may contain.
        raise NotFoundError(f"no such credential: {identifier if is_uid else 'give an ID of `svc auth ls`'}")
    return credential


def revoke(operation: Operation, identifier: str) -> None:
    """Revoke the credential of this UID and the login sessions made from it, or raise `NotFoundError`."""
    credential = find_credential(operation.session, identifier)
    _revoke(operation, credential, credential.user or credential.client, detail=audit.describe_credential(credential))


def revoke_owned(operation: Operation, user: User | None, kind: str, uid: str) -> None:
    """Revoke an account's credential of this kind, at once on all workers, and the login sessions made from it.

    Args:
        user: the owner; None for a credential without an owner.

    Raises:
        NotFoundError: the account has no such credential.
    """
    credential = find_owned(operation.session, user, kind, uid)
    _revoke(operation, credential, user, detail="" if kind == LOGIN_SESSION else audit.describe_credential(credential))


def _revoke(operation: Operation, credential: Credential, owner: User | Client | None, *, detail: str) -> None:
    event = Event.SESSION_ENDED if credential.kind == LOGIN_SESSION else Event.CREDENTIAL_ENDED
    operation.record(event, subject=owner, target=credential.uid, detail=detail)
    delete_credentials(operation.session, Credential.id == credential.id)


def revoke_all(operation: Operation) -> int:
    """Revoke every credential; return their number."""
    count = delete_credentials(operation.session, true())
    operation.record(Event.CREDENTIAL_ENDED, detail=f"all {count} credentials")
    return count


def end_login_sessions(session: Session, user_id: int, *, keep: int | None = None) -> int:
    """Delete a user's login sessions; return their number.

    `keep`, and sessions made from an app password, stay.
    """
    return delete_credentials(
        session,
        Credential.user_id == user_id,
        Credential.kind == LOGIN_SESSION,
        Credential.parent_id.is_(None),
        Credential.id != (keep or 0),
    )


def end_oldest_sessions(session: Session, user_id: int, parent_id: int | None, *, keep: int) -> None:
    """Delete the oldest login sessions of an account, or of its app password `parent_id`, beyond the `keep` newest."""
    of_owner = (
        Credential.user_id == user_id,
        Credential.kind == LOGIN_SESSION,
        Credential.parent_id.is_(None) if parent_id is None else Credential.parent_id == parent_id,
    )
    newest_surplus = select(Credential.id).where(*of_owner).order_by(Credential.id.desc()).offset(keep).limit(1)
    delete_credentials(session, *of_owner, Credential.id <= newest_surplus.scalar_subquery())


def sweep(session: Session, now: datetime, *, most: int = MOST_SWEPT) -> int:
    """Delete credentials that have expired or were idle for too long, about `most` of them; return their number."""
    swept = _delete_some(session, most, is_expired(now))
    idle: int | None = 0
    while swept < most:
        # Find each value that the setting ever had by the index: DISTINCT would read every session.
        idle = session.scalar(select(func.min(Credential.idle_seconds)).where(Credential.idle_seconds > idle))
        if idle is None:
            break
        for condition in is_idle(idle, now):
            swept += _delete_some(session, most - swept, condition)
    return swept


def _delete_some(session: Session, most: int, condition: ColumnElement[bool]) -> int:
    return end_credentials(session, session.execute(ENDED.where(condition).limit(most)).all())


def delete_credentials(session: Session, *conditions: ColumnElement[bool]) -> int:
    """Delete the credentials that meet these conditions, as `end_credentials` does; return their number."""
    return end_credentials(session, session.execute(ENDED.where(*conditions)).all())


def end_credentials(session: Session, ended: Sequence[Row[int, str]]) -> int:
    """Delete credentials, given as rows of `ENDED`, with their login sessions, visits and selections.

    Nothing else deletes credentials. Rows that belong to them are deleted by statements of their own, because a host's
    database may not cascade. Objects of the session are expired.

    Returns:
        the number of all deleted credentials.
    """
    session.flush()  # before its objects are expired, which would drop changes that are not written yet
    connection, count = session.connection(), 0
    for portion in in_portions(ended):
        children = connection.execute(_CHILDREN, {"ids": [row.id for row in portion]}).all()
        for rows in in_portions([*portion, *children]):
            values = {"ids": [row.id for row in rows], "uids": [row.uid for row in rows]}
            *_, deleted = [connection.execute(statement, values) for statement in _ending()]
            count += deleted.rowcount
    if ended:
        session.expire_all()
    return count


@cache
def _ending() -> Sequence[Delete]:
    """Return the statements that end credentials; built once, because others wait while a token is issued."""
    from photosvc.models import ZipSelection  # commands about accounts do without the tables of jobs

    tables = (cast("Table", mapped.__table__) for mapped in (Visit, ZipSelection, Credential))
    visits, selections, credentials = tables
    return (
        delete(visits).where(visits.c.credential_id.in_(_IDS)),
        delete(selections).where(selections.c.principal_uid.in_(bindparam("uids", expanding=True))),
        delete(credentials).where(credentials.c.id.in_(_IDS)),
    )


def list_sessions(session: Session, user: User, now: datetime) -> list[Credential]:
    """Return an account's open login sessions, also sessions made from app passwords; the last used first."""
    sessions = list_credentials(session, user=user, kinds=[LOGIN_SESSION], limit=MOST_LISTED)
    return [login_session for login_session in sessions if not has_expired(login_session, now)]


def find_owned(session: Session, user: User | None, kind: str, uid: str) -> Credential:
    """Return the account's credential of this kind with this UID; without an account, a credential without an owner.

    A secret is not accepted in place of the UID: no address should contain one.

    Raises:
        NotFoundError: there is none, or it belongs to another account.
    """
    owner = Credential.user_id.is_(None) if user is None else Credential.user_id == user.id
    owned = select(Credential).where(owner, Credential.kind == kind)
    # Other text is not sent to the database: it may hold characters that PostgreSQL refuses.
    credential = session.scalar(owned.where(Credential.uid == uid)) if uid.isascii() and uid.isalnum() else None
    if credential is None:
        raise NotFoundError(f"no such {kind.replace('_', ' ')}")
    return credential


def end_sessions(operation: Operation, user: User) -> int:
    """End all login sessions of the account except the one of this request; return their number.

    Sessions made from app passwords end too; the app passwords stay valid.
    """
    others = Credential.id != (operation.credential_id or 0)
    ended = delete_credentials(
        operation.session, Credential.user_id == user.id, Credential.kind == LOGIN_SESSION, others
    )
    which = "all" if operation.is_command else "all others"
    operation.record(Event.SESSION_ENDED, subject=user, detail=f"{which} ({ended})")
    return ended


def renew_proof(operation: Operation) -> None:
    """Store that the account's password was sent with this login session: it may change other accounts for an hour."""
    own = Credential.id == (operation.credential_id or 0)
    operation.session.execute(update(Credential).where(own).values(proved_at=operation.now))
