"""The metadata of XMP packets and sidecars, as people and editors write them (ISO 16684-1, XMP part 2).

Marked areas are the Metadata Working Group's regions and Microsoft's people tags.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Final
from xml.etree.ElementTree import Element

from photosvc.core.orientation import turned_box
from photosvc.media import text
from photosvc.media.exif import exposure
from photosvc.media.metadata import (
    Metadata,
    Region,
    WrittenDate,
    lens_name,
    make_name,
    merge,
    model_name,
    read_date,
    valid_altitude,
    valid_f_number,
    valid_focal_length,
    valid_iso,
    valid_position,
    valid_rating,
)
from photosvc.media.text import LATITUDE, LONGITUDE, clean, clean_text, parse_date, parse_degrees, utc_of
from photosvc.media.xmp_tree import Properties, attribute, items, parse_packet, properties, tag
from photosvc.records import limits

MAX_REGIONS: Final = 256
_NUMBER: Final = re.compile(r"\s*-?(?:\d{1,9}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE]-?\d{1,2})?\s*", re.ASCII)
# Properties with the date on which the photo was taken, in order of preference.
_DATES: Final = ("exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate", "exif:DateTimeDigitized")
_MODIFIED: Final = ("xmp:ModifyDate", "tiff:DateTime")
_PACKET_NUMBER: Final = re.compile(r"\s*[+-]?\d{1,9}(?:\.\d{1,40})?\s*", re.ASCII)
#: Beginnings of the subjects that darktable and digiKam write for their own use.
_INTERNAL: Final = ("darktable|", "_Digikam_Internal_Tags_")
_FRACTION: Final = re.compile(r"\s*(-?\d{1,12}(?:\.\d{1,12})?)(?:/(\d{1,12}))?\s*", re.ASCII)


def read_regions(root: Element) -> tuple[Region, ...]:
    """Return the first `MAX_REGIONS` distinct valid regions, relative to the picture as stored."""
    regions = (region for region in (*_working_group(root), *_microsoft(root)) if region is not None)
    return tuple(islice(dict.fromkeys(regions), MAX_REGIONS))


def upright(region: Region, orientation: int) -> Region:
    """Convert a region relative to a picture with this Exif orientation (1 to 8) to the upright picture."""
    box = region.x, region.y, region.x + region.w, region.y + region.h
    left, upper, right, lower = turned_box(box, orientation, 1, 1)
    return replace(region, x=round(left, 6), y=round(upper, 6), w=round(right - left, 6), h=round(lower - upper, 6))


def _working_group(root: Element) -> Iterator[Region | None]:
    """Yield the areas of `mwg-rs:RegionList`, which are given by their centre."""
    for listed in root.iter(tag("mwg-rs:RegionList")):
        for item in items(listed):
            area = next(item.iter(tag("mwg-rs:Area")), None)
            if area is None or attribute(area, "stArea:unit") not in ("", "normalized"):
                continue
            x, y, w, h = (_number(attribute(area, f"stArea:{side}")) for side in "xywh")
            kind = "face" if attribute(item, "mwg-rs:Type").strip().lower() == "face" else ""
            yield _region(attribute(item, "mwg-rs:Name"), kind, x - w / 2, y - h / 2, w, h)


def _microsoft(root: Element) -> Iterator[Region | None]:
    """Yield the people of `MPRI:Regions`, whose areas are given by their top left corner."""
    for listed in root.iter(tag("MPRI:Regions")):
        for item in items(listed):
            parts = attribute(item, "MPReg:Rectangle")[:512].split(",")
            if len(parts) == 4:
                x, y, w, h = map(_number, parts)
                yield _region(attribute(item, "MPReg:PersonDisplayName"), "face", x, y, w, h)


def _region(name: str, kind: str, x: float, y: float, w: float, h: float) -> Region | None:
    """Return the part of the area that lies within the picture; None when there is none."""
    if not all(map(math.isfinite, (x, y, w, h))):
        return None
    left, top = max(x, 0.0), max(y, 0.0)
    wide, high = min(x + w, 1.0) - left, min(y + h, 1.0) - top
    if wide <= 0 or high <= 0:
        return None
    return Region(clean(name), kind, round(left, 6), round(top, 6), round(wide, 6), round(high, 6))


def _number(written: str) -> float:
    return float(written) if _NUMBER.fullmatch(written[:128]) else math.nan


@dataclass(frozen=True, slots=True)
class Xmp:
    """The XMP of one picture."""

    metadata: Metadata = Metadata()
    """Its regions are relative to the picture as stored."""
    projection: str = ""
    """Projection of a panorama in lower case, such as `equirectangular`; empty for an ordinary picture."""
    orientation: int = 0
    """Exif orientation 1 to 8 (tiff:Orientation); 0 when the packet has none."""


def read_xmp(packet: bytes) -> Xmp:
    """Read the XMP of a packet; empty when it is malformed, too large, or declares entities."""
    root = parse_packet(packet)
    return Xmp() if root is None else _read(root)


def joined(first: Xmp, more: Xmp) -> Xmp:
    """Join the XMP of a packet and of its extension; keywords and regions of both count."""
    metadata = merge((first.metadata, more.metadata))
    keywords = text.keywords((*first.metadata.keywords, *more.metadata.keywords))
    regions = tuple(dict.fromkeys((*first.metadata.regions, *more.metadata.regions)))[:MAX_REGIONS]
    return Xmp(
        replace(metadata, keywords=keywords, regions=regions),
        first.projection or more.projection,
        first.orientation or more.orientation,
    )


def read_xmp_sidecar(content: bytes) -> Metadata | None:
    """Read the metadata of an `.xmp` file; None when it is malformed, too large, or declares entities."""
    root = parse_packet(content)
    return None if root is None else _read(root).metadata


def _read(root: Element) -> Xmp:
    values = properties(root)
    taken, modified = _date(values, _DATES), _date(values, _MODIFIED)
    satellite, zone = parse_date(_first(values, "exif:GPSTimeStamp", "exif:GPSDateTime"))
    # Apple writes positive degrees, and the hemisphere in a property of its own, as Exif does.
    lat, lng = valid_position(
        parse_degrees(_first(values, "exif:GPSLatitude"), _first(values, "exif:GPSLatitudeRef").strip(), LATITUDE),
        parse_degrees(_first(values, "exif:GPSLongitude"), _first(values, "exif:GPSLongitudeRef").strip(), LONGITUDE),
    )
    written_make = _first(values, "tiff:Make")
    make = make_name(written_make)
    metadata = Metadata(
        taken_local=taken.local,
        taken_utc=utc_of(satellite, zone or 0) if satellite is not None else None,
        utc_offset=taken.offset,
        date_parts=taken.parts,
        modified_local=modified.local,
        modified_offset=modified.offset,
        camera_make=make,
        camera_model=model_name(_first(values, "tiff:Model"), make, written_make),
        camera_serial=clean(_first(values, "exifEX:BodySerialNumber", "aux:SerialNumber")),
        lens_make=make_name(_first(values, "exifEX:LensMake")),
        lens_model=lens_name(_first(values, "exifEX:LensModel", "aux:Lens")),
        iso=valid_iso(_packet_number(values, "exifEX:PhotographicSensitivity", "exif:ISOSpeedRatings")),
        focal_length=valid_focal_length(_packet_number(values, "exif:FocalLengthIn35mmFilm", "exif:FocalLength")),
        f_number=valid_f_number(_packet_number(values, "exif:FNumber")),
        exposure=exposure(_fraction(_first(values, "exif:ExposureTime"))),
        lat=lat,
        lng=lng,
        altitude=_altitude(values),
        unfixed=lat is not None and _first(values, "exif:GPSStatus").strip() == "V",
        title=clean(_first(values, "dc:title", "photoshop:Headline"), limits.TITLE),
        description=clean_text(_first(values, "dc:description")),
        keywords=_keywords(values),
        subject=clean(", ".join(values.get("Iptc4xmpExt:PersonInImage", ())[:16])),
        artist=clean(", ".join(values.get("dc:creator", ())[:16])),
        copyright=clean(_first(values, "dc:rights")),
        license=clean(_first(values, "cc:license", "xmpRights:WebStatement")),
        notes=clean_text(_first(values, "exif:UserComment")),
        software=clean(_first(values, "xmp:CreatorTool", "tiff:Software")),
        rating=_rating(values),
        document_id=clean(_first(values, "xmpMM:OriginalDocumentID", "xmpMM:DocumentID")),
        burst_id=clean(_first(values, "GCamera:BurstID"), 64),
        instance_id=clean(_first(values, "xmpMM:InstanceID")),
        original_name=clean(_first(values, "xmpMM:PreservedFileName", "crs:RawFileName")),
        regions=read_regions(root),
        label=clean(_first(values, "xmp:Label"), limits.KEYWORD),
        edited=_is_edited(values),
    )
    turned = _first(values, "tiff:Orientation").strip()
    orientation = int(turned) if turned in tuple("12345678") else 0
    return Xmp(metadata, clean(_first(values, "GPano:ProjectionType"), 32).lower(), orientation)


def _keywords(values: Properties) -> tuple[str, ...]:
    words = values.get("dc:subject", ())
    # Writers that do not know bags write all keywords as one, separated by commas.
    plain = text.keywords(words, split=len(words) == 1)
    # Of a hierarchical subject such as `Places|Italy|Rome` the last level counts; digiKam separates them by slashes.
    tags = (value.replace("/", "|") for value in values.get("digiKam:TagsList", ()))
    subjects = (*values.get("lr:hierarchicalSubject", ()), *tags)
    return text.keywords((*_public(plain), *(subject.rpartition("|")[2] for subject in _public(subjects))))


def _public(words: Iterable[str]) -> list[str]:
    return [word for word in words if not word.startswith(_INTERNAL)]


def _first(values: Properties, *names: str) -> str:
    """Return the first value of the first property in this order that exists, or an empty text."""
    return next((values[name][0] for name in names if name in values), "")


def _date(values: Properties, names: tuple[str, ...]) -> WrittenDate:
    """Return the date of the first property in this order that has a date."""
    dates = (read_date(_first(values, name)) for name in names)
    return next((date for date in dates if date.local is not None), WrittenDate())


def _fraction(written: str) -> tuple[int, int] | None:
    """Return numerator and denominator of `28/10`, `3` or `2.8`; None for anything else and a denominator of 0."""
    match = _FRACTION.fullmatch(written[:64])
    if match is None or not int(match[2] or 1):
        return None
    return (Fraction(match[1]) / int(match[2] or 1)).as_integer_ratio()


def _packet_number(values: Properties, *names: str) -> float:
    """Return the number of the first property in this order that is above 0, else 0.0."""
    parts = (_fraction(_first(values, name)) for name in names)
    return next((top / bottom for top, bottom in filter(None, parts) if top > 0), 0.0)


def _altitude(values: Properties) -> int:
    """Return the altitude in metres above sea level; 0 when unknown."""
    parts = _fraction(_first(values, "exif:GPSAltitude"))
    if parts is None:
        return 0
    metres = parts[0] / parts[1]
    return valid_altitude(-metres if _first(values, "exif:GPSAltitudeRef").strip() == "1" else metres)


def _rating(values: Properties) -> int:
    """Return the stars, 0 to 5; -1 for rejected."""
    written = _first(values, "xmp:Rating")
    return valid_rating(float(written)) if _PACKET_NUMBER.fullmatch(written) else 0


def _is_edited(values: Properties) -> bool:
    """Return whether Lightroom or darktable hold adjustments that the picture beside the sidecar does not show."""
    if _first(values, "crs:HasSettings").lower() == "true":
        return _first(values, "crs:AlreadyApplied").lower() != "true"
    current = _first(values, "darktable:history_current_hash")
    if current:  # darktable applies its defaults to every picture
        return current not in (_first(values, f"darktable:history_{kind}_hash") for kind in ("basic", "auto"))
    return _first(values, "darktable:history_end").strip() not in ("", "0", "-1")
