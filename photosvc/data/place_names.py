"""Names of countries, states and cities, in the language of the gazetteer, which photos have, and in others.

`names.sqlite` has for each name the places that have it, and their names in the gazetteer; `tools/build_names.py` in
the source repository describes it. Names are given by their folded words (`query.fold.word_line`).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from photosvc.data import NAMES, PlacesTable

#: The most words of a name that are read together.
MOST_WORDS: Final = 4
#: A name means the largest place that has it, and others with at least this share of its inhabitants.
LARGE: Final = 0.5
#: The most places that a name means.
_MOST_PLACES: Final = 3
_LONGEST: Final = 60
_NAMED: Final = """
    SELECT kind, country, own, lat, lng, inhabitants, in_text FROM name JOIN place ON place.id = name.place
    WHERE folded = ? ORDER BY inhabitants DESC, place.id LIMIT 40
"""
#: Inhabitants with which a city is meant by a frequent word that is its name in another language, such as `cologne`.
_LARGE_CITY: Final = 500_000
_FREQUENT: Final = "SELECT 1 FROM frequent WHERE folded = ?"
_COUNTRY: Final = "SELECT name FROM country WHERE language = ? AND code = ?"
_MOST_LANGUAGES: Final = 8
_TOWN: Final = """
    SELECT 1 FROM town WHERE folded = :name OR :long AND folded > :name || ' ' AND folded < :name || '!' LIMIT 1
"""
_REGION: Final = "SELECT state FROM region"
NAMES_TABLE: Final = PlacesTable(NAMES)
_GAZETTEER: Final = PlacesTable()


class PlaceName(NamedTuple):
    """A place that has a name."""

    kind: str
    """`country`, `state` or `city`."""
    country: str
    own: str
    """Its name in the gazetteer, folded."""
    lat: float
    lng: float
    """The position of a city."""
    inhabitants: int
    """The number of inhabitants of a city."""
    in_text: bool
    """True if the name stands for the place in free text, too."""


@lru_cache(4096)
def places_named(name: str) -> Sequence[PlaceName]:
    """Return the places that have a name, given by its folded words; the largest city comes first."""
    if len(name) > _LONGEST:
        return ()
    return tuple(PlaceName(*row) for row in NAMES_TABLE.connection.execute(_NAMED, (name,)))


def own_names(name: str, kind: str) -> list[str]:
    """Return the folded names in the gazetteer of the states or cities that a name means, maybe that name itself."""
    places = [place for place in places_named(name) if place.kind == kind]
    return list(dict.fromkeys(place.own for place in places if _is_meant(place, places[0])))[:_MOST_PLACES]


def names_in_text(name: str) -> list[str]:
    """Return the folded names in the gazetteer of the places that a name means in free text."""
    places = [place for place in places_named(name) if place.in_text]
    meant = [place for place in places if place.kind != "city" or _is_meant(place, places[0])]
    return list(dict.fromkeys(place.own for place in meant))[:_MOST_PLACES]


def country_named(name: str) -> str | None:
    """Return the code of the country with this name, folded, in any language; None if no country has it."""
    return next((place.country for place in places_named(name) if place.kind == "country"), None)


def is_frequent_word(name: str) -> bool:
    """Return whether a name is a frequent English word and the name of small places only, such as `lakes`."""
    large = any(place.inhabitants >= _LARGE_CITY for place in places_named(name))
    return not large and bool(NAMES_TABLE.connection.execute(_FREQUENT, (name,)).fetchone())


def country_in(languages: Sequence[str], code: str) -> str | None:
    """Return the name of a country in the first known language of a list; None if that is English.

    Args:
        languages: tags such as `de` or `de-AT`, the preferred one first.
    """
    for tag in languages[:_MOST_LANGUAGES]:
        parts = tag.lower().replace("_", "-").split("-")
        if parts[0] == "en":
            return None
        chinese = ["zh-hant"] if parts[0] == "zh" and {"hant", "tw", "hk", "mo"} & {*parts} else []
        for language in (*chinese, parts[0]):
            if row := NAMES_TABLE.connection.execute(_COUNTRY, (language, code)).fetchone():
                return str(row[0])
    return None


def _is_meant(place: PlaceName, largest: PlaceName) -> bool:
    return place.inhabitants >= largest.inhabitants * LARGE


def is_town(name: str, *, long: bool) -> bool:
    """Return whether a city, town or village has this name in any language.

    Args:
        name: its folded words.
        long: true if further words may follow these in the name of the gazetteer.
    """
    values = {"name": name, "long": long}
    return bool(own_names(name, "city") or _GAZETTEER.connection.execute(_TOWN, values).fetchone())


def states() -> list[str]:
    """Return the names of all states and provinces, as the gazetteer writes them."""
    return [name for (name,) in _GAZETTEER.connection.execute(_REGION)]
