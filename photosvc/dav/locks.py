"""The locks of WebDAV in the database, the same for all processes of the service (RFC 4918 sections 6 and 7).

Every function takes a session. Callers that check locks and then write rows or files do both in one write transaction
that began with `serialize`, so that no lock is granted in between.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Final

from sqlalchemy import and_, delete, func, or_, select, text
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.dav.addresses import ancestors, below, within
from photosvc.models import DavLock
from photosvc.models.engine import MOST_SWEPT
from photosvc.models.statements import UNLOADED

#: The most locks of one user.
MOST_OF_USER: Final = 1000
#: The most locks on one resource; only shared locks can be several.
MOST_ON_RESOURCE: Final = 50
#: The most locks in total.
MOST: Final = 10_000
#: The most conflicting locks that an answer names.
_MOST_NAMED: Final = 100
#: The advisory lock of PostgreSQL that serves as SQLite's write lock does.
_ADVISORY: Final = 0x70686F746F646176


def serialize(session: Session) -> None:
    """Keep other processes from deciding about locks or properties until the session's write transaction ends."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY})"))


def sweep(session: Session, now: datetime) -> None:
    """Delete expired locks, a bounded number at a time."""
    expired = select(DavLock.token).where(DavLock.expires_at <= now).limit(MOST_SWEPT).scalar_subquery()
    session.execute(delete(DavLock).where(DavLock.token.in_(expired)), execution_options=UNLOADED)


class TooManyLocksError(PhotosvcError):
    """There are too many locks: release some, or wait until they expire."""

    status = HTTPStatus.FORBIDDEN


def grant(session: Session, now: datetime, lock: DavLock) -> list[str]:
    """Add a lock, after `serialize`; if others conflict with it, add none and return their roots.

    Raises:
        TooManyLocksError: the account, the resource or the service has as many locks as allowed.
    """
    sweep(session, now)
    others = _held(session, now, lock.root, deep=lock.deep)
    # Two locks are compatible only if both are shared.
    if roots := sorted({other.root for other in others if other.exclusive or lock.exclusive}):
        return roots
    counts = select(
        func.count(),
        func.count().filter(DavLock.user_uid == lock.user_uid),
        func.count().filter(DavLock.root == lock.root),
    ).select_from(DavLock)
    total, of_user, on_resource = session.execute(counts).one()
    if total >= MOST or of_user >= MOST_OF_USER or on_resource >= MOST_ON_RESOURCE:
        raise TooManyLocksError
    session.add(lock)
    session.flush()
    return []


def covering(session: Session, now: datetime, path: str) -> Sequence[DavLock]:
    """Return the locks that cover a resource: its own, and the deep ones on folders that contain it."""
    inherited = and_(DavLock.deep, DavLock.root.in_(ancestors(path)))
    query = select(DavLock).where(or_(DavLock.root == path, inherited), DavLock.expires_at > now)
    return session.scalars(query.order_by(DavLock.root, DavLock.token)).all()


def inside(session: Session, now: datetime, path: str, limit: int = _MOST_NAMED) -> Sequence[DavLock]:
    """Return locks on resources inside a folder."""
    query = select(DavLock).where(below(DavLock.root, path), DavLock.expires_at > now)
    return session.scalars(query.order_by(DavLock.root, DavLock.token).limit(limit)).all()


def _held(session: Session, now: datetime, path: str, *, deep: bool) -> list[DavLock]:
    return [*covering(session, now, path), *(inside(session, now, path) if deep else ())]


def blocking(
    session: Session, now: datetime, path: str, *, deep: bool, user_uid: str, tokens: Collection[str]
) -> list[str]:
    """Return the roots of the locks that forbid a user to write a resource.

    Args:
        session: in a transaction after `serialize` if the caller writes afterwards.
        path: the resource, in the form of `addresses.key`.
        deep: True if everything inside is written, too.
        tokens: the lock tokens in the request. Of several shared locks on one resource, one token is enough.
    """
    held = _held(session, now, path, deep=deep)
    opened = {lock.root for lock in held if lock.user_uid == user_uid and lock.token in tokens}
    return sorted({lock.root for lock in held} - opened)


def release(session: Session, token: str) -> None:
    """Delete one lock."""
    session.execute(delete(DavLock).where(DavLock.token == token), execution_options=UNLOADED)


def release_all(session: Session, path: str) -> None:
    """Delete the locks on a resource and inside it, after it was deleted or moved (RFC 4918 section 7.5)."""
    session.execute(delete(DavLock).where(within(DavLock.root, path)), execution_options=UNLOADED)
