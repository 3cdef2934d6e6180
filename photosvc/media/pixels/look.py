"""A perceptual hash: pictures that look alike have hashes that differ in few of their 64 bits.

The hash is the pHash of Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions" (2010), with the
parameters of the library imagehash: 32x32 grey levels, the 8x8 lowest frequencies of their discrete cosine transform
(type II), a one for each that is above the median. The library itself would need NumPy and SciPy, 100 MB.
"""

import math
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, mul, sub
from typing import Final

from PIL import Image

_SIDE: Final = 32
_LOW: Final = 8
_BLOCK_BITS: Final = 16
#: Grey levels between the darkest and the lightest pixel; pictures with fewer all look alike to the hash.
_MIN_CONTRAST: Final = 12
#: The cosines as whole numbers, of the first half of the positions: the second half mirrors it, with the other sign in
#: odd frequencies. Whole numbers add up exactly, so that what cancels out in a symmetric picture is zero.
_HALF: Final = _SIDE // 2
_COSINES: Final = tuple(
    tuple(round(2**22 * math.cos(math.pi * frequency * (2 * position + 1) / (2 * _SIDE))) for position in range(_HALF))
    for frequency in range(_LOW)
)
#: Bytes for each of the values that one number holds. The largest are below 2**62: 32 * 32 * 255 * 2**22 * 2**22.
_LANE: Final = 8
#: Added to such numbers of 32 and of 8 values before their bytes are taken, so that no value in them is negative.
_POSITIVE, _POSITIVE_LOW = (sum(1 << (8 * _LANE * at + 63) for at in range(count)) for count in (_SIDE, _LOW))
_VALUES: Final = struct.Struct(f"<{_LOW * _LOW}Q")


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
    grey = picture.convert("L").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    darkest, lightest = grey.getextrema()
    if lightest - darkest < _MIN_CONTRAST:  # type: ignore[operator] # numbers, of one band
        return None
    low = _low_frequencies(grey.transpose(Image.Transpose.TRANSPOSE).tobytes())
    in_order = sorted(low)
    twice_the_median = in_order[len(low) // 2 - 1] + in_order[len(low) // 2]
    bits = 0
    for value in low:
        bits = bits << 1 | (2 * value > twice_the_median)
    return bits


def _low_frequencies(columns: bytes) -> Sequence[int]:
    """The 8x8 lowest frequencies of 32x32 grey levels, given column by column, all increased by the same number.

    A whole column is one number with 64 bits for each of its values: what is done to the number is done to them all.
    That takes a quarter of the time of sums over single values.
    """
    lanes = bytearray(_LANE * len(columns))
    lanes[::_LANE] = columns
    size = _LANE * _SIDE
    each = [int.from_bytes(lanes[at : at + size], "little") for at in range(0, len(lanes), size)]
    across = array("Q", b"".join((one + _POSITIVE).to_bytes(size, "little") for one in _frequencies(each)))
    rows = [int.from_bytes(across[row::_SIDE], "little") - _POSITIVE_LOW for row in range(_SIDE)]
    return _VALUES.unpack(
        b"".join((one + _POSITIVE_LOW).to_bytes(_LANE * _LOW, "little") for one in _frequencies(rows))
    )


def _frequencies(values: Sequence[int]) -> list[int]:
    """The eight lowest frequencies of 32 values."""
    first, mirrored = values[:_HALF], values[: _HALF - 1 : -1]
    even, odd = [*map(add, first, mirrored)], [*map(sub, first, mirrored)]
    return [sum(map(mul, cosines, odd if number % 2 else even)) for number, cosines in enumerate(_COSINES)]
