"""JSON as `exiftool -json` writes it, with names in words or as numbers (`-n`), with or without groups (`-G`)."""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from photosvc.media import text
from photosvc.media.cameras import lens_name, make_name, model_name
from photosvc.media.exif.fields import exposure
from photosvc.media.metadata import Metadata, valid_altitude, valid_position
from photosvc.media.text import clean, parse_date, parse_offset

MOST_TAGS: Final = 5000
_MOST_VALUES: Final = 1000
_LONGEST: Final = 64
#: Date tags in order of preference, each with the tag of its offset. Composite ones carry fraction and offset.
_DATES: Final = (
    ("SubSecDateTimeOriginal", ""),
    ("DateTimeOriginal", "OffsetTimeOriginal"),
    ("CreationDate", ""),
    ("DateTimeCreated", ""),
    ("SubSecCreateDate", ""),
    ("CreateDate", "OffsetTimeDigitized"),
)
_NUMBER: Final = re.compile(r"\s*([+-]?\d{1,12}(?:\.\d{1,20})?)(?=\s|$)", re.ASCII)
_FRACTION: Final = re.compile(r"\s*(\d{1,9})/(\d{1,9})\s*", re.ASCII)
#: `48 deg 51' 23.81" N`
_DEGREES: Final = re.compile(
    r"""\s*(\d{1,3}) deg (\d{1,2})' (\d{1,2}(?:\.\d{1,20})?)"\s*([NSEW]?)\s*""", re.ASCII | re.IGNORECASE
)


class _Tags:
    """The tags of one record by their names without groups."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._values: dict[str, Any] = {}
        for name, value in islice(record.items(), MOST_TAGS):
            self._values.setdefault(name.rpartition(":")[2], value)

    def texts(self, *names: str) -> tuple[str, ...]:
        """The texts of the first of these tags that has any; a list gives one for each item."""
        for name in names:
            value = self._values.get(name)
            listed = value[:_MOST_VALUES] if isinstance(value, list) else [value]
            found = tuple(filter(None, map(_text, listed)))
            if found:
                return found
        return ()

    def text(self, *names: str) -> str:
        """The first text of the first of these tags that has one."""
        return next(iter(self.texts(*names)), "")

    def number(self, *names: str) -> float:
        """The number at the beginning of the first of these tags that has one, 0 without one."""
        for name in names:
            match = _NUMBER.match(self.text(name)[:_LONGEST])
            if match:
                return float(match[1])
        return 0.0


def read(record: Mapping[str, Any]) -> Metadata | None:
    """The metadata in a record; None when ExifTool did not write it."""
    if "SourceFile" not in record and not any(name.endswith("ExifToolVersion") for name in islice(record, MOST_TAGS)):
        return None
    tags = _Tags(record)
    taken, offset = _taken(tags)
    position = valid_position(_degrees(tags, "GPSLatitude", "S"), _degrees(tags, "GPSLongitude", "W"))
    written_make = tags.text("Make")
    make = make_name(written_make)
    return Metadata(
        taken_local=taken,
        utc_offset=offset,
        camera_make=make,
        camera_model=model_name(tags.text("Model"), make, written_make),
        camera_serial=clean(tags.text("SerialNumber", "InternalSerialNumber")),
        lens_make=make_name(tags.text("LensMake")),
        lens_model=lens_name(tags.text("LensModel", "LensID", "Lens")),
        iso=_within(tags.number("ISO"), 10_000_000),
        focal_length=_within(tags.number("FocalLengthIn35mmFormat", "FocalLength"), 100_000),
        f_number=_f_number(tags.number("FNumber", "Aperture")),
        exposure=_exposure(tags.text("ExposureTime", "ShutterSpeed")),
        lat=position[0] if position else None,
        lng=position[1] if position else None,
        altitude=_altitude(tags),
        title=clean(tags.text("Title", "ObjectName", "Headline"), text.TITLE),
        description=clean(tags.text("Description", "Caption-Abstract", "ImageDescription"), text.DESCRIPTION),
        keywords=text.keywords((*tags.texts("Subject"), *tags.texts("Keywords"))),
        subject=clean(", ".join(tags.texts("PersonInImage")[:16])),
        artist=clean(", ".join(tags.texts("Artist", "Creator", "By-line")[:16])),
        copyright=clean(tags.text("Copyright", "Rights", "CopyrightNotice")),
        license=clean(tags.text("License", "WebStatement")),
        notes=clean(tags.text("UserComment"), text.DESCRIPTION),
        software=clean(tags.text("CreatorTool", "Software")),
        rating=_rating(tags),
        label=clean(tags.text("Label"), text.KEYWORD),
        document_id=clean(tags.text("OriginalDocumentID", "DocumentID")),
        original_name=clean(tags.text("PreservedFileName", "RawFileName")),
    )


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return value if isinstance(value, str) else repr(value)


def _taken(tags: _Tags) -> tuple[datetime | None, int | None]:
    """Naive wall time and its offset in minutes east of UTC; None where unknown."""
    for name, offset_name in _DATES:
        moment, offset = parse_date(tags.text(name))
        if moment is not None:
            east = parse_offset(tags.text(offset_name)) if offset_name else None
            return moment, offset if east is None else east
    return None, None


def _within(number: float, largest: int) -> int:
    return round(number) if 0 < number <= largest else 0


def _f_number(number: float) -> float:
    return round(number, 2) if 0 < number < 1000 else 0.0


def _exposure(written: str) -> str:
    """Shutter time from `1/160`, `2.5` or `0.00625`."""
    fraction = _FRACTION.fullmatch(written[:_LONGEST])
    if fraction:
        return exposure((int(fraction[1]), int(fraction[2])))
    number = _NUMBER.fullmatch(written[:_LONGEST])
    return exposure((round(float(number[1]) * 1_000_000), 1_000_000)) if number else ""


def _degrees(tags: _Tags, name: str, negative: str) -> float | None:
    """Decimal degrees: signed, or with the letter of the hemisphere behind or in a tag of its own."""
    written = tags.text(name)[:_LONGEST]
    match = _DEGREES.fullmatch(written)
    number = _NUMBER.fullmatch(written)
    if match:
        value = int(match[1]) + int(match[2]) / 60 + float(match[3]) / 3600
        hemisphere = match[4]
    elif number:
        value, hemisphere = float(number[1]), ""
    else:
        return None
    hemisphere = hemisphere or tags.text(f"{name}Ref")
    return -abs(value) if hemisphere[:1].upper() == negative else value


def _altitude(tags: _Tags) -> int:
    """Metres: signed, or `12.3 m Below Sea Level`, or with its own tag for the side of the sea level."""
    metres = tags.number("GPSAltitude")
    side = tags.text("GPSAltitudeRef")
    below = side == "1" or "below" in f"{tags.text('GPSAltitude')} {side}".lower()
    return valid_altitude(-abs(metres) if below else metres)


def _rating(tags: _Tags) -> int:
    number = tags.number("Rating")
    return round(number) if math.isfinite(number) and -1 <= number <= 5 else 0
