"""ICC profiles: read from files where Pillow ignores them, and made of colour spaces that files name by numbers.

The numbers are defined by ITU-T H.273 and ISO/IEC 18181-1.

The light of PQ and HLG (ITU-R BT.2100) is far brighter than a screen of ordinary range shows. Their profiles have a
curve that keeps light up to 45 % of white, and rolls off brighter light: the EETF of Report ITU-R BT.2390, from 1000
cd/m2 to 203, the level of white in Report ITU-R BT.2408. Like any curve of a profile, it applies to red, green and blue
separately, so that very bright colours lose a little of their saturation.
"""

import math
import struct
from collections.abc import Sequence
from io import BytesIO
from itertools import chain
from typing import BinaryIO, Final

from PIL import Image

from photosvc.media.isobmff import inner_boxes, main_properties
from photosvc.media.slices import read_at
from photosvc.media.text import clean

Point = tuple[float, float]
Rows = Sequence[Sequence[float]]
#: Numbers of white points and of primaries -> coordinates in CIE 1931 xy; Display P3 is 11 in JPEG XL, 12 in H.273.
WHITES: Final[dict[int, Point]] = {1: (0.3127, 0.3290), 10: (1 / 3, 1 / 3), 11: (0.314, 0.351)}
PRIMARIES: Final[dict[int, tuple[Point, ...]]] = {
    1: ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)),
    11: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
}
_D65: Final = WHITES[1]
#: Names of colour spaces with the white point D65, by their primaries.
_NAMES: Final[dict[str, tuple[Point, ...]]] = {
    "sRGB": PRIMARIES[1],
    "BT.2020": PRIMARIES[9],
    "Display P3": PRIMARIES[11],
    "Adobe RGB (1998)": ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)),
}
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
_PQ, _HLG = 16, 18
_SUFFIXES: Final = {_PQ: " PQ", _HLG: " HLG"}
#: Light of the brightest pixel and of white in cd/m2.
_BRIGHTEST: Final = 1000.0
_WHITE: Final = 203.0
_STEPS: Final = 1024
#: Constants of PQ and HLG in ITU-R BT.2100, tables 4 and 5.
_M1, _M2, _C1, _C2, _C3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
_A, _B, _C = 0.17883277, 0.28466892, 0.55991073
_GAMMA: Final = 1.2
#: Key in the `info` of a picture: the profile of the file, if the decoded pixels are already in sRGB.
NAMED_PROFILE: Final = "named_profile"
_MAX_PROFILE: Final = 1 << 22
#: Size of the header of a BMP of version 5, which alone has a profile.
_VERSION_5: Final = 124
_HEADER_OF_FILE: Final = 14


def curve_of(transfer: int) -> bytes | None:
    """Return the curve of a transfer function as an element of a profile; None when it is unknown."""
    if transfer in (_PQ, _HLG):
        light = _light_of_pq if transfer == _PQ else _light_of_hlg
        values = (_shown(light(step / (_STEPS - 1))) for step in range(_STEPS))
        return b"curv" + struct.pack(f">II{_STEPS}H", 0, _STEPS, *(round(65535 * value) for value in values))
    return parametric(*_CURVES[transfer]) if transfer in _CURVES else None


def parametric(power: float, *parts: float) -> bytes:
    """Return the curve of a power, or with all five parameters a curve with a straight beginning."""
    numbers = (power, *(parts or (1.0, 0.0, 0.0, 0.0)))
    return b"para" + struct.pack(">IHH", 0, 3, 0) + struct.pack(">5i", *(round(part * 65536) for part in numbers))


def make_profile(white: Point, points: Sequence[Point], curve: bytes, transfer: int) -> bytes:
    """Return the profile for a white point, primaries and a curve; empty when the coordinates are impossible.

    The number of the transfer function completes its name.
    """
    name = _name(white, points)
    if transfer in _SUFFIXES:  # the name sRGB would mean its curve as well, and pixels would not be converted
        name = ("BT.709" if name == "sRGB" else name) + _SUFFIXES[transfer]
    try:
        return _profile(name, white, points, curve)
    except (ZeroDivisionError, struct.error):
        return b""


def encoded(light: float) -> float:
    """Return the sRGB value of linear light (IEC 61966-2-1), both 0 to 1."""
    return light * 12.92 if light <= 0.0031308 else 1.055 * float(light ** (1 / 2.4)) - 0.055


def _light_of_pq(level: float) -> float:
    """Return the light in cd/m2 of a PQ level from 0 to 1."""
    root = level ** (1 / _M2)
    return float(10_000 * (max(root - _C1, 0) / (_C2 - _C3 * root)) ** (1 / _M1))


def _level_of_pq(light: float) -> float:
    """Return the PQ level, 0 to 1, of light in cd/m2."""
    root = (light / 10_000) ** _M1
    return float(((_C1 + _C2 * root) / (1 + _C3 * root)) ** _M2)


