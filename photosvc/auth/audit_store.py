"""The stored security log: its table, its log lines, and the refusals that this process still counts.

A line is logged only after its entry has been committed. Each part of the table keeps its newest entries, at most a
quarter of them of one actor, so that a flood of entries removes none of other parts, and few of other actors.

Equal refusals are counted for a minute: the first of each kind is recorded at once, the number of the others at the
end of the minute. A kind is made of the event, the name, the actor and the network. Names that no account has are kinds
as well: if all of them were one kind, the time of an answer would show which names exist. Beyond a few kinds from one
network, and some from all, refusals are counted together, so that the entries of a minute are bounded.
"""

import logging
from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Final, TypeAlias

from sqlalchemy import ColumnElement, Connection, Delete, Row, and_, bindparam, delete, func, insert, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.audit_log import BY_USER, PARTS, REFUSALS, Entry, told
from photosvc.auth.throttle import network_of
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
WINDOW: Final = timedelta(minutes=1)
#: Kinds that are counted separately: of one network, and of all networks.
MOST_OF_NETWORK: Final = 8
MOST_KINDS: Final = 32
#: Entries that wait for the database. Beyond these, the oldest are not stored; the log lines have them all the same.
MOST_WAITING: Final = 256
_OTHERS: Final = "others"
_ANY_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: The common fields of equal refusals, and a digest of the name that they showed.
_Kind: TypeAlias = tuple[Entry, str]


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


@dataclass(slots=True)
class Pending:
    """The refusals that are counted, and the entries that wait for the database. Threads may share it."""

    _began: datetime | None = None
    _counts: dict[_Kind, int] = field(default_factory=dict)
    """By kind: the number of refusals after the first."""
    _of_network: Counter[str] = field(default_factory=Counter)
    _waiting: deque[Entry] = field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    _lock: Lock = field(default_factory=Lock)

    @property
    def is_empty(self) -> bool:
        """Return whether no refusal is counted and no entry waits."""
        return self._began is None

    def is_due(self, now: datetime) -> bool:
        """Return whether the minute is over."""
        return self._began is not None and not timedelta() <= now - self._began < WINDOW

    def note(self, entry: Entry, *, typed: str = "") -> list[Entry]:
        """Count a refusal of a name with the digest `typed`; return the entries to log, which wait to be stored."""
        with self._lock:
            told = self._end_minute(entry.created_at)
            self._began = self._began or entry.created_at
            kind, first = self._kind(entry, typed)
            if kind in self._counts:
                self._counts[kind] += 1
            else:
                self._counts[kind] = 0
                self._of_network[kind[0].address] += 1
                told.append(first)
            self._waiting.extend(told)
        return told

    def end_minute(self, now: datetime, *, early: bool = False) -> list[Entry]:
        """End the minute if it is over, or `early`; return the entries to log, which wait to be stored."""
        with self._lock:
            told = self._end_minute(now, early=early)
            self._waiting.extend(told)
        return told

    def take(self) -> list[Entry]:
        """Take out all entries that wait for the database, the oldest first; the caller stores or returns them."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken

    def give_back(self, taken: Iterable[Entry], now: datetime) -> None:
        """Put entries that could not be stored back until the end of this minute."""
        with self._lock:
            self._waiting.extendleft(reversed(list(taken)))
            self._began = self._began or now

    def _end_minute(self, now: datetime, *, early: bool = False) -> list[Entry]:
        if not (early or self.is_due(now)):
            return []
        told = [replace(alike, created_at=now, times=count) for (alike, _typed), count in self._counts.items() if count]
        self._began = None
        self._counts.clear()
        self._of_network.clear()
        return told

    def _kind(self, entry: Entry, typed: str) -> tuple[_Kind, Entry]:
        """Return the kind of an entry, and the entry to log for the first refusal of that kind."""
        alike = replace(entry, created_at=_ANY_TIME, address=network_of(entry.address), request_id="")
        is_known = (alike, typed) in self._counts
        if is_known or (len(self._counts) < MOST_KINDS and self._of_network[alike.address] < MOST_OF_NETWORK):
            return (alike, typed), entry
        address = alike.address if len(self._counts) < MOST_KINDS else ""
        others = Entry(created_at=_ANY_TIME, event=entry.event, detail=_OTHERS, address=address)
        return (others, ""), replace(others, created_at=entry.created_at)
