"""OAuth2 clients: registered, found, changed and removed.

Functions that take an `Operation` check its rights and write its entry of the security log. For a client that does not
exist, they raise the error of `find_client`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session, selectinload

from photosvc.auth import audit
from photosvc.auth.audit import Event
from photosvc.auth.credentials import check_name, check_scope, delete_credentials
from photosvc.auth.grants import end_tokens_beyond, keep_newest
from photosvc.auth.operation import Operation
from photosvc.auth.scopes import Scope
from photosvc.core import ids
from photosvc.core.accounts import (
    CLIENT,
    CLIENT_ROLES,
    CLIENT_TOKEN_LIFETIME,
    CLIENT_TOKENS,
    MAX_CLIENT_TOKEN_LIFETIME,
    MAX_CLIENT_TOKENS,
    NO_LIMIT,
    OPAQUE,
    TOKEN_FORMATS,
)
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.message import Message
from photosvc.core.text import storable
from photosvc.models import Client, Credential, User


@dataclass(frozen=True, slots=True)
class Registered:
    """A new client and its secret, which is shown only now and not stored."""

    client: Client
    secret: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed client, and its new secret, which is shown only now and not stored."""

    client: Client
    secret: str
    """Empty if the secret is unchanged."""
    old_digest: str
    """The digest of the secret before."""


def register(
    operation: Operation,
    *,
    name: str,
    scope: Scope,
    role: str = CLIENT,
    lifetime: int = CLIENT_TOKEN_LIFETIME,
    limit: int = CLIENT_TOKENS,
    token_format: str = OPAQUE,
    user: User | None = None,
) -> Registered:
    """Register a client that may ask for tokens; return it with its secret, which is not stored.

    Args:
        name: at most 160 characters; need not be unique.
        scope: the widest scope of its tokens; must cover something.
        role: `client` or `admin`.
        lifetime: seconds that each token lives, 1 to 2678400 (31 days).
        limit: live tokens at a time, at least 1; -1 for no limit.
        token_format: `opaque` or `jwt`.
        user: the account the client belongs to. It gets no rights of the account, but is refused while it is disabled.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        ScopeTooWideError: the scope is wider than that of the credential that registers the client.
    """
    operation.check_grantable(scope)
    secret = ids.new_client_secret()
    client = Client(
        uid=ids.new_uid(ids.CLIENT, operation.now),
        secret_digest=ids.digest(secret),
        name=check_name(name),
        role=_check_role(role),
        scope=str(check_scope(scope)),
        user_id=None if user is None else user.id,
        token_lifetime=check_lifetime(lifetime),
        token_limit=check_limit(limit),
        token_format=_check_format(token_format),
        created_at=operation.now,
        updated_at=operation.now,
    )
    operation.session.add(client)
    operation.session.flush()
    operation.record(Event.CLIENT_ADDED, subject=client, detail=audit.describe_client(client))
    operation.session.refresh(client)
    return Registered(client, secret)


def find_client(session: Session, client_id: str, *, lock: bool = False) -> Client:
    """Return the client with this id, locked for the transaction by `lock`, or raise `NotFoundError`."""
    client = None
    if ids.is_uid(client_id, ids.CLIENT):
        statement = select(Client).where(Client.uid == client_id)
        client = session.scalar(statement.with_for_update() if lock else statement)
    if client is None:
        raise NotFoundError(Message("no such client: {name}", name=repr(client_id[:200])))
    return client


def list_clients(session: Session, *, search: str = "", limit: int = 100) -> Sequence[Client]:
    """Return clients by name; `search` is a `client_id`, a role, or the beginning of a name or user name."""
    statement = (
        select(Client)
        .outerjoin(User, User.id == Client.user_id)
        .options(selectinload(Client.user))
        .order_by(Client.name, Client.id)
        .limit(limit)
    )
    if search:
        key = storable(search.strip())
        statement = statement.where(
            or_(
                Client.uid == key.lower(),
                Client.role == key.lower(),
                Client.name.istartswith(key, autoescape=True),
                User.name.istartswith(key, autoescape=True),
            )
        )
    return session.scalars(statement).all()


