"""Access tokens of devices, which belong to no account, made and revoked by administrators."""

from photosvc.auth.audit import described
from photosvc.auth.audit.events import Event
from photosvc.auth.credentials import bearer, open_sessions
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.models import ACCESS_TOKEN
from photosvc.web.auditing import record
from photosvc.web.current import current_service
from photosvc.web.protector import principal


def add_token(*, name: str, scope: str, lifetime: int) -> str:
    """Make an access token; gives its secret, which is stored nowhere.

    Args:
        name: what the device or program is called.
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
        record(session, Event.CREDENTIAL_MADE, target=made.uid, detail=described.credential(made))
    return issued.secret


def remove_token(credential: str) -> None:
    """Revoke an access token, at once on all workers.

    Raises:
        NotFoundError: there is none of this UID.

    """
    with current_service().writing() as session:
        found = open_sessions.find_owned(session, None, ACCESS_TOKEN, credential)
        record(session, Event.CREDENTIAL_ENDED, target=found.uid, detail=described.credential(found))
        bearer.revoke(session, found.id)
