"""Metadata in the tags of video containers: QuickTime keys, MP4 user data, AVI info."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Final

from photosvc.media import text
from photosvc.media.cameras import make_name, model_name
from photosvc.media.metadata import Metadata, valid_altitude, valid_position
from photosvc.media.text import clean, parse_date, to_utc

_APPLE: Final = "com.apple.quicktime."
# ISO 6709: +43.4674+011.8851+312.000/
_LOCATION: Final = re.compile(
    r"\s*([+-]\d{2}(?:\.\d{1,9})?)([+-]\d{3}(?:\.\d{1,9})?)([+-]\d{1,6}(?:\.\d{1,9})?)?\D*", re.ASCII
)
# Day zero of QuickTime and of Unix, written when the time is unknown.
_EPOCHS: Final = frozenset((date(1904, 1, 1), date(1970, 1, 1)))


def read_tags(tags: Mapping[str, str]) -> Metadata:
    """The metadata of the tags of a video; the case of their keys is ignored."""
    found = {key.casefold(): value for key, value in tags.items()}

    def first(*names: str) -> str:
        return next((found[name] for name in names if found.get(name)), "")

    local, offset, utc = _taken(first(_APPLE + "creationdate", "date"), first("creation_time"))
    lat, lng, altitude = _place(first(_APPLE + "location.iso6709", "location", "location-eng"))
    written_make = first(_APPLE + "make", "make", "com.android.manufacturer")
    make = make_name(written_make)
    return Metadata(
        taken_local=local,
        utc_offset=offset,
        taken_utc=utc,
        camera_make=make,
        camera_model=model_name(first(_APPLE + "model", "model", "com.android.model"), make, written_make),
        lat=lat,
        lng=lng,
        altitude=altitude,
        title=clean(first(_APPLE + "title", _APPLE + "displayname", "title"), text.TITLE),
        description=clean(first(_APPLE + "description", "description", "comment"), text.DESCRIPTION),
        keywords=text.keywords([first(_APPLE + "keywords", "keywords")], split=True),
        artist=clean(first(_APPLE + "author", "artist")),
        copyright=clean(first(_APPLE + "copyright", "copyright")),
        software=clean(first(_APPLE + "software", "software")),
        document_id=clean(first(_APPLE + "content.identifier")),
        content_id=clean(first(_APPLE + "content.identifier"), 64),
    )


def _taken(zoned: str, created: str) -> tuple[datetime | None, int | None, datetime | None]:
    """Wall time, offset in minutes and UTC: Apple writes the first two, MP4 the last, AVI only wall time."""
    local, offset = parse_date(zoned)
    if local is not None and offset is not None:
        return local, offset, to_utc(local, offset)
    moment, zone = parse_date(created)
    if moment is None or moment.date() in _EPOCHS:
        return None, None, None
    return (moment, None, None) if zone is None else (None, None, to_utc(moment, zone))


def _place(written: str) -> tuple[float | None, float | None, int]:
    match = _LOCATION.fullmatch(written[:128])
    position = valid_position(float(match[1]), float(match[2])) if match else None
    if match is None or position is None:
        return None, None, 0
    return *position, valid_altitude(float(match[3] or 0))
