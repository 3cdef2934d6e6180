"""The place of a photo between two located photos of the same camera; pure functions."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from photosvc.core.geo import distance_m, unit_vector

#: Photos further away in time say nothing.
WINDOW: Final = timedelta(hours=36)
#: Two photos closer to each other than this give a position, others only the place of the nearer one.
NEAR_M: Final = 100_000.0


@dataclass(frozen=True, slots=True)
class Located:
    """A photo with a position."""

    at: datetime
    """Wall time: both photos come from the same clock, whose zone may be unknown."""
    lat: float
    lng: float
    place_id: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A position, or (None) only a place."""

    position: tuple[float, float] | None
    place_id: str


def estimate(at: datetime, before: Located | None, after: Located | None) -> Estimate | None:
    """Where a photo was taken at this wall time; None when nothing is known.

    Args:
        at: wall time of the photo.
        before: the last located photo before it, or at the same time.
        after: the first one after it.

    """
    known = [one for one in (before, after) if one is not None and abs(one.at - at) <= WINDOW]
    if not known:
        return None
    nearest = min(known, key=lambda one: abs(one.at - at))
    if len(known) == 2 and distance_m(known[0].lat, known[0].lng, known[1].lat, known[1].lng) < NEAR_M:
        first, last = known
        return Estimate(_between(first, last, (at - first.at) / ((last.at - first.at) or WINDOW)), nearest.place_id)
    return Estimate(None, nearest.place_id)


def _between(first: Located, last: Located, share: float) -> tuple[float, float]:
    """The point at this share of the way, along the chord: exact enough below 100 km, at poles and 180 degrees too."""
    ends = zip(unit_vector(first.lat, first.lng), unit_vector(last.lat, last.lng), strict=True)
    x, y, z = (one + (other - one) * share for one, other in ends)
    return round(math.degrees(math.atan2(z, math.hypot(x, y))), 6), round(math.degrees(math.atan2(y, x)), 6)
