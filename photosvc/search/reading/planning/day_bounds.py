"""Between which times a search by local days has to look.

`taken_at` counts by UTC and a local day by the clocks of the place, so the two differ by up to a day. The rows where
they differ by more, because a camera's clock was wrong, are marked and asked for.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection, func, select

from photosvc.models import SearchRow
from photosvc.models.search.values import microseconds
from photosvc.query.nodes import Filter, Node
from photosvc.query.operands import Choice, Days
from photosvc.search.reading.conditions.columns import in_days

_DAY: Final = timedelta(days=1)


class Bounds(NamedTuple):
    """Times in microseconds since 1970, both included; None where nothing bounds them."""

    low: int | None = None
    high: int | None = None


def day_bounds(parts: Iterable[Node], connection: Connection) -> Bounds:
    """The times outside of which no photo fits all these conjuncts."""
    found = [_bounds(days, connection) for days in map(days_of, parts) if days is not None]
    low = max((one.low for one in found if one.low is not None), default=None)
    return Bounds(low, min((one.high for one in found if one.high is not None), default=None))


def days_of(part: Node) -> Days | None:
    """The days that a conjunct asks for; None when it asks for something else, or for several ranges of days."""
    match part:
        case Filter("taken" | "before" | "after", Choice((Days() as days,))):
            return days
        case _:
            return None


def _bounds(days: Days, connection: Connection) -> Bounds:
    far = select(func.min(SearchRow.taken_at), func.max(SearchRow.taken_at))
    first, last = connection.execute(far.where(SearchRow.far_day, in_days(SearchRow.taken_day, days))).one()
    low = _midnight(days.start, -_DAY) if days.start else None
    high = _midnight(days.end, _DAY) if days.end else None
    return Bounds(
        low if low is None or first is None else min(low, first),
        high if high is None or last is None else max(high, last),
    )


def _midnight(day: date, shift: timedelta) -> int | None:
    try:
        return microseconds(datetime.combine(day, time(), UTC) + shift)
    except OverflowError:
        return None
