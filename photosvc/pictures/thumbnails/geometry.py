"""Which part of a picture a thumbnail shows, and how many pixels it has. No picture library is needed for that."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from photosvc.pictures.originals import Original
from photosvc.pictures.thumbnails.sizes import WHOLE, Area, Size

Box = tuple[float, float, float, float]
"""Left, upper, right and lower edge in pixels."""


@dataclass(frozen=True, slots=True)
class Target:
    """A thumbnail to make: what part of the upright picture, at which size, in which encoding."""

    size: Size
    area: Area = WHOLE
    encoding: str = "jpg"
    """`jpg` or `webp`."""
    turn: int = 1
    """That of its original."""


@dataclass(frozen=True, slots=True)
class Job:
    """Thumbnails to make of one original."""

    original: Original
    targets: tuple[Target, ...]
    larger: str = ""
    """The path of a thumbnail of the whole picture to make them from; empty: the original."""
    kept: bool = True
    """Whether the cache keeps them."""


def thumbnail_size(whole: tuple[int, int], size: Size, area: Area = WHOLE) -> tuple[int, int]:
    """Width and height in pixels of the thumbnail of an upright picture of `whole` pixels."""
    return geometry(whole, Target(size, area))[1]


def needed_side(whole: tuple[int, int], targets: Sequence[Target]) -> int:
    """Pixels the longer side of a decoded picture must have for every target; of a picture of unknown size, a guess."""
    sides = [max(target.size.width, target.size.height) for target in targets]
    if not all(whole):
        return max(sides)
    return max(ceil(max(whole) * size[0] / (box[2] - box[0])) for box, size in (geometry(whole, t) for t in targets))


def geometry(whole: tuple[int, int], target: Target) -> tuple[Box, tuple[int, int]]:
    """The box of the upright picture to show, and the size of the thumbnail."""
    left, upper, right, lower = target.area.box(*whole)
    width, height = right - left, lower - upper
    size = target.size
    if not size.fills:
        ratio = min(1.0, size.width / width, size.height / height)
        return (left, upper, right, lower), (max(1, round(width * ratio)), max(1, round(height * ratio)))
    ratio = max(size.width / width, size.height / height)
    shown_width, shown_height = size.width / ratio, size.height / ratio
    spare = {"left": 0.0, "right": width - shown_width}.get(size.method, (width - shown_width) / 2)
    x, y = left + spare, upper + (height - shown_height) / 2
    return (x, y, x + shown_width, y + shown_height), (size.width, size.height)
