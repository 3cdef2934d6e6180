"""Geography: positions in decimal degrees, distances in metres, boxes, S2 cells and plus codes.

Latitude 0, longitude 0, the poles and the antimeridian are valid positions; an unknown position is `None`, never zero.
"""

import math
import re
from typing import NamedTuple

import s2cell

from photosvc.core.errors import InvalidValueError

EARTH_RADIUS_M = 6_371_008.8
"""Mean radius of the IUGG."""

CELL_LEVEL = 21
"""S2 level of a stored cell: about 4 m; its token always has 12 hexadecimal digits."""

_LOWEST_BIT = 1 << 2 * (30 - CELL_LEVEL)
_SLACK_M = 0.01  # so that boxes contain the whole circle in spite of rounding


class Box(NamedTuple):
    """An area between two parallels and two meridians, edges included, in degrees.

    A box whose `west` exceeds its `east` crosses the antimeridian.
    """

    south: float
    north: float
    west: float
    east: float


def is_position(lat: float, lng: float) -> bool:
    """Return whether the degrees are finite and on the globe: -90 to 90 of latitude, -180 to 180 of longitude."""
    return abs(lat) <= 90 and abs(lng) <= 180


def _check_position(lat: float, lng: float) -> None:
    if not is_position(lat, lng):
        raise InvalidValueError("A position is -90 to 90 degrees of latitude, -180 to 180 of longitude.")


def distance_m(lat1: float, lng1: float, lat2: float, lng2: float) -> float:
    """Return the great-circle distance in metres by the haversine formula, within 0.6 % of the ellipsoid's."""
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half_lat, half_lng = (phi2 - phi1) / 2, math.radians(lng2 - lng1) / 2
    chord = math.sin(half_lat) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_lng) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(chord)))


def unit_vector(lat: float, lng: float) -> tuple[float, float, float]:
    """Return the position as a point of the unit sphere around the earth's centre."""
    phi, theta = math.radians(lat), math.radians(lng)
    return math.cos(phi) * math.cos(theta), math.cos(phi) * math.sin(theta), math.sin(phi)


def chord(radius_m: float) -> float:
    """Return the length of the straight line between two points of the unit sphere, `radius_m` apart on the earth.

    Unlike the cosine of the angle, it stays exact for points that are close to each other.
    """
    return 2 * math.sin(min(radius_m / EARTH_RADIUS_M, math.pi) / 2)


def bounding_boxes(lat: float, lng: float, radius_m: float) -> tuple[Box, ...]:
    """Return one box, or two beside the antimeridian, that together contain the circle around a position.

    No box crosses the antimeridian. The boxes contain more than the circle: an index of boxes narrows the candidates
    down, and `distance_m` decides. On a sphere the circle touches its outermost meridians at
    `asin(sin(r) / cos(lat))`, not on the parallel of its centre.

    Raises:
        InvalidValueError: the position is not on the globe, or the radius is negative or not finite.
    """
    _check_position(lat, lng)
    if not (0 <= radius_m < math.inf):
        raise InvalidValueError("A distance is a positive number.")
    angle = (radius_m + _SLACK_M) / EARTH_RADIUS_M
    south, north = lat - math.degrees(angle), lat + math.degrees(angle)
    if south <= -90 or north >= 90:  # the circle contains a pole, and so every longitude
        return (Box(max(south, -90.0), min(north, 90.0), -180.0, 180.0),)
    reach = math.degrees(math.asin(min(1.0, math.sin(angle) / math.cos(math.radians(lat)))))
    west, east = lng - reach, lng + reach
    if west >= -180 and east <= 180:
        return (Box(south, north, west, east),)
    west, east = (west + 360, east) if west < -180 else (west, east - 360)
    return Box(south, north, west, 180.0), Box(south, north, -180.0, east)


def cell_token(lat: float, lng: float) -> str:
    """Return the S2 token of the level-21 cell at a position: 12 hexadecimal digits (s2geometry.io).

    Raises:
        InvalidValueError: the position is not on the globe.
    """
    _check_position(lat, lng)
    token: str = s2cell.lat_lon_to_token(lat, lng, CELL_LEVEL)
    return token


def cell_range(token: str) -> tuple[str, str]:
    """Return the first and last level-21 token inside a cell: `low <= token <= high`, compared as text.

    A cell smaller than level 21 is replaced by the level-21 cell around it. The prefix `s2:` is optional.

    Raises:
        InvalidValueError: not the token of an S2 cell.
    """
    token = token.lower().removeprefix("s2:")
    try:
        level = s2cell.token_to_level(token)
    except (s2cell.InvalidToken, ValueError):  # ValueError: the token ends in a line feed
        raise InvalidValueError("Not the token of an S2 cell.") from None
    cell: int = s2cell.cell_id_to_parent_cell_id(s2cell.token_to_cell_id(token), min(level, CELL_LEVEL))
    reach = (cell & -cell) - _LOWEST_BIT
    return f"{cell - reach:016x}"[:12], f"{cell + reach:016x}"[:12]


_DIGITS = "23456789CFGHJMPQRVWX"
_MAX_DIGITS = 15  # further digits are below the precision of a double
_LAT_STEPS, _LNG_STEPS = 8000 * 5**5, 8000 * 4**5  # of the finest box, in one degree
_FULL = re.compile(rf"(?=.{{8}}\+)([{_DIGITS}]{{2,8}})(0*)\+([{_DIGITS}]*)\Z")


def decode_plus_code(text: str) -> Box:
    """Return the box of a full Open Location Code («plus code») such as `8FWC2345+G6`.

    Source: the Open Location Code specification. Five pairs of base-20 digits refine latitude and longitude side by
    side, then up to five single digits each pick one of 5 rows and 4 columns. Zeros pad a code shorter than eight
    digits.

    Raises:
        InvalidValueError: it is not a valid full code; short codes are not supported.
    """
    digits = _digits(text)
    if digits is None:
        raise InvalidValueError("Not a full plus code, such as 8FWC2345+G6.")
    # Whole numbers of the finest step keep every edge exact; the first pair divides 400 degrees by 20.
    south, west = -90 * _LAT_STEPS, -180 * _LNG_STEPS
    height, width = 400 * _LAT_STEPS, 400 * _LNG_STEPS
    for pair in range(0, min(len(digits), 10), 2):
        height, width = height // 20, width // 20
        south += digits[pair] * height
        west += digits[pair + 1] * width
    for digit in digits[10:]:
        height, width = height // 5, width // 4
        south += digit // 4 * height
        west += digit % 4 * width
    return Box(south / _LAT_STEPS, (south + height) / _LAT_STEPS, west / _LNG_STEPS, (west + width) / _LNG_STEPS)


def _digits(text: str) -> list[int] | None:
    match = _FULL.match(text.upper()) if len(text) <= 64 else None
    if match is None:
        return None
    area, padding, detail = match.groups()
    if (padding and (detail or len(area) % 2)) or len(detail) == 1:
        return None
    digits = [_DIGITS.index(letter) for letter in area + detail]
    if digits[0] >= 9 or digits[1] >= 18:  # beyond 90 degrees north, 180 east
        return None
    return digits[:_MAX_DIGITS]