def change(operation: Operation, client_id: str, values: Mapping[str, Any], *, new_secret: bool = False) -> Changed:
    """Change a client; tokens that it could not get any more are revoked.

    Args:
        values: the new values by the names that `register` has, and `enabled`; None changes nothing, `unbind` ends the
            link to an account. The security log has them in this order.
        new_secret: make a new secret; the old one and the tokens are refused from now on.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        ScopeTooWideError: the scope is wider than that of the credential that changes the client.
    """
    session = operation.session
    client = find_client(session, client_id, lock=True)
    if (scope := values.get("scope")) is not None:
        operation.check_grantable(scope)
    logged = [audit.describe_changes(client, _logged_values(values, client.user)), "new secret" if new_secret else ""]
    operation.record(Event.CLIENT_CHANGED, subject=client, detail=", ".join(filter(None, logged)))
    _set_values(session, client, operation.now, values)
    old_digest, secret = client.secret_digest, ""
    if new_secret:
        secret = ids.new_client_secret()
        client.secret_digest = ids.digest(secret)
        delete_credentials(session, Credential.client_id == client.id)
    client.updated_at = operation.now
    session.flush()
    session.refresh(client)
    return Changed(client, secret, old_digest)


def _set_values(session: Session, client: Client, now: datetime, values: Mapping[str, Any]) -> None:
    changed = {name: value for name, value in values.items() if value is not None}
    if "name" in changed:
        client.name = check_name(changed["name"])
    if "role" in changed:
        client.role = _check_role(changed["role"])
    if "lifetime" in changed:
        client.token_lifetime = check_lifetime(changed["lifetime"])
    if "token_format" in changed:
        client.token_format = _check_format(changed["token_format"])
    if "user" in changed or changed.get("unbind"):
        client.user_id = changed["user"].id if "user" in changed else None
    if "scope" in changed:
        client.scope = str(check_scope(changed["scope"]))
        end_tokens_beyond(session, client.id, changed["scope"])
    if "limit" in changed:
        client.token_limit = check_limit(changed["limit"])
        keep_newest(session, client.id, client.token_limit, now)
    if "enabled" in changed:
        client.enabled = changed["enabled"]
        if not client.enabled:
            delete_credentials(session, Credential.client_id == client.id)


def undo_new_secret(operation: Operation, client_id: str, old_digest: str, *, lost: str) -> None:
    """Undo a new secret that could not be shown: the one of this digest is valid again.

    The client keeps a third secret if it has one by now. Deleted tokens stay deleted.
    """
    is_lost = (Client.uid == client_id) & (Client.secret_digest == ids.digest(lost))
    operation.session.execute(update(Client).where(is_lost).values(secret_digest=old_digest))
    subject = find_client(operation.session, client_id)
    operation.record(Event.CLIENT_CHANGED, subject=subject, detail="old secret again")


def remove(operation: Operation, client_id: str) -> None:
    """Remove a client and its tokens."""
    client = find_client(operation.session, client_id, lock=True)
    operation.record(Event.CLIENT_REMOVED, subject=client)
    delete_credentials(operation.session, Credential.client_id == client.id)  # a host's SQLite may not cascade
    operation.session.delete(client)
    operation.session.flush()


def remove_all(operation: Operation) -> int:
    """Remove every client with its tokens; return the number of clients."""
    session = operation.session
    for row_id in session.scalars(select(Client.id).order_by(Client.id).with_for_update()):
        delete_credentials(session, Credential.client_id == row_id)
    count = len(session.scalars(delete(Client).returning(Client.id)).all())
    operation.record(Event.CLIENT_REMOVED, detail=f"all {count} clients")
    return count


def _logged_values(values: Mapping[str, Any], owner: User | None) -> dict[str, Any]:
    """Return the changed values for the security log."""
    logged = {name: value for name, value in values.items() if name not in {"user", "unbind"}}
    if logged.get("scope") is not None:
        logged["scope"] = str(logged["scope"])
    user = values.get("user")
    if (user is not None or values.get("unbind")) and user is not owner:
        logged["user"] = user or ""
    return logged


def check_lifetime(lifetime: int) -> int:
    """Return the lifetime of tokens, or raise `InvalidValueError` unless it is 1 second to 31 days."""
    if not 1 <= lifetime <= MAX_CLIENT_TOKEN_LIFETIME:
        msg = f"a client's tokens live 1 to {MAX_CLIENT_TOKEN_LIFETIME} seconds (31 days)"
        raise InvalidValueError(msg, field="expires")
    return lifetime


def check_limit(limit: int) -> int:
    """Return the limit of live tokens, or raise `InvalidValueError` unless it is -1 or 1 to a million."""
    if limit != NO_LIMIT and not 1 <= limit <= MAX_CLIENT_TOKENS:
        msg = f"a client has 1 to {MAX_CLIENT_TOKENS} tokens at a time, or -1 for no limit"
        raise InvalidValueError(msg, field="tokens")
    return limit


def _check_role(role: str) -> str:
    if role not in CLIENT_ROLES:
        raise InvalidValueError("a client's role is client or admin", field="role")
    return role


def _check_format(token_format: str) -> str:
    if token_format not in TOKEN_FORMATS:
        raise InvalidValueError(f"a token's format is {' or '.join(TOKEN_FORMATS)}", field="token_format")
    return token_format
