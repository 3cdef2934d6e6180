"""Accounts: added, found, changed, disabled and removed."""

import re
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, not_, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from photosvc.auth.bearer import end_login_sessions
from photosvc.auth.errors import LastAdminError, UserExistsError
from photosvc.auth.passwords import new_hash
from photosvc.core import ids
from photosvc.core.accounts import ADMIN, USER, USER_ROLES, check_user_name, is_name, normal_name
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import Client, User
from photosvc.models.schema import delete_owned

_MAX_TEXT = 255
_WORD = r"[^\s@<>()\[\]:;,\\\".]+"
_EMAIL = re.compile(rf"{_WORD}(\.{_WORD})*@{_WORD}(\.{_WORD})*")


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
        display_name=_text(display_name, "display_name"),
        email=_email(email),
        password_hash=new_hash(password, user_name=name),
        created_at=now,
        updated_at=now,
    )


def add_user(session: Session, user: User) -> User:
    """Store a new account.

    Raises:
        UserExistsError: the name is taken.
    """
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError:
        raise UserExistsError(field="name") from None
    return user


def find_user(session: Session, identifier: str) -> User:
    """Return the account of this name or UID.

    Raises:
        NotFoundError: there is none.
    """
    key = normal_name(identifier)
    statement = select(User).where(or_(User.name == key, User.uid == key)).order_by(User.uid != key)
    # Other text is not sent to the database: it may hold characters that PostgreSQL refuses. UIDs are valid names.
    found = session.scalar(statement) if is_name(key) else None
    if found is None:
        raise NotFoundError("no such user")
    return found


def list_users(session: Session, *, search: str = "", limit: int = 100) -> Sequence[User]:
    """Return accounts by name; `search` is the beginning of a name, a UID or a role."""
    statement = select(User).order_by(User.name).limit(limit)
    if search:
        key = normal_name(search).encode("utf-8", "replace").decode().replace("\x00", "")
        statement = statement.where(or_(User.name.istartswith(key, autoescape=True), User.uid == key, User.role == key))
    return session.scalars(statement).all()


def change_user(
    session: Session,
    user: User,
    now: datetime,
    *,
    role: str | None = None,
    disabled: bool | None = None,
    display_name: str | None = None,
    email: str | None = None,
    keep_admin: bool = True,
) -> User:
    """Change the given values; disabling ends login sessions and suspends app passwords.

    Args:
        session: flushed, not committed.
        display_name: at most 255 printable characters.
        email: an address such as `me@example.org`, or empty for none.
        keep_admin: refuse to lose the last enabled administrator. Only the command line passes False.

    Raises:
        InvalidValueError: a value is not valid.
        LastAdminError: no enabled administrator would be left.
        NotFoundError: the account was removed meanwhile.
    """
    values: dict[str, object] = {"updated_at": now}
    if role is not None:
        values["role"] = check_role(role)
    if disabled is not None:
        values["disabled"] = disabled
    if display_name is not None:
        values["display_name"] = _text(display_name, "display_name")
    if email is not None:
        values["email"] = _email(email)
    loses_admin = role not in {None, ADMIN} or disabled is True
    user_id, uid = _lock(session, user)
    statement = update(User).where(User.id == user_id).values(values).returning(User.id)
    if keep_admin and loses_admin:
        statement = statement.where(_is_not_the_last_admin(user_id))
    if session.scalar(statement) is None:
        _refuse(session, user_id)
    if disabled:
        end_login_sessions(session, user_id)
    session.expire_all()
    return find_user(session, uid)


def remove_user(session: Session, user: User, *, keep_admin: bool = True) -> None:
    """Remove an account with its credentials; clients that belong to it are disabled.

    Raises:
        LastAdminError: no enabled administrator would be left.
        NotFoundError: the account was removed meanwhile.
    """
    user_id, _uid = _lock(session, user)
    _delete_credentials(session, user_id)
    statement = delete(User).where(User.id == user_id).returning(User.id)
    if keep_admin:
        statement = statement.where(_is_not_the_last_admin(user_id))
    if session.scalar(statement) is None:
        _refuse(session, user_id)


def remove_all_users(session: Session) -> int:
    """Remove every account; return their number."""
    removed = session.scalars(select(User.id).order_by(User.id).with_for_update()).all()
    for user_id in removed:
        _delete_credentials(session, user_id)
    session.execute(delete(User).where(User.id.in_(removed)))
    return len(removed)


def set_password(session: Session, user: User, now: datetime, password_hash: str, *, keep: int | None = None) -> None:
    """Store the hash of a new password, or "" for none.

    The user's login sessions end, except the one with the id `keep`; app passwords stay valid.
    """
    user_id = user.id
    session.execute(
        update(User)
        .where(User.id == user_id)
        .values(password_hash=password_hash, password_version=User.password_version + 1, updated_at=now)
    )
    end_login_sessions(session, user_id, keep=keep)


def check_role(role: str) -> str:
    """Return the role if accounts can have it.

    Raises:
        InvalidValueError: it is another role.
    """
    if role not in USER_ROLES:
        raise InvalidValueError("a user's role is admin, user or viewer", field="role")
    return role


def _text(text: str, field: str) -> str:
    text = text.strip()
    if len(text) > _MAX_TEXT or not text.isprintable():
        raise InvalidValueError(f"at most {_MAX_TEXT} printable characters", field=field)
    return text


def _email(text: str) -> str:
    """Return an email address by RFC 5321 section 4.1.2, without quoted parts and comments; any letters (RFC 6531)."""
    text = _text(text, "email")
    if text and not _EMAIL.fullmatch(text):
        raise InvalidValueError("an email address is one such as me@example.org, or empty for none", field="email")
    return text


def _lock(session: Session, user: User) -> tuple[int, str]:
    """Lock the rows of all administrators, so that two cannot remove each other; return the account's id and UID."""
    found = user.id, user.uid
    session.execute(select(User.id).where(User.role == ADMIN).order_by(User.id).with_for_update())
    return found


def _delete_credentials(session: Session, user_id: int) -> None:
    """Delete everything that belongs to an account, and disable its clients: a host's database may not cascade."""
    session.execute(update(Client).where(Client.user_id == user_id).values(enabled=False, user_id=None))
    delete_owned(session, User.__table__, [user_id])


def _is_not_the_last_admin(user_id: int) -> ColumnElement[bool]:
    """Return the condition that an enabled administrator remains without this user."""
    other = aliased(User)
    enabled_admin = select(other.id).where(other.id != user_id, other.role == ADMIN, not_(other.disabled)).exists()
    return or_(User.role != ADMIN, User.disabled, enabled_admin)


def _refuse(session: Session, user_id: int) -> None:
    if session.scalar(select(User.id).where(User.id == user_id)) is None:
        raise NotFoundError("no such user")
    raise LastAdminError
