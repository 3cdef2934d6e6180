"""Towns of the gazetteer by their names, for `near`.

Of towns with the same name, the largest one is chosen, with those of at least half of its inhabitants: `London` finds
the one in England unless the query names another state or country. The numbers of inhabitants of cities are those of
`data.place_names`. Smaller places have none; the gazetteer lists the quarters of a place under its name, so there the
one with the most entries counts. Names in other languages, such as `München`, are those of `data.place_names`, too:
the largest city counts, and before places that are called so themselves if it has a hundred times their inhabitants.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from statistics import fmean
from typing import Final

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.geo import distance_m
from photosvc.core.message import Message, did_you_mean
from photosvc.data import PlacesTable
from photosvc.data.place_names import LARGE, own_names, places_named
from photosvc.models.statements import after_prefix
from photosvc.query.fold import word_line, words
from photosvc.query.nodes import Town, excerpt
from photosvc.query.reader import country_code

#: Up to so many places of the same name and size are all searched; more are an error that asks for a state or country.
_MOST_ALIKE: Final = 5
#: Metres between the entries of one city.
_CITY_M: Final = 40_000
#: The inhabitants with which a city comes before places that are called by its name in another language.
_FAR_LARGER: Final = 100
#: The most characters by which the length of a suggested name differs from that of the typed one.
_TYPED_BY: Final = 2
_TOWNS: Final = (
    "SELECT lat / 1000.0, lng / 1000.0, country, state FROM town JOIN region ON region.id = town.region WHERE "
)
_EXACTLY: Final = f"{_TOWNS} folded = :name ORDER BY lat, lng"
#: Folded words consist of letters, digits and pictures, all of which sort after the `!` that follows the blank.
_BEGINNING: Final = f"{_TOWNS} folded > :name || ' ' AND folded < :name || '!' ORDER BY lat, lng"
#: All names in one row: other threads may take their turn at each row, so that thousands of rows would take a second.
_ALIKE: Final = """
    SELECT group_concat(folded, char(10)) FROM (
        SELECT DISTINCT folded FROM town WHERE folded >= :first AND folded < :after
        AND length(folded) BETWEEN :shortest AND :longest
    )
"""
_TABLE: Final = PlacesTable()


@dataclass(slots=True)
class _City:
    """The entries of the gazetteer that are one city."""

    country: str
    state: str
    positions: list[tuple[float, float]] = field(default_factory=list)

    @property
    def centre(self) -> tuple[float, float]:
        lats, lngs = zip(*self.positions, strict=True)
        return fmean(lats), fmean(lngs)

    def metres_from(self, lat: float, lng: float) -> float:
        """Return the distance of a position from the nearest entry."""
        return min(distance_m(lat, lng, *position) for position in self.positions)


def find_town(name: str, region: str) -> tuple[tuple[float, float], ...]:
    """Return the latitudes and longitudes of places with this folded name, in this state or country if given.

    There are several when places of the name are alike. `new york` also finds New York City.

    Raises:
        NotFoundError: there is no such place.
        InvalidValueError: too many places have the name.
    """
    cities = _cities(_EXACTLY, name, region)
    known = _known(name, region, called=bool(cities))
    if known:
        return (known.centre,)
    cities = cities or _cities(_BEGINNING, name, region)
    centres = [city.centre for city in _largest(name, cities)]
    if not centres:
        msg = Message("there is no place {name}", name=excerpt(str(Town(name, region))))
        raise NotFoundError(msg if region else did_you_mean(msg, name, _names_like(name)), field="near")
    if len(centres) > _MOST_ALIKE:
        example = f'"{name}, {cities[0].country}"'
        msg = Message(
            "there are {found} places {name}; add a state or country, as in {example}",
            found=len(centres),
            name=excerpt(name),
            example=example,
        )
        raise InvalidValueError(msg, field="near")
    return tuple(centres)


def _largest(name: str, cities: Sequence[_City]) -> list[_City]:
    """Return the cities of a name with the most inhabitants or, if these are not known, with the most entries."""
    if not cities:
        return []
    sizes = [0] * len(cities)
    for place in places_named(name):
        away, at = min((city.metres_from(place.lat, place.lng), at) for at, city in enumerate(cities))
        if place.kind == "city" and word_line(place.own) == name and away <= _CITY_M:
            sizes[at] = max(sizes[at], place.inhabitants)
    share = LARGE
    if not any(sizes):
        sizes, share = [len(city.positions) for city in cities], 1
    return [city for city, size in zip(cities, sizes, strict=True) if size >= max(sizes) * share]


def _known(name: str, region: str, *, called: bool) -> _City | None:
    """Return the largest city that has this name in another language.

    Args:
        called: whether the gazetteer has places of this very name there, which come first unless they are far smaller.
    """
    places = [place for place in places_named(name) if place.kind == "city"]
    others = [place for place in places if word_line(place.own) != name]
    if called:
        most = max((place.inhabitants for place in places if place not in others), default=1)
        others = [] if region else [place for place in others if place.inhabitants > most * _FAR_LARGER]
    for place in others:
        for city in _cities(_EXACTLY, word_line(place.own), region or place.country):
            if distance_m(place.lat, place.lng, *city.positions[0]) <= _CITY_M:
                return city
    return None


@lru_cache(maxsize=512)
def _cities(query: str, name: str, region: str) -> Sequence[_City]:
    cities: defaultdict[tuple[str, str], list[_City]] = defaultdict(list)
    code = country_code(region) or region
    state = next(map(word_line, own_names(region, "state")), region)
    for lat, lng, country, in_state in _TABLE.connection.execute(query, {"name": name}):
        if region and code != country and " ".join(words(in_state)) not in {region, state}:
            continue
        here = cities[country, in_state]
        city = next((one for one in here if distance_m(lat, lng, *one.positions[0]) <= _CITY_M), None)
        if city is None:
            city = _City(country, in_state)
            here.append(city)
        city.positions.append((lat, lng))
    return [*chain.from_iterable(cities.values())]


def _names_like(name: str) -> Sequence[str]:
    first, shortest, longest = name[:2], len(name) - _TYPED_BY, len(name) + _TYPED_BY
    values = {"first": first, "after": after_prefix(first), "shortest": shortest, "longest": longest}
    ((names,),) = _TABLE.connection.execute(_ALIKE, values)
    return names.split("\n") if names else ()
