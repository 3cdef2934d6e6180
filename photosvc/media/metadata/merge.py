"""One record from several: the Exif, IPTC and XMP of one file, or the files of one photo."""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any, Final

from photosvc.media.exif.fields import is_boilerplate
from photosvc.media.metadata.dates import to_utc
from photosvc.media.metadata.record import Metadata
from photosvc.media.metadata.text import keywords

#: Facts that are only right together. All come from the first source with the first fact of the group; when no source
#: has that one, from the first with the second fact, and so on.
_GROUPS: Final = (
    ("taken_local", "taken_utc", "utc_offset"),
    ("lat", "lng", "altitude"),
    ("camera_model", "camera_make"),
    ("lens_model", "lens_make"),
)
_UNSET: Final = Metadata()
_SINGLE: Final = tuple((item.name,) for item in fields(Metadata) if not any(item.name in group for group in _GROUPS))
#: Texts that people write.
_WRITTEN: Final = frozenset(
    ("title", "description", "subject", "artist", "copyright", "license", "notes", "rating", "document_id")
)
# No place is further from UTC than 14 hours; a camera's clock may be off a little.
_FURTHEST: Final = timedelta(hours=15)


def merge(sources: Sequence[Metadata], *, written: Sequence[Metadata] | None = None) -> Metadata:
    """Each fact from the first source that has it, facts of one group from one source.

    Args:
        sources: at least one, the most trusted first.
        written: the same sources in their order for texts that people write, when that differs.

    """
    merged: dict[str, Any] = {}
    for group in (*_GROUPS, *_SINGLE):
        order = sources if written is None or group[0] not in _WRITTEN else written
        source = next((one for name in group for one in order if _has(one, name)), _UNSET)
        merged |= {name: getattr(source, name) for name in group}
    return Metadata(**merged)


def merge_file(exif: Metadata, iptc: Metadata, xmp: Metadata) -> Metadata:
    """The record of one file: Exif before XMP and IPTC, but for texts XMP before IPTC and Exif; keywords of all three.

    The last program that edited a text is right, and such programs write XMP.
    """
    merged = merge((exif, xmp, iptc), written=(xmp, iptc, exif))
    return replace(
        merged,
        keywords=keywords((*xmp.keywords, *iptc.keywords, *exif.keywords)),
        description="" if is_boilerplate(merged.description) else merged.description,
        taken_utc=_trusted(merged.taken_utc, merged.taken_local, merged.utc_offset),
    )


def _has(source: Metadata, name: str) -> bool:
    return bool(getattr(source, name) != getattr(_UNSET, name))


def _trusted(utc: datetime | None, local: datetime | None, offset: int | None) -> datetime | None:
    """The satellite time, unless it belongs to another moment: receivers repeat their last fix."""
    if utc is None or local is None:
        return utc
    if offset is not None:
        return utc if abs(to_utc(local, offset) - utc) < timedelta(minutes=15) else None
    return utc if abs(to_utc(local, 0) - utc) <= _FURTHEST else None
