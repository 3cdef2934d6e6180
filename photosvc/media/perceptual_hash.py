"""The perceptual hash of a picture, by which searches find similar photos and copies.

Its 64 bits differ in few places between pictures that look alike. It is the pHash of Zauner, "Implementation and
Benchmarking of Perceptual Image Hash Functions" (2010), with the parameters of the library imagehash: 32x32 grey
levels, the 8x8 lowest frequencies of their discrete cosine transform (type II), and a set bit for each frequency above
the median. The library itself would need NumPy and SciPy, 100 MB.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, mul, sub
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # searches import this module for its numbers alone
    from PIL.Image import Image

_SIDE: Final = 32
_LOW: Final = 8
_BLOCK_BITS: Final = 16
#: Grey levels between the darkest and the lightest pixel; pictures with fewer have no hash, as all would look alike.
_MIN_CONTRAST: Final = 12
#: Cosines of the first half of the positions; the second half mirrors it, with the other sign in odd frequencies. They
#: are whole numbers, which add up exactly: frequencies that cancel out in a symmetric picture are zero.
_COSINES: Final = tuple(
    tuple(
        round(2**22 * math.cos(math.pi * frequency * (2 * position + 1) / (2 * _SIDE)))
        for position in range(_SIDE // 2)
    )
    for frequency in range(_LOW)
)
#: A number added to each lane of a packed row, so that no lane is negative and borrows from the next one.
_LANE_BIAS: Final = 1 << 63
_BIAS: Final = sum(_LANE_BIAS << 64 * lane for lane in range(_SIDE))
#: Bits of odd frequencies in one direction: they change their sign in a picture that is mirrored in that direction.
_ACROSS: Final = 0x5555555555555555
_DOWN: Final = 0x00FF00FF00FF00FF


@dataclass(frozen=True, slots=True)
class PerceptualHash:
    """A hash of 64 bits in four parts, the highest bits first; -1 in each when the picture has none.

    Hashes that differ in fewer than 4 n bits differ in fewer than n bits of one of the parts: indexes on the parts
    find them.
    """

    look_1: int = -1
    look_2: int = -1
    look_3: int = -1
    look_4: int = -1

    @property
    def whole(self) -> int | None:
        """Return the hash as a number of 64 bits; None when the picture has none."""
        if self.look_1 < 0:
            return None
        return (
            self.look_1 << 3 * _BLOCK_BITS | self.look_2 << 2 * _BLOCK_BITS | self.look_3 << _BLOCK_BITS | self.look_4
        )


def hash_picture(picture: "Image") -> PerceptualHash:
    """Return the hash of an upright picture; -1 in each part for a picture without contrast."""
    from PIL.Image import Resampling

    from photosvc.media.colours import on_white

    grey = on_white(picture).convert("L").resize((_SIDE, _SIDE), Resampling.LANCZOS)
    darkest, lightest = grey.getextrema()
    if lightest - darkest < _MIN_CONTRAST:  # type: ignore[operator] # numbers, of one band
        return PerceptualHash()
    low = _low_frequencies(grey.tobytes())
    in_order = sorted(low)
    middle = (in_order[len(low) // 2 - 1] + in_order[len(low) // 2]) // 2
    bits = int("".join("1" if value > middle else "0" for value in low), 2)
    return PerceptualHash(*(bits >> shift * _BLOCK_BITS & 0xFFFF for shift in (3, 2, 1, 0)))


def turned(look: int) -> tuple[int, ...]:
    """Return the hash of the picture in its seven other orientations, apart from frequencies near the median."""
    rows = look.to_bytes(_LOW, "big")
    over = sum((row >> column & 1) << 8 * column + 7 - at for at, row in enumerate(rows) for column in range(_LOW))
    masks = (_ACROSS, _DOWN, _ACROSS ^ _DOWN)
    return (*(look ^ mask for mask in masks), over, *(over ^ mask for mask in masks))


def _low_frequencies(levels: bytes) -> list[int]:
    """Return the 8x8 lowest frequencies of the 32x32 grey levels, row by row.

    The columns are transformed all at once: the values of a row are the lanes of one large number.
    """
    down = _frequencies([_packed(levels[at : at + _SIDE]) for at in range(0, len(levels), _SIDE)])
    return [value for row in down for value in _frequencies(_unpacked(row))]


def _packed(row: bytes) -> int:
    """Return a number in which each value has a lane of 64 bits."""
    lanes = bytearray(8 * _SIDE)
    lanes[::8] = row
    return int.from_bytes(lanes, "little")


def _unpacked(number: int) -> list[int]:
    """Return the values, of less than 63 bits each, whose lanes were added up to this number; they may be negative."""
    lanes = (number + _BIAS).to_bytes(8 * _SIDE, "little")
    return [lane - _LANE_BIAS for lane in struct.unpack(f"<{_SIDE}Q", lanes)]


def _frequencies(values: Sequence[int]) -> list[int]:
    """Return the eight lowest frequencies of 32 values."""
    first, mirrored = values[: _SIDE // 2], values[: _SIDE // 2 - 1 : -1]
    even, odd = [*map(add, first, mirrored)], [*map(sub, first, mirrored)]
    return [sum(map(mul, cosines, odd if number % 2 else even)) for number, cosines in enumerate(_COSINES)]
