"""Extractions as columns of a file's row, so that its photo can be described again without opening any file."""

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

import orjson

from photosvc.core.values.orientation import followed_by, inverse, swaps_sides
from photosvc.core.values.sources import MANUAL
from photosvc.index.extract import Extraction
from photosvc.media.metadata import Metadata, Region
from photosvc.models import File

#: Fields of an extraction that have a column of the same name. The problem has two columns, behind one property.
_COLUMNS: Final = tuple(name for name in Extraction.__dataclass_fields__ if name != "metadata")

_FIELDS: Final = tuple(Metadata.__dataclass_fields__)
_read_fields: Final = attrgetter(*_FIELDS)
_UNSET_VALUES: Final = _read_fields(Metadata())

INT16, INT32, INT64 = 2**15 - 1, 2**31 - 1, 2**63 - 1
#: The largest number that the column of a field holds: headers of hostile files contain larger ones.
_LARGEST: Final = {
    **dict.fromkeys(("orientation", "main_color", "chroma", "rating"), INT16),
    **dict.fromkeys(("width", "height", "frames", "diff", "iso", "focal_length", "altitude"), INT32),
    **dict.fromkeys(("size", "mtime_ns", "duration_ns"), INT64),
}
_BOUNDS: Final = {
    record: [(name, largest) for name, largest in _LARGEST.items() if name in record.__dataclass_fields__]
    for record in (Extraction, Metadata)
}
_UNSET: Final = Metadata()


def bounded(number: int, largest: int = INT32) -> int:
    """The number, or the nearest one in a column whose largest is `largest`."""
    return max(-largest - 1, min(number, largest))


def write_extraction(file: File, extraction: Extraction) -> Extraction:
    """Write an extraction into the columns of its file; gives what `read_extraction` reads there now.

    An orientation that a person chose stays.
    """
    chosen = file.orientation if file.orientation_src == MANUAL else None
    file.turn = 1
    for name in _COLUMNS:
        setattr(file, name, _value(extraction, name))
    if max(extraction.width, extraction.height) > INT32:  # no picture has this size: the header is wrong
        file.width = file.height = 0
    # The record holds all metadata; these two are repeated because search rows are made from them.
    file.instance_id = extraction.metadata.instance_id
    file.original_name = extraction.metadata.original_name
    file.details = dump_metadata(extraction.metadata)
    if chosen:
        choose_orientation(file, chosen)
    return extraction if _is_stored_as_it_is(file, extraction) else read_extraction(file)


def _is_stored_as_it_is(file: File, extraction: Extraction) -> bool:
    """Whether the columns hold all values, and the JSON all floats: it writes null for those that are not finite."""
    sizes = (extraction.width, extraction.height) == (file.width, file.height)
    return sizes and "null" not in file.details and _fits(extraction) and _fits(extraction.metadata)


def _fits(record: Extraction | Metadata) -> bool:
    return all(-largest <= getattr(record, name) <= largest for name, largest in _BOUNDS[type(record)])


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
    """The extraction that the columns of a file were written from."""
    values = {name: getattr(file, name) for name in _COLUMNS}
    if file.turn != 1:
        values["orientation"] = _own_orientation(file)
        if swaps_sides(file.turn):
            values["width"], values["height"] = file.height, file.width
    return Extraction(metadata=load_metadata(file.details), **values)


def dump_metadata(metadata: Metadata) -> str:
    """The record as a JSON object of the fields that are set."""
    values = {
        name: _value(metadata, name)
        for name, value, unset in zip(_FIELDS, _read_fields(metadata), _UNSET_VALUES, strict=True)
        if value != unset
    }
    return orjson.dumps(values).decode()


def load_metadata(text: str) -> Metadata:
    """The record that `dump_metadata` wrote."""
    values: dict[str, Any] = orjson.loads(text)
    return Metadata(**{name: _LOAD[name](value) if name in _LOAD else value for name, value in values.items()})


#: How fields are made that JSON has no type for.
_LOAD: Final[dict[str, Callable[[Any], Any]]] = {
    "taken_local": datetime.fromisoformat,
    "taken_utc": datetime.fromisoformat,
    "modified_local": datetime.fromisoformat,
    "keywords": tuple,
    "regions": lambda regions: tuple(Region(**region) for region in regions),
}


def _value(record: Extraction | Metadata, name: str) -> Any:  # noqa: ANN401 - the type of the field
    value = getattr(record, name)
    return bounded(value, _LARGEST[name]) if name in _LARGEST else value
