"""Marked areas in XMP: the Metadata Working Group's regions, and Microsoft's people tags."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final
from xml.etree.ElementTree import Element

from photosvc.media.metadata import Region
from photosvc.media.text import clean
from photosvc.media.xmp.tree import attribute, items, tag

MAX_REGIONS: Final = 256
_NUMBER: Final = re.compile(r"\s*-?(?:\d{1,9}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE]-?\d{1,2})?\s*", re.ASCII)


def read_regions(root: Element) -> tuple[Region, ...]:
    """The first `MAX_REGIONS` distinct valid regions, relative to the picture as stored."""
    found = (region for region in (*_working_group(root), *_microsoft(root)) if region is not None)
    return tuple(islice(dict.fromkeys(found), MAX_REGIONS))


def upright(region: Region, orientation: int) -> Region:
    """The region relative to the upright picture, from one with this Exif orientation (1 to 8)."""
    x, y, w, h = region.x, region.y, region.w, region.h
    right, below = 1 - x - w, 1 - y - h
    x, y, w, h = {
        2: (right, y, w, h),
        3: (right, below, w, h),
        4: (x, below, w, h),
        5: (y, x, h, w),
        6: (below, x, h, w),
        7: (below, right, h, w),
        8: (y, right, h, w),
    }.get(orientation, (x, y, w, h))
    return replace(region, x=round(x, 6), y=round(y, 6), w=round(w, 6), h=round(h, 6))


def _working_group(root: Element) -> Iterator[Region | None]:
    """`mwg-rs:RegionList`: areas given by their centre."""
    for listed in root.iter(tag("mwg-rs:RegionList")):
        for item in items(listed):
            area = next(item.iter(tag("mwg-rs:Area")), None)
            if area is None or attribute(area, "stArea:unit") not in ("", "normalized"):
                continue
            x, y, w, h = (_number(attribute(area, f"stArea:{side}")) for side in "xywh")
            kind = "face" if attribute(item, "mwg-rs:Type").strip().lower() == "face" else ""
            yield _region(attribute(item, "mwg-rs:Name"), kind, x - w / 2, y - h / 2, w, h)


def _microsoft(root: Element) -> Iterator[Region | None]:
    """`MPRI:Regions`: people, given by their top left corner."""
    for listed in root.iter(tag("MPRI:Regions")):
        for item in items(listed):
            parts = attribute(item, "MPReg:Rectangle")[:512].split(",")
            if len(parts) == 4:
                x, y, w, h = map(_number, parts)
                yield _region(attribute(item, "MPReg:PersonDisplayName"), "face", x, y, w, h)


def _region(name: str, kind: str, x: float, y: float, w: float, h: float) -> Region | None:
    """The part of the area that lies within the picture, None when there is none."""
    if not all(map(math.isfinite, (x, y, w, h))):
        return None
    left, top = max(x, 0.0), max(y, 0.0)
    wide, high = min(x + w, 1.0) - left, min(y + h, 1.0) - top
    if wide <= 0 or high <= 0:
        return None
    return Region(clean(name), kind, round(left, 6), round(top, 6), round(wide, 6), round(high, 6))


def _number(written: str) -> float:
    return float(written) if _NUMBER.fullmatch(written[:128]) else math.nan
