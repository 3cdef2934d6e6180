"""Markers of a file that come from files: those that people made stay, and so do the names that people chose."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import orjson

from photosvc.core import ids
from photosvc.core.values.sources import META, XMP
from photosvc.media.metadata import Region
from photosvc.models import File, Marker

_OWN: Final = frozenset((META, XMP))


def write_markers(file: File, areas: Iterable[tuple[str, Region]], now: datetime) -> None:
    """Replace the markers that come from files by these areas, each with its source; the same areas keep their UIDs."""
    wanted = [(src, area.kind, area.x, area.y, area.w, area.h, area.name) for src, area in areas]
    own = own_markers(file)
    if [(m.src, m.type, m.x, m.y, m.w, m.h) for m in own] == [one[:-1] for one in wanted]:
        for marker, one in zip(own, wanted, strict=True):
            if marker.name != one[-1]:
                marker.name = one[-1]
        return
    for marker in own:
        file.markers.remove(marker)
    for src, kind, x, y, w, h, name in wanted:
        uid = ids.new_uid(ids.MARKER, now)
        file.markers.append(Marker(uid=uid, src=src, type=kind, name=name, x=x, y=y, w=w, h=h, created_at=now))


def own_markers(file: File) -> list[Marker]:
    """The markers that come from files, in the order of their areas."""
    return [marker for marker in file.markers if marker.src in _OWN]


def named(file: File, areas: Iterable[tuple[str, Region]]) -> Iterator[tuple[str, Region]]:
    """Areas as the file has them, each with its source, with the names that people chose instead of its own."""
    chosen = {tuple(area): name for *area, name in chosen_names(file)}
    for src, area in areas:
        yield src, replace(area, name=chosen.get(_key(area), area.name)) if chosen else area


def choose_name(file: File, areas: Sequence[tuple[str, Region]], number: int, name: str | None) -> None:
    """Name one of the areas of a file, in place of the name in the file; None restores that.

    Args:
        file: whose markers are written afterwards.
        areas: all of them, as the file has them.
        number: which one.
        name: the new name; empty for an area without a name.

    """
    present = {_key(area) for _, area in areas}
    kept = {tuple(area): given for *area, given in chosen_names(file) if tuple(area) in present}
    own = areas[number][1]
    kept.pop(_key(own), None)
    if name is not None and name != own.name:
        kept[_key(own)] = name
    set_chosen_names(file, [[*area, given] for area, given in kept.items()])


def chosen_names(file: File) -> list[list[Any]]:
    """The names that people chose: kind, x, y, w, h and name of each area in the file, and its name instead."""
    found: list[list[Any]] = orjson.loads(file.chosen_names) if file.chosen_names else []
    return found


def set_chosen_names(file: File, names: Sequence[Sequence[Any]]) -> None:
    """Write what `chosen_names` gives."""
    file.chosen_names = orjson.dumps(names).decode() if names else ""


def _key(area: Region) -> tuple[Any, ...]:
    return area.kind, area.x, area.y, area.w, area.h, area.name
