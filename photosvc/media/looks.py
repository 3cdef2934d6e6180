"""The look of a picture: perceptual hashes, by which searches find similar photos and copies.

The perceptual hash of 64 bits differs in few bits between pictures that look alike. It is the pHash of Zauner,
"Implementation and Benchmarking of Perceptual Image Hash Functions" (2010), with the parameters of the library
imagehash: 32x32 grey levels, the 8x8 lowest frequencies of their discrete cosine transform (type II), a one for each
that is above the median. The library itself would need NumPy and SciPy, 100 MB.

Copies in other sizes, formats and qualities differ in few bits of it. A copy that was cropped or straightened is
compared with the hashes of such versions of the picture, a turned or mirrored one with the hash of the picture whose
bits were moved.
"""

import math
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import add, mul, sub
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # searches import this module for its numbers alone
    from PIL.Image import Image

#: Sizes of the pictures whose frequencies are taken: the whole one, and its versions, where a quarter is enough.
_WHOLE, _SMALL = (32, 32), (16, 16)
_LOW: Final = 8
_BLOCK_BITS: Final = 16
#: Grey levels between the darkest and the lightest pixel; pictures with fewer have no hash, as all would look alike.
_MIN_CONTRAST: Final = 12
#: Cosines of the first half of the positions: the second half mirrors it, with the other sign in odd frequencies. They
#: are whole numbers, because these add up exactly: frequencies that cancel out in a symmetric picture are zero.
_COSINES: Final = {
    side: tuple(
        tuple(
            round(2**22 * math.cos(math.pi * frequency * (2 * position + 1) / (2 * side)))
            for position in range(side // 2)
        )
        for frequency in range(_LOW)
    )
    for side in (32, 16)
}
#: Bytes for each of the values that one number holds. The largest are below 2**62: 32 * 32 * 255 * 2**22 * 2**22.
_LANE: Final = 8
#: The value of a frequency that does not occur, among those that `_low_frequencies` returns.
_ZERO: Final = 1 << 63
#: Number of values -> the number that is added to them before their bytes are taken, so that none is negative.
_POSITIVE: Final = {count: sum(_ZERO << 8 * _LANE * at for at in range(count)) for count in (64, 32, _LOW)}
#: Shares of width and height that copies were cut by on each side.
_CROPS: Final = (0.025, 0.05)
#: Degrees by which copies were straightened; the largest box of the same shape is left of them.
_TURNS: Final = (-3.0, 3.0)
#: Least pixels of the longer side from which the versions of a picture are made, and the size of straightened ones,
#: which are then made as small as the others.
_BASE: Final = 80
_TURNED: Final = (64, 64)
_DIGITS: Final = 16
_DIGITS_OF_BITS: Final = bytes.maketrans(b"\0\1", b"01")
#: Bits of odd frequencies in one direction: they change their sign in a picture that is mirrored in that direction.
_ACROSS: Final = 0x5555555555555555
_DOWN: Final = 0x00FF00FF00FF00FF


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
    look_versions: str = ""
    """The hashes of versions of the picture, see `Versions`."""

    @property
    def whole(self) -> int | None:
        """Return the hash as a number of 64 bits; None when the picture has none."""
        if self.look_1 < 0:
            return None
        return (
            self.look_1 << 3 * _BLOCK_BITS | self.look_2 << 2 * _BLOCK_BITS | self.look_3 << _BLOCK_BITS | self.look_4
        )


@dataclass(frozen=True, slots=True)
class Versions:
    """Hashes by which copies are found that were turned, mirrored, cropped or straightened."""

    turnable: int
    """The hash with a one for each positive frequency: mirroring and turning the picture only moves its bits."""
    changed: tuple[int, ...]
    """Hashes of the picture after each of the usual crops and turns."""

    @classmethod
    def load(cls, text: str) -> "Versions | None":
        """Return the record that `dump` wrote; None for an empty text."""
        if not text:
            return None
        numbers = [int(text[at : at + _DIGITS], 16) for at in range(0, len(text), _DIGITS)]
        return cls(numbers[0], tuple(numbers[1:]))

    def dump(self) -> str:
        """Return 16 hexadecimal digits for each hash."""
        return "".join(f"{number:016x}" for number in (self.turnable, *self.changed))


def read_look(picture: "Image") -> Look:
    """Return the hashes of an upright picture; -1 in each part for a picture without contrast."""
    grey = _grey(picture)
    whole = _resized(grey, _WHOLE)
    if not _has_contrast(whole):
        return Look()
    (low,) = _low_frequencies(whole, 1)
    bits = _above_median(low)
    first, second, third, fourth = (bits >> shift * _BLOCK_BITS & 0xFFFF for shift in (3, 2, 1, 0))
    turnable = _above(low, _ZERO)
    return Look(first, second, third, fourth, Versions(turnable, tuple(_changed_bits(grey))).dump())


def turned(turnable: int) -> tuple[int, ...]:
    """Return the `Versions.turnable` of the picture in its seven other orientations."""
    over = _transposed(turnable)
    masks = (_ACROSS, _DOWN, _ACROSS ^ _DOWN)
    return (*(turnable ^ mask for mask in masks), over, *(over ^ mask for mask in masks))


def _transposed(bits: int) -> int:
    """Return the 8x8 bits with rows and columns exchanged."""
    rows = bits.to_bytes(_LOW, "big")
    return sum((row >> column & 1) << 8 * column + 7 - at for at, row in enumerate(rows) for column in range(_LOW))


def _grey(picture: "Image") -> "Image":
    if "A" in picture.getbands():
        from PIL import Image

        opaque = Image.new("RGBA", picture.size, "white")
        opaque.alpha_composite(picture.convert("RGBA"))
        picture = opaque
    return picture.convert("L")


def _resized(grey: "Image", size: tuple[int, int], box: tuple[float, float, float, float] | None = None) -> "Image":
    from PIL.Image import Resampling

    return grey.resize(size, Resampling.LANCZOS, box)


def _changed_bits(grey: "Image") -> Iterator[int]:
    """Yield the hashes of the versions of a grey picture; those without contrast are left out."""
    from PIL import Image

    versions = [*_changed(grey)]
    (width, height), count = _SMALL, len(versions)
    sheet = Image.new("L", (width, height * count))
    for number, version in enumerate(versions):
        sheet.paste(version, (0, number * height))
    for version, low in zip(versions, _low_frequencies(sheet, count), strict=True):
        if _has_contrast(version):
            yield _above_median(low)


def _changed(grey: "Image") -> "Iterator[Image]":
    """Yield 16x16 versions of a grey picture, cropped and straightened."""
    from PIL.Image import Resampling, Transform

    base = grey.reduce(max(1, max(grey.size) // _BASE))
    width, height = base.size
    for cut in _CROPS:
        yield _resized(base, _SMALL, (width * cut, height * cut, width * (1 - cut), height * (1 - cut)))
    for degrees in _TURNS:
        turn = _turn(degrees, base.size)
        yield base.transform(_TURNED, Transform.AFFINE, turn, Resampling.BILINEAR).reduce(4)


def _turn(degrees: float, size: tuple[int, int]) -> tuple[float, ...]:
    """Return the affine transformation that turns a picture and keeps the largest box of its shape, in `_TURNED`."""
    angle, (width, height), (across, down) = math.radians(degrees), size, _TURNED
    cosine, sine = math.cos(angle), math.sin(angle)
    share = 1 / (cosine + max(width / height, height / width) * abs(sine))
    x, y = width * share / across, height * share / down
    a, b, d, e = cosine * x, -sine * y, sine * x, cosine * y
    left, upper = (width - a * across - b * down) / 2, (height - d * across - e * down) / 2
    return a, b, left, d, e, upper


def _has_contrast(grey: "Image") -> bool:
    darkest, lightest = grey.getextrema()
    return lightest - darkest >= _MIN_CONTRAST  # type: ignore[operator] # numbers, of one band


def _above_median(low: Sequence[int]) -> int:
    in_order = sorted(low)
    return _above(low, (in_order[len(low) // 2 - 1] + in_order[len(low) // 2]) // 2)


def _above(values: Sequence[int], limit: int) -> int:
    """Return a number with a one for each value above the limit, the first value in the highest bit."""
    return int(bytes(map(limit.__lt__, values)).translate(_DIGITS_OF_BITS), 2)


def _low_frequencies(sheet: "Image", count: int) -> list[Sequence[int]]:
    """Return the 8x8 lowest frequencies of the grey levels of squares, one below the other, each plus `_ZERO`.

    A column of all squares is one number with 64 bits for each of its values, so that one addition adds all of them:
    this takes a quarter of the time of sums over single values, and four squares hardly take longer than one.
    """
    from PIL.Image import Transpose

    columns = sheet.transpose(Transpose.TRANSPOSE).tobytes()
    lanes = bytearray(_LANE * len(columns))
    lanes[::_LANE] = columns
    side, height = sheet.size
    size = _LANE * height
    each = [int.from_bytes(lanes[at : at + size], "little") for at in range(0, len(lanes), size)]
    across = array("Q", b"".join((one + _POSITIVE[height]).to_bytes(size, "little") for one in _frequencies(each)))
    lower = _LOW * count
    rows = [int.from_bytes(across[row::side], "little") - _POSITIVE[lower] for row in range(side)]
    values = b"".join((one + _POSITIVE[lower]).to_bytes(_LANE * lower, "little") for one in _frequencies(rows))
    low = struct.unpack(f"<{_LOW * lower}Q", values)
    return [low[number::count] for number in range(count)]


def _frequencies(values: Sequence[int]) -> list[int]:
    """Return the eight lowest frequencies of 32 or 16 values."""
    half = len(values) // 2
    first, mirrored = values[:half], values[: half - 1 : -1]
    even, odd = [*map(add, first, mirrored)], [*map(sub, first, mirrored)]
    cosines_of = _COSINES[len(values)]
    return [sum(map(mul, cosines, odd if number % 2 else even)) for number, cosines in enumerate(cosines_of)]
