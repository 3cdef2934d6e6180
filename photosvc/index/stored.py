"""Extractions as they are kept with their files, so that a photo can be worked out again without opening any."""

from datetime import datetime
from typing import Any

import orjson

from photosvc.index.extraction import Extraction
from photosvc.media.metadata.record import Metadata, Region
from photosvc.models import File

#: Columns a file shares with its extraction, by the same names.
_SHARED = tuple(name for name in Extraction.__dataclass_fields__ if name not in {"metadata", "problem"})

#: The largest numbers that columns hold.
INT16, INT32, INT64 = 2**15 - 1, 2**31 - 1, 2**63 - 1
_MOST = dict.fromkeys(("orientation", "main_color", "chroma"), INT16)
_MOST |= dict.fromkeys(("width", "height", "frames", "diff"), INT32)
_MOST |= dict.fromkeys(("size", "mtime_ns", "duration_ns"), INT64)
_MOST_SAID = {"rating": INT16, "iso": INT32, "focal_length": INT32, "altitude": INT32}


def bounded(number: int, most: int = INT32) -> int:
    """The number, or the nearest that a column holds whose largest is `most`."""
    return max(-most - 1, min(number, most))


def keep(file: File, extraction: Extraction) -> None:
    """Write an extraction into its file's row."""
    for name in _SHARED:
        setattr(file, name, getattr(extraction, name))
    if max(file.width, file.height) > INT32:  # no picture, only a header that says so
        file.width = file.height = 0
    for name, most in _MOST.items():
        setattr(file, name, bounded(getattr(file, name), most))
    file.problem = extraction.problem
    file.instance_id = extraction.metadata.instance_id
    file.original_name = extraction.metadata.original_name
    file.details = orjson.dumps(_said(extraction.metadata)).decode()


def kept(file: File) -> Extraction:
    """The extraction a file's row was written from."""
    shared = {name: getattr(file, name) for name in _SHARED}
    return Extraction(**shared, problem=file.problem, metadata=_metadata(orjson.loads(file.details or "{}")))


def _said(metadata: Metadata) -> dict[str, object]:
    unset = Metadata()
    said = {name: getattr(metadata, name) for name in Metadata.__dataclass_fields__}
    for name, most in _MOST_SAID.items():
        said[name] = bounded(said[name], most)
    return {name: value for name, value in said.items() if value != getattr(unset, name)}


def _metadata(said: dict[str, Any]) -> Metadata:
    for name in ("taken_local", "taken_utc"):
        if name in said:
            said[name] = datetime.fromisoformat(said[name])
    if "keywords" in said:
        said["keywords"] = tuple(said["keywords"])
    if "regions" in said:
        said["regions"] = tuple(Region(**region) for region in said["regions"])
    return Metadata(**said)
