"""Administration > Statistics: how many photos there are of each year, camera and type.

Bars have positions and lengths in percent, so that their SVG fits any width of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flask import Response, url_for

from photosvc.pages import wording
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.language import N_, _, grouped
from photosvc.pages.layout import pages
from photosvc.search.reading.statistics import read_statistics
from photosvc.web.service import current_service

#: The most columns side by side: narrower ones cannot be distinguished on a phone.
_MOST: Final = 40
_STEPS: Final = (1, 5, 10, 50, 100, 500, 1000)
#: The most cameras that have a bar of their own; the others share one.
_CAMERAS: Final = 20
#: The most labels below the columns, and the widest column in percent: few years leave the rest of the axis empty.
_LABELS: Final = 6
_WIDEST: Final = 12.5


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its number of photos."""

    label: str
    photos: int
    address: str
    """The address of its photos; empty if no search finds them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A bar on an axis of time."""

    bar: Bar
    left: float
    """Percent of the width."""
    width: float
    """Percent of the width."""
    height: float
    """Percent of the height."""
    label: str
    """The label below the column; empty below most of them."""


def columns(years: Mapping[int, int], search: Callable[[str], str]) -> Sequence[Column]:
    """Return a column for each year, or for 5, 10 or more years if there would be too many; also for empty years.

    Args:
        years: the number of photos of each year; years below 1 are left out.
        search: returns the address of the photos that a query finds.
    """
    known = {year: photos for year, photos in years.items() if year > 0}
    if not known:
        return ()
    first, last = min(known), max(known)
    step = next((step for step in _STEPS if last // step - first // step < _MOST), _STEPS[-1])
    starts = range(first // step * step, last + 1, step)
    numbers = [sum(known.get(year, 0) for year in range(start, start + step)) for start in starts]
    most, width = max(numbers), min(100 / len(numbers), _WIDEST)
    every = -(-len(numbers) // _LABELS)
    axis = []
    for at, (start, photos) in enumerate(zip(starts, numbers, strict=True)):
        label = str(start) if step == 1 else f"{max(start, 1)}-{start + step - 1}"
        bar = Bar(label, photos, search(f"year:{label}") if photos else "")
        height = max(photos * 100 / most, 1.0) if photos else 0.0
        shown = str(start) if at % every == 0 else ""
        axis.append(Column(bar, round(at * width, 3), round(width, 3), round(height, 3), shown))
    return axis


@pages.get("/administration/statistics", endpoint="statistics")
@administration_page("library.view")
def show_statistics() -> Response:
    """Show how many photos there are of each year, camera and type."""
    service = current_service()
    with service.reading() as connection:
        counts = service.cached(read_statistics).read(connection, sees_private=True)
    years = {int(share.value): share.photos for share in counts.years}
    undated = sum(photos for year, photos in years.items() if year <= 0)
    cameras = [
        Bar(share.name or _("Unknown camera"), share.photos, _search(f"camera:{share.value}"))
        for share in counts.cameras[:_CAMERAS]
    ]
    if others := sum(share.photos for share in counts.cameras[_CAMERAS:]):
        cameras.append(Bar(_("%(number)s others", number=grouped(len(counts.cameras) - _CAMERAS)), others, ""))
    types = [
        Bar(_(wording.TYPES.get(share.name, share.name)), share.photos, _search(f"type:{share.value}"))
        for share in counts.types
    ]
    return show_administration(
        "statistics",
        "statistics",
        total=counts.total,
        files=counts.files,
        size=wording.size_text(counts.size),
        years=columns(years, _search),
        undated=Bar(_("Without a date"), undated, _search("year:-1")) if undated else None,
        charts=[(N_("Cameras"), "camera", cameras), (N_("Types"), "type", types)],
    )


def _search(query: str) -> str:
    return url_for(".photos", q=query)