def _light_of_hlg(level: float) -> float:
    """Return the light in cd/m2 of an HLG level from 0 to 1, on a screen of 1000 cd/m2."""
    scene = level * level / 3 if level <= 0.5 else (math.exp((level - _C) / _A) + _B) / 12
    return float(_BRIGHTEST * scene**_GAMMA)


def _shown(light: float) -> float:
    """Return the share of white, 0 to 1, that an ordinary screen shows (Report ITU-R BT.2390 section 5.4.1)."""
    top = _level_of_pq(_BRIGHTEST)
    level, most = min(_level_of_pq(light) / top, 1.0), _level_of_pq(_WHITE) / top
    knee = 1.5 * most - 0.5
    if level > knee:
        t = (level - knee) / (1 - knee)
        level = (2 * t**3 - 3 * t**2 + 1) * knee + (t**3 - 2 * t**2 + t) * (1 - knee) + (3 * t**2 - 2 * t**3) * most
    return min(_light_of_pq(level * top) / _WHITE, 1.0)


def _name(white: Point, points: Sequence[Point]) -> str:
    for name, known in _NAMES.items():
        pairs = zip((*white, *chain(*points)), (*_D65, *chain(*known)), strict=True)
        # Encoders compute coordinates from the rounded values of a profile.
        if all(abs(stated - exact) <= 0.003 for stated, exact in pairs):
            return name
    return "Custom"


def _profile(name: str, white: Point, points: Sequence[Point], response: bytes) -> bytes:
    """Return an ICC profile of version 4 (ISO 15076-1) for this white point and these primaries."""
    text = name.encode("utf-16-be")
    described = b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, len(text), 28) + text
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
    """Return the primaries relative to D50, scaled so that together they are white."""
    source = _tristimulus(white)
    columns = [_tristimulus(point) for point in points]
    shares = _times(_inverse(list(zip(*columns, strict=True))), source)
    scale = [to / of for to, of in zip(_times(_CONES, _D50), _times(_CONES, source), strict=True)]
    colorants = []
    for share, column in zip(shares, columns, strict=True):
        cones = [part * by for part, by in zip(_times(_CONES, column), scale, strict=True)]
        colorants.append([share * value for value in _times(_inverse(_CONES), cones)])
    return colorants


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


def profile_name(picture: Image.Image) -> str:
    """Return the description of a picture's profile, such as `Display P3`; empty when LittleCMS refuses it."""
    profile = picture.info.get("icc_profile") or picture.info.get(NAMED_PROFILE)
    if not isinstance(profile, bytes):
        return ""
    from PIL import ImageCms

    try:
        return clean(ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(BytesIO(profile))), 64)
    except (OSError, ImageCms.PyCMSError):
        return ""


def profile_of_bmp(source: BinaryIO) -> bytes:
    """Return the profile of a BMP (BITMAPV5HEADER); empty when it has none."""
    head = read_at(source, _HEADER_OF_FILE, _VERSION_5)
    if len(head) < _VERSION_5 or int.from_bytes(head[:4], "little") != _VERSION_5 or head[56:60] != b"DEBM":
        return b""
    start, size = (int.from_bytes(head[at : at + 4], "little") for at in (112, 116))
    return read_at(source, _HEADER_OF_FILE + start, size) if size <= _MAX_PROFILE else b""


def profile_of_jp2(source: BinaryIO) -> bytes:
    """Return the profile of a JP2 (ISO/IEC 15444-1 annex I.5.3.3, 15444-2 annex M.11.7.3); empty when it has none."""
    for kind, start, stop in inner_boxes(source, b"jp2h"):
        head = read_at(source, start, 3) if kind == b"colr" else b""
        if head[:1] and head[0] in (2, 3):  # methods that contain a profile: restricted and any ICC
            return read_at(source, start + 3, min(stop - start - 3, _MAX_PROFILE))
    return b""


def profile_of_heif(source: BinaryIO) -> bytes:
    """Make the profile of an AVIF or HEIC that names its colour space by numbers; empty for sRGB and unknown numbers.

    Sources: ISO/IEC 14496-12 section 12.1.5, H.273.
    """
    colours = list(main_properties(source, b"colr"))
    if any(not body.startswith(b"nclx") for body in colours):
        return b""
    first = next((body for body in colours if len(body) >= 8), bytes(8))
    primaries, transfer = int.from_bytes(first[4:6], "big"), int.from_bytes(first[6:8], "big")
    points, curve = PRIMARIES.get(primaries), curve_of(transfer)
    is_plain = primaries == 1 and transfer not in (_PQ, _HLG)
    return b"" if points is None or curve is None or is_plain else make_profile(_D65, points, curve, transfer)
