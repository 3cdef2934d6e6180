"""The open login sessions of an account, as its owner sees and ends them."""

from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from photosvc.auth.credentials.bearer import delete_credentials, list_credentials
from photosvc.core.errors import NotFoundError
from photosvc.models import LOGIN_SESSION, Credential, User

#: Sessions in one list: the most recently used ones.
MOST_LISTED = 1000


def list_sessions(session: Session, user: User, now: datetime) -> list[Credential]:
    """The login sessions of an account that have not ended, also those made from app passwords; last used first."""
    found = list_credentials(session, user=user, kinds=[LOGIN_SESSION], limit=MOST_LISTED)
    return [one for one in found if _is_open(one, now)]


def find_owned(session: Session, user: User | None, kind: str, uid: str) -> Credential:
    """The account's credential of this kind with this UID; without an account, one that belongs to none.

    Its secret finds nothing: no address should contain one.

    Raises:
        NotFoundError: there is none, or it belongs to another account.

    """
    owner = Credential.user_id.is_(None) if user is None else Credential.user_id == user.id
    owned = select(Credential).where(owner, Credential.kind == kind)
    # Other text is not sent to the database: it may hold characters that PostgreSQL refuses.
    found = session.scalar(owned.where(Credential.uid == uid)) if uid.isascii() and uid.isalnum() else None
    if found is None:
        msg = f"no such {kind.replace('_', ' ')}"
        raise NotFoundError(msg)
    return found


def end_sessions(session: Session, user: User, *, keep: int | None = None) -> int:
    """End all login sessions of an account but the one with the id `keep`; gives how many there were.

    Those made from app passwords end too; the app passwords stay valid.
    """
    return delete_credentials(
        session, Credential.user_id == user.id, Credential.kind == LOGIN_SESSION, Credential.id != (keep or 0)
    )


def renew_proof(session: Session, credential_id: int, now: datetime) -> None:
    """Store that the account's password was sent with this login session."""
    session.execute(update(Credential).where(Credential.id == credential_id).values(proved_at=now))


def _is_open(one: Credential, now: datetime) -> bool:
    used = one.last_used_at or one.created_at
    is_idle = one.idle_seconds is not None and now >= used + timedelta(seconds=one.idle_seconds)
    return not is_idle and (one.expires_at is None or now < one.expires_at)
