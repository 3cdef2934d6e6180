"""The place nearest to a position, and its time zone, from shipped tables. They need no network.

The table of places, `photosvc/data/places.sqlite`, holds those with more than 1000 inhabitants and seats of government
(GeoNames, CC-BY 4.0); quarters of a large city carry the name of the city. `tools/build_places.py` in the source
repository describes and builds it.
"""

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import tzfpy

from photosvc import data
from photosvc.core.geo import bounding_boxes, distance_m, is_position
from photosvc.core.ids import BASE62
from photosvc.core.vocabulary import UNKNOWN
from photosvc.data import PlacesTable
from photosvc.data.place_names import NAMES_TABLE, country_named, own_names, places_named, states
from photosvc.query.fold import word_line


def zone_at(lat: float, lng: float) -> str:
    """Return the IANA zone name at a position, `Etc/GMT…` on the open sea; empty off the globe."""
    return str(tzfpy.get_tz(lng, lat)) if is_position(lat, lng) else ""


# Most positions have a place within the smallest radius, whose box holds the fewest rows.
_RADII_M = (5_000.0, 25_000.0, 100_000.0)
_COUNTRY_RADIUS_M = 500_000.0
#: Places of which the names begin as typed, the largest first; and all of them, in alphabetical order.
_LARGE = """
    SELECT DISTINCT lat, lng FROM name JOIN place ON place.id = name.place
    WHERE folded >= :begun AND folded < :end AND kind = 'city' ORDER BY inhabitants DESC LIMIT :most
"""
_SMALL = (
    "SELECT lat / 1000.0, lng / 1000.0 FROM town WHERE folded >= :begun AND folded < :end ORDER BY folded LIMIT :most"
)
#: The most places of a name that are compared, as of the many called San José.
_MOST_COMPARED = 40
_IN_BOX = """
    SELECT lat / 1000.0, lng / 1000.0, country, state, name FROM place JOIN region ON region.id = place.region
    WHERE lat BETWEEN ? * 1000 AND ? * 1000 AND lng BETWEEN ? * 1000 AND ? * 1000
"""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A city, town or village as results name it; only the country when nothing is near."""

    id: str
    """`<country>:<12 base-62 characters>`, the same in every run and on every machine."""
    label: str
    """`City, State, Country`, without repetition."""
    city: str
    state: str
    country: str
    """ISO 3166-1 code of two lower-case letters."""


class Town(NamedTuple):
    """A place and its position in degrees."""

    place: NamedPlace
    lat: float
    lng: float


class Gazetteer:
    """The places of a file that `tools/build_places.py` wrote, opened read-only."""

    def __init__(self, path: Path) -> None:
        self._table = PlacesTable(path)

    @staticmethod
    @cache
    def load() -> "Gazetteer":
        """Return the gazetteer of the table shipped with the service."""
        return Gazetteer(data.PLACES)

    def lookup(self, lat: float, lng: float) -> NamedPlace | None:
        """Return the nearest place within 100 km, by great-circle distance.

        Farther out, it is a place of the country alone when all places within 500 km are in one country. None on the
        open sea, in Antarctica, between two countries out there, and for positions off the globe.
        """
        if not is_position(lat, lng):
            return None
        for radius in _RADII_M:
            nearest = min(self._within(lat, lng, radius), default=None)
            if nearest is not None:
                _, country, state, city, *_ = nearest
                return place_of(city, state, country)
        if zone_at(lat, lng).startswith("Etc/"):  # open sea
            return None
        countries = {country for _, country, *_ in self._within(lat, lng, _COUNTRY_RADIUS_M)}
        return place_of("", "", countries.pop()) if len(countries) == 1 else None

    def near(self, lat: float, lng: float, most: int) -> list["Town"]:
        """Return the nearest places within 25 km, at most so many."""
        nearest = sorted(self._within(lat, lng, _RADII_M[1]))[:most]
        return [Town(place_of(city, state, country), *at) for _, country, state, city, *at in nearest]

    def named(self, typed: str, most: int) -> list["Town"]:
        """Return places of which the name begins with a text, in any language; the largest first, at most so many.

        Behind a comma the text may name the state or the country.
        """
        begun, _, within = typed.partition(",")
        begun = word_line(begun)
        if not begun:
            return []
        values = {"begun": begun, "end": f"{begun}\U0010ffff", "most": _MOST_COMPARED}
        tables = ((NAMES_TABLE, _LARGE), (self._table, _SMALL))
        found = dict[str, Town]()
        for table, query in tables:
            for lat, lng in table.connection.execute(query, values).fetchall():
                place = self.lookup(lat, lng)
                if place is not None and word_line(within) in word_line(place.label):
                    found.setdefault(place.id, Town(place, lat, lng))
        return list(found.values())[:most]

    def _within(self, lat: float, lng: float, radius_m: float) -> Iterator[tuple[float, str, str, str, float, float]]:
        """Yield the distance in metres, country, state, name and position of each place in a circle."""
        for box in bounding_boxes(lat, lng, radius_m):
            for place_lat, place_lng, country, state, name in self._table.connection.execute(_IN_BOX, box):
                distance = distance_m(lat, lng, place_lat, place_lng)
                if distance <= radius_m:
                    yield distance, country, state, name, place_lat, place_lng


@lru_cache(4096)
def named_place(city: str, state: str, country: str) -> NamedPlace | None:
    """Return the place with these names, in any language; None when its country cannot be told.

    A city that the gazetteer knows is the place that positions in it have. Others have the names as written.

    Args:
        state: a known state tells cities of one name apart; else the largest is meant.
        country: a name or a code; without a known one, the city tells it if the code has three letters or is missing.
    """
    code = country_named(word_line(country)) or (country.lower() if country.lower() in data.countries() else "")
    is_told = not code and len(country) in (0, 3)
    known = [one for one in places_named(word_line(city)) if one.kind == "city" and (one.country == code or is_told)]
    found = [(one, Gazetteer.load().lookup(one.lat, one.lng)) for one in known] if city else []
    places = [place for one, place in found if place is not None and word_line(place.city) == one.own]
    written = word_line(state)
    same = {written, *own_names(written, "state")}
    if written and same & _states():
        places = [place for place in places if word_line(place.state) in same]
    return next(iter(places), place_of(city, state, code) if code else None)


@cache
def _states() -> frozenset[str]:
    return frozenset(map(word_line, states()))


def place_of(city: str, state: str, country: str) -> NamedPlace:
    """Return the place of a city, a state and a country code in lower case; equal texts give equal places."""
    key = f"{country}|{state}|{city}".encode()
    number = int.from_bytes(hashlib.sha256(key).digest()[:12], "big")
    digits = (BASE62[number // 62**place % 62] for place in range(12))
    return NamedPlace(f"{country}:{''.join(digits)}", _label(city, state, country_name(country)), city, state, country)


def country_name(code: str) -> str:
    """Return the English name of a country code, in either case; `Unknown` when there is none."""
    return data.countries().get(code.lower(), UNKNOWN)


def _label(city: str, state: str, country: str) -> str:
    """Return `City, State, Country`; a state that only repeats its city or country is left out."""
    if _repeats(state, city) or _repeats(state, country) or _repeats(country, state):
        state = ""
    if _fold(city) == _fold(country):
        city = ""
    return ", ".join(filter(None, (city, state, country)))


def _repeats(state: str, name: str) -> bool:
    """Return whether `state` contains the words of `name`, as `Provincia de San José` contains `San José`."""
    return bool(name) and f" {_fold(name)} " in f" {_fold(state)} "


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
