"""A perceptual hash: pictures that look alike have hashes that differ in few of their 64 bits.

The hash is the pHash of Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions" (2010), with the
parameters of the library imagehash: 32x32 grey levels, the 8x8 lowest frequencies of their discrete cosine transform
(type II), a one for each that is above the median. The library itself would need NumPy and SciPy, 100 MB.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Final

from PIL import Image

_SIDE: Final = 32
_LOW: Final = 8
_BLOCK_BITS: Final = 16
#: Grey levels between the darkest and the lightest pixel; pictures with fewer all look alike to the hash.
_MIN_CONTRAST: Final = 12
_COSINES: Final = tuple(
    tuple(math.cos(math.pi * frequency * (2 * position + 1) / (2 * _SIDE)) for position in range(_SIDE))
    for frequency in range(_LOW)
)


@dataclass(frozen=True, slots=True)
class Look:
    """A hash of 64 bits in four parts, the highest bits first; -1 in each when the picture has none.

    Hashes that differ in fewer than 4 n bits differ in fewer than n bits of one of the parts: indexes on the parts
    find them.
    """

    look_1: int = -1
    look_2: int = -1
    look_3: int = -1
    look_4: int = -1


def read_look(picture: Image.Image) -> Look:
    """The hash of an upright picture; none for one without contrast."""
    bits = perceptual_hash(picture)
    if bits is None:
        return Look()
    return Look(*(bits >> shift & 0xFFFF for shift in (3 * _BLOCK_BITS, 2 * _BLOCK_BITS, _BLOCK_BITS, 0)))


def perceptual_hash(picture: Image.Image) -> int | None:
    """The 64 bits as a number; None for a picture without contrast."""
    if "A" in picture.getbands():
        opaque = Image.new("RGBA", picture.size, "white")
        opaque.alpha_composite(picture.convert("RGBA"))
        picture = opaque
    grey = picture.convert("L").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS).tobytes()
    if max(grey) - min(grey) < _MIN_CONTRAST:
        return None
    columns = [list(map(float, grey[column::_SIDE])) for column in range(_SIDE)]
    vertical = [[_weighted(cosines, column) for column in columns] for cosines in _COSINES]
    low = [_weighted(cosines, row) for row in vertical for cosines in _COSINES]
    middle = sum(sorted(low)[len(low) // 2 - 1 : len(low) // 2 + 1]) / 2
    bits = 0
    for value in low:
        bits = bits << 1 | (value > middle)
    return bits


def _weighted(cosines: Sequence[float], values: Sequence[float]) -> float:
    return sum(values) if cosines is _COSINES[0] else sum(map(mul, cosines, values))  # the first are all 1
