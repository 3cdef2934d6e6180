"""Extractions as columns of a file's row, so that its photo can be described again without opening any file.

The markers of a file show the marked areas in the file and its sidecars, and the areas that people added. Areas of
people, and names that people chose, stay when the file changes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec

from photosvc.core import ids
from photosvc.core.errors import ConflictError
from photosvc.core.orientation import followed_by, inverse, swaps_sides
from photosvc.core.vocabulary import MANUAL, META, XMP
from photosvc.index.extract import Extraction
from photosvc.media.metadata import Metadata, Region
from photosvc.media.xmp_regions import MAX_REGIONS, upright
from photosvc.models import File, Marker

#: Fields of an extraction that have a column of the same name. The problem has two columns, behind one property.
_COLUMNS: Final = tuple(
    name for name in Extraction.__dataclass_fields__ if name not in ("metadata", "library", "others")
)
_FIELDS: Final = tuple(Metadata.__dataclass_fields__)
_UNSET: Final = Metadata()
INT16, INT32, INT64 = 2**15 - 1, 2**31 - 1, 2**63 - 1
#: The largest number that the column of a field holds: headers of hostile files contain larger ones.
_LARGEST: Final = {
    **dict.fromkeys(("orientation", "main_color", "chroma", "rating"), INT16),
    **dict.fromkeys(("width", "height", "frames", "diff", "iso", "focal_length", "altitude"), INT32),
    **dict.fromkeys(("size", "mtime_ns", "duration_ns"), INT64),
}
_METADATA: Final = msgspec.json.Decoder(Metadata)
_REGIONS: Final = msgspec.json.Decoder(list[Region])
_OWN: Final = frozenset((META, XMP))


def bounded(number: int, largest: int = INT32) -> int:
    """Return the number, or the nearest number that fits into a column that holds at most `largest`."""
    return max(-largest - 1, min(number, largest))


def write_extraction(file: File, extraction: Extraction, sent_name: str = "") -> None:
    """Write an extraction into the columns of its file.

    An orientation that a person chose stays. The name under which the file was sent or imported, if it was, counts
    before a former name in its metadata.
    """
    chosen = file.orientation if file.orientation_src == MANUAL else None
    values = {name: _value(extraction, name) for name in _COLUMNS}
    if max(extraction.width, extraction.height) > INT32:  # no picture has this size: the header is wrong
        values["width"] = values["height"] = 0
    file.problem = values.pop("problem")
    # The record holds all metadata; these two are repeated because search rows are made from them.
    values["instance_id"] = extraction.metadata.instance_id
    values["original_name"] = sent_name or extraction.metadata.original_name
    file.assign(values | {"turn": 1, "details": dump_metadata(extraction.metadata)})
    if chosen:
        choose_orientation(file, chosen)


def choose_orientation(file: File, chosen: int | None) -> None:
    """Turn a file as this Exif orientation says (1 to 8), instead of its own; None gives that back to the file."""
    turned, own = swaps_sides(file.turn), _own_orientation(file)
    file.orientation, file.orientation_src = chosen or own, MANUAL if chosen else ""
    file.turn = followed_by(inverse(own), file.orientation)
    if swaps_sides(file.turn) != turned:
        file.width, file.height = file.height, file.width


def _own_orientation(file: File) -> int:
    return followed_by(file.orientation, inverse(file.turn))


def read_extraction(file: File) -> Extraction:
    """Return the extraction that the columns of a file were written from."""
    values = {name: getattr(file, name) for name in _COLUMNS}
    if file.turn != 1:
        values["orientation"] = _own_orientation(file)
        if swaps_sides(file.turn):
            values["width"], values["height"] = file.height, file.width
    return Extraction(metadata=load_metadata(file.details), **values)


def dump_metadata(metadata: Metadata) -> str:
    """Return the record as a JSON object of the fields that are set."""
    set_fields = (name for name in _FIELDS if getattr(metadata, name) != getattr(_UNSET, name))
    values = {name: _value(metadata, name) for name in set_fields}
    return msgspec.json.encode(values).decode()


def load_metadata(text: str) -> Metadata:
    """Return the record that `dump_metadata` wrote."""
    return _METADATA.decode(text)


def _value(record: Extraction | Metadata, name: str) -> Any:  # noqa: ANN401 - the type of the field
    value = getattr(record, name)
    return bounded(value, _LARGEST[name]) if name in _LARGEST else value


def write_markers(file: File, areas: Iterable[tuple[str, Region]], now: datetime) -> None:
    """Replace the markers that come from files by these areas, each with its source; the same areas keep their UIDs."""
    new, own = list(areas), own_markers(file)
    if [(m.src, *_box(m)) for m in own] == [(src, *_place(area)) for src, area in new]:
        for marker, (_, area) in zip(own, new, strict=True):
            if marker.name != area.name:
                marker.name = area.name
        return
    for marker in own:
        file.markers.remove(marker)
    file.markers.extend(_marker(src, area, now) for src, area in new)


def own_markers(file: File) -> list[Marker]:
    """Return the markers that come from files, in the order of their areas."""
    return [marker for marker in file.markers if marker.src in _OWN]


def write_added_markers(file: File, areas: Iterable[Region], now: datetime) -> None:
    """Replace the markers that people added by these areas; the same areas keep their UIDs."""
    known = {_box(marker): marker for marker in file.markers if marker.src == MANUAL}
    for area in areas:
        marker = known.pop(_place(area), None)
        if marker is None:
            file.markers.append(_marker(MANUAL, area, now))
        elif marker.name != area.name:
            marker.name = area.name
    for marker in known.values():
        file.markers.remove(marker)


def _marker(src: str, area: Region, now: datetime) -> Marker:
    uid, kind = ids.new_uid(ids.MARKER, now), area.kind
    return Marker(uid=uid, src=src, type=kind, name=area.name, x=area.x, y=area.y, w=area.w, h=area.h, created_at=now)


def _box(marker: Marker) -> tuple[Any, ...]:
    return marker.type, marker.x, marker.y, marker.w, marker.h


def _place(area: Region) -> tuple[Any, ...]:
    return area.kind, area.x, area.y, area.w, area.h


def added_areas(file: File) -> list[Region]:
    """Return the areas that people added to a file, relative to the picture before a person turned it."""
    areas: list[Region] = _REGIONS.decode(file.added_areas) if file.added_areas else []
    return areas


def set_added_areas(file: File, areas: Sequence[Region]) -> None:
    """Write the areas that `added_areas` returns."""
    file.added_areas = msgspec.json.encode(areas).decode() if areas else ""


def add_area(file: File, area: Region) -> None:
    """Add an area of the picture as it is shown.

    Raises:
        ConflictError: the file has it already, or as many as it may have.
    """
    areas = added_areas(file)
    if any(_box(marker) == _place(area) for marker in file.markers):
        raise ConflictError("the file has this area already")
    if len(areas) >= MAX_REGIONS:
        raise ConflictError(f"people added {MAX_REGIONS} areas to this file, and no more are kept")
    set_added_areas(file, [*areas, upright(area, inverse(file.turn))])


def name_added(file: File, marker: Marker, name: str) -> None:
    """Name the area that a marker shows, which a person added."""
    areas = added_areas(file)
    set_added_areas(file, [replace(area, name=name) if _is_shown(area, marker) else area for area in areas])


def remove_added(file: File, marker: Marker) -> None:
    """Remove the area that a marker shows, which a person added."""
    set_added_areas(file, [area for area in added_areas(file) if not _is_shown(area, marker)])


def _is_shown(area: Region, marker: Marker) -> bool:
    return _place(upright(area, marker.file.turn)) == _box(marker)


def named(file: File, areas: Iterable[tuple[str, Region]]) -> Iterator[tuple[str, Region]]:
    """Yield the areas of a file, each with its source, with the names that people chose instead of the file's own."""
    chosen = {tuple(area): name for *area, name in chosen_names(file)}
    for src, area in areas:
        yield src, replace(area, name=chosen.get(_key(area), area.name)) if chosen else area


def choose_name(file: File, areas: Sequence[tuple[str, Region]], number: int, new_name: str | None) -> None:
    """Name one of the areas of a file; the name replaces that in the file.

    Args:
        file: whose markers are written afterwards.
        areas: all of them, as the file has them.
        new_name: empty for an area without a name; None restores the name in the file.
    """
    present = {_key(area) for _, area in areas}
    chosen = {tuple(area): name for *area, name in chosen_names(file) if tuple(area) in present}
    own = areas[number][1]
    chosen.pop(_key(own), None)
    if new_name is not None and new_name != own.name:
        chosen[_key(own)] = new_name
    set_chosen_names(file, [[*area, name] for area, name in chosen.items()])


def chosen_names(file: File) -> list[list[Any]]:
    """Return the names that people chose: kind, x, y, w, h and name of each area in the file, and the chosen name."""
    names: list[list[Any]] = msgspec.json.decode(file.chosen_names) if file.chosen_names else []
    return names


def set_chosen_names(file: File, names: Sequence[Sequence[Any]]) -> None:
    """Write the names that `chosen_names` returns."""
    file.chosen_names = msgspec.json.encode(names).decode() if names else ""


def _key(area: Region) -> tuple[Any, ...]:
    return *_place(area), area.name
