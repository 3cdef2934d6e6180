"""The located photos that a camera took before and after a photo."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from photosvc.core.clock import shifted
from photosvc.index.estimates.due import LOCATED, Sighting
from photosvc.index.estimates.positions import WINDOW, Located
from photosvc.models import Photo


@dataclass(slots=True)
class _Gap:
    """A time without located photos: between two of them, or as far as was searched."""

    start: datetime
    end: datetime
    before: Located | None = None
    """The one at `start`; None when there is none at and after it."""
    after: Located | None = None
    """The one at `end`; None when there is none until then."""

    def holds(self, at: datetime) -> bool:
        return self.start <= at and (at < self.end if self.after else at <= self.end)


class Neighbours:
    """Finds the neighbours of photos in the transaction of the session.

    The pictures of a time lapse have the same neighbours, and there may be thousands between these: the last gap
    of each camera is remembered, so that no row is looked at twice for photos in the order of their time.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._gaps: dict[tuple[int, str, bool], _Gap] = {}

    def around(self, seen: Sighting) -> tuple[Located | None, Located | None]:
        """The last located photo before this one, or at the same time, and the first one after it, within `WINDOW`."""
        key = (seen.camera_id, seen.serial, seen.in_utc)
        at, first, last = seen.at, shifted(seen.at, -WINDOW), shifted(seen.at, WINDOW)
        gap = self._gaps.get(key)
        if gap is None or not gap.holds(at):
            gap = self._gaps[key] = _Gap(at, at, before=self._last(seen, first, at, with_end=True))
            gap.start = gap.before.at if gap.before else first
        elif gap.before is None and first < gap.start:
            gap.before = self._last(seen, first, gap.start)
            gap.start = gap.before.at if gap.before else first
        if gap.after is None and gap.end < last:
            gap.after = self._first(seen, gap.end, last)
            gap.end = gap.after.at if gap.after else last
        before = gap.before if gap.before and gap.before.at >= first else None
        return before, gap.after if gap.after and gap.after.at <= last else None

    def _last(self, seen: Sighting, start: datetime, end: datetime, *, with_end: bool = False) -> Located | None:
        at = _time(seen)
        within = at.between(start, end) if with_end else (at >= start) & (at < end)
        return self._one(seen, within, start, end, at.desc())

    def _first(self, seen: Sighting, start: datetime, end: datetime) -> Located | None:
        at = _time(seen)
        return self._one(seen, (at > start) & (at <= end), start, end, at)

    def _one(
        self, seen: Sighting, within: ColumnElement[bool], start: datetime, end: datetime, order: ColumnElement[Any]
    ) -> Located | None:
        if seen.in_utc:  # the index has wall times; no zone, and no clock that is believed, is further off
            start, end = shifted(start, -WINDOW), shifted(end, WINDOW)
        query = select(_time(seen), Photo.lat, Photo.lng, Photo.place_id).where(
            Photo.camera_id == seen.camera_id,
            Photo.camera_serial == seen.serial,
            LOCATED,
            Photo.taken_at_local.between(start, end),
            within,
        )
        with self._session.no_autoflush:  # located photos are not changed by estimates
            row: Any = self._session.execute(query.order_by(order, Photo.id).limit(1)).first()
        return None if row is None else Located(*row)


def _time(seen: Sighting) -> Any:  # noqa: ANN401 - a column
    return Photo.taken_at if seen.in_utc else Photo.taken_at_local
