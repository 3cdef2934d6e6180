"""The people and areas that XMP marks in a picture.

Areas are the regions of the Metadata Working Group (MWG 2.0), Microsoft's people tags and the image regions of the IPTC
(2019.1). People without an area are marked on the whole picture.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from photosvc.core.orientation import turned_box
from photosvc.media.metadata import Region, whole_picture
from photosvc.media.text import clean
from photosvc.media.xmp_tree import attribute, field_texts, structures, tag

MAX_REGIONS: Final = 256
#: Types of regions of the working group that mark people; a region without a type may be one. Those of pets have names
#: too, those of barcodes and of the focus mark no one.
_PEOPLE: Final = frozenset(("", "face"))
_PET: Final = "pet"
#: The type of an image region of the IPTC that marks people, in `cv.iptc.org/newscodes/imageregiontype`.
_HUMAN: Final = "human"
_NUMBER: Final = re.compile(r"\s*-?(?:\d{1,9}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE]-?\d{1,2})?\s*", re.ASCII)
#: The fields of an area of the working group; `d` is the diameter of a circle.
_AREA: Final = ("x", "y", "w", "h", "d", "unit")
#: Left, top, width and height, 0 to 1.
_Box = tuple[float, float, float, float]


class Mark(NamedTuple):
    """Something that is marked in a picture."""

    name: str
    kind: str
    """The kind of the region."""
    box: _Box | None
    """None if it has no area, or is no person."""
    is_person: bool = True
    """False if the name is that of something else."""


def read_marks(root: Element, people: Iterable[str], size: tuple[float, float]) -> tuple[list[Mark], ...]:
    """Return the marks of each standard, relative to the picture as stored, for `regions_of`.

    Args:
        people: names of people without an area.
        size: width and height of the picture in pixels; NaN when unknown.
    """
    standards = (_working_group(root), _microsoft(root), _image_regions(root, size), _without_area(root, people))
    return tuple(list(islice(marks, MAX_REGIONS)) for marks in standards)


def regions_of(standards: Iterable[Iterable[Mark]]) -> tuple[tuple[Region, ...], tuple[str, ...]]:
    """Return the first `MAX_REGIONS` distinct valid regions, and the names of other marked things.

    Programs write the same areas by several standards, not always equally well: of each name the first one counts.
    """
    areas: list[Region] = []
    people: list[Region] = []
    labels: list[str] = []
    known: set[str] = set()
    for marks in standards:
        new = [mark for mark in marks if clean(mark.name).casefold() not in known]
        found = [*filter(None, (region_within(mark.name, mark.kind, mark.box) for mark in new if mark.box))]
        labels += [clean(mark.name) for mark in new if not mark.is_person]
        areas += found
        people += [whole_picture(clean(mark.name)) for mark in new if mark.is_person and not mark.box]
        known |= {name.casefold() for name in (*(area.name for area in found), *labels) if name}
    return united(areas, people), tuple(labels)


def centred(name: str, kind: str, *, unit: str, sides: Sequence[str]) -> Mark:
    """Return the mark of a region of the working group.

    Args:
        kind: its type, such as `Face`.
        sides: centre, width and height of its area; empty for a point, and for one without an area.
    """
    kind = kind.strip().lower()
    if kind == _PET:
        return Mark(name, "", None, is_person=False)
    box = None
    if any(sides[2:]) and unit in ("", "normalized"):
        x, y, w, h = map(_number, sides)
        box = x - w / 2, y - h / 2, w, h
    return Mark(name if kind in _PEOPLE else "", "face" if kind == "face" else "", box)


def cornered(name: str, rectangle: str) -> Mark:
    """Return the mark of Microsoft's `left, top, width, height` of a person; without it the person has no area."""
    parts = rectangle[:512].split(",")
    if len(parts) != 4:
        return Mark(name, "", None)
    x, y, w, h = map(_number, parts)
    return Mark(name, "face", (x, y, w, h))


def united(areas: Iterable[Region], people: Iterable[Region]) -> tuple[Region, ...]:
    """Return areas, and people without an area whom none of them names: the first `MAX_REGIONS` of all."""
    distinct = dict.fromkeys(areas)
    known = {area.name.casefold() for area in distinct} | {""}
    for person in people:
        if person.name.casefold() not in known:
            known.add(person.name.casefold())
            distinct[person] = None
    return tuple(islice(distinct, MAX_REGIONS))


