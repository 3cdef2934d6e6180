"""The colours that the header of a JPEG XL states (ISO/IEC 18181-1), which its decoder does not pass on.

The pixels of a lossy file are decoded in a colour space with a number, or else in linear sRGB; the ICC profile in the
file then describes its source.
"""

from dataclasses import dataclass
from typing import BinaryIO, Final

from PIL import Image

from photosvc.media.icc import (
    NAMED_PROFILE,
    PRIMARIES,
    WHITES,
    Point,
    curve_of,
    encoded,
    make_profile,
    parametric,
)
from photosvc.media.isobmff import boxes
from photosvc.media.slices import read_at

_HEAD: Final = 1 << 12
_MAX_CHANNELS: Final = 64
_CUSTOM: Final = 2


@dataclass(frozen=True, slots=True)
class JxlColours:
    """The colours of the decoded pixels."""

    is_linear: bool = False
    """True for linear sRGB."""
    profile: bytes = b""
    """A profile made of the numbers in the header; empty for sRGB and for unknown numbers."""


def read_colours(source: BinaryIO) -> JxlColours:
    """Return the colours of the decoded pixels; sRGB when the header is damaged or of an unusual kind."""
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
    """Return a decoded picture of linear sRGB in sRGB; its profile only names its source."""
    whole = range(256)
    curve = [round(255 * encoded(level / 255)) for level in whole]
    shown = picture.point([level for band in picture.getbands() for level in (whole if band == "A" else curve)])
    if profile := shown.info.pop("icc_profile", None):
        shown.info[NAMED_PROFILE] = profile
    return shown


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
    white = _point(bits) if first == _CUSTOM else WHITES.get(first)
    second = bits.enum()
    points = tuple(_point(bits) for _ in range(3)) if second == _CUSTOM else PRIMARIES.get(second)
    if bits.read(1):
        gamma = bits.read(24)
        curve = parametric(10**7 / gamma) if gamma > 10**6 else None
        transfer = 0
    else:
        transfer = bits.enum()
        curve = curve_of(transfer)
    if white is None or points is None or curve is None or (first, second, transfer) == (1, 1, 13):
        return b""
    return make_profile(white, points, curve, transfer)


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
