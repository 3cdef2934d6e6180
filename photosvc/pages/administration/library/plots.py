"""Numbers as bars: places and lengths in percent, which attributes of SVG take at any width of the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

#: Columns beside each other, at most: narrower ones cannot be told apart on a phone.
_MOST: Final = 40
_STEPS: Final = (1, 5, 10, 50, 100, 500, 1000)
#: Labels below the columns, at most.
_LABELS: Final = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its number of photos."""

    label: str
    photos: int
    address: str
    """Of its photos; empty where no search finds them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A bar among others of an axis of time."""

    bar: Bar
    left: float
    """Percent of the width."""
    width: float
    """Percent of the width."""
    height: float
    """Percent of the height."""
    label: str
    """Below it; empty below most of them."""


def columns(years: Mapping[int, int], search: Callable[[str], str]) -> Sequence[Column]:
    """Photos by year, or by five, ten or more years where there would be too many columns; also of years without any.

    Args:
        years: the number of photos of each year; years before the first are left out.
        search: the address of the photos that a query finds.

    """
    known = {year: photos for year, photos in years.items() if year > 0}
    if not known:
        return ()
    first, last = min(known), max(known)
    step = next((step for step in _STEPS if last // step - first // step < _MOST), _STEPS[-1])
    starts = range(first // step * step, last + 1, step)
    numbers = [sum(known.get(year, 0) for year in range(start, start + step)) for start in starts]
    most, width = max(numbers), 100 / len(numbers)
    every = -(-len(numbers) // _LABELS)
    found = []
    for at, (start, photos) in enumerate(zip(starts, numbers, strict=True)):
        label = str(start) if step == 1 else f"{max(start, 1)}-{start + step - 1}"
        bar = Bar(label, photos, search(f"year:{label}") if photos else "")
        height = max(photos * 100 / most, 1.0) if photos else 0.0
        shown = str(start) if at % every == 0 else ""
        found.append(Column(bar, round(at * width, 3), round(width, 3), round(height, 3), shown))
    return found
