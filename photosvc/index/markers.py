"""Markers of a file that come from files: those that people made stay."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from photosvc.core import ids
from photosvc.core.sources import META, XMP
from photosvc.media.metadata import Region
from photosvc.models import File, Marker

_OWN: Final = frozenset((META, XMP))


def write_markers(file: File, areas: Iterable[tuple[str, Region]], now: datetime) -> None:
    """Replace the markers that come from files by these areas, each with its source; equal ones keep their UIDs."""
    wanted = [(src, area.kind, area.name, area.x, area.y, area.w, area.h) for src, area in areas]
    own = [marker for marker in file.markers if marker.src in _OWN]
    if [(m.src, m.type, m.name, m.x, m.y, m.w, m.h) for m in own] == wanted:
        return
    for marker in own:
        file.markers.remove(marker)
    for src, kind, name, x, y, w, h in wanted:
        uid = ids.new_uid(ids.MARKER, now)
        file.markers.append(Marker(uid=uid, src=src, type=kind, name=name, x=x, y=y, w=w, h=h, created_at=now))
