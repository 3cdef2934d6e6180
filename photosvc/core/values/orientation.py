"""Exif orientations (1 to 8) as turns and mirrorings that follow one another."""

from typing import Final

#: What each does to a point of the stored picture, relative to the middle: the matrix a, b, c, d of x' = ax + by and
#: y' = cx + dy.
_MATRICES: Final = {
    1: (1, 0, 0, 1),
    2: (-1, 0, 0, 1),
    3: (-1, 0, 0, -1),
    4: (1, 0, 0, -1),
    5: (0, 1, 1, 0),
    6: (0, -1, 1, 0),
    7: (0, -1, -1, 0),
    8: (0, 1, -1, 0),
}
_CODES: Final = {matrix: code for code, matrix in _MATRICES.items()}


def followed_by(first: int, then: int) -> int:
    """The orientation that does what `first` does and then what `then` does."""
    a, b, c, d = _MATRICES.get(then, _MATRICES[1])
    e, f, g, h = _MATRICES.get(first, _MATRICES[1])
    return _CODES[a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h]


def inverse(orientation: int) -> int:
    """The orientation that takes back what this one does."""
    return {6: 8, 8: 6}.get(orientation, orientation)


def swaps_sides(orientation: int) -> bool:
    """Whether the width becomes the height."""
    return orientation >= 5
