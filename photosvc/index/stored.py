"""Extractions as they are kept with their files, so that a photo can be worked out again without opening any."""

from datetime import datetime
from typing import Any

import orjson

from photosvc.index.extraction import Extraction
from photosvc.media.metadata import Metadata, Region
from photosvc.models import File

#: Columns a file shares with its extraction, by the same names.
_SHARED = tuple(name for name in Extraction.__dataclass_fields__ if name != "metadata")


def keep(file: File, extraction: Extraction) -> None:
    """Write an extraction into its file's row."""
    for name in _SHARED:
        setattr(file, name, getattr(extraction, name))
    file.instance_id = extraction.metadata.instance_id
    file.original_name = extraction.metadata.original_name
    file.details = orjson.dumps(_said(extraction.metadata)).decode()


def kept(file: File) -> Extraction:
    """The extraction a file's row was written from."""
    shared = {name: getattr(file, name) for name in _SHARED}
    return Extraction(**shared, metadata=_metadata(orjson.loads(file.details or "{}")))


def _said(metadata: Metadata) -> dict[str, object]:
    unset = Metadata()
    return {
        name: getattr(metadata, name)
        for name in Metadata.__dataclass_fields__
        if getattr(metadata, name) != getattr(unset, name)
    }


def _metadata(said: dict[str, Any]) -> Metadata:
    for name in ("taken_local", "taken_utc"):
        if name in said:
            said[name] = datetime.fromisoformat(said[name])
    if "keywords" in said:
        said["keywords"] = tuple(said["keywords"])
    if "regions" in said:
        said["regions"] = tuple(Region(**region) for region in said["regions"])
    return Metadata(**said)
