"""The table of the security log: entries are added, and each part of it keeps its newest ones.

Whoever can cause entries of one part without limit, as by wrong passwords, pushes out none of the other parts.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, Row, and_, bindparam, delete, insert, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.accounts.user_names import is_name, normal_name
from photosvc.auth.audit.entry import BY_USER, Entry
from photosvc.auth.audit.events import PARTS
from photosvc.core import ids
from photosvc.models import AuditEntry

#: The oldest entries are deleted whenever the number of a new one is a multiple of this, so that hardly any write of
#: an entry costs more than the INSERT.
_SWEEP_EVERY: Final = 64
#: Entries of a part that are deleted at once.
_MOST_SWEPT: Final = 1000

_ADD = insert(AuditEntry).returning(AuditEntry.id)
_OLDEST_KEPT = (
    select(AuditEntry.id)
    .where(AuditEntry.part == bindparam("kept_part"))
    .order_by(AuditEntry.id.desc())
    .offset(bindparam("kept"))
    .limit(1)
    .scalar_subquery()
)
_SURPLUS = (
    select(AuditEntry.id)
    .where(AuditEntry.part == bindparam("kept_part"), AuditEntry.id <= _OLDEST_KEPT)
    .order_by(AuditEntry.id)
    .limit(_MOST_SWEPT)
)
_SWEEP = delete(AuditEntry).where(AuditEntry.id.in_(_SURPLUS))


def add(session: Session, entries: Sequence[Entry], *, keep: int) -> None:
    """Add entries in the session's write transaction.

    Args:
        session: in a write transaction.
        entries: in the order in which they happened.
        keep: entries that each part keeps.

    """
    connection = session.connection()
    due = False
    for entry in entries:
        number = connection.execute(_ADD, {**asdict(entry), "part": entry.event.part}).scalar_one()
        due = due or number % _SWEEP_EVERY == 0
    if due:
        for part in PARTS:
            connection.execute(_SWEEP, {"kept_part": part, "kept": keep})


def latest(
    connection: Connection,
    *,
    count: int,
    since: datetime | None = None,
    before: int | None = None,
    user: str = "",
) -> Sequence[Row[tuple[AuditEntry]]]:
    """The newest entries, the newest first.

    Args:
        connection: read from.
        count: at most this many.
        since: only those of this time or later.
        before: only those with smaller ids: the next page.
        user: only those by or about the account of this name, or the account or client of this UID; also of one that
            has been removed.

    """
    query = select(AuditEntry.__table__).order_by(AuditEntry.id.desc()).limit(count)
    if since is not None:
        query = query.where(AuditEntry.created_at >= since)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    if user.strip():
        key = normal_name(user)
        if not is_name(key):  # it may hold characters that PostgreSQL refuses; UIDs are valid names
            return ()
        acts = or_(AuditEntry.actor_uid == key, and_(AuditEntry.actor == key, AuditEntry.actor_kind == BY_USER))
        # UIDs of accounts and clients begin with different letters, and names of clients are free.
        concerns = and_(AuditEntry.subject == key, AuditEntry.subject_uid.startswith(ids.USER))
        query = query.where(or_(acts, concerns, AuditEntry.subject_uid == key))
    return connection.execute(query).all()
