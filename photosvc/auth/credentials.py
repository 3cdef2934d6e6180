"""Operations on app passwords, access tokens and login sessions, with their entries of the security log.

A person who logs in is the actor of the operation; `grants` has those of clients.
"""

from photosvc.auth import audit_log, bearer, login, users
from photosvc.auth.audit_log import Event
from photosvc.auth.operation import Operation
from photosvc.auth.principal import Principal
from photosvc.auth.scopes import Scope
from photosvc.auth.tokens import Origin
from photosvc.core.accounts import CREDENTIAL_LIFETIME
from photosvc.models import LOGIN_SESSION, Client, Credential, User


def log_in(operation: Operation, proof: login.Proof, origin: Origin) -> login.Login:
    """Open a login session as `login.open_login` does.

    Raises:
        LoginError: the account or app password changed meanwhile, or the second factor is missing or wrong.
    """
    opened = login.open_login(operation.session, operation.settings, operation.now, proof, origin)
    made = opened.principal
    detail = made.standing.replace("_", " ")
    operation.acting_as(made).record(Event.LOGIN, target=made.credential_uid, detail=detail)
    return opened


def log_out(operation: Operation, principal: Principal) -> None:
    """End the login session that `principal` acts with.

    Raises:
        PermissionDeniedError: it acts with another kind of credential.
    """
    login.log_out(operation.session, principal)
    operation.acting_as(principal).record(Event.LOGOUT, target=principal.credential_uid)


def issue(
    operation: Operation, user: User | None = None, *, name: str, scope: Scope, lifetime: int = CREDENTIAL_LIFETIME
) -> bearer.Issued:
    """Issue an app password of `user` or, without a user, an access token for a device.

    Args:
        lifetime: seconds, or -1.

    Raises:
        AppPasswordLimitError: the account has the most app passwords allowed; the command line may add more.
        InvalidValueError: a value is not valid; `field` says which.
        ScopeTooWideError: the scope is wider than that of the credential that makes it.
    """
    operation.check_grantable(scope)
    if user is not None and not operation.is_command:
        bearer.require_room(operation.session, operation.now, user)
    issued = bearer.issue(operation.session, operation.now, user=user, name=name, scope=scope, lifetime=lifetime)
    made = issued.credential
    operation.record(Event.CREDENTIAL_MADE, subject=user, target=made.uid, detail=audit_log.credential(made))
    return issued


def revoke(operation: Operation, identifier: str) -> None:
    """Revoke the credential of this UID, of any kind and owner.

    Raises:
        NotFoundError: there is none.
    """
    found = bearer.find_credential(operation.session, identifier)
    _revoke(operation, found, found.user or found.client, detail=audit_log.credential(found))


def revoke_owned(operation: Operation, user_uid: str | None, kind: str, uid: str) -> None:
    """Revoke an account's credential of this kind, at once on all workers, and the login sessions made from it.

    Args:
        user_uid: the owner; None for a credential without an owner.

    Raises:
        NotFoundError: the account has no such credential.
    """
    user = None if user_uid is None else users.find_user(operation.session, user_uid)
    found = bearer.find_owned(operation.session, user, kind, uid)
    _revoke(operation, found, user, detail="" if kind == LOGIN_SESSION else audit_log.credential(found))


def revoke_all(operation: Operation) -> int:
    """Revoke every credential; return their number."""
    count = bearer.revoke_all(operation.session)
    operation.record(Event.CREDENTIAL_ENDED, detail=f"all {count} credentials")
    return count


def end_sessions(operation: Operation, user_uid: str) -> int:
    """End all login sessions of the account except the one of this request; return their number."""
    user = users.find_user(operation.session, user_uid)
    ended = bearer.end_sessions(operation.session, user, keep=operation.credential_id)
    which = "all" if operation.is_command else "all others"
    operation.record(Event.SESSION_ENDED, subject=user, detail=f"{which} ({ended})")
    return ended


def _revoke(operation: Operation, found: Credential, owner: User | Client | None, *, detail: str) -> None:
    event = Event.SESSION_ENDED if found.kind == LOGIN_SESSION else Event.CREDENTIAL_ENDED
    operation.record(event, subject=owner, target=found.uid, detail=detail)
    bearer.revoke(operation.session, found.id)
