"""The JSON files of Google Takeout: one for each picture, and one for each album."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from photosvc.media import text
from photosvc.media.metadata import Metadata, Region, valid_altitude, valid_position
from photosvc.media.text import clean, is_plausible

MOST_PEOPLE: Final = 256
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = re.compile(r"-?\d{1,12}", re.ASCII)
#: Takeout writes these into the JSON file of an album, in one of its two forms.
_OF_ALBUMS: Final = frozenset(("access", "date", "albumData"))
#: Folders that hold all pictures of a year are no albums.
_YEAR: Final = re.compile(r"(?:Photos from|Photos de|Fotos von|Fotos de|Fotos del|Foto da|Foto del) \d{4}")


def read_picture(record: Mapping[str, Any]) -> Metadata | None:
    """The metadata of a picture; None when the record is not that of a picture.

    The title is the name of the file before Takeout cut it. Names of people come without areas: each is marked on the
    whole picture.
    """
    taken = record.get("photoTakenTime")
    if not isinstance(taken, dict):
        return None
    lat, lng, altitude = _position(record)
    return Metadata(
        taken_utc=_moment(taken),
        lat=lat,
        lng=lng,
        altitude=altitude,
        description=_text(record, "description", text.DESCRIPTION),
        original_name=_text(record, "title"),
        regions=tuple(
            Region(name, "", 0.0, 0.0, 1.0, 1.0) for name in dict.fromkeys(islice(_people(record), MOST_PEOPLE))
        ),
        favorite=record.get("favorited") is True,
        archived=record.get("archived") is True or record.get("trashed") is True,
    )


def read_album(record: Mapping[str, Any]) -> Metadata | None:
    """Title and description of an album; None when the record is not that of an album."""
    if not _OF_ALBUMS.intersection(record):
        return None
    inner = record.get("albumData")
    album = inner if isinstance(inner, dict) else record
    title = _text(album, "title", text.TITLE)
    if not title or _YEAR.fullmatch(title):
        return None
    return Metadata(title=title, description=_text(album, "description", text.DESCRIPTION))


def _text(record: Mapping[str, Any], name: str, limit: int = text.LINE) -> str:
    value = record.get(name)
    return clean(value, limit) if isinstance(value, str) else ""


def _moment(taken: Mapping[str, Any]) -> datetime | None:
    """The time in seconds since 1970, which Takeout writes as text; 0 stands for an unknown time."""
    written = taken.get("timestamp")
    seconds = str(written) if isinstance(written, int | str) else ""
    if not _SECONDS.fullmatch(seconds) or int(seconds) == 0:
        return None
    with suppress(OverflowError):
        moment = _EPOCH + timedelta(seconds=int(seconds))
        return moment if is_plausible(moment) else None
    return None


def _position(record: Mapping[str, Any]) -> tuple[float | None, float | None, int]:
    """The position that people see and may have set, else that of the file."""
    for name in ("geoData", "geoDataExif"):
        data = record.get(name)
        if not isinstance(data, dict):
            continue
        lat, lng, altitude = (_number(data.get(part)) for part in ("latitude", "longitude", "altitude"))
        position = valid_position(lat, lng)
        if position:
            return *position, valid_altitude(altitude or 0.0)
    return None, None, 0


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _people(record: Mapping[str, Any]) -> Iterator[str]:
    people = record.get("people")
    for person in people if isinstance(people, list) else ():
        name = _text(person, "name") if isinstance(person, dict) else ""
        if name:
            yield name
