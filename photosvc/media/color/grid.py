"""The colours of a picture, computed from a grid of three by three pixels; searches by colour compare them.

Formulas as documented for the API: colour ids of the nine pixels, their lightness, the mean chroma, the main colour and
a perceptual difference hash.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from PIL import Image

from photosvc.media.color.palette import RGB, WEIGHTS, chroma, color_id, to_lab

# Pairs of neighbouring pixels that the difference hash compares, numbered row by row.
_PAIRS = ((0, 1), (0, 3), (2, 1), (2, 5), (6, 3), (6, 7), (8, 5), (8, 7))
_TOLERANCE = 4  # lightness levels by which the first of a pair may be darker


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


def read_colors(picture: Image.Image) -> Colors:
    """The colours of an upright picture; transparent pixels are blended with white."""
    nine = picture.resize((3, 3), Image.Resampling.NEAREST)
    if nine.mode != "RGB":
        white = Image.new("RGBA", nine.size, "white")
        nine = Image.alpha_composite(white, nine.convert("RGBA")).convert("RGB")
    data = nine.tobytes()
    return colors_of([(data[i], data[i + 1], data[i + 2]) for i in range(0, 27, 3)])


def colors_of(pixels: Sequence[RGB]) -> Colors:
    """The colours of nine pixels, row by row."""
    in_lab = [to_lab(pixel) for pixel in pixels]
    ids = [color_id(pixel) for pixel in pixels]
    levels = [min(15, max(0, round(lightness * 15))) for lightness, _, _ in in_lab]
    return Colors(
        colors="".join(f"{number:X}" for number in ids),
        luminance="".join(f"{level:X}" for level in levels),
        main_color=main_color(ids),
        chroma=min(100, round(fmean(map(chroma, in_lab)) * 100)),
        diff=difference(levels),
    )


def main_color(ids: Sequence[int]) -> int:
    """The colour id with the largest weighted count; of equals, the one that reached it first."""
    counts: Counter[int] = Counter()
    best = ids[0]
    for number in ids:
        counts[number] += WEIGHTS[number]
        if counts[number] > counts[best]:
            best = number
    return best


def difference(levels: Sequence[int]) -> int:
    """A ten-bit hash of nine lightness levels: a one, centre compared with edges, eight pairs of neighbours."""
    edges = levels[1] + levels[3] + levels[5] + levels[7]
    bits = [4 * levels[4] + _TOLERANCE > edges]
    bits += [levels[left] + _TOLERANCE > levels[right] for left, right in _PAIRS]
    value = 1
    for bit in bits:
        value = value << 1 | bit
    return value
