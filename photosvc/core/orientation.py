"""Orientations of Exif, 1 to 8: their combination and inverse, and boxes of rotated and mirrored pictures."""

from typing import Final, TypeAlias

#: The left, upper, right and lower edge of a part of a picture.
PixelBox: TypeAlias = tuple[float, float, float, float]
#: The matrix a, b, c, d of each orientation: x' = ax + by and y' = cx + dy, for points relative to the middle of the
#: stored picture.
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
    """Return the orientation that combines two: `first`, followed by `then`."""
    a, b, c, d = _MATRICES.get(then, _MATRICES[1])
    e, f, g, h = _MATRICES.get(first, _MATRICES[1])
    return _CODES[a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h]


def inverse(orientation: int) -> int:
    """Return the orientation that undoes this one."""
    return {6: 8, 8: 6}.get(orientation, orientation)


def turned_box(box: PixelBox, orientation: int, width: float, height: float) -> PixelBox:
    """Return where a box of a picture of this size lies after the picture was oriented."""
    left, upper, right, lower = box
    return {
        2: (width - right, upper, width - left, lower),
        3: (width - right, height - lower, width - left, height - upper),
        4: (left, height - lower, right, height - upper),
        5: (upper, left, lower, right),
        6: (height - lower, left, height - upper, right),
        7: (height - lower, width - right, height - upper, width - left),
        8: (upper, width - right, lower, width - left),
    }.get(orientation, box)


def swaps_sides(orientation: int) -> bool:
    """Return whether the orientation swaps width and height."""
    return orientation >= 5
