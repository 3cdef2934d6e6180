"""Memories: what the library has of earlier years around the present day, for a row above the photos.

They are read from the days around this one in each earlier year, so that they cost the same in a large library: what
was taken on this day, a trip, and the best of the month. A trip is a run of days on which all photos with a position
are far from home; home is the town with photos on most of these days.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from photosvc.core.geo import distance_m
from photosvc.core.vocabulary import UNKNOWN, UNKNOWN_PLACE
from photosvc.models import Photo, Place, SearchRow
from photosvc.models.search_values import NOWHERE, day_number
from photosvc.search.reading.compile import visible
from photosvc.search.reading.files import turns_of
from photosvc.search.reading.statistics import read_years

#: The most memories; with fewer than two there is no row.
MOST: Final = 5
#: Days before and after this one, and the most earlier years and photos of one that are read.
_AROUND: Final = timedelta(days=15)
_MOST_YEARS: Final = 40
_MOST_PHOTOS: Final = 4000
#: Away from home is farther than this; days without a picture may lie within a trip.
_AWAY_M: Final = 60_000
_GAP: Final = timedelta(days=2)
#: The fewest days and photos of a trip, and the fewest photos of other memories.
_TRIP_DAYS: Final = 2
_TRIP_PHOTOS: Final = 6
_FEWEST: Final = 3
_MOST_TRIPS: Final = 2
#: The least stars of the best photos, which also those with the heart are.
_BEST: Final = 4


@dataclass(frozen=True, slots=True)
class Memory:
    """Photos to look back at."""

    kind: str
    """`day`, this day in several years; `years`, this day in one; `trip`; or `month`, the best of one."""
    first: date
    last: date
    years: int
    """The number of years, of `day`; else the years that have passed."""
    place: str
    """The town of most photos; empty if it is not known, and of `day` and `month`."""
    count: int
    query: str
    """The search that finds the photos."""
    hash: str
    turn: int
    """The picture to show for them, and the Exif orientation that a person gave it, 1 if none."""


class _Shot(NamedTuple):
    """A photo of an earlier year."""

    day: date
    town: tuple[str, str]
    """Country and folded city; empty texts if they are unknown."""
    lat: float
    lng: float
    favorite: bool
    rating: int
    quality: int
    hash: str
    photo_id: int

    @property
    def merit(self) -> tuple[bool, int, int]:
        """Return a number by which the best photo comes last."""
        return self.favorite, self.rating, self.quality

    @property
    def is_best(self) -> bool:
        """Return whether a person marked it as good."""
        return self.favorite or self.rating >= _BEST


def read_memories(connection: Connection, today: date, *, sees_private: bool) -> list[Memory]:
    """Return memories of the photos that the caller may see, at most `MOST`."""
    years = [year for year in read_years(connection, sees_private=sees_private) if year < today.year][:_MOST_YEARS]
    shots = [shot for year in years for shot in _shots(connection, today, year, sees_private=sees_private)]
    found = [*_this_day(shots, today), *_trips(shots, today), *_best_of_month(shots, today)][:MOST]
    places = _places(connection, [shot.photo_id for _, shot in found])
    turns = turns_of(connection, {shot.hash for _, shot in found})
    return [
        Memory(
            **memory,
            place=places.get(shot.photo_id, "") if memory["kind"] in {"trip", "years"} else "",
            hash=shot.hash,
            turn=turns.get(shot.hash, 1),
        )
        for memory, shot in found
    ]


def _shots(connection: Connection, today: date, year: int, *, sees_private: bool) -> Iterator[_Shot]:
    middle = _in_year(today, year)
    first, last = (_number(day) for day in (middle - _AROUND, middle + _AROUND))
    columns = (
        SearchRow.timeline_day, SearchRow.country, SearchRow.city_key, SearchRow.lat, SearchRow.lng, SearchRow.favorite,
        SearchRow.rating, SearchRow.quality, SearchRow.hash, SearchRow.photo_id,
    )  # fmt: skip
    query = select(*columns).where(
        visible(sees_private=sees_private), SearchRow.is_first, SearchRow.timeline_day.between(first, last)
    )
    rows = connection.execute(query.order_by(SearchRow.timeline_day).limit(_MOST_PHOTOS))
    for day, same in groupby(rows, key=itemgetter(0)):
        if day % 100:  # else only the month is known
            known = date(day // 10_000, day // 100 % 100, day % 100)
            for _, country, city, *rest in same:
                yield _Shot(known, (country, city) if city else ("", ""), *rest)


_Found = tuple[dict[str, Any], _Shot]


def _this_day(shots: Sequence[_Shot], today: date) -> Iterator[_Found]:
    same = [shot for shot in shots if (shot.day.month, shot.day.day) == (today.month, today.day)]
    by_year = [(year, list(of_year)) for year, of_year in groupby(same, key=lambda shot: shot.day.year)]
    if len(by_year) > 1:
        query = f"month:{today.month} day:{today.day} before:{today.year - 1}"
        yield _memory("day", same, len(by_year), query), _best(same)
    full = [(year, of_year) for year, of_year in by_year if len(of_year) >= _FEWEST]
    for year, of_year in full[:_MOST_TRIPS]:
        yield _memory("years", of_year, today.year - year, f"taken:{of_year[0].day}"), _best(of_year)


def _trips(shots: Sequence[_Shot], today: date) -> Iterator[_Found]:
    located = sorted((shot for shot in shots if shot.lat < NOWHERE), key=lambda shot: shot.day)
    days = {day: list(of_day) for day, of_day in groupby(located, key=lambda shot: shot.day)}
    towns = Counter(town for of_day in days.values() for town in {shot.town for shot in of_day if shot.town[1]})
    if not towns:
        return
    home_town = max(towns, key=lambda town: (towns[town], town))
    home = next(shot for shot in located if shot.town == home_town)
    far = cache(lambda lat, lng: distance_m(lat, lng, home.lat, home.lng) > _AWAY_M)
    # A tenth of a degree is some ten kilometres.
    away = [day for day, of_day in days.items() if all(far(round(shot.lat, 1), round(shot.lng, 1)) for shot in of_day)]
    trips = list(_runs(away, days))
    for run in sorted(trips, key=len, reverse=True)[:_MOST_TRIPS]:
        common = Counter(shot.town for shot in run).most_common(1)[0][0]
        first, last = run[0].day, run[-1].day
        yield (
            _memory("trip", run, today.year - first.year, f"taken:{first}..{last}"),
            _best(shot for shot in run if shot.town == common),
        )


def _runs(away: Sequence[date], days: dict[date, list[_Shot]]) -> Iterator[list[_Shot]]:
    """Yield the photos of each run of days that is long enough; a day at home ends it."""
    run: list[date] = []
    home_days = sorted(set(days) - set(away))
    for day in [*away, date.max]:
        broken = run and (day - run[-1] > _GAP or any(run[-1] < other < day for other in home_days))
        if broken:
            photos = [shot for member in run for shot in days[member]]
            if len(run) >= _TRIP_DAYS and len(photos) >= _TRIP_PHOTOS:
                yield photos
            run = []
        run.append(day)


def _best_of_month(shots: Sequence[_Shot], today: date) -> Iterator[_Found]:
    best = [shot for shot in shots if shot.is_best and shot.day.month == today.month]
    for year, same in groupby(best, key=lambda shot: shot.day.year):
        of_year = list(same)
        if len(of_year) >= _FEWEST:
            query = f"year:{year} month:{today.month} (favorite:true | rating:{_BEST}-5)"
            yield _memory("month", of_year, today.year - year, query), _best(of_year)
            return


def _memory(kind: str, shots: Sequence[_Shot], years: int, query: str) -> dict[str, Any]:
    days = [shot.day for shot in shots]
    return {"kind": kind, "first": min(days), "last": max(days), "years": years, "count": len(shots), "query": query}


def _best(shots: Iterable[_Shot]) -> _Shot:
    return max(shots, key=lambda shot: shot.merit)


def _places(connection: Connection, photo_ids: Sequence[int]) -> dict[int, str]:
    query = select(Photo.id, Place.city).join(Place, Place.id == Photo.place_id).where(Photo.id.in_(photo_ids))
    unnamed = {"", UNKNOWN, UNKNOWN_PLACE}
    return {photo_id: city for photo_id, city in connection.execute(query) if city not in unnamed}


def _in_year(day: date, year: int) -> date:
    """Return the same day of another year; of 29 February the one before where there is none."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)


def _number(day: date) -> int:
    return day_number(day.year, day.month, day.day)
