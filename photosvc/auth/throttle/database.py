"""Failures counted in the service's own database: shared by all workers, nothing else to run."""

from datetime import UTC, datetime

from sqlalchemy import case, delete, select, update
from sqlalchemy.orm import Session

from photosvc.auth.throttle.attempts import Charge
from photosvc.models import ThrottleBucket
from photosvc.models.database import begin_write, insert_into

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DatabaseFailureStore:
    """Leaky buckets, one row each: a failure moves the time at which its bucket is whole again."""

    def take(self, session: Session, charge: Charge, now: datetime) -> int:
        """Count one failure; 0, or the seconds to wait. One conditional statement decides."""
        begin_write(session)
        moment, cost, capacity = milliseconds(now), *limits(charge)
        full_at = ThrottleBucket.full_at
        # A time beyond the capacity was written before the clock was set back: such a bucket starts anew.
        level = case(((full_at > moment) & (full_at <= moment + capacity), full_at), else_=moment)
        insert = insert_into(ThrottleBucket, session).values(key=charge.key, full_at=moment + cost)
        taken = insert.on_conflict_do_update(
            index_elements=[ThrottleBucket.key],
            set_={"full_at": level + cost},
            where=level + cost <= moment + capacity,
        ).returning(full_at)
        if session.execute(taken).first() is not None:
            return 0
        held = session.scalar(select(full_at).where(ThrottleBucket.key == charge.key)) or moment
        return seconds_left(held, moment, cost, capacity)

    def give_back(self, session: Session, charge: Charge, now: datetime) -> None:  # noqa: ARG002
        """Undo one `take`."""
        begin_write(session)
        cost, _ = limits(charge)
        session.execute(
            update(ThrottleBucket)
            .where(ThrottleBucket.key == charge.key)
            .values(full_at=ThrottleBucket.full_at - cost)
            .execution_options(synchronize_session=False)
        )

    def remember(self, session: Session, key: str, until: datetime, now: datetime) -> None:  # noqa: ARG002
        """Know `key` until then."""
        begin_write(session)
        moment = milliseconds(until)
        insert = insert_into(ThrottleBucket, session).values(key=key, full_at=moment)
        session.execute(insert.on_conflict_do_update(index_elements=[ThrottleBucket.key], set_={"full_at": moment}))

    def remembers(self, session: Session, key: str, now: datetime) -> bool:
        """Whether `key` is known."""
        until = session.scalar(select(ThrottleBucket.full_at).where(ThrottleBucket.key == key))
        return until is not None and until > milliseconds(now)


def sweep(session: Session, now: datetime) -> int:
    """Remove buckets that are whole again, and what is no longer remembered; gives how many."""
    begin_write(session)
    swept = delete(ThrottleBucket).where(ThrottleBucket.full_at <= milliseconds(now))
    return len(session.execute(swept.returning(ThrottleBucket.key)).all())


def milliseconds(now: datetime) -> int:
    """Since 1970."""
    return int((now - _EPOCH).total_seconds() * 1000)


def limits(charge: Charge) -> tuple[int, int]:
    """What one failure costs and how much the bucket takes, in milliseconds."""
    cost = charge.allowance.seconds * 1000
    return cost, cost * charge.allowance.burst


def seconds_left(full_at: int, moment: int, cost: int, capacity: int) -> int:
    """Whole seconds until one more failure fits."""
    return max(1, -((moment + capacity - full_at - cost) // 1000))
