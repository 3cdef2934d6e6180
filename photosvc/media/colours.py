"""The colours of a picture, by which searches find photos of a colour.

They are computed from a grid of three by three pixels, with the formulas documented for the API: colour ids of the nine
pixels, their lightness, the mean chroma, the main colour and a perceptual difference hash.

The id of a pixel is the nearest of the sixteen colours by distance in CIE Lab. Each colour is represented by several
shades: CSS and X11 colours and tints of them, assigned by hand to the colour that most people would name. The first
shade of a row is the value that the API documents for the colour. Lab values are computed from sRGB (IEC 61966-2-1,
CIE 15, white point D65).
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PIL import Image

from photosvc.core.vocabulary import COLORS

RGB = tuple[int, int, int]
Lab = tuple[float, float, float]
#: Weight of a pixel of each colour in the choice of the main colour: low for usual backgrounds, high for rare colours.
WEIGHTS: Final = (2, 1, 2, 4, 2, 4, 3, 4, 4, 3, 5, 5, 5, 4, 4, 4)
_SHADES: Final = {
    "black": "000000 0c0c0c 161616 14171c 1c1613 121a14",
    "grey": "9e9e9e 2b2b2b 3d3d3d 555555 696969 808080 a9a9a9 b8b8b8 c8c8c8 708090 778899 5f6a72 8a857d b0b7bc 3a4046",
    "brown": "795548 3e2723 4a3728 5c4033 654321 8b4513 a0522d 8b5a2b a1887f 6b4f3a bc8f8f 8d7b68 c19a6b 9b7653 b08d6a",
    "gold": "ffdf00 ffd700 daa520 b8860b d4af37 cfb53b e6be4a c5a03f bfa65a f0c94d",
    "white": "ffffff fafafa f0f0f0 e6e6e6 dcdcdc fffaf0 f0f8ff f5f5dc faf0e6 e8ecef",
    "purple": "9c27b0 800080 663399 4b0082 8a2be2 9370db 7b1fa2 ba55d3 6a4c93 b39ddb 9966cc 5e3370 3a1a4a"
    " d1c4e9 7e57c2",
    "blue": "3f51b5 0000ff 00008b 191970 1e3a5f 27408b 4169e1 4682b4 1e90ff 6495ed 87a9d1 2a52be 5d8aa8 87ceeb 1f2f4a"
    " 7ba7d7 0a143c 14213d add8e6 b0c4de 2196f3 0d47a1",
    "cyan": "00bcd4 00ffff 00ced1 40e0d0 48d1cc 7fffd4 afeeee 80deea 26c6da 00acc1 b2ebf2",
    "teal": "009688 008080 00695c 004d40 2f4f4f 20b2aa 5f9ea0 3d8b84 1f5f5b 66b2aa",
    "green": "4caf50 008000 006400 228b22 2e8b57 3cb371 556b2f 6b8e23 1b3a1d 3b5323 8fbc8f 66bb6a 2f4f2f 7d9a5c 9caf88"
    " a5d6a7 33691e 4f7942 24331f",
    "lime": "cddc39 00ff00 32cd32 7fff00 adff2f 9acd32 c0ca33 d4e157 aeea00 98fb98 c6ff00",
    "yellow": "ffeb3b ffff00 ffff66 fff176 fff59d f7e463 fffacd f0e68c ffea00",
    "magenta": "ff00ff e600e6 cc00cc ff33ff da70d6 ee82ee d500f9 c71585",
    "orange": "ff9800 ff8c00 ffa500 ff7f50 f57c00 e65100 ff6f00 d2691e f4a460 cd853f ffb74d e8833a cc5500",
    "red": "f44336 ff0000 b22222 8b0000 dc143c cd5c5c a52a2a c62828 d32f2f 7f1d1d 5a0f12 e53935 a83232 800020",
    "pink": "e91e63 ff69b4 ff1493 ffc0cb ffb6c1 db7093 f48fb1 f06292 fa8072 e6a4b4 d81b60 f8bbd0 c2185b",
}
_WHITE: Final = (0.95047, 1.0, 1.08883)
_EPSILON: Final = (6 / 29) ** 3
_LINEAR: Final = tuple(
    value / 255 / 12.92 if value / 255 <= 0.04045 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in range(256)
)
_TOLERANCE = 4  # lightness levels by which the first of a pair may be darker


def to_lab(color: RGB) -> Lab:
    """Return lightness, 0 to 1, and the two colour axes on the same scale (the usual values divided by 100)."""
    red, green, blue = (_LINEAR[value] for value in color)
    x = _curve((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / _WHITE[0])
    y = _curve((0.2126729 * red + 0.7151522 * green + 0.0721750 * blue) / _WHITE[1])
    z = _curve((0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / _WHITE[2])
    return 1.16 * y - 0.16, 5 * (x - y), 2 * (y - z)


def chroma(color: Lab) -> float:
    """Return the distance from the grey axis: the C of HCL."""
    return float((color[1] ** 2 + color[2] ** 2) ** 0.5)


def _curve(share: float) -> float:
    return float(share ** (1 / 3)) if share > _EPSILON else share * (29 / 6) ** 2 / 3 + 4 / 29


#: Shades from the darkest to the lightest, each with its colour id.
_SHADES_IN_LAB: Final = sorted(
    (to_lab((int(shade[:2], 16), int(shade[2:4], 16), int(shade[4:], 16))), number)
    for number, name in enumerate(COLORS)
    for shade in _SHADES[name].split()
)
_LIGHTNESSES: Final = [shade[0] for shade, _ in _SHADES_IN_LAB]


@lru_cache(maxsize=4096)
def color_id(color: RGB) -> int:
    """Return the id, 0 to 15, of the colour with the shade nearest to this one."""
    lightness, a, b = to_lab(color)
    above = bisect_left(_LIGHTNESSES, lightness)
    least, nearest = math.inf, 0
    # Search from the lightness of the pixel to both sides until the difference in lightness exceeds the least distance.
    for indexes in (range(above, len(_SHADES_IN_LAB)), range(above - 1, -1, -1)):
        for index in indexes:
            shade, number = _SHADES_IN_LAB[index]
            distance = (shade[0] - lightness) ** 2
            if distance > least:
                break
            distance += (shade[1] - a) ** 2 + (shade[2] - b) ** 2
            if distance < least or (distance == least and number < nearest):
                least, nearest = distance, number
    return nearest


# Pairs of neighbouring pixels that the difference hash compares, numbered row by row.
_PAIRS = ((0, 1), (0, 3), (2, 1), (2, 5), (6, 3), (6, 7), (8, 5), (8, 7))


@dataclass(frozen=True, slots=True)
class Colors:
    """The colours of one picture."""

    colors: str
    """Nine hexadecimal colour ids, row by row."""
    luminance: str
    """Nine hexadecimal digits: lightness 0 to 15."""
    main_color: int
    chroma: int
    """0 to 100."""
    diff: int
    """512 to 1023."""


def on_white(picture: Image.Image) -> Image.Image:
    """Return a picture with alpha as RGB, blended with white; any other picture as it is."""
    if "A" not in picture.getbands():
        return picture
    white = Image.new("RGBA", picture.size, "white")
    white.alpha_composite(picture.convert("RGBA"))
    return white.convert("RGB")


def read_colors(picture: Image.Image) -> Colors:
    """Return the colours of an upright picture; transparent pixels are blended with white."""
    data = on_white(picture.resize((3, 3), Image.Resampling.NEAREST)).convert("RGB").tobytes()
    return colors_of([(data[i], data[i + 1], data[i + 2]) for i in range(0, 27, 3)])


def colors_of(pixels: Sequence[RGB]) -> Colors:
    """Return the colours of nine pixels, row by row."""
    in_lab = [to_lab(pixel) for pixel in pixels]
    ids = [color_id(pixel) for pixel in pixels]
    levels = [min(15, max(0, round(lightness * 15))) for lightness, _, _ in in_lab]
    return Colors(
        colors="".join(f"{number:X}" for number in ids),
        luminance="".join(f"{level:X}" for level in levels),
        main_color=main_color(ids),
        chroma=min(100, round(math.fsum(map(chroma, in_lab)) / len(in_lab) * 100)),
        diff=difference_hash(levels),
    )


def main_color(ids: Sequence[int]) -> int:
    """Return the colour id with the largest weighted count; of ids with equal counts, the first that reached it."""
    counts: Counter[int] = Counter()
    best = ids[0]
    for number in ids:
        counts[number] += WEIGHTS[number]
        if counts[number] > counts[best]:
            best = number
    return best


def difference_hash(levels: Sequence[int]) -> int:
    """Return a ten-bit hash of nine lightness levels: a set bit, centre against edges, eight pairs of neighbours."""
    edges = levels[1] + levels[3] + levels[5] + levels[7]
    bits = [4 * levels[4] + _TOLERANCE > edges]
    bits += [levels[left] + _TOLERANCE > levels[right] for left, right in _PAIRS]
    value = 1
    for bit in bits:
        value = value << 1 | bit
    return value
