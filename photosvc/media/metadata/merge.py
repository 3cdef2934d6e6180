"""One record from all that a file says: Exif, IPTC and XMP side by side."""

from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any, Final

from photosvc.media.exif.fields import is_boilerplate
from photosvc.media.metadata.dates import to_utc
from photosvc.media.metadata.record import Metadata
from photosvc.media.metadata.text import keywords

# What people write: the last editor is right, and editors write XMP.
_WRITTEN: Final = frozenset(
    ("title", "description", "subject", "artist", "copyright", "license", "notes", "rating", "document_id")
)
# Fields that mean nothing apart: all come from the first source that has the leading one.
_TOGETHER: Final = {"taken_local": ("utc_offset",), "lat": ("lng",), "camera_model": ("camera_make",)}
_FOLLOWERS: Final = frozenset(name for names in _TOGETHER.values() for name in names)
# No place is further from UTC than 14 hours; a camera's clock may be off a little.
_FURTHEST: Final = timedelta(hours=15)


def merge(exif: Metadata, iptc: Metadata, xmp: Metadata) -> Metadata:
    """The best of three: XMP, IPTC, Exif for texts; Exif, XMP, IPTC for dates, camera and place; all keywords."""
    merged: dict[str, Any] = {"keywords": keywords((*xmp.keywords, *iptc.keywords, *exif.keywords))}
    for name in (item.name for item in fields(Metadata)):
        if name in merged or name in _FOLLOWERS:
            continue
        order = (xmp, iptc, exif) if name in _WRITTEN else (exif, xmp, iptc)
        source = next((one for one in order if getattr(one, name) not in _UNSET), exif)
        for part in (name, *_TOGETHER.get(name, ())):
            merged[part] = getattr(source, part)
    if is_boilerplate(merged["description"]):
        merged["description"] = ""
    merged["taken_utc"] = _trusted(merged["taken_utc"], merged["taken_local"], merged["utc_offset"])
    return Metadata(**merged)


_UNSET: Final = (None, "", 0, ())


def _trusted(utc: datetime | None, local: datetime | None, offset: int | None) -> datetime | None:
    """The satellite time, unless it belongs to another moment: receivers repeat their last fix."""
    if utc is None or local is None:
        return utc
    if offset is not None:
        return utc if abs(to_utc(local, offset) - utc) < timedelta(minutes=15) else None
    return utc if abs(to_utc(local, 0) - utc) <= _FURTHEST else None
