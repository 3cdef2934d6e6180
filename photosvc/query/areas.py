"""Areas in filter values: degrees, boxes, circles, S2 cells, plus codes, and the distance around them."""

import re
from dataclasses import replace

from photosvc.core.errors import InvalidValueError
from photosvc.core.geo import Box, decode_plus_code
from photosvc.core.ids import PHOTO, is_uid
from photosvc.query.fold import word_line
from photosvc.query.nodes import (
    And,
    Choice,
    Circle,
    Filter,
    InvalidQueryError,
    Near,
    Node,
    Not,
    Operand,
    Or,
    PlusCode,
    S2Cell,
    Town,
    conjunction,
    conjuncts,
    disjunction,
    negation,
)

DEFAULT_DISTANCE = 2.0
"""Kilometres around a photo or a point if `dist` is left out."""
TOWN_DISTANCE = 20.0
"""Kilometres around a city, town or village if `dist` is left out."""
LONGEST_DISTANCE = 20_038.0
"""Kilometres to the opposite point of the earth (half of 40,075)."""
_LONGEST_NAME = 120
_NUMBER = re.compile(r"[+-]?(?:\d{1,5}(?:\.\d{0,17})?|\.\d{1,17})", re.ASCII)
_TOKEN = re.compile(r"(?:s2:)?([0-9a-f]{1,16})", re.ASCII)


def read_latitude(text: str) -> float:
    """Return degrees north; raise ValueError outside of ±90."""
    return _degrees(text, 90.0)


def read_longitude(text: str) -> float:
    """Return degrees east; raise ValueError outside of ±180."""
    return _degrees(text, 180.0)


def read_distance(text: str) -> float | None:
    """Return kilometres, at most half the way around the earth; None for 0. Raise ValueError for anything else."""
    km = _number(text)
    if km < 0:
        raise ValueError(text)
    return min(km, LONGEST_DISTANCE) or None


def read_near(text: str) -> Near | Town:
    """Read the UID of a photo or the name of a place; `@` and kilometres may follow.

    A comma and the name of a state or country may follow the name of a place.

    Raises:
        ValueError: the text is neither.
    """
    place, km = _split(text)
    if is_uid(place, PHOTO):
        return Near(place, km)
    name, region = (word_line(part) for part in f"{place},".split(",")[:2])
    numbered = name.isalnum() and not name.isalpha()  # a number, or an identifier of something else
    if place.count(",") > 1 or not name or numbered or len(place) > _LONGEST_NAME:
        raise ValueError(text)
    return Town(name, region, km)


def read_box(text: str) -> Box | Circle:
    """Read a box `north,east,south,west`, or a point `lat,lng`, which `@` and kilometres may follow.

    North and south may come in either order. A box whose west lies east of its east crosses the antimeridian.

    Raises:
        ValueError: the text is neither.
    """
    numbers, km = _split(text)
    match [part.strip() for part in numbers.split(",", 4)]:
        case [lat, lng]:
            return Circle(read_latitude(lat), read_longitude(lng), km)
        case [north, east, south, west] if km is None:
            first, second = read_latitude(north), read_latitude(south)
            return Box(min(first, second), max(first, second), read_longitude(west), read_longitude(east))
    raise ValueError(text)


def read_cell(text: str) -> S2Cell:
    """Read the token of an S2 cell, with or without `s2:` before it; raise ValueError for anything else.

    A cell id is three bits for the face (0 to 5), two for each of its 0 to 30 levels, a one and zeros
    (S2 geometry's own description).
    """
    token, km = _split(text)
    digits = _TOKEN.fullmatch(token)
    if digits is None:
        raise ValueError(text)
    number = int(digits[1].ljust(16, "0"), 16)
    lowest = number & -number
    if not number or number >> 61 > 5 or (lowest.bit_length() - 1) % 2 or lowest.bit_length() > 61:
        raise ValueError(text)
    return S2Cell(f"{number:016x}".rstrip("0"), km)


def read_plus_code(text: str) -> PlusCode:
    """Read a full Open Location Code with its area; raise ValueError for short and invalid codes."""
    code, km = _split(text)
    try:
        area = decode_plus_code(code)
    except InvalidValueError as error:
        raise ValueError(text) from error
    return PlusCode(code.upper(), area, km)


def locate(node: Node) -> Node:
    """Merge the filters `lat`, `lng` and `dist` into `near`, `latlng`, `s2` and `olc`, and return the query.

    `dist` applies to the areas of its conjunction and of the groups in it that have no distance of their own; without
    areas it has no effect. `lat` and `lng` of one conjunction make a circle.

    Raises:
        InvalidQueryError: `lat` or `lng` is given without the other.
    """
    return _located(node, None)


def _split(text: str) -> tuple[str, float | None]:
    place, at, km = text.partition("@")
    return place.strip().lower(), read_distance(km.strip()) if at else None


def _degrees(text: str, limit: float) -> float:
    value = _number(text)
    if abs(value) > limit:
        raise ValueError(text)
    return value


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text) + 0.0  # minus zero is zero


def _located(node: Node, km: float | None) -> Node:
    match node:
        case Or(parts):
            return disjunction(_located(part, km) for part in parts)
        case Not(part):
            return negation(_located(part, km))
        case Filter() | And():
            return _located_conjunction(conjuncts(node), km)
        case _:
            return node


def _located_conjunction(parts: tuple[Node, ...], km: float | None) -> Node:
    loose = {part.name: part for part in parts if isinstance(part, Filter) and part.name in {"lat", "lng", "dist"}}
    if dist := loose.pop("dist", None):
        km = _degrees_or_km(dist)
    located: list[Node] = []
    for part in parts:
        match part:
            case Filter("lat" | "lng" | "dist"):
                continue
            case Filter(_, Choice(wanted, unwanted)):
                value = Choice(tuple(_with(i, km) for i in wanted), tuple(_with(i, km) for i in unwanted))
                located.append(replace(part, value=value))
            case Filter():
                located.append(part)
            case _:
                located.append(_located(part, km))
    if loose:
        located.append(_circle(loose, km))
    return conjunction(located)


def _with(item: Operand, km: float | None) -> Operand:
    match item:
        case Town(km=None):
            return replace(item, km=km or TOWN_DISTANCE)
        case Near(km=None) | Circle(km=None):
            return replace(item, km=km or DEFAULT_DISTANCE)
        case S2Cell(km=None) | PlusCode(km=None):
            return replace(item, km=km)
        case _:
            return item


def _circle(loose: dict[str, Filter], km: float | None) -> Filter:
    match loose:
        case {"lat": lat, "lng": lng}:
            circle = Circle(_degrees_or_km(lat), _degrees_or_km(lng), km or DEFAULT_DISTANCE)
            return Filter("latlng", Choice((circle,)), lat.source)
    name, single = next(iter(loose.items()))
    other = "lng" if name == "lat" else "lat"
    raise InvalidQueryError(f"{name} needs {other}", field=single.source.field, position=single.source.start)


def _degrees_or_km(node: Filter) -> float:
    return node.value if isinstance(node.value, float) else 0.0
