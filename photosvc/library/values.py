"""The values of a photo that people change, as JSON: the journal stores them, and undoing writes them back."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

import orjson

from photosvc.core.vocabulary import MANUAL
from photosvc.index.catalog import Catalog
from photosvc.index.file_columns import (
    added_areas,
    choose_orientation,
    chosen_names,
    set_added_areas,
    set_chosen_names,
)
from photosvc.media.metadata import Region
from photosvc.models import Camera, Lens, Photo, Place
from photosvc.models.photo import PLAIN_VALUES

KEYWORDS: Final = "keywords"
#: Source column -> the columns that it is the source of.
_SOURCED: Final = {
    "title_src": ("title",),
    "description_src": ("description",),
    "taken_src": ("taken_at", "taken_at_local", "time_zone", "year", "month", "day"),
    "place_src": ("lat", "lng", "altitude", "cell_id", "place_id", "country"),
    "camera_src": ("camera_id", "lens_id", "camera_serial"),
    "type_src": ("type",),
    "favorite_src": ("favorite",),
    "archived_src": ("archived_at",),
    **{f"{name}_src": (name,) for name in (*PLAIN_VALUES, KEYWORDS)},
}
#: UID of the file that a person chose to show the photo; empty when the files decide.
PRIMARY: Final = "primary"
#: The names of the files that are there.
FILES: Final = "files"
#: The Exif orientations that a person chose, by the UIDs of the files.
ORIENTATIONS: Final = "orientations"
#: The names that a person gave to marked areas, by the UIDs of the files.
NAMES: Final = "names"
#: The areas that a person added, by the UIDs of the files.
AREAS: Final = "areas"
#: Values that only people set.
_DECIDED: Final = ("private", "approved", "stack", PRIMARY, ORIENTATIONS, NAMES, AREAS)
#: Columns that an edit may change.
COLUMNS: Final = (
    *(name for source, names in _SOURCED.items() for name in (*names, source) if name != KEYWORDS),
    "private", "approved", "stack",
)  # fmt: skip
#: Columns of related rows, which have no value until these are stored.
_RELATED: Final[dict[str, tuple[str, type[Camera | Lens | Place]]]] = {
    "camera_id": ("camera", Camera),
    "lens_id": ("lens", Lens),
    "place_id": ("place", Place),
}
_COPIED: Final = tuple(name for name in COLUMNS if name not in _RELATED)
#: Values that no other value but the score follows from, with their sources.
_WITHOUT_EFFECT: Final = frozenset(
    (
        *(name for source in _SOURCED.keys() - {"taken_src", "place_src", "camera_src"}
          for name in (*_SOURCED[source], source)),
        "private", "approved",
    )
)  # fmt: skip
_TIMES: Final = frozenset(("taken_at", "taken_at_local", "archived_at"))
#: The values that differ, as they were and as they are.
Difference = tuple[dict[str, Any], dict[str, Any]]
_copied: Final = attrgetter(*_COPIED)
#: Names on the wire that are not the column in camel case.
_WIRE: Final = {
    "cell_id": "CellID",
    "place_id": "PlaceID",
    "camera_id": "CameraID",
    "lens_id": "LensID",
    "archived_at": "DeletedAt",
    "archived_src": "DeletedSrc",
    "stack": "Stack",
}


def snapshot(photo: Photo) -> dict[str, Any]:
    """Return all values that people change, as JSON has them."""
    values = dict(zip(_COPIED, _copied(photo), strict=True))
    values |= {name: getattr(photo, relation).id for name, (relation, _) in _RELATED.items()}
    for name in _TIMES:
        values[name] = values[name].isoformat() if values[name] is not None else None
    chosen = next((file.uid for file in photo.files if file.primary_src == MANUAL), "")
    turned = {file.uid: file.orientation for file in photo.files if file.orientation_src == MANUAL}
    names = {file.uid: chosen_names(file) for file in photo.files if file.chosen_names}
    areas = {file.uid: list(map(asdict, added_areas(file))) for file in photo.files if file.added_areas}
    keywords = sorted(keyword.word for keyword in photo.keywords)
    files = sorted(file.name for file in photo.files if not file.missing)
    values |= {KEYWORDS: keywords, PRIMARY: chosen, ORIENTATIONS: turned, NAMES: names, AREAS: areas, FILES: files}
    return values


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """Return the values that differ, with their sources."""
    if before == after:
        return {}, {}
    names = {name for name in before if before[name] != after[name]}
    names |= {source for source, sourced in _SOURCED.items() if not names.isdisjoint(sourced)}
    listed = [name for name in before if name in names]
    return {name: before[name] for name in listed}, {name: after[name] for name in listed}


def has_effects(after: Mapping[str, Any]) -> bool:
    """Return whether the values after a person's change have effects on others, or the files decide one again."""
    given_back = any(after[source] != MANUAL for source in _SOURCED if source in after)
    return given_back or not _WITHOUT_EFFECT.issuperset(after)


def decided(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the values in a difference that a person set, or gave back to the files.

    The others follow from them: a title from the place, for example. None when a file left the photo.
    """
    if FILES in after:
        return
    for source, names in _SOURCED.items():
        if source in after and MANUAL in (before[source], after[source]):
            yield from (name for name in (*names, source) if name in after)
    yield from (name for name in _DECIDED if name in after)


def restore(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    """Write values of a snapshot into a photo."""
    for name, value in values.items():
        if name in _RELATED:
            relation, kind = _RELATED[name]
            setattr(photo, relation, catalog.with_id(kind, value))
        elif name == KEYWORDS:
            photo.keywords = catalog.keywords(value)
        elif name == PRIMARY:
            for file in photo.files:
                file.primary_src = MANUAL if file.uid == value else ""
        elif name == NAMES:
            for file in photo.files:
                set_chosen_names(file, value.get(file.uid, ()))
        elif name == AREAS:
            for file in photo.files:
                set_added_areas(file, [Region(**area) for area in value.get(file.uid, ())])
        elif name == ORIENTATIONS:
            for file in photo.files:
                choose_orientation(file, value.get(file.uid))
        else:
            timed = name in _TIMES and value is not None
            setattr(photo, name, datetime.fromisoformat(value) if timed else value)


def wire_name(name: str) -> str:
    """Return the name of a value on the wire."""
    return _WIRE.get(name) or "".join(part.capitalize() for part in name.split("_"))


def dump(values: Mapping[str, Any]) -> str:
    """Return values as the journal stores them."""
    return orjson.dumps(values).decode()
