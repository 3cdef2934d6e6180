"""Which place a position is in: the nearest one of a table shipped with the service, no network needed.

The table is `photosvc/data/places.bin`: places of more than 1000 people and seats of government (GeoNames, CC-BY 4.0);
quarters of a large city carry the name of the city.
"""

import math
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from functools import cache
from importlib import resources

from photosvc.core.geo import Box, bounding_boxes, distance_m, is_position
from photosvc.index.places.place import UNKNOWN_PLACE, Place, country_name, place_of
from photosvc.index.places.timezone import zone_at

__all__ = ["UNKNOWN_PLACE", "Gazetteer", "Place", "country_name", "place_of"]

_RADII_M = (5_000.0, 25_000.0, 100_000.0)
_COUNTRY_RADIUS_M = 500_000.0
_PRECISION = 1000  # table units in a degree


class Gazetteer:
    """Places on a grid of one degree, in the packed form that `tools.build_places` describes."""

    def __init__(self, packed: bytes) -> None:
        cells, positions, regions, text = _sections(zlib.decompress(packed))
        self._positions = _array("I", positions)
        self._regions = _array("H", regions)
        names, *self._names = text.decode().split("\0")
        self._region_names = [line.partition("\t")[::2] for line in names.split("\n")]
        self._cells: dict[int, tuple[int, int, int]] = {}
        start, pairs = 0, iter(_array("I", cells))
        for order, (cell, count) in enumerate(zip(pairs, pairs, strict=True)):
            self._cells[cell] = (order, start, start + count)
            start += count

    @staticmethod
    @cache
    def load() -> "Gazetteer":
        """The gazetteer of the table shipped with the service; read once in a process."""
        return Gazetteer(resources.files("photosvc.data").joinpath("places.bin").read_bytes())

    def lookup(self, lat: float, lng: float) -> Place | None:
        """The nearest place within 100 km, by great-circle distance.

        Farther out, a place of the country alone when all places within 500 km are in one country. None on the open
        sea, in Antarctica, between two countries out there, and for what is no position.
        """
        if not is_position(lat, lng):
            return None
        for radius in _RADII_M:
            near = [(distance_m(lat, lng, *there), index) for there, index in self._inside(lat, lng, radius)]
            if near and min(near)[0] <= radius:
                return self._place(min(near)[1])
        if zone_at(lat, lng).startswith("Etc/"):  # open sea
            return None
        countries = {
            self._region_names[self._regions[index]][0]
            for there, index in self._inside(lat, lng, _COUNTRY_RADIUS_M)
            if distance_m(lat, lng, *there) <= _COUNTRY_RADIUS_M
        }
        return place_of("", "", countries.pop().lower()) if len(countries) == 1 else None

    def _inside(self, lat: float, lng: float, radius_m: float) -> Iterator[tuple[tuple[float, float], int]]:
        """Positions and indexes of the places in the boxes around a circle."""
        for box in bounding_boxes(lat, lng, radius_m):
            south, north, west, east = _table_units(box)
            for row in range(south // _PRECISION, north // _PRECISION + 1):
                for column in range(west // _PRECISION, east // _PRECISION + 1):
                    _, start, end = self._cells.get(row * 360 + column % 360, (0, 0, 0))
                    for index in range(start, end):
                        y, x = self._positions[2 * index], self._positions[2 * index + 1]
                        if south <= y <= north and west <= x <= east:
                            yield (y / _PRECISION - 90, x / _PRECISION - 180), index

    def _place(self, index: int) -> Place:
        y, x = self._positions[2 * index], self._positions[2 * index + 1]
        order, start, _ = self._cells[y // _PRECISION * 360 + x // _PRECISION]
        country, state = self._region_names[self._regions[index]]
        return place_of(self._names[order].split("\n")[index - start], state, country.lower())


def _sections(packed: bytes) -> Iterator[bytes]:
    while packed:
        end = 4 + struct.unpack_from("<I", packed)[0]
        yield packed[4:end]
        packed = packed[end:]


def _array(typecode: str, section: bytes) -> "array[int]":
    column = array(typecode, section)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def _table_units(box: Box) -> tuple[int, int, int, int]:
    """The box in units of the table, one unit wider all round."""
    return (
        math.floor((box.south + 90) * _PRECISION),
        math.ceil((box.north + 90) * _PRECISION),
        math.floor((box.west + 180) * _PRECISION),
        math.ceil((box.east + 180) * _PRECISION),
    )
