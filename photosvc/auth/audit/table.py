"""The table of the security log: entries are added, and each part of it keeps its newest ones.

A client that causes entries of one part without limit, for example by wrong passwords, removes no entry of another
part. Each part keeps at most a quarter of its entries for one actor, so that an account that makes and revokes app
passwords for an hour removes no entries of others.
"""

from collections.abc import Collection, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, Delete, Row, and_, bindparam, delete, func, insert, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.accounts.user_names import is_name, normal_name
from photosvc.auth.audit.entry import BY_USER, Entry
from photosvc.auth.audit.events import PARTS
from photosvc.core import ids
from photosvc.models import AuditEntry

#: The oldest entries are deleted whenever the number of a new one is a multiple of this, so that hardly any write of
#: an entry costs more than the INSERT.
_SWEEP_EVERY: Final = 64
#: Entries that one statement deletes: more than are added between two sweeps.
_MOST_SWEPT: Final = 250

#: Of a part: how many actors have the room of all entries.
_SHARES: Final = 4

_NAMES: Final = tuple(field.name for field in fields(Entry))


def _deletion_beyond(*conditions: ColumnElement[bool]) -> Delete:
    """Deletes the oldest entries that meet the conditions, beyond the `kept` newest."""
    newest_surplus = select(AuditEntry.id).where(*conditions).order_by(AuditEntry.id.desc())
    newest_surplus = newest_surplus.offset(bindparam("kept")).limit(1)
    surplus = select(AuditEntry.id).where(*conditions, AuditEntry.id <= newest_surplus.scalar_subquery())
    # Locked rows are skipped, so that two transactions that sweep do not wait for each other.
    surplus = surplus.order_by(AuditEntry.id).limit(_MOST_SWEPT).with_for_update(skip_locked=True)
    return delete(AuditEntry).where(AuditEntry.id.in_(surplus))


_ADD = insert(AuditEntry).returning(AuditEntry.id)
_OF_PART = AuditEntry.part == bindparam("kept_part")
_OF_ACTOR = AuditEntry.actor_uid == bindparam("kept_actor")
_SWEEP_PART = _deletion_beyond(_OF_PART)
_SWEEP_ACTOR = _deletion_beyond(_OF_PART, _OF_ACTOR)
_BUSY = (
    select(AuditEntry.actor_uid)
    .where(_OF_PART)
    .group_by(AuditEntry.actor_uid)
    .having(func.count() > bindparam("kept"))
    .limit(_SHARES)
)


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
        values = {name: getattr(entry, name) for name in _NAMES}
        number = connection.execute(_ADD, {**values, "part": entry.event.part}).scalar_one()
        due = due or number % _SWEEP_EVERY == 0
    if due:
        for part in PARTS:
            _sweep(connection, part, keep)


def _sweep(connection: Connection, part: str, keep: int) -> None:
    share = {"kept_part": part, "kept": keep // _SHARES}
    for actor in connection.execute(_BUSY, share).scalars().all():
        connection.execute(_SWEEP_ACTOR, {**share, "kept_actor": actor})
    connection.execute(_SWEEP_PART, {"kept_part": part, "kept": keep})


def latest(
    connection: Connection,
    *,
    count: int,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
    user: str = "",
    events: Collection[str] = (),
) -> Sequence[Row[tuple[AuditEntry]]]:
    """The newest entries, the newest first.

    Args:
        connection: read from.
        count: at most this many.
        since: only those of this time or later.
        until: only those before this time.
        before: only those with smaller ids: the next page.
        user: only those by or about the account of this name, or the account or client of this UID; also of one that
            has been removed.
        events: only these; empty for all.

    """
    query = select(AuditEntry.__table__).order_by(AuditEntry.id.desc()).limit(count)
    if since is not None:
        query = query.where(AuditEntry.created_at >= since)
    if until is not None:
        query = query.where(AuditEntry.created_at < until)
    if events:
        query = query.where(AuditEntry.event.in_(sorted(events)))
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
