"""Changes by authorized administrators, from the API or the web page: of accounts, OAuth2 clients and access tokens.

The access tokens are those of devices, which belong to no account.
"""

from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from photosvc.auth import audit_log, bearer, clients, passwords, second_factor, users
from photosvc.auth.audit_log import Event
from photosvc.auth.errors import OwnSecondFactorError
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import ACCESS_TOKEN, User
from photosvc.web.auditing import record
from photosvc.web.current import current_service
from photosvc.web.protector import principal


def add_account(*, name: str, role: str, display_name: str, email: str, password: str | None) -> User:
    """Make an account; without a password it has app passwords only.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        UserExistsError: the name is taken.

    """
    service = current_service()
    user = users.new_user(
        service.now(), name=name, role=role, display_name=display_name, email=email, password=password
    )
    with service.writing() as session:
        users.add_user(session, user)
        record(session, Event.USER_ADDED, subject=user, detail=f"role {user.role}")
        session.refresh(user)
        session.expunge(user)
    return user


def change_account(
    user_uid: str,
    *,
    role: str | None = None,
    display_name: str | None = None,
    email: str | None = None,
    disabled: bool | None = None,
) -> None:
    """Change the given values of an account, unless no enabled administrator would be left.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        LastAdminError: no enabled administrator would be left.
        NotFoundError: there is no such account.

    """
    service = current_service()
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        changes = {"role": role, "display_name": display_name, "email": email, "disabled": disabled}
        record(session, Event.USER_CHANGED, subject=user, detail=audit_log.changes(user, changes))
        users.change_user(
            session, user, service.now(), role=role, display_name=display_name, email=email, disabled=disabled
        )


def remove_account(user_uid: str) -> None:
    """Remove an account with all of its credentials.

    Raises:
        LastAdminError: no enabled administrator would be left.
        NotFoundError: there is no such account.

    """
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        record(session, Event.USER_REMOVED, subject=user)
        users.remove_user(session, user)


def set_password(user: User, new: str, *, field: str = "new") -> None:
    """Set the password of an account: its login sessions end, its app passwords stay valid.

    Raises:
        InvalidValueError: the password cannot be set; the error names `field`.

    """
    service = current_service()
    fresh = passwords.new_hash(new, user_name=user.name, field=field)
    with service.writing() as session:
        users.set_password(session, user, service.now(), fresh)
        record(session, Event.PASSWORD_CHANGED, subject=user)


def reset_second_factor(user_uid: str) -> None:
    """Turn two-factor authentication off for an account whose owner lost both the phone and the recovery codes.

    Raises:
        NotFoundError: there is no such account.
        OwnSecondFactorError: it is the administrator's own account.

    """
    service = current_service()
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        if user.uid == principal().user_uid:
            raise OwnSecondFactorError
        second_factor.reset(session, service.now(), user)
        record(session, Event.SECOND_FACTOR_OFF, subject=user)


def add_client(
    *, name: str, scope: str, role: str, lifetime: int, limit: int, token_format: str, owner: str
) -> clients.Registered:
    """Register a client; return it with its secret, which is not stored.

    Args:
        name: at most 160 characters.
        scope: the widest scope of its tokens.
        role: `client` or `admin`.
        lifetime: lifetime of each token in seconds.
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
        record(session, Event.CLIENT_ADDED, subject=made, detail=audit_log.client(made))
        session.refresh(made)
        session.expunge(made)
    return registered


def change_client(client_id: str, changes: clients.Changes, *, scope: str | None = None, owner: str = "") -> None:
    """Change a client; tokens that it could not get any more are revoked.

    Args:
        client_id: the client's `client_id`.
        changes: the changes other than scope and account.
        scope: the widest scope of its tokens; None leaves the scope and the account unchanged.
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
        detail = audit_log.changes(before, _told(changes, before.user))
        record(session, Event.CLIENT_CHANGED, subject=before, detail=detail)
        clients.change_client(session, client_id, service.now(), changes)


def rotate_secret(client_id: str) -> str:
    """Make a new secret for a client and return it; the secret itself is not stored.

    The old secret, the client's public keys and its tokens are refused from now on.

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
    """Return the changed values for the security log."""
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


def add_token(*, name: str, scope: str, lifetime: int) -> str:
    """Make an access token; return its secret, which is not stored.

    Args:
        name: the name of the device or program.
        scope: its scopes.
        lifetime: seconds, or -1.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.

    """
    service, wanted = current_service(), parse_scope(scope)
    check_grantable(principal(), wanted)
    with service.writing() as session:
        issued = bearer.issue(session, service.now(), name=name, scope=wanted, lifetime=lifetime)
        made = issued.credential
        record(session, Event.CREDENTIAL_MADE, target=made.uid, detail=audit_log.credential(made))
    return issued.secret


def remove_token(credential: str) -> None:
    """Revoke an access token, at once on all workers.

    Raises:
        NotFoundError: there is no access token of this UID.

    """
    with current_service().writing() as session:
        found = bearer.find_owned(session, None, ACCESS_TOKEN, credential)
        record(session, Event.CREDENTIAL_ENDED, target=found.uid, detail=audit_log.credential(found))
        bearer.revoke(session, found.id)
