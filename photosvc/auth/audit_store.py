"""The stored security log: its table and its log lines.

A line is logged only after its entry has been committed. Each part of the table keeps its newest entries, at most a
quarter of them of one actor, so that a flood of entries removes none of other parts, and few of other actors.

Refusals of the last minute that are equal, from one network and with one credential, are counted in one entry. Wrong
names and passwords are not: the throttle limits their number, and each entry has the account that was tried. If their
entries depended on the name, the time of an answer would show which names exist.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

from photosvc.auth.audit import BY_USER, PARTS, REFUSALS, Entry, Event, told
from photosvc.core import ids
from photosvc.core.accounts import is_name, normal_name
from photosvc.core.logs import FIELDS, as_text
from photosvc.models import AuditEntry

#: The logger of the security log: refusals are logged as warnings, all other events as information.
LOGGER = "photosvc.security"
_LOG = logging.getLogger(LOGGER)
#: Key in `Session.info` of the entries of an open transaction.
_KEPT = "photosvc_audit"
#: The oldest entries are deleted whenever the number of a new one is a multiple of this, so that hardly any write of
#: an entry costs more than the INSERT.
_SWEEP_EVERY: Final = 64
#: Entries that one statement deletes: more than are added between two sweeps.
_MOST_SWEPT: Final = 250
#: Actors whose entries fill a part together: each has at most this fraction of it.
_SHARES: Final = 4
_NAMES: Final = tuple(field.name for field in fields(Entry))
_ADD = insert(AuditEntry).returning(AuditEntry.id)
_OF_PART = AuditEntry.part == bindparam("kept_part")
_OF_ACTOR = AuditEntry.actor_uid == bindparam("kept_actor")
_BUSY = (
    select(AuditEntry.actor_uid)
    .where(_OF_PART)
    .group_by(AuditEntry.actor_uid)
    .having(func.count() > bindparam("kept"))
    .limit(_SHARES)
)
#: Time for which equal refusals are counted in one entry, and the most entries that are looked at to find it.
WINDOW: Final = timedelta(minutes=1)
_LATEST: Final = 100
_LATEST_REFUSALS = (
    select(AuditEntry.id).where(AuditEntry.part == REFUSALS).order_by(AuditEntry.id.desc()).limit(_LATEST).subquery()
)


def keep(session: Session, entries: Sequence[Entry]) -> None:
    """Keep entries until the session's transaction has committed; after a rollback they are not logged."""
    session.info.setdefault(_KEPT, []).extend(entries)


def log_committed(session: Session) -> None:
    """Log the entries that the session's transaction has committed."""
    log(session.info.pop(_KEPT, ()))


def log(entries: Iterable[Entry]) -> None:
    """Log a line for each entry."""
    for entry in entries:
        level = logging.WARNING if entry.event.part == REFUSALS else logging.INFO
        if _LOG.isEnabledFor(level):
            values = told(entry)
            _LOG.log(level, "%s", as_text(values), extra={FIELDS: values})


def _deletion_beyond(*conditions: ColumnElement[bool]) -> Delete:
    """Return a statement that deletes the oldest entries that meet the conditions, beyond the `kept` newest."""
    newest_surplus = select(AuditEntry.id).where(*conditions).order_by(AuditEntry.id.desc())
    newest_surplus = newest_surplus.offset(bindparam("kept")).limit(1)
    surplus = select(AuditEntry.id).where(*conditions, AuditEntry.id <= newest_surplus.scalar_subquery())
    # Locked rows are skipped, so that two transactions that sweep do not wait for each other.
    surplus = surplus.order_by(AuditEntry.id).limit(_MOST_SWEPT).with_for_update(skip_locked=True)
    return delete(AuditEntry).where(AuditEntry.id.in_(surplus))


_SWEEP_PART = _deletion_beyond(_OF_PART)
_SWEEP_ACTOR = _deletion_beyond(_OF_PART, _OF_ACTOR)


def add(session: Session, entries: Sequence[Entry], *, keep: int) -> None:
    """Add entries in the session's write transaction; each part of the log keeps the `keep` newest ones."""
    connection = session.connection()
    due = False
    for entry in entries:
        values = {name: getattr(entry, name) for name in _NAMES}
        number = connection.execute(_ADD, {**values, "part": entry.event.part}).scalar_one()
        due = due or number % _SWEEP_EVERY == 0
    if due:
        for part in PARTS:
            share = {"kept_part": part, "kept": keep // _SHARES}
            for actor in connection.execute(_BUSY, share).scalars().all():
                connection.execute(_SWEEP_ACTOR, {**share, "kept_actor": actor})
            connection.execute(_SWEEP_PART, {"kept_part": part, "kept": keep})


def add_refusal(session: Session, entry: Entry, *, keep: int) -> bool:
    """Add a refusal as `add` does, or count it in an equal one of the last minute; return whether it was added."""
    if entry.event in {Event.LOGIN_REFUSED, Event.CLIENT_REFUSED} and not entry.detail:
        add(session, [entry], keep=keep)
        return True
    equal = select(func.max(AuditEntry.id)).where(
        AuditEntry.id.in_(select(_LATEST_REFUSALS.c.id)),
        AuditEntry.created_at.between(entry.created_at - WINDOW, entry.created_at),
        *(getattr(AuditEntry, name) == getattr(entry, name) for name in ("event", "address", "credential", "detail")),
    )
    same_account = AuditEntry.subject_uid == entry.subject_uid
    subject = {name: case((same_account, getattr(AuditEntry, name)), else_="") for name in ("subject", "subject_uid")}
    counted = update(AuditEntry).where(AuditEntry.id == equal.scalar_subquery()).returning(AuditEntry.id)
    if session.connection().execute(counted.values(times=AuditEntry.times + 1, **subject)).first() is not None:
        return False
    add(session, [entry], keep=keep)
    return True


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
    """Return the newest entries, the newest first.

    Args:
        since: only entries of this time or later.
        until: only entries before this time.
        before: only entries with smaller ids: the next page.
        user: only entries by or about the account of this name, or the account or client of this UID, even if it was
            removed.
        events: only these events; empty for all.
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
