"""The values of a photo that people change, as JSON: what the journal stores, and what undoing writes back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from photosvc.index.catalog import Catalog
from photosvc.models import Photo

#: Columns that an edit may change. The keywords, which are rows of their own, come as a list of words.
COLUMNS: Final = (
    "title", "title_src", "description", "description_src",
    "taken_at", "taken_at_local", "time_zone", "year", "month", "day", "taken_src",
    "lat", "lng", "altitude", "cell_id", "place_id", "country", "place_src",
    "camera_id", "lens_id", "camera_serial", "camera_src", "scan",
    "type", "type_src", "favorite", "favorite_src", "private", "archived_at", "archived_src", "panorama", "rating",
    "stack", "iso", "focal_length", "f_number", "exposure",
    "subject", "artist", "copyright", "license", "notes", "original_name", "manual",
)  # fmt: skip
KEYWORDS: Final = "keywords"
_TIMES: Final = frozenset(("taken_at", "taken_at_local", "archived_at"))


def snapshot(photo: Photo) -> dict[str, Any]:
    """All values that people change, as JSON has them."""
    values = {name: getattr(photo, name) for name in COLUMNS}
    for name in _TIMES:
        values[name] = values[name].isoformat() if values[name] is not None else None
    return {**values, KEYWORDS: sorted(keyword.word for keyword in photo.keywords)}


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values that differ: as they were and as they are."""
    names = [name for name in before if before[name] != after[name]]
    return {name: before[name] for name in names}, {name: after[name] for name in names}


def restore(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    """Write values of a snapshot into a photo."""
    for name, value in values.items():
        if name == KEYWORDS:
            photo.keywords = catalog.keywords(value)
        else:
            timed = name in _TIMES and value is not None
            setattr(photo, name, datetime.fromisoformat(value) if timed else value)


def dump(values: Mapping[str, Any]) -> str:
    """Values as the journal stores them."""
    return orjson.dumps(values).decode()
