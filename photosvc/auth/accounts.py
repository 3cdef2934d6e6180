"""Accounts: added, found, changed, disabled and removed, and their passwords.

Functions that take an `Operation` check its rights and write its entry of the security log; without such an account,
they raise the error of `find_user`. Callers hash and check passwords before its write transaction begins.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, not_, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from photosvc.auth import audit
from photosvc.auth.audit import Event
from photosvc.auth.credentials import delete_credentials, end_login_sessions
from photosvc.auth.errors import LastAdminError, UserExistsError
from photosvc.auth.operation import Operation
from photosvc.auth.passwords import new_hash
from photosvc.auth.second_factor import require_passcode
from photosvc.core import ids
from photosvc.core.accounts import ADMIN, USER, USER_ROLES, check_user_name, is_name, normal_name
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.message import Message
from photosvc.core.text import storable
from photosvc.models import Client, Credential, Link, User, Visit
from photosvc.models.schema import delete_owned
from photosvc.records import limits

_WORD = r"[^\s@<>()\[\]:;,\\\".]+"
_EMAIL = re.compile(rf"{_WORD}(\.{_WORD})*@{_WORD}(\.{_WORD})*")
#: Rights of an account, which its own user cannot change.
_RIGHTS = frozenset({"role", "disabled"})


def new_user(
    now: datetime, *, name: str, password: str | None = None, role: str = USER, display_name: str = "", email: str = ""
) -> User:
    """Return a new account that is not stored yet; without a password it has app passwords only.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
    """
    name = check_user_name(name)
    return User(
        uid=ids.new_uid(ids.USER, now),
        name=name,
        role=check_role(role),
        display_name=_display_name(display_name),
        email=_email(email),
        password_hash=new_hash(password, user_name=name),
        created_at=now,
        updated_at=now,
    )


def add(operation: Operation, user: User, *, remark: str = "") -> User:
    """Store a new account, or raise `UserExistsError`; `remark` is added to the entry of the security log."""
    session = operation.session
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError:
        raise UserExistsError(field="name") from None
    operation.record(Event.USER_ADDED, subject=user, detail=f"role {user.role}{remark}")
    session.refresh(user)
    return user


def find_user(session: Session, identifier: str, *, lock: bool = False) -> User:
    """Return the account of this name or UID; with `lock`, others cannot change it until the transaction ends.

    All administrators are locked too, so that two cannot remove each other.

    Raises:
        NotFoundError: there is none.
    """
    key = normal_name(identifier)
    statement = select(User).where(or_(User.name == key, User.uid == key)).order_by(User.uid != key)
    if lock:
        session.execute(select(User.id).where(User.role == ADMIN).order_by(User.id).with_for_update())
        statement = statement.with_for_update().execution_options(populate_existing=True)
    # Other text is not sent to the database: it may hold characters that PostgreSQL refuses. UIDs are valid names.
    user = session.scalar(statement) if is_name(key) else None
    if user is None:
        raise NotFoundError(Message("no such user: {name}", name=repr(identifier[:200])))
    return user


def list_users(session: Session, *, search: str = "", limit: int = 100) -> Sequence[User]:
    """Return accounts by name; `search` is the beginning of a name, a UID or a role."""
    statement = select(User).order_by(User.name).limit(limit)
    if search:
        key = storable(normal_name(search))
        statement = statement.where(or_(User.name.istartswith(key, autoescape=True), User.uid == key, User.role == key))
    return session.scalars(statement).all()


def change(
    operation: Operation,
    user_uid: str,
    *,
    role: str | None = None,
    display_name: str | None = None,
    email: str | None = None,
    disabled: bool | None = None,
) -> User:
    """Change the given values of an account; its role and whether it is disabled only with the right to change others.

    Disabling ends login sessions and suspends app passwords.

    Args:
        display_name: at most 255 printable characters.
        email: an address such as `me@example.org`, or empty for none.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        LastAdminError: no enabled administrator would be left; the command line may do that.
        PermissionDeniedError: the account's own user cannot change its rights, or must confirm the password again.
    """
    session = operation.session
    user = find_user(session, user_uid, lock=True)
    changes = {"role": role, "display_name": display_name, "email": email, "disabled": disabled}
    if any(changes[name] not in {None, getattr(user, name)} for name in _RIGHTS):
        operation.check_allowed("users.change")
    operation.record(Event.USER_CHANGED, subject=user, detail=audit.describe_changes(user, changes))
    checks: dict[str, Any] = {"role": check_role, "display_name": _display_name, "email": _email, "disabled": bool}
    values = {name: checks[name](value) for name, value in changes.items() if value is not None}
    loses_admin = role not in {None, ADMIN} or disabled is True
    user_id, uid = user.id, user.uid
    statement = update(User).where(User.id == user_id).values(**values, updated_at=operation.now).returning(User.id)
    if loses_admin and not operation.is_command:
        statement = statement.where(_is_not_the_last_admin(user_id))
    if session.scalar(statement) is None:
        raise LastAdminError
    if disabled:
        end_login_sessions(session, user_id)
    session.expire_all()
    return find_user(session, uid)


def remove(operation: Operation, user_uid: str) -> None:
    """Remove an account with its credentials; clients that belong to it are disabled.

    Raises:
        LastAdminError: no enabled administrator would be left; the command line may do that.
    """
    session = operation.session
    user = find_user(session, user_uid, lock=True)
    operation.record(Event.USER_REMOVED, subject=user)
    user_id = user.id
    _delete_credentials(session, user_id)
    statement = delete(User).where(User.id == user_id).returning(User.id)
    if not operation.is_command:
        statement = statement.where(_is_not_the_last_admin(user_id))
    if session.scalar(statement) is None:
        raise LastAdminError


def remove_all(operation: Operation) -> int:
    """Remove every account with its credentials; return the number of accounts."""
    session = operation.session
    removed = session.scalars(select(User.id).order_by(User.id).with_for_update()).all()
    for user_id in removed:
        _delete_credentials(session, user_id)
    session.execute(delete(User).where(User.id.in_(removed)))
    operation.record(Event.USER_REMOVED, detail=f"all {len(removed)} accounts")
    return len(removed)


def set_password(operation: Operation, user_uid: str, password_hash: str) -> None:
    """Set the password of an account, or "" for none: its login sessions end, its app passwords stay valid."""
    _set_password(operation, find_user(operation.session, user_uid), password_hash)


def change_own_password(operation: Operation, user: User, password_hash: str, *, code: str | None) -> None:
    """Change the password of `find_proven`'s account; its login sessions end except the one of this request.

    Raises:
        LoginError: the code of the second factor is missing or wrong.
    """
    require_passcode(operation, user, code)
    _set_password(operation, user, password_hash, keep=operation.credential_id)


def _set_password(operation: Operation, user: User, password_hash: str, *, keep: int | None = None) -> None:
    user_id = user.id
    operation.session.execute(
        update(User)
        .where(User.id == user_id)
        .values(password_hash=password_hash, password_version=User.password_version + 1, updated_at=operation.now)
    )
    end_login_sessions(operation.session, user_id, keep=keep)
    operation.record(Event.PASSWORD_CHANGED, subject=user)


def check_role(role: str) -> str:
    """Return the role, or raise `InvalidValueError` unless accounts can have it."""
    if role not in USER_ROLES:
        raise InvalidValueError("a user's role is admin, user or viewer", field="role")
    return role


def _display_name(text: str, field: str = "display_name") -> str:
    text = text.strip()
    if len(text) > limits.LINE or not text.isprintable():
        raise InvalidValueError(Message("at most {most} printable characters", most=limits.LINE), field=field)
    return text


def _email(text: str) -> str:
    """Return an email address by RFC 5321 section 4.1.2, without quoted parts and comments; any letters (RFC 6531)."""
    text = _display_name(text, "email")
    if text and not _EMAIL.fullmatch(text):
        raise InvalidValueError("an email address is one such as me@example.org, or empty for none", field="email")
    return text


def _delete_credentials(session: Session, user_id: int) -> None:
    """Delete everything that belongs to an account, and disable its clients: a host's database may not cascade."""
    session.execute(update(Client).where(Client.user_id == user_id).values(enabled=False, user_id=None))
    visits = select(Visit.credential_id).join(Link).where(Link.user_id == user_id)
    delete_credentials(session, or_(Credential.user_id == user_id, Credential.id.in_(visits)))
    delete_owned(session, User.__table__, [user_id])


def _is_not_the_last_admin(user_id: int) -> ColumnElement[bool]:
    """Return the condition that an enabled administrator remains without this user."""
    other = aliased(User)
    enabled_admin = select(other.id).where(other.id != user_id, other.role == ADMIN, not_(other.disabled)).exists()
    return or_(User.role != ADMIN, User.disabled, enabled_admin)


def has_accounts(connection: Connection | Session) -> bool:
    """Return whether there is any account."""
    return connection.scalar(select(User.id).limit(1)) is not None
