"""The colours that the header of a JPEG XL states (ISO/IEC 18181-1), which its decoder does not pass on.

The pixels of a lossy file are decoded in a colour space with a number, or else in linear sRGB: then the ICC profile in
the file is that of its source.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from PIL import Image

from photosvc.media.isobmff import boxes
from photosvc.media.profiles import NAMED_PROFILE
from photosvc.media.slices import read_at

_HEAD: Final = 1 << 12
_MAX_CHANNELS: Final = 64
_CUSTOM: Final = 2
Point = tuple[float, float]
Rows = Sequence[Sequence[float]]
#: Numbers of white points and of primaries -> their coordinates in CIE 1931 xy.
_WHITES: Final[dict[int, Point]] = {1: (0.3127, 0.3290), 10: (1 / 3, 1 / 3), 11: (0.314, 0.351)}
_PRIMARIES: Final[dict[int, tuple[Point, ...]]] = {
    1: ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)),
    11: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
}
_D65: Final = _WHITES[1]
#: Names of colour spaces with the white point D65, by their primaries.
_NAMES: Final[dict[str, tuple[Point, ...]]] = {
    "sRGB": _PRIMARIES[1],
    "BT.2020": _PRIMARIES[9],
    "Display P3": _PRIMARIES[11],
    "Adobe RGB (1998)": ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)),
}
#: Encoders compute coordinates from the rounded values of a profile.
_TOLERANCE: Final = 0.003
_D50: Final = (0.96420, 1.0, 0.82491)
#: The cone responses by Bradford, with which ICC profiles adapt a white point to D50.
_CONES: Final = ((0.8951, 0.2664, -0.1614), (-0.7502, 1.7135, 0.0367), (0.0389, -0.0685, 1.0296))
#: Number of the transfer function -> parameters of an ICC curve: y = (a x + b)^g from d on, else c x.
_CURVES: Final = {
    1: (1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081),
    8: (1.0, 1.0, 0.0, 0.0, 0.0),
    13: (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045),
    17: (2.6, 1.0, 0.0, 0.0, 0.0),
}


@dataclass(frozen=True, slots=True)
class JxlColours:
    """The colours of the decoded pixels."""

    is_linear: bool = False
    """True for linear sRGB."""
    profile: bytes = b""
    """A profile made of the numbers in the header; empty for sRGB, and for what they do not describe."""


def read_colours(source: BinaryIO) -> JxlColours:
    """Return the colours of the decoded pixels; those of sRGB when the header is damaged or of an unusual kind."""
    head = read_at(source, 0, _HEAD)
    if not head.startswith(b"\xff\x0a"):
        parts = ((kind, begin) for kind, begin, _ in boxes(source, 0, source.seek(0, 2)) if kind in (b"jxlc", b"jxlp"))
        kind, begin = next(parts, (b"", 0))
        head = read_at(source, begin + 4 * (kind == b"jxlp"), _HEAD)  # a part begins with its number
    return _colours(_Bits(head)) if head.startswith(b"\xff\x0a") else JxlColours()


class _Bits:
    """Bits of the header, the lowest of each byte first; zeros beyond its end."""

    def __init__(self, head: bytes) -> None:
        self._value = int.from_bytes(head, "little")
        self._at = 16

    def read(self, count: int) -> int:
        self._at += count
        return self._value >> (self._at - count) & ((1 << count) - 1)

    def choice(self, *options: tuple[int, int]) -> int:
        """Read a number in one of four forms: a base, and bits to add to it."""
        base, count = options[self.read(2)]
        return base + self.read(count)

    def enum(self) -> int:
        return self.choice((0, 0), (1, 0), (2, 4), (18, 6))


def without_linearity(picture: Image.Image) -> Image.Image:
    """Return a decoded picture of linear sRGB in sRGB (IEC 61966-2-1); its profile only names its source."""
    whole = range(256)
    curve = [round(255 * _encoded(level / 255)) for level in whole]
    shown = picture.point([level for band in picture.getbands() for level in (whole if band == "A" else curve)])
    if profile := shown.info.pop("icc_profile", None):
        shown.info[NAMED_PROFILE] = profile
    return shown


def _encoded(light: float) -> float:
    return light * 12.92 if light <= 0.0031308 else 1.055 * float(light ** (1 / 2.4)) - 0.055


def _colours(bits: _Bits) -> JxlColours:
    _skip_size(bits)
    if bits.read(1):  # all values are the usual ones
        return JxlColours()
    if bits.read(1):
        bits.read(3)
        if bits.read(1):
            _skip_size(bits)
        if bits.read(1):  # a preview: not written by any encoder
            return JxlColours()
        if bits.read(1):
            bits.choice((100, 0), (1000, 0), (1, 10), (1, 30))
            bits.choice((1, 0), (1001, 0), (1, 8), (1, 10))
            bits.choice((0, 0), (0, 3), (0, 16), (0, 32))
            bits.read(1)
    _skip_depth(bits)
    bits.read(1)
    for _ in range(min(bits.choice((0, 0), (1, 0), (2, 4), (1, 12)), _MAX_CHANNELS)):
        _skip_channel(bits)
    is_lossy = bits.read(1)
    if bits.read(1):
        return JxlColours()
    if bits.read(1):
        return JxlColours(is_linear=bool(is_lossy))
    return JxlColours(profile=_profile_of(bits)) if bits.enum() == 0 else JxlColours()


def _profile_of(bits: _Bits) -> bytes:
    """Return the profile of a colour space of red, green and blue, whose values follow."""
    first = bits.enum()
    white = _point(bits) if first == _CUSTOM else _WHITES.get(first)
    second = bits.enum()
    points = tuple(_point(bits) for _ in range(3)) if second == _CUSTOM else _PRIMARIES.get(second)
    if bits.read(1):
        gamma = bits.read(24)
        curve = (10**7 / gamma, 1.0, 0.0, 0.0, 0.0) if gamma > 10**6 else None
        transfer = 0
    else:
        transfer = bits.enum()
        curve = _CURVES.get(transfer)
    if white is None or points is None or curve is None or (first, second, transfer) == (1, 1, 13):
        return b""
    try:
        return _profile(_name(white, points), white, points, curve)
    except (ZeroDivisionError, struct.error):  # coordinates of no colours
        return b""


def _name(white: Point, points: Sequence[Point]) -> str:
    return next((name for name, known in _NAMES.items() if _is_near((white, *points), (_D65, *known))), "Custom")


def _is_near(points: Sequence[Point], others: Sequence[Point]) -> bool:
    pairs = zip(points, others, strict=True)
    return all(abs(a - b) <= _TOLERANCE for one, other in pairs for a, b in zip(one, other, strict=True))


def _point(bits: _Bits) -> Point:
    """Read coordinates in millionths, whose lowest bit is the sign."""
    values = [bits.choice((0, 19), (524_288, 19), (1_048_576, 20), (2_097_152, 21)) for _ in range(2)]
    x, y = ((value >> 1 ^ -(value & 1)) / 1_000_000 for value in values)
    return x, y


def _skip_size(bits: _Bits) -> None:
    sides = ((1, 9), (1, 13), (1, 18), (1, 30))
    is_small = bits.read(1)
    for last in (False, True):
        if last and bits.read(3):  # a ratio replaces the width
            return
        if is_small:
            bits.read(5)
        else:
            bits.choice(*sides)


def _skip_depth(bits: _Bits) -> None:
    if bits.read(1):
        bits.choice((32, 0), (16, 0), (24, 0), (1, 6))
        bits.read(4)
    else:
        bits.choice((8, 0), (10, 0), (12, 0), (1, 6))


def _skip_channel(bits: _Bits) -> None:
    if bits.read(1):
        return
    kind = bits.enum()
    _skip_depth(bits)
    bits.choice((0, 0), (3, 0), (4, 0), (1, 3))
    bits.read(8 * bits.choice((0, 0), (0, 4), (16, 5), (48, 10)))
    if kind == 0:
        bits.read(1)
    elif kind == 2:
        bits.read(4 * 16)
    elif kind == 5:
        bits.choice((1, 0), (0, 2), (3, 4), (19, 8))


def _profile(name: str, white: Point, points: Sequence[Point], curve: Sequence[float]) -> bytes:
    """Return an ICC profile of version 4 (ISO 15076-1) for this white point and these primaries."""
    text = name.encode("utf-16-be")
    described = b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, len(text), 28) + text
    response = b"para" + struct.pack(">IHH", 0, 3, 0) + struct.pack(">5i", *(round(part * 65536) for part in curve))
    tags = [(b"desc", described), (b"wtpt", _xyz(_D50))]
    colorants = zip((b"r", b"g", b"b"), _colorants(white, points), strict=True)
    tags += [(letter + b"XYZ", _xyz(values)) for letter, values in colorants]
    tags += [(letter + b"TRC", response) for letter in (b"r", b"g", b"b")]
    table, data, start = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for key, content in tags:
        table += key + struct.pack(">II", start + len(data), len(content))
        data += content + bytes(-len(content) % 4)
    head = struct.pack(">I4xI4s4s4s12x4s", start + len(data), 0x04300000, b"mntr", b"RGB ", b"XYZ ", b"acsp")
    head += bytes(28) + _xyz(_D50)[8:]
    return head.ljust(128, b"\0") + table + data


def _colorants(white: Point, points: Sequence[Point]) -> list[list[float]]:
    """Return the primaries relative to D50, so bright that together they are white."""
    source = _tristimulus(white)
    columns = [_tristimulus(point) for point in points]
    shares = _times(_inverse(list(zip(*columns, strict=True))), source)
    scale = [to / of for to, of in zip(_times(_CONES, _D50), _times(_CONES, source), strict=True)]
    found = []
    for share, column in zip(shares, columns, strict=True):
        cones = [part * by for part, by in zip(_times(_CONES, column), scale, strict=True)]
        found.append([share * value for value in _times(_inverse(_CONES), cones)])
    return found


def _tristimulus(point: Point) -> tuple[float, float, float]:
    x, y = point
    return x / y, 1.0, (1 - x - y) / y


def _times(rows: Rows, vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows]


def _inverse(rows: Rows) -> list[list[float]]:
    def minor(row: int, column: int) -> float:
        (a, b), (c, d) = ([rows[i % 3][j % 3] for j in (column + 1, column + 2)] for i in (row + 1, row + 2))
        return a * d - b * c

    determinant = sum(rows[0][column] * minor(0, column) for column in range(3))
    return [[minor(column, row) / determinant for column in range(3)] for row in range(3)]


def _xyz(values: Sequence[float]) -> bytes:
    return b"XYZ " + bytes(4) + struct.pack(">3i", *(round(value * 65536) for value in values))
