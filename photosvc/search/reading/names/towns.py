"""The position of a place by its name, from the gazetteer shipped with the service.

The gazetteer has no numbers of inhabitants, but it lists the quarters of a large city under the name of the city. Of
places with the same name, the one with the most entries is chosen: `London` finds the one in England unless the query
names another state or country.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from statistics import fmean
from typing import Final

from photosvc import data
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.geo import distance_m
from photosvc.query.errors import did_you_mean, shown
from photosvc.query.fold import words
from photosvc.query.operands import Town
from photosvc.query.values.countries import country_code

#: Up to so many places of the same name and size are all searched; more are an error that asks for a state or country.
_MOST_ALIKE: Final = 5
#: Metres between the entries of one city.
_CITY_M: Final = 40_000
#: The most characters by which the lengths of a folded name and of its spelling differ.
_FOLDED_BY: Final = 3

_PLACES: Final = (
    "SELECT lat / 1000.0, lng / 1000.0, country, state FROM place JOIN region ON region.id = place.region WHERE "
)
#: Only names with characters other than ASCII letters are folded, because a function of Python does it.
_EXACTLY: Final = f"""
    {_PLACES} length(name) BETWEEN :shortest AND :longest AND (name = :name COLLATE NOCASE OR (
        name GLOB '*[^A-Za-z ]*' AND (name LIKE :first || '%' OR unicode(name) > 127) AND folded(name) = :name
    )) ORDER BY lat, lng
"""
_BEGINNING: Final = f"{_PLACES} length(name) >= :shortest AND name LIKE :name || ' %' ORDER BY lat, lng"
_ALIKE: Final = """
    SELECT DISTINCT name FROM place WHERE length(name) BETWEEN :shortest AND :longest AND name LIKE :first || '%'
"""


@dataclass(slots=True)
class _City:
    """Entries of the gazetteer that are one city."""

    country: str
    state: str
    positions: list[tuple[float, float]] = field(default_factory=list)

    @property
    def centre(self) -> tuple[float, float]:
        lats, lngs = zip(*self.positions, strict=True)
        return fmean(lats), fmean(lngs)


def find_town(name: str, region: str) -> tuple[tuple[float, float], ...]:
    """The latitudes and longitudes of the place with this folded name, in this state or country if there is one.

    Several when places of the name are alike. `new york` also finds New York City.

    Raises:
        NotFoundError: there is no such place.
        InvalidValueError: too many places have the name.

    """
    cities = _cities(_EXACTLY, name, region) or _cities(_BEGINNING, name, region)
    most = max((len(city.positions) for city in cities), default=0)
    found = [city.centre for city in cities if len(city.positions) == most]
    if not found:
        hint = "" if region else did_you_mean(name, _names_like(name))
        msg = f"there is no place {shown(str(Town(name, region)))}{hint}"
        raise NotFoundError(msg, field="near")
    if len(found) > _MOST_ALIKE:
        msg = (
            f'there are {len(found)} places {shown(name)}; add a state or country, as in "{name}, {cities[0].country}"'
        )
        raise InvalidValueError(msg, field="near")
    return tuple(found)


@lru_cache(maxsize=512)
def _cities(query: str, name: str, region: str) -> Sequence[_City]:
    cities: list[_City] = []
    code = country_code(region) or region
    for lat, lng, country, state in _gazetteer().execute(query, _asked(name, name[0], _FOLDED_BY)):
        if region and code != country and region != _folded(state):
            continue
        here = (one for one in cities if (one.country, one.state) == (country, state))
        city = next((one for one in here if distance_m(lat, lng, *one.positions[0]) <= _CITY_M), None)
        if city is None:
            city = _City(country, state)
            cities.append(city)
        city.positions.append((lat, lng))
    return cities


def _names_like(name: str) -> Iterator[str]:
    return (_folded(row[0]) for row in _gazetteer().execute(_ALIKE, _asked(name, name[:2], 2)))


def _asked(name: str, first: str, most: int) -> dict[str, object]:
    return {"name": name, "first": first, "shortest": len(name) - most, "longest": len(name) + most}


def _folded(name: str) -> str:
    return " ".join(words(name))


@cache
def _gazetteer() -> sqlite3.Connection:
    # The file never changes, so that SQLite needs neither locks nor checks for writers, in any thread.
    path = f"{data.PLACES.as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(path, uri=True, check_same_thread=False)
    connection.create_function("folded", 1, _folded, deterministic=True)
    return connection
