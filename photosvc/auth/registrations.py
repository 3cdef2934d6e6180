"""Operations on the registrations of OAuth2 clients, with their entries of the security log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from photosvc.auth import audit_log, clients
from photosvc.auth.audit_log import Event
from photosvc.auth.operation import Operation
from photosvc.models import Client, User


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed client, and its new secret, which is shown only now and not stored."""

    client: Client
    secret: str
    """Empty if the secret is unchanged."""
    old_digest: str
    """The digest of the secret before."""


def add(operation: Operation, values: Mapping[str, Any]) -> clients.Registered:
    """Register a client with these values, as `clients.register` does; return it with its secret, which is not stored.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        ScopeTooWideError: the scope is wider than that of the credential that registers the client.
    """
    operation.check_grantable(values["scope"])
    registered = clients.register(operation.session, operation.now, **values)
    made = registered.client
    operation.record(Event.CLIENT_ADDED, subject=made, detail=audit_log.client(made))
    operation.session.refresh(made)
    return registered


def change(operation: Operation, client_id: str, values: Mapping[str, Any], *, new_secret: bool = False) -> Changed:
    """Change a client; tokens that it could not get any more are revoked.

    Args:
        client_id: the client's `client_id`.
        values: the new values, as `clients.Changes` takes them; the security log has them in this order.
        new_secret: make a new secret; the old one and the tokens are refused from now on.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        NotFoundError: there is no such client.
        ScopeTooWideError: the scope is wider than that of the credential that changes the client.
    """
    session, changes = operation.session, clients.Changes(**values)
    before = clients.find_client(session, client_id, lock=True)
    if changes.scope is not None:
        operation.check_grantable(changes.scope)
    told = [audit_log.changes(before, _told(values, before.user)), "new secret" if new_secret else ""]
    operation.record(Event.CLIENT_CHANGED, subject=before, detail=", ".join(filter(None, told)))
    client = clients.change_client(session, client_id, operation.now, changes)
    old_digest = client.secret_digest
    secret = clients.regenerate_secret(session, client_id, operation.now) if new_secret else ""
    return Changed(client, secret, old_digest)


def restore_secret(operation: Operation, client_id: str, old_digest: str, *, lost: str) -> None:
    """Undo a new secret that could not be shown, as `clients.restore_secret` does.

    Raises:
        NotFoundError: there is no such client.
    """
    clients.restore_secret(operation.session, client_id, old_digest, lost=lost)
    subject = clients.find_client(operation.session, client_id)
    operation.record(Event.CLIENT_CHANGED, subject=subject, detail="old secret again")


def remove(operation: Operation, client_id: str) -> None:
    """Remove a client and its tokens.

    Raises:
        NotFoundError: there is no such client.
    """
    operation.record(Event.CLIENT_REMOVED, subject=clients.find_client(operation.session, client_id))
    clients.remove_client(operation.session, client_id)


def remove_all(operation: Operation) -> int:
    """Remove every client with its tokens; return the number of clients."""
    count = clients.remove_all_clients(operation.session)
    operation.record(Event.CLIENT_REMOVED, detail=f"all {count} clients")
    return count


def _told(values: Mapping[str, Any], owner: User | None) -> dict[str, Any]:
    """Return the changed values for the security log."""
    told = {name: value for name, value in values.items() if name not in {"user", "unbind"}}
    if told.get("scope") is not None:
        told["scope"] = str(told["scope"])
    user = values.get("user")
    if (user is not None or values.get("unbind")) and user is not owner:
        told["user"] = user or ""
    return told
