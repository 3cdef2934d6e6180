"""The sizes of thumbnails, and the areas they may be cropped to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self

Method = Literal["tile", "left", "right", "fit"]

_CROP: Final = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Size:
    """One size: `tile` fills its box from the centre and crops, `left` and `right` crop to one side, `fit` does not."""

    name: str
    width: int
    """Pixels."""
    height: int
    method: Method
    usual: bool = False
    """Whether `svc thumbs` makes it when no sizes are named."""

    @property
    def fills(self) -> bool:
        """Whether the thumbnail has exactly these pixels, cropped, where the picture is large enough."""
        return self.method != "fit"

    @property
    def purpose(self) -> str:
        """What it is for, in words."""
        if self.method == "fit":
            return f"inside {self.width} x {self.height}, never enlarged"
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

#: Those that clients ask for.
SIZES: Final[Mapping[str, Size]] = {size.name: size for size in _TABLE}
#: A further one for the rows of the web page, which are 220 pixels high: a third of the bytes of `fit_720`.
ROW: Final = Size("fit_360", 360, 360, "fit", usual=True)
NAMED: Final[Mapping[str, Size]] = {**SIZES, ROW.name: ROW}
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
        """The area that twelve hexadecimal digits name, three for each number; None for any other text."""
        if not _CROP.fullmatch(text):
            return None
        x, y, w, h = (int(text[start : start + 3], 16) for start in (0, 3, 6, 9))
        return cls(x, y, w, h) if w and h and x + w <= 1000 and y + h <= 1000 else None

    def shows(self, x: float, y: float, w: float, h: float) -> bool:
        """Whether it is this box, in fractions of the sides; clients round each number up or down."""
        pairs = zip((self.x, self.y, self.w, self.h), (x, y, w, h), strict=True)
        return all(abs(own - 1000 * other) < 1 for own, other in pairs)

    def __str__(self) -> str:
        """The twelve digits."""
        return f"{self.x:03x}{self.y:03x}{self.w:03x}{self.h:03x}"

    def box(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Its left, upper, right and lower edge in a picture of this size, at least one pixel wide and high."""
        left, upper = self.x * width // 1000, self.y * height // 1000
        right, lower = -(-(self.x + self.w) * width // 1000), -(-(self.y + self.h) * height // 1000)
        return left, upper, max(right, left + 1), max(lower, upper + 1)


WHOLE: Final = Area(0, 0, 1000, 1000)
