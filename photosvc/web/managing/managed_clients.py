"""Changes of OAuth2 clients by administrators, who have shown their right to them."""

from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from photosvc.auth.accounts import users
from photosvc.auth.audit import described
from photosvc.auth.audit.events import Event
from photosvc.auth.oauth import clients
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import User
from photosvc.web.auditing import record
from photosvc.web.current import current_service
from photosvc.web.protector import principal


def add_client(
    *, name: str, scope: str, role: str, lifetime: int, limit: int, token_format: str, owner: str
) -> clients.Registered:
    """Register a client; gives it with its secret, which is stored nowhere.

    Args:
        name: at most 160 characters.
        scope: the widest scope of its tokens.
        role: `client` or `admin`.
        lifetime: of each token, in seconds.
        limit: live tokens at a time; -1 for no limit.
        token_format: `opaque` or `jwt`.
        owner: the name of the account that it belongs to, or empty.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.

    """
    service, wanted = current_service(), parse_scope(scope)
    check_grantable(principal(), wanted)
    with service.writing() as session:
        registered = clients.register(
            session,
            service.now(),
            name=name,
            scope=wanted,
            role=role,
            lifetime=lifetime,
            limit=limit,
            token_format=token_format,
            user=_owner(session, owner),
        )
        made = registered.client
        record(session, Event.CLIENT_ADDED, subject=made, detail=described.client(made))
        session.refresh(made)
        session.expunge(made)
    return registered


def change_client(client_id: str, changes: clients.Changes, *, scope: str | None = None, owner: str = "") -> None:
    """Change a client; tokens that it could not get any more are revoked.

    Args:
        client_id: of the client.
        changes: what changes, besides scope and account.
        scope: the widest scope of its tokens; None leaves it, and the account, as they are.
        owner: the name of the account that it belongs to, or empty for none.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        NotFoundError: there is no such client.

    """
    service = current_service()
    with service.writing() as session:
        before = clients.find_client(session, client_id, lock=True)
        if scope is not None:
            wanted, user = parse_scope(scope), _owner(session, owner)
            check_grantable(principal(), wanted)
            changes = replace(changes, scope=wanted, user=user, unbind=user is None)
        detail = described.changes(before, _told(changes, before.user))
        record(session, Event.CLIENT_CHANGED, subject=before, detail=detail)
        clients.change_client(session, client_id, service.now(), changes)


def rotate_secret(client_id: str) -> str:
    """A new secret for a client, which is stored nowhere; the old one, its public keys and its tokens are refused.

    Raises:
        NotFoundError: there is no such client.

    """
    service = current_service()
    with service.writing() as session:
        record(session, Event.CLIENT_CHANGED, subject=clients.find_client(session, client_id), detail="new secret")
        return clients.regenerate_secret(session, client_id, service.now())


def remove_client(client_id: str) -> None:
    """Remove a client and its tokens.

    Raises:
        NotFoundError: there is no such client.

    """
    with current_service().writing() as session:
        record(session, Event.CLIENT_REMOVED, subject=clients.find_client(session, client_id))
        clients.remove_client(session, client_id)


def _owner(session: Session, name: str) -> User | None:
    try:
        return users.find_user(session, name) if name.strip() else None
    except NotFoundError as error:
        raise InvalidValueError(error.message, field="owner") from None


def _told(changes: clients.Changes, owner: User | None) -> dict[str, Any]:
    """The values of changes as the security log tells them."""
    moved = changes.user is not None or changes.unbind
    return {
        "name": changes.name,
        "role": changes.role,
        "scope": changes.scope and str(changes.scope),
        "lifetime": changes.lifetime,
        "limit": changes.limit,
        "token_format": changes.token_format,
        "enabled": changes.enabled,
        "user": (changes.user or "") if moved and changes.user is not owner else None,
    }
