"""The geometry of thumbnails: sizes, areas, and names in the cache; it needs no picture library."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final, Literal, Self

from photosvc.core.orientation import PixelBox
from photosvc.pictures.originals import Original

Method = Literal["colors", "tile", "left", "right", "fit"]
_CROP: Final = re.compile(r"[0-9a-f]{12}")
_TURNED: Final = re.compile(r"turn([2-8])_")


@dataclass(frozen=True, slots=True)
class Size:
    """One size: `tile` fills its box from the centre and crops, `left` and `right` crop to one side, `fit` does not.

    `colors` shows the whole picture in its box, whatever the sides of both, as some of its pixels.
    """

    name: str
    width: int
    """Pixels."""
    height: int
    method: Method
    usual: bool = False
    """True if `svc thumbs` makes it by default."""

    @property
    def fills(self) -> bool:
        """Return whether the thumbnail has exactly this size, rather than being fitted inside it."""
        return self.method != "fit"

    @property
    def purpose(self) -> str:
        """Return a description for people."""
        if self.method == "fit":
            return f"inside {self.width} x {self.height}, never enlarged"
        if self.method == "colors":
            return f"{self.width} x {self.height} pixels of the whole picture, as PNG"
        where = "centre" if self.method == "tile" else f"{self.method} side"
        return f"{self.width} x {self.height} square, cropped to the {where}"


_TABLE: Final = (
    Size("tile_50", 50, 50, "tile"),
    Size("tile_100", 100, 100, "tile", usual=True),
    Size("tile_160", 160, 160, "tile"),
    Size("tile_224", 224, 224, "tile", usual=True),
    Size("tile_320", 320, 320, "tile"),
    Size("tile_384", 384, 384, "tile"),
    Size("tile_480", 480, 480, "tile"),
    Size("tile_500", 500, 500, "tile", usual=True),
    Size("tile_1080", 1080, 1080, "tile"),
    Size("left_224", 224, 224, "left"),
    Size("left_384", 384, 384, "left"),
    Size("left_480", 480, 480, "left"),
    Size("right_224", 224, 224, "right"),
    Size("right_384", 384, 384, "right"),
    Size("right_480", 480, 480, "right"),
    Size("fit_720", 720, 720, "fit", usual=True),
    Size("fit_1280", 1280, 1024, "fit", usual=True),
    Size("fit_1600", 1600, 900, "fit"),
    Size("fit_1920", 1920, 1200, "fit", usual=True),
    Size("fit_2048", 2048, 2048, "fit"),
    Size("fit_2560", 2560, 1600, "fit"),
    Size("fit_3840", 3840, 2400, "fit"),
    Size("fit_4096", 4096, 4096, "fit"),
    Size("fit_5120", 5120, 5120, "fit"),
    Size("fit_7680", 7680, 4320, "fit"),
)
#: Sizes that clients request, by name.
SIZES: Final[Mapping[str, Size]] = {size.name: size for size in _TABLE}
#: A size for the rows of the web page, which are 220 pixels high: a third of the bytes of `fit_720`.
ROW: Final = Size("fit_360", 360, 360, "fit", usual=True)
#: A size to read the colours of a picture from, which is no picture to show.
_COLORS: Final = Size("colors", 3, 3, "colors")
NAMED: Final[Mapping[str, Size]] = {**SIZES, ROW.name: ROW, _COLORS.name: _COLORS}
USUAL: Final = tuple(size for size in NAMED.values() if size.usual)


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the upright picture, in thousandths of its sides, from the top left."""

    x: int
    y: int
    w: int
    h: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the area that twelve hexadecimal digits name, three for each number; None for any other text."""
        if not _CROP.fullmatch(text):
            return None
        x, y, w, h = (int(text[start : start + 3], 16) for start in (0, 3, 6, 9))
        return cls(x, y, w, h) if w and h and x + w <= 1000 and y + h <= 1000 else None

    @classmethod
    def around(cls, x: float, y: float, w: float, h: float) -> Self | None:
        """Return the area of this box, in fractions of the sides; None if it is empty or not within the picture."""
        return cls.parse("".join(f"{int(1000 * number):03x}" for number in (x, y, w, h)))

    def shows(self, x: float, y: float, w: float, h: float) -> bool:
        """Return whether this box, in fractions of the sides, is the area; clients round each number up or down."""
        pairs = zip((self.x, self.y, self.w, self.h), (x, y, w, h), strict=True)
        return all(abs(own - 1000 * other) < 1 for own, other in pairs)

    def __str__(self) -> str:
        """Return the twelve hexadecimal digits."""
        return f"{self.x:03x}{self.y:03x}{self.w:03x}{self.h:03x}"

    def box(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return left, upper, right and lower edge in a picture of this size, at least one pixel wide and high."""
        left, upper = self.x * width // 1000, self.y * height // 1000
        right, lower = -(-(self.x + self.w) * width // 1000), -(-(self.y + self.h) * height // 1000)
        return left, upper, max(right, left + 1), max(lower, upper + 1)


WHOLE: Final = Area(0, 0, 1000, 1000)


@dataclass(frozen=True, slots=True)
class Target:
    """A thumbnail to make: part of the upright picture, size and encoding."""

    size: Size
    area: Area = WHOLE
    encoding: str = "jpg"
    """`jpg` or `webp`; of `colors` always `png`, because the others would mix its few pixels."""
    turn: int = 1
    """The turn of its original."""

    def __post_init__(self) -> None:
        if self.size.method == "colors":
            object.__setattr__(self, "encoding", "png")


@dataclass(frozen=True, slots=True)
class ThumbnailJob:
    """Thumbnails to make of one original."""

    original: Original
    targets: tuple[Target, ...]
    larger: str = ""
    """The path of a thumbnail of the whole picture that serves as source; empty for the original."""
    keep: bool = True
    """True if the cache keeps them."""

    @property
    def size(self) -> int:
        """Return the bytes of the original, for which a worker gets time."""
        return self.original.size


def thumbnail_size(whole: tuple[int, int], size: Size, area: Area = WHOLE) -> tuple[int, int]:
    """Return width and height of the thumbnail of an upright picture of `whole` pixels."""
    return geometry(whole, Target(size, area))[1]


def needed_side(whole: tuple[int, int], targets: Sequence[Target]) -> int:
    """Return the pixels that the longer side of a decoded picture needs for all targets; a guess without `whole`."""
    sides = [max(target.size.width, target.size.height) for target in targets]
    if not all(whole):
        return max(sides)
    return max(ceil(max(whole) * size[0] / (box[2] - box[0])) for box, size in (geometry(whole, t) for t in targets))


def geometry(whole: tuple[int, int], target: Target) -> tuple[PixelBox, tuple[int, int]]:
    """Return the box of the upright picture to show, and the size of the thumbnail."""
    left, upper, right, lower = target.area.box(*whole)
    width, height = right - left, lower - upper
    size = target.size
    if not size.fills:
        ratio = min(1.0, size.width / width, size.height / height)
        return (left, upper, right, lower), (max(1, round(width * ratio)), max(1, round(height * ratio)))
    if size.method == "colors":
        return (left, upper, right, lower), (size.width, size.height)
    ratio = max(size.width / width, size.height / height)
    shown_width, shown_height = size.width / ratio, size.height / ratio
    spare = {"left": 0.0, "right": width - shown_width}.get(size.method, (width - shown_width) / 2)
    x, y = left + spare, upper + (height - shown_height) / 2
    return (x, y, x + shown_width, y + shown_height), (size.width, size.height)


#: Small sizes, which viewers request together: one decode serves all of them.
_SMALL: Final = tuple(size for size in USUAL if max(size.width, size.height) <= 720)


def canonical(original: Original, target: Target) -> Target:
    """Return the target with the turn of the original and the smallest size that gives the same pixels.

    A `fit` size larger than the picture is the picture itself.
    """
    target = replace(target, turn=original.turn)
    size = target.size
    if size.fills or not (original.width and original.height) or target.area != WHOLE:
        return target
    if size == ROW and max(original.width, original.height) <= ROW.width:
        return replace(target, size=SIZES["fit_720"])
    for other in SIZES.values():
        holds = other.width >= original.width and other.height >= original.height
        if not other.fills and holds and other.width * other.height < size.width * size.height:
            return replace(target, size=other)
    return target


def together(target: Target) -> Sequence[Size]:
    """Return the sizes worth making from the same decode.

    The decode of the largest usual size makes all usual sizes, a decode of a small size all small ones. `tile_500` and
    `fit_1280`, which most clients request alone, are made alone, and so are rows of the web page: a screen of them is
    complete in a third of the time.
    """
    if target.area != WHOLE or target.size == ROW or target.size.name in ("tile_500", "fit_1280"):
        return ()
    if target.size.name == "fit_1920":
        return USUAL
    return _SMALL if target.size in _SMALL else ()


def file_name(target: Target) -> str:
    """Return the name of the thumbnail in the cache."""
    area = "" if target.area == WHOLE else f"{target.area}_"
    turn = "" if target.turn == 1 else f"turn{target.turn}_"
    return f"{turn}{area}{target.size.name}.{target.encoding}"


def named_target(name: str) -> Target | None:
    """Return the thumbnail of this name in the cache; None for other derived files."""
    turned = _TURNED.match(name)
    stem, _, encoding = name[turned.end() if turned else 0 :].partition(".")
    area, _, size = stem.partition("_")
    shown = Area.parse(area)
    known = NAMED.get(stem if shown is None else size)
    if known is None or encoding not in ("jpg", "webp", "png"):
        return None
    return Target(known, shown or WHOLE, encoding, int(turned[1]) if turned else 1)


def encoding_of(size: Size, target: Target) -> str:
    """Return the encoding of another size that is made from the decode of this thumbnail."""
    return target.encoding if size.fills else "jpg"
