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
# ISO 6709: `+43.4674+011.8851+312.000/`, in degrees, degrees and minutes (`+4328.04`), or with seconds; after the
# altitude it may name the reference system: `CRSWGS_84/`.
_LOCATION: Final = re.compile(
    r"\s*([+-])(\d{2})(\d{2})?(\d{2})?(\.\d{1,20})?([+-])(\d{3})(\d{2})?(\d{2})?(\.\d{1,20})?"
    r"([+-]\d{1,6}(?:\.\d{1,20})?)?(?:CRS[\w.:-]{0,40})?\s*/?\D*",
    re.ASCII,
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
    if match is None:
        return None, None, 0
    lat, lng = _degrees(*match.groups()[:5]), _degrees(*match.groups()[5:10])
    position = valid_position(lat, lng)
    return (None, None, 0) if position is None else (*position, valid_altitude(float(match[11] or 0)))


def _degrees(sign: str, degrees: str, minutes: str | None, seconds: str | None, fraction: str | None) -> float:
    """Decimal degrees; the fraction belongs to the last of the three that is written."""
    parts = [degrees, minutes, seconds]
    last = max(index for index, part in enumerate(parts) if part is not None)
    parts[last] = f"{parts[last]}{fraction or ''}"
    value: float = sum(float(part) / 60**index for index, part in enumerate(parts) if part is not None)
    return -value if sign == "-" else value
