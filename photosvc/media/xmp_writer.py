"""The values of a picture as properties of XMP, in the forms that `media.xmp` reads back (ISO 16684-1, MWG 2.0).

`media.xmp_packet` puts them into a sidecar.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from photosvc.media.metadata import DAY, YEAR, Metadata, Region
from photosvc.media.xmp_fields import PATH, XmpForm
from photosvc.media.xmp_tree import tag

#: Characters that no XML 1.0 document contains.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ADDRESS: Final = re.compile(r"https?://\S+", re.ASCII)
_TEXT, _ALT, _BAG, _SEQ = XmpForm
_RESOURCE: Final = (tag("rdf:parseType"), "Resource")


def properties_to_write(values: Metadata, size: tuple[int, int]) -> dict[str, list[Element]]:
    """Return the properties of all values that are set, by the first field of their row in `xmp_fields.FIELDS`.

    Args:
        values: whose regions are relative to the picture as stored.
        size: width and height of the picture as stored, in pixels.
    """
    groups = {
        "taken_local": _taken(values),
        "lat": _position(values),
        "altitude": _altitude(values.altitude) if values.lat is not None else (),
        "city": _place(values),
        "camera_make": _texts({"tiff:Make": values.camera_make, "tiff:Model": values.camera_model}),
        "camera_serial": _texts({"exifEX:BodySerialNumber": values.camera_serial}),
        "lens_make": _texts({"exifEX:LensMake": values.lens_make}),
        "lens_model": _texts({"exifEX:LensModel": values.lens_model}),
        "iso": _texts({"exifEX:PhotographicSensitivity": str(values.iso or "")}),
        "focal_length": _texts({"exif:FocalLengthIn35mmFilm": str(values.focal_length or "")}),
        "f_number": _texts({"exif:FNumber": _ratio(values.f_number)}),
        "exposure": _texts({"exif:ExposureTime": _exposure(values.exposure)}),
        "title": _listed("dc:title", _ALT, values.title),
        "description": [
            *_listed("dc:description", _ALT, values.description),
            *_listed("tiff:ImageDescription", _ALT, values.description),
        ],
        "keywords": _keywords((*values.keywords, *values.labels)),
        "rating": _texts({"xmp:Rating": str(values.rating or "")}),
        "favorite": _flag("fstop:favorite", values.favorite),
        "artist": _listed("dc:creator", _SEQ, values.artist),
        "copyright": _listed("dc:rights", _ALT, values.copyright),
        "license": [
            *_listed("xmpRights:UsageTerms", _ALT, values.license),
            *_texts({"xmpRights:WebStatement": values.license if _ADDRESS.fullmatch(values.license) else ""}),
        ],
        "notes": _listed("exif:UserComment", _ALT, values.notes),
        "original_name": _texts({"xmpMM:PreservedFileName": values.original_name}),
        "subject": _texts({"svc:Subject": values.subject}),
        "zone": _texts({"svc:TimeZone": values.zone}),
        "archived": _flag("svc:Archived", values.archived),
        "private": _flag("svc:Private", values.private),
        "scan": _flag("svc:Scan", values.scan),
        "panorama": _flag("svc:Panorama", values.panorama),
        "regions": _people(values.regions, size),
    }
    return {name: listed for name, group in groups.items() if (listed := list(group))}


def _texts(values: dict[str, str]) -> Iterator[Element]:
    for name, value in values.items():
        if value:
            yield text_property(name, value)


def text_property(name: str, value: str) -> Element:
    """Return a simple property; characters that XML does not know are left out."""
    element = Element(tag(name))
    element.text = _FORBIDDEN.sub("", value)
    return element


def list_property(name: str, form: XmpForm, values: Iterable[str]) -> Element:
    """Return a property with a list of texts; that of an Alt is in the default language."""
    element = Element(tag(name))
    box = SubElement(element, tag(f"rdf:{form}"))
    for value in values:
        item = SubElement(box, tag("rdf:li"), {tag("xml:lang"): "x-default"} if form == _ALT else {})
        item.text = _FORBIDDEN.sub("", value)
    return element


def _listed(name: str, form: XmpForm, *values: str) -> list[Element]:
    return [list_property(name, form, values)] if any(values) else []


def _flag(name: str, value: bool) -> Iterator[Element]:
    yield from _texts({name: "1"} if name.startswith("fstop:") and value else {name: "True" if value else ""})


def _taken(values: Metadata) -> Iterator[Element]:
    """Yield the wall time, with its offset if it is known; a partly known date is that of the content alone."""
    local = values.taken_local
    if local is None:
        return
    if values.date_parts != DAY:
        written = f"{local.year:04}" if values.date_parts == YEAR else f"{local.year:04}-{local.month:02}"
        yield text_property("photoshop:DateCreated", written)
        return
    written = local.isoformat(timespec="microseconds" if local.microsecond else "seconds")
    if values.utc_offset is not None:
        hours, minutes = divmod(abs(values.utc_offset), 60)
        written += f"{'-' if values.utc_offset < 0 else '+'}{hours:02}:{minutes:02}"
    for name in ("exif:DateTimeOriginal", "photoshop:DateCreated"):
        yield text_property(name, written)


def _position(values: Metadata) -> Iterator[Element]:
    if values.lat is not None and values.lng is not None:
        yield text_property("exif:GPSLatitude", _degrees(values.lat, "NS"))
        yield text_property("exif:GPSLongitude", _degrees(values.lng, "EW"))


def _degrees(value: float, sides: str) -> str:
    """Return `47,22.123456N` (XMP part 2, GPSCoordinate)."""
    degrees, rest = divmod(round(abs(value) * 60_000_000), 60_000_000)
    return f"{degrees},{rest // 1_000_000}.{rest % 1_000_000:06}{sides[value < 0]}"


def _altitude(metres: int) -> Iterator[Element]:
    if metres:
        yield text_property("exif:GPSAltitude", f"{abs(metres)}/1")
        yield text_property("exif:GPSAltitudeRef", str(int(metres < 0)))


def _place(values: Metadata) -> Iterator[Element]:
    is_code = len(values.country) == 2
    yield from _texts({
        "photoshop:City": values.city,
        "photoshop:State": values.state,
        "photoshop:Country": "" if is_code else values.country,
        "Iptc4xmpCore:CountryCode": values.country.upper() if is_code else "",
    })  # fmt: skip


def _ratio(value: float) -> str:
    fraction = Fraction(str(value))
    return f"{fraction.numerator}/{fraction.denominator}" if value else ""


def _exposure(value: str) -> str:
    return value if "/" in value or not value else _ratio(float(value))


def _keywords(words: Sequence[str]) -> Iterator[Element]:
    """Yield the keywords, and the hierarchies whose levels they are."""
    if not words:
        return
    distinct = list(dict.fromkeys(words))
    known = {word.casefold() for word in distinct}
    # The reader adds each level of a path; other keywords with a slash are ordinary ones, such as km/h.
    paths = [word for word in distinct if PATH in word and known.issuperset(word.casefold().split(PATH))]
    levels = {level for path in paths for level in path.casefold().split(PATH)}
    plain = [word for word in distinct if word not in paths]
    yield list_property("dc:subject", _BAG, plain)
    if paths:
        yield list_property("lr:hierarchicalSubject", _BAG, [path.replace(PATH, "|") for path in paths])
    tags = [word for word in plain if PATH not in word and word.casefold() not in levels]
    yield from _listed("digiKam:TagsList", _SEQ, *paths, *tags)


def _people(regions: Sequence[Region], size: tuple[int, int]) -> Iterator[Element]:
    """Yield areas by the standards of the Metadata Working Group and Microsoft, and the names of all people."""
    areas = [region for region in regions if not region.is_whole]
    if areas:
        yield _working_group(areas, size)
    named = [region for region in areas if region.name and region.kind == "face"]
    if named:
        yield _microsoft(named)
    names = list(dict.fromkeys(region.name for region in regions if region.name))
    yield from _listed("Iptc4xmpExt:PersonInImage", _BAG, *names)


def _structure(parent: Element, name: str) -> Element:
    return SubElement(parent, tag(name), dict((_RESOURCE,)))


def _items(parent: Element, name: str, number: int) -> Iterator[Element]:
    box = SubElement(SubElement(parent, tag(name)), tag("rdf:Bag"))
    for _ in range(number):
        yield _structure(box, "rdf:li")


def _fill(parent: Element, fields: dict[str, str]) -> None:
    parent.extend(_texts(fields))


def _working_group(areas: Sequence[Region], size: tuple[int, int]) -> Element:
    """Return `mwg-rs:Regions`, whose areas are given by their centre."""
    element = Element(tag("mwg-rs:Regions"), dict((_RESOURCE,)))
    dimensions = _structure(element, "mwg-rs:AppliedToDimensions")
    _fill(dimensions, {"stDim:w": str(size[0]), "stDim:h": str(size[1]), "stDim:unit": "pixel"})
    for item, area in zip(_items(element, "mwg-rs:RegionList", len(areas)), areas, strict=True):
        _fill(item, {"mwg-rs:Name": area.name, "mwg-rs:Type": "Face" if area.kind == "face" else ""})
        centre = _structure(item, "mwg-rs:Area")
        sides = (area.x + area.w / 2, area.y + area.h / 2, area.w, area.h)
        _fill(centre, {f"stArea:{side}": _share(share) for side, share in zip("xywh", sides, strict=True)})
        _fill(centre, {"stArea:unit": "normalized"})
    return element


def _microsoft(areas: Sequence[Region]) -> Element:
    """Return `MP:RegionInfo`, whose areas are given by their top left corner."""
    element = Element(tag("MP:RegionInfo"), dict((_RESOURCE,)))
    for item, area in zip(_items(element, "MPRI:Regions", len(areas)), areas, strict=True):
        rectangle = ", ".join(map(_share, (area.x, area.y, area.w, area.h)))
        _fill(item, {"MPReg:PersonDisplayName": area.name, "MPReg:Rectangle": rectangle})
    return element


def _share(share: float) -> str:
    """Return a share of a side with seven decimals: half of the sixth decimal is exact."""
    return f"{share:.7f}".rstrip("0").rstrip(".")
