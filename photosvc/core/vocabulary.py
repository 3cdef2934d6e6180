"""Fixed values: colours, the unknown, sources of values, kinds of stacks, and Exif orientations."""

from typing import Final

#: Names in the order of their numbers, 0 to 15, which are stored in `Color` and in the digits of `Colors`.
COLORS = (
    "black", "grey", "brown", "gold", "white", "purple", "blue", "cyan",
    "teal", "green", "lime", "yellow", "magenta", "orange", "red", "pink",
)  # fmt: skip
#: The name of a place or camera that is not known, and the title of a photo of which nothing is.
UNKNOWN: Final = "Unknown"
#: The id of the unknown place, cell and country.
UNKNOWN_PLACE: Final = "zz"
COLOR_NUMBERS = {name: number for number, name in enumerate(COLORS)} | {"gray": COLORS.index("grey")}
AUTO, DEFAULT, ESTIMATE, NAME, LOCATION = "", "default", "estimate", "name", "location"
META, XMP, MANUAL, ADMIN = "meta", "xmp", "manual", "admin"
PRIORITY = {
    AUTO: 1, DEFAULT: 1, ESTIMATE: 2, NAME: 4, LOCATION: 8, META: 16, XMP: 32, MANUAL: 64, ADMIN: 128,
}  # fmt: skip
# Live Photos; edited copies; bursts; equal document identifiers; the same second, cell and camera; numbered names.
LIVE, EDITED, BURST, DOCUMENT, MOMENT, NAMES = KINDS = ("live", "edited", "burst", "document", "moment", "names")
#: Numbered names are off: `IMG (2).jpg` is more often another picture than a version of `IMG.jpg`.
DEFAULT_KINDS: Final = "live edited burst document moment"
#: The transformation of each orientation, for points relative to the middle of the stored picture: the matrix a, b, c,
#: d of x' = ax + by and y' = cx + dy.
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
#: Left, upper, right and lower edge of a part of a picture.
Box = tuple[float, float, float, float]
_CODES: Final = {matrix: code for code, matrix in _MATRICES.items()}


def gives_way(current: str, new: str) -> bool:
    """Return whether a value from the source `new` replaces one from `current`; unknown sources count as `META`."""
    return PRIORITY.get(new, PRIORITY[META]) >= PRIORITY.get(current, PRIORITY[META])


def parse_kinds(written: str) -> frozenset[str]:
    """Return the kinds in a list with commas or spaces; `none` stands for the empty set.

    Raises:
        ValueError: a word names no kind.
    """
    words = set(written.lower().replace(",", " ").split()) - {"none"}
    if not written.strip() or not words <= set(KINDS):
        raise ValueError(f"expected none, or some of {', '.join(KINDS)}")
    return frozenset(words)


def followed_by(first: int, then: int) -> int:
    """Return the orientation that combines two: `first`, followed by `then`."""
    a, b, c, d = _MATRICES.get(then, _MATRICES[1])
    e, f, g, h = _MATRICES.get(first, _MATRICES[1])
    return _CODES[a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h]


def inverse(orientation: int) -> int:
    """Return the orientation that undoes this one."""
    return {6: 8, 8: 6}.get(orientation, orientation)


def turned_box(box: Box, orientation: int, width: float, height: float) -> Box:
    """Return a box of a picture of this size in the picture that the orientation makes of it."""
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
