"""Open Location Codes («plus codes»), full ones only: `8FWC2345+G6` names a box of the globe.

Source: the Open Location Code specification. Five pairs of base-20 digits refine latitude and longitude side by side,
then up to five single digits each pick one of 5 rows and 4 columns. Zeros pad a code shorter than eight digits.
"""

import re

from photosvc.core.errors import InvalidValueError
from photosvc.core.geo import Box

_DIGITS = "23456789CFGHJMPQRVWX"
_MAX_DIGITS = 15  # further digits are below the precision of a double
_LAT_STEPS, _LNG_STEPS = 8000 * 5**5, 8000 * 4**5  # of the finest box, in one degree
_FULL = re.compile(rf"(?=.{{8}}\+)([{_DIGITS}]{{2,8}})(0*)\+([{_DIGITS}]*)\Z")


def decode_plus_code(text: str) -> Box:
    """The box that a full Open Location Code names.

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
    if padding and (detail or len(area) % 2):
        return None
    if len(detail) == 1:
        return None
    digits = [_DIGITS.index(letter) for letter in area + detail]
    if digits[0] >= 9 or digits[1] >= 18:  # beyond 90 degrees north, 180 east
        return None
    return digits[:_MAX_DIGITS]
