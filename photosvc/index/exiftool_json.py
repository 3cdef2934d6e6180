"""The JSON of ExifTool, `exiftool -json`, with values in words or as numbers (`-n`), with or without groups (`-G`).

osxphotos writes the same as sidecars. What ExifTool copies from XMP is read by the table of `media.xmp_fields`.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain, islice, zip_longest
from typing import Any, Final

from photosvc.media import text
from photosvc.media.exif import exposure
from photosvc.media.metadata import (
    Metadata,
    lens_name,
    make_name,
    model_name,
    valid_altitude,
    valid_f_number,
    valid_focal_length,
    valid_iso,
    valid_position,
)
from photosvc.media.text import LATITUDE, LONGITUDE, clean, clean_text, parse_date, parse_degrees, parse_offset
from photosvc.media.xmp_fields import properties_of, read_fields
from photosvc.media.xmp_regions import Mark, centred, cornered, regions_of
from photosvc.records import limits

MOST_TAGS: Final = 5000
_MOST_VALUES: Final = 1000
_LONGEST: Final = 64
#: Groups of which one stands before each name in a record that has no other sign of ExifTool.
_GROUPS: Final = ("EXIF:", "IPTC:", "XMP:")
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
#: Fields that the table of properties reads, and properties whose tags have other names than they, or further ones.
_OF_XMP: Final = ("keywords", "labels", "rating", "favorite", "license", "notes", "city")
_RENAMED: Final = {
    "MicrosoftPhoto:Rating": ("RatingPercent",),
    "photoshop:City": ("LocationCreatedCity", "City", "LocationShownCity"),
    "photoshop:State": ("LocationCreatedProvinceState", "State", "Province-State", "LocationShownProvinceState"),
    "photoshop:Country": (
        "LocationCreatedCountryName", "Country", "Country-PrimaryLocationName", "LocationShownCountryName",
    ),
    "Iptc4xmpCore:CountryCode": ("LocationCreatedCountryCode", "CountryCode", "LocationShownCountryCode"),
}  # fmt: skip
_AREA: Final = ("X", "Y", "W", "H")


class _Tags:
    """The tags of one record by their names without groups."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._values: dict[str, Any] = {}
        for name, value in islice(record.items(), MOST_TAGS):
            self._values.setdefault(name.rpartition(":")[2], value)

    def items(self, name: str) -> list[Any]:
        """Return the items of a tag, those without a text too."""
        value = self._values.get(name, [])
        return value[:_MOST_VALUES] if isinstance(value, list) else [value]

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return the texts of the first of these tags that has any. A list has one text for each item."""
        return next(filter(None, (tuple(filter(None, map(_text, self.items(name)))) for name in names)), ())

    def text(self, *names: str) -> str:
        """Return the first text of the first of these tags that has one."""
        return next(iter(self.texts(*names)), "")

    def number(self, *names: str) -> float:
        """Return the number with which the first of these tags begins that has one; 0 without any."""
        for name in names:
            if match := _NUMBER.match(self.text(name)[:_LONGEST]):
                return float(match[1])
        return 0.0


def read_exiftool(record: Mapping[str, Any]) -> Metadata | None:
    """Return the metadata in a record; None when ExifTool did not write it."""
    names = islice(record, MOST_TAGS)
    if "SourceFile" not in record and not any(
        name.endswith("ExifToolVersion") or name.startswith(_GROUPS) for name in names
    ):
        return None
    tags = _Tags(record)
    taken, offset = _taken(tags)
    lat, lng = valid_position(_degrees(tags, "GPSLatitude", LATITUDE), _degrees(tags, "GPSLongitude", LONGITUDE))
    written_make = tags.text("Make")
    make = make_name(written_make)
    of_xmp = read_fields({name: texts for name in properties_of(*_OF_XMP) if (texts := _copied(tags, name))}, *_OF_XMP)
    regions, marked = regions_of((_working_group(tags), _microsoft(tags), _people(tags)))
    return Metadata(
        **of_xmp
        | {
            "keywords": text.keywords((*of_xmp["keywords"], *tags.texts("Keywords"))),
            "labels": text.keywords((*of_xmp["labels"], *marked)),
        },
        taken_local=taken,
        utc_offset=offset,
        camera_make=make,
        camera_model=model_name(tags.text("Model"), make, written_make),
        camera_serial=clean(tags.text("SerialNumber", "InternalSerialNumber")),
        lens_make=make_name(tags.text("LensMake")),
        lens_model=lens_name(tags.text("LensModel", "LensID", "Lens")),
        iso=valid_iso(tags.number("ISO")),
        focal_length=valid_focal_length(tags.number("FocalLengthIn35mmFormat", "FocalLength")),
        f_number=valid_f_number(tags.number("FNumber", "Aperture")),
        exposure=_exposure(tags.text("ExposureTime", "ShutterSpeed")),
        lat=lat,
        lng=lng,
        altitude=_altitude(tags),
        title=clean(tags.text("Title", "ObjectName", "Headline"), limits.TITLE),
        description=clean_text(tags.text("Description", "Caption-Abstract", "ImageDescription")),
        artist=clean(", ".join(tags.texts("Artist", "Creator", "By-line")[:16])),
        copyright=clean(tags.text("Copyright", "Rights", "CopyrightNotice")),
        software=clean(tags.text("CreatorTool", "Software")),
        document_id=clean(tags.text("OriginalDocumentID", "DocumentID")),
        original_name=clean(tags.text("PreservedFileName", "RawFileName")),
        regions=regions,
    )


def _copied(tags: _Tags, name: str) -> tuple[str, ...]:
    """Return the texts of the tag of a property: most have its local name with a capital."""
    local = name.partition(":")[2]
    return tags.texts(*_RENAMED.get(name, (local[:1].upper() + local[1:],)))


def _people(tags: _Tags) -> Iterator[Mark]:
    names = chain(tags.texts("PersonInImage"), tags.texts("PersonInImageName"))
    yield from (Mark(name, "", None) for name in names)


def _working_group(tags: _Tags) -> Iterator[Mark]:
    """Yield regions from tags that list one value for each region, or from one structure (`-struct`)."""
    for region in _structures(tags, "RegionInfo", "RegionList"):
        area = region.get("Area")
        written = area if isinstance(area, dict) else {}
        name, kind, unit = _text(region.get("Name")), _text(region.get("Type")), _text(written.get("Unit"))
        yield centred(name, kind, unit=unit, sides=[_text(written.get(side)) for side in _AREA])
    listed = [tags.items(f"Region{name}") for name in ("Name", "Type", "AreaUnit", *(f"Area{side}" for side in _AREA))]
    for name, kind, unit, *sides in zip_longest(*listed):
        yield centred(_text(name), _text(kind), unit=_text(unit), sides=[*map(_text, sides)])


def _microsoft(tags: _Tags) -> Iterator[Mark]:
    for region in _structures(tags, "RegionInfoMP", "Regions"):
        yield cornered(_text(region.get("PersonDisplayName")), _text(region.get("Rectangle")))
    for name, rectangle in zip_longest(tags.items("RegionPersonDisplayName"), tags.items("RegionRectangle")):
        yield cornered(_text(name), _text(rectangle))


def _structures(tags: _Tags, name: str, member: str) -> Iterator[Mapping[str, Any]]:
    for holder in tags.items(name):
        listed = holder.get(member) if isinstance(holder, dict) else None
        for item in listed[:_MOST_VALUES] if isinstance(listed, list) else ():
            if isinstance(item, dict):
                yield item


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return value if isinstance(value, str) else repr(value)


def _taken(tags: _Tags) -> tuple[datetime | None, int | None]:
    """Return the naive wall time and its offset in minutes east of UTC; None where unknown."""
    for name, offset_name in _DATES:
        moment, offset = parse_date(tags.text(name))
        if moment is not None:
            east = parse_offset(tags.text(offset_name)) if offset_name else None
            return moment, offset if east is None else east
    return None, None


def _exposure(written: str) -> str:
    """Return the shutter time from `1/160`, `2.5` or `0.00625`."""
    if fraction := _FRACTION.fullmatch(written[:_LONGEST]):
        return exposure((int(fraction[1]), int(fraction[2])))
    number = _NUMBER.fullmatch(written[:_LONGEST])
    return exposure((round(float(number[1]) * 1_000_000), 1_000_000)) if number else ""


def _degrees(tags: _Tags, name: str, axis: str) -> float | None:
    """Return decimal degrees; the hemisphere is a sign, a letter at the end, or a tag of its own."""
    return parse_degrees(tags.text(name), tags.text(f"{name}Ref"), axis)


def _altitude(tags: _Tags) -> int:
    """Return the altitude in metres, negative below sea level: by a sign, a part of the text, or a tag of its own."""
    metres = tags.number("GPSAltitude")
    side = tags.text("GPSAltitudeRef")
    below = side == "1" or "below" in f"{tags.text('GPSAltitude')} {side}".lower()
    return valid_altitude(-abs(metres) if below else metres)
