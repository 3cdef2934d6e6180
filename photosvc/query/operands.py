"""The typed values that filters compare their columns with.

`Choice` has alternatives of any other type; flags are plain `bool`, degrees and kilometres plain `float`.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TypeAlias

from photosvc.core.geo import Box
from photosvc.query.fold import fold


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word, or one of its other forms; with `prefix`, also every word that starts with it."""

    text: str
    prefix: bool
    forms: tuple[str, ...] = ()
    """Whole words that count as this one: its plural or singular."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Two or more folded words that follow each other; with `prefix`, the last may be the start of a word."""

    words: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """Folded text between wildcards: `("img", "")` is `img*`; a single piece is the whole text."""

    pieces: tuple[str, ...]

    def matches(self, text: str) -> bool:
        """Whether the whole of `text`, folded, fits the pattern; SQL conditions follow the same rule."""
        first, *middle = self.pieces
        text = fold(text)
        if not middle:
            return text == first
        *middle, last = middle
        if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
            return False
        at, end = len(first), len(text) - len(last)
        for piece in middle:
            found = text.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` to `high`, both included; `None` is no limit."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Days:
    """Local calendar days from `start` up to but not including `end`; `None` is no limit."""

    start: date | None
    end: date | None


@dataclass(frozen=True, slots=True)
class Since:
    """From this moment on; aware, UTC."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class Uid:
    """An identifier, and the column that contains it."""

    text: str
    column: str


@dataclass(frozen=True, slots=True)
class Near:
    """Within `km` of where the photo with this UID was taken."""

    uid: str
    km: float | None = None


@dataclass(frozen=True, slots=True)
class Town:
    """Within `km` of a city, town or village, by its folded name and that of its state or country."""

    name: str
    region: str = ""
    km: float | None = None

    def __str__(self) -> str:
        return f"{self.name}, {self.region}" if self.region else self.name


@dataclass(frozen=True, slots=True)
class Circle:
    """Within `km` of a point, in degrees."""

    lat: float
    lng: float
    km: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """Inside the S2 cell with this token; with `km`, within that distance of its centre."""

    token: str
    km: float | None = None


@dataclass(frozen=True, slots=True)
class PlusCode:
    """Inside the area of an Open Location Code; with `km`, within that distance of its centre."""

    code: str
    box: Box = field(compare=False)
    km: float | None = None


@dataclass(frozen=True, slots=True)
class MarkerNames:
    """Shows a person with one of these names, spelled as markers spell them. Never parsed, only resolved."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TakenOut:
    """Taken out of the smart album with this id by a person. Never parsed, only resolved."""

    album_id: int


Parsed: TypeAlias = Word | Phrase | Pattern | Range | Days | Uid | Near | Town | Circle | Cell | Box | PlusCode | int
Resolved: TypeAlias = MarkerNames | TakenOut
Operand: TypeAlias = Parsed | Resolved


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of `any_of` (anything at all when it is empty), but none of `none_of`."""

    any_of: tuple[Operand, ...] = ()
    none_of: tuple[Operand, ...] = ()


Value: TypeAlias = Choice | Since | bool | float