def upright(region: Region, orientation: int) -> Region:
    """Convert a region relative to a picture with this Exif orientation (1 to 8) to the upright picture."""
    box = region.x, region.y, region.x + region.w, region.y + region.h
    left, upper, right, lower = turned_box(box, orientation, 1, 1)
    return replace(region, x=round(left, 6), y=round(upper, 6), w=round(right - left, 6), h=round(lower - upper, 6))


def _working_group(root: Element) -> Iterator[Mark]:
    """Yield the regions of `mwg-rs:RegionList`."""
    for item in structures(root, "mwg-rs:RegionList"):
        area = next(item.iter(tag("mwg-rs:Area")), None)
        x, y, w, h, d, unit = (attribute(area, f"stArea:{name}") if area is not None else "" for name in _AREA)
        name, kind = attribute(item, "mwg-rs:Name"), attribute(item, "mwg-rs:Type")
        yield centred(name, kind, unit=unit, sides=(x, y, w or d, h or d))


def _microsoft(root: Element) -> Iterator[Mark]:
    """Yield the people of `MPRI:Regions`."""
    for item in structures(root, "MPRI:Regions"):
        yield cornered(attribute(item, "MPReg:PersonDisplayName"), attribute(item, "MPReg:Rectangle"))


def _without_area(root: Element, people: Iterable[str]) -> Iterator[Mark]:
    details = structures(root, "Iptc4xmpExt:PersonInImageWDetails")
    names = (attribute(detail, "Iptc4xmpExt:PersonName") for detail in details)
    yield from (Mark(name, "", None) for name in chain(people, names))


def _image_regions(root: Element, size: tuple[float, float]) -> Iterator[Mark]:
    """Yield the image regions of the IPTC that show people, or something that has a name."""
    for item in structures(root, "Iptc4xmpExt:ImageRegion"):
        types = {
            identifier.rstrip("/").rpartition("/")[2].lower()
            for content in structures(item, "Iptc4xmpExt:rCtype")
            for identifier in field_texts(content, "xmp:Identifier")
        }
        name, box = attribute(item, "Iptc4xmpExt:Name"), _boundary(item, size)
        people = field_texts(item, "Iptc4xmpExt:PersonInImage")
        if people:
            yield from (Mark(person, "face", box) for person in people)
        elif types and _HUMAN not in types:
            yield Mark(name, "", None, is_person=False)
        elif name or types:  # else it is a frame for cropping
            yield Mark(name, "face", box)


def _boundary(item: Element, size: tuple[float, float]) -> _Box | None:
    """Return the rectangle around a boundary; None when it has none, or one in pixels of an unknown size."""
    boundary = next(item.iter(tag("Iptc4xmpExt:RegionBoundary")), None)
    if boundary is None:
        return None
    shape = attribute(boundary, "Iptc4xmpExt:rbShape").strip().lower()
    wide, high = size if attribute(boundary, "Iptc4xmpExt:rbUnit").strip().lower() == "pixel" else (1.0, 1.0)
    if not (wide > 0 and high > 0):
        return None
    corners = [*structures(boundary, "Iptc4xmpExt:rbVertices")] if shape == "polygon" else [boundary]
    across, down = ([_number(attribute(corner, f"Iptc4xmpExt:rb{axis}")) for corner in corners] for axis in "XY")
    if not corners or not all(map(math.isfinite, (*across, *down))):
        return math.nan, math.nan, math.nan, math.nan
    x, y, w, h = min(across), min(down), max(across) - min(across), max(down) - min(down)
    if shape == "circle":  # the radius is relative to the width
        radius = _number(attribute(boundary, "Iptc4xmpExt:rbRx"))
        height = 2 * radius * (size[0] / size[1] if wide == 1 and size[0] > 0 and size[1] > 0 else 1)
        x, y, w, h = x - radius, y - height / 2, 2 * radius, height
    elif shape != "polygon":
        w, h = (_number(attribute(boundary, f"Iptc4xmpExt:rb{side}")) for side in "WH")
    return x / wide, y / high, w / wide, h / high


def region_within(name: str, kind: str, box: _Box) -> Region | None:
    """Return the part of the area that lies within the picture; None when there is none."""
    if not all(map(math.isfinite, box)):
        return None
    x, y, w, h = box
    left, top = max(x, 0.0), max(y, 0.0)
    wide, high = min(x + w, 1.0) - left, min(y + h, 1.0) - top
    if wide <= 0 or high <= 0:
        return None
    return Region(clean(name), kind, round(left, 6), round(top, 6), round(wide, 6), round(high, 6))


def _number(written: str) -> float:
    return float(written) if _NUMBER.fullmatch(written[:128]) else math.nan
