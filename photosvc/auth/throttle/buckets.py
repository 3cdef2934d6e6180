"""Leaky buckets, one row each: a failure moves the time at which the bucket is empty again.

All workers share them through the database. Each function is one statement in the caller's write transaction, except
`is_known` and `wait`, which only read, and the second read of `take` after a refusal.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, case, delete, select, update
from sqlalchemy.orm import Session

from photosvc.models import ThrottleBucket
from photosvc.models.database.inserts import insert_into
from photosvc.models.database.transactions import MOST_SWEPT

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many failures pass at once (`burst`), and the seconds after which one more passes."""

    name: str
    burst: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Charge:
    """One failure against the allowance of one address, account or credential."""

    allowance: Allowance
    subject: str

    @property
    def key(self) -> str:
        """The bucket's primary key."""
        return f"{self.allowance.name}:{self.subject}"

    @property
    def cost(self) -> int:
        """Milliseconds by which one failure fills the bucket."""
        return self.allowance.seconds * 1000

    @property
    def capacity(self) -> int:
        """Milliseconds that the bucket holds."""
        return self.cost * self.allowance.burst


def take(session: Session, charge: Charge, now: datetime) -> int:
    """Count one failure; 0, or the seconds to wait when the allowance is used up and nothing was counted."""
    moment, cost, capacity = _milliseconds(now), charge.cost, charge.capacity
    full_at = ThrottleBucket.full_at
    # A time beyond the capacity was written before the clock was set back; such a bucket counts as empty.
    level = case(((full_at > moment) & (full_at <= moment + capacity), full_at), else_=moment)
    insert = insert_into(ThrottleBucket, session).values(key=charge.key, full_at=moment + cost)
    taken = insert.on_conflict_do_update(
        index_elements=[ThrottleBucket.key],
        set_={"full_at": level + cost},
        where=level + cost <= moment + capacity,
    ).returning(full_at)
    if session.execute(taken).first() is not None:
        return 0
    return max(1, wait(session, charge, now))


def wait(connection: Session | Connection, charge: Charge, now: datetime) -> int:
    """The seconds until `take` would count a failure, 0 if it would now."""
    moment, cost, capacity = _milliseconds(now), charge.cost, charge.capacity
    held = connection.scalar(select(ThrottleBucket.full_at).where(ThrottleBucket.key == charge.key))
    if held is None or not moment < held <= moment + capacity or held + cost <= moment + capacity:
        return 0
    return max(1, -((moment + capacity - held - cost) // 1000))


def give_back(session: Session, charge: Charge) -> None:
    """Undo one `take`."""
    session.execute(
        update(ThrottleBucket)
        .where(ThrottleBucket.key == charge.key)
        .values(full_at=ThrottleBucket.full_at - charge.cost)
        .execution_options(synchronize_session=False)
    )


def remember(session: Session, key: str, until: datetime) -> None:
    """Store `key` until then."""
    moment = _milliseconds(until)
    insert = insert_into(ThrottleBucket, session).values(key=key, full_at=moment)
    session.execute(insert.on_conflict_do_update(index_elements=[ThrottleBucket.key], set_={"full_at": moment}))


def remember_once(session: Session, key: str, until: datetime, now: datetime) -> bool:
    """Store `key` until then; False if it is stored already."""
    moment = _milliseconds(until)
    insert = insert_into(ThrottleBucket, session).values(key=key, full_at=moment)
    stored = insert.on_conflict_do_update(
        index_elements=[ThrottleBucket.key],
        set_={"full_at": moment},
        where=ThrottleBucket.full_at <= _milliseconds(now),
    ).returning(ThrottleBucket.key)
    return session.execute(stored).first() is not None


def is_known(session: Session | Connection, key: str, now: datetime) -> bool:
    """Whether `key` is stored and has not expired."""
    until = session.scalar(select(ThrottleBucket.full_at).where(ThrottleBucket.key == key))
    return until is not None and until > _milliseconds(now)


def sweep(session: Session, now: datetime, *, most: int = MOST_SWEPT) -> int:
    """Delete empty buckets and expired keys, at most `most`; gives how many."""
    over = select(ThrottleBucket.key).where(ThrottleBucket.full_at <= _milliseconds(now)).limit(most)
    swept = delete(ThrottleBucket).where(ThrottleBucket.key.in_(over)).returning(ThrottleBucket.key)
    return len(session.execute(swept).all())


def _milliseconds(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds() * 1000)
