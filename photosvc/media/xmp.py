"""The metadata of XMP packets and sidecars, as people and editors write them (ISO 16684-1, XMP part 2).

`media.xmp_fields` is the table of properties, `media.xmp_regions` reads people and areas.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Final
from xml.etree.ElementTree import Element

from photosvc.media import text
from photosvc.media.metadata import Metadata, merge
from photosvc.media.text import clean
from photosvc.media.xmp_fields import first, read_fields
from photosvc.media.xmp_regions import MAX_REGIONS, read_marks, regions_of
from photosvc.media.xmp_tree import Properties, attribute, parse_packet, properties, structures

_PEOPLE: Final = "Iptc4xmpExt:PersonInImage"
#: The fields of a structure that names a place: city, state, country and its code.
_PLACE: Final = tuple(f"Iptc4xmpExt:{name}" for name in ("City", "ProvinceState", "CountryName", "CountryCode"))
_SIZES: Final = (("tiff:ImageWidth", "tiff:ImageLength"), ("exif:PixelXDimension", "exif:PixelYDimension"))


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


def joined(packet: Xmp, more: Xmp) -> Xmp:
    """Join the XMP of a packet and of its extension; keywords and regions of both count."""
    metadata = merge((packet.metadata, more.metadata))
    keywords = text.keywords((*packet.metadata.keywords, *more.metadata.keywords))
    regions = tuple(dict.fromkeys((*packet.metadata.regions, *more.metadata.regions)))[:MAX_REGIONS]
    return Xmp(
        replace(metadata, keywords=keywords, regions=regions),
        packet.projection or more.projection,
        packet.orientation or more.orientation,
    )


def read_xmp_sidecar(content: bytes) -> Metadata | None:
    """Read the metadata of an `.xmp` file; None when it is malformed, too large, or declares entities."""
    root = parse_packet(content)
    return None if root is None else _read(root).metadata


def _read(root: Element) -> Xmp:
    values = properties(root)
    fields: dict[str, Any] = read_fields(values)
    regions, named = regions_of(read_marks(root, values.get(_PEOPLE, ()), _size(values)))
    fields |= _place(root, known=bool(fields["city"] or fields["country"]))
    labels = text.keywords((*fields.pop("labels"), *named))
    metadata = Metadata(**fields, regions=regions, labels=labels, edited=_is_edited(values))
    turned = first(values, "tiff:Orientation").strip()
    orientation = int(turned) if turned in tuple("12345678") else 0
    return Xmp(metadata, clean(first(values, "GPano:ProjectionType"), 32).lower(), orientation)


def _place(root: Element, *, known: bool) -> dict[str, str]:
    """Return city, state and country of the structure that names where the picture was taken, else what it shows.

    Args:
        known: true if the packet names a place in simple properties, too, which come before the place shown.
    """
    for structure in ("LocationCreated",) if known else ("LocationCreated", "LocationShown"):
        for place in structures(root, f"Iptc4xmpExt:{structure}"):
            city, state, country, code = (clean(attribute(place, name)) for name in _PLACE)
            if city or country:
                return {"city": city, "state": state, "country": code if len(code) == 2 or not country else country}
    return {}


def _size(values: Properties) -> tuple[float, float]:
    """Return width and height in pixels; NaN when unknown."""
    for sides in _SIZES:
        wide, high = (first(values, name).strip()[:9] for name in sides)
        if wide.isdecimal() and high.isdecimal():
            return float(wide), float(high)
    return math.nan, math.nan


def _is_edited(values: Properties) -> bool:
    """Return whether people edited the photo: in photosvc, or by adjustments that the picture does not show.

    Lightroom and darktable hold such adjustments in sidecars.
    """
    if first(values, "svc:Written"):
        return True
    if first(values, "crs:HasSettings").lower() == "true":
        return first(values, "crs:AlreadyApplied").lower() != "true"
    current = first(values, "darktable:history_current_hash")
    if current:  # darktable applies its defaults to every picture
        return current not in (first(values, f"darktable:history_{kind}_hash") for kind in ("basic", "auto"))
    return first(values, "darktable:history_end").strip() not in ("", "0", "-1")
