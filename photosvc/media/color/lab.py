"""CIE Lab of sRGB colours (IEC 61966-2-1, CIE 15, white point D65)."""

from typing import Final

RGB = tuple[int, int, int]
Lab = tuple[float, float, float]

_WHITE: Final = (0.95047, 1.0, 1.08883)
_EPSILON: Final = (6 / 29) ** 3
_LINEAR: Final = tuple(
    value / 255 / 12.92 if value / 255 <= 0.04045 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in range(256)
)


def to_lab(colour: RGB) -> Lab:
    """Lightness 0 to 1 and the two colour axes on the same scale (the usual values divided by 100)."""
    red, green, blue = (_LINEAR[value] for value in colour)
    x = _curve((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / _WHITE[0])
    y = _curve((0.2126729 * red + 0.7151522 * green + 0.0721750 * blue) / _WHITE[1])
    z = _curve((0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / _WHITE[2])
    return 1.16 * y - 0.16, 5 * (x - y), 2 * (y - z)


def chroma(colour: Lab) -> float:
    """Distance from the grey axis: the C of HCL."""
    return float((colour[1] ** 2 + colour[2] ** 2) ** 0.5)


def _curve(share: float) -> float:
    return float(share ** (1 / 3)) if share > _EPSILON else share * (29 / 6) ** 2 / 3 + 4 / 29
