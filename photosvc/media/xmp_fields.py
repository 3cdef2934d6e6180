"""The table of the properties of XMP from which each field of the metadata comes.

A field comes from the first of its properties that the packet has; programs that write XMP write that one. People and
areas are structures (`media.xmp_regions`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any, Final

from photosvc.core.times import is_zone
from photosvc.media import text
from photosvc.media.exif import exposure
from photosvc.media.metadata import (
    WrittenDate,
    is_boilerplate,
    lens_name,
    make_name,
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
from photosvc.media.xmp_tree import Properties
from photosvc.records import limits

#: People named in one line, such as authors.
_MOST_NAMES: Final = 16
#: Levels of a hierarchy of keywords.
_MOST_LEVELS: Final = 16
_NUMBER: Final = re.compile(r"\s*[+-]?\d{1,9}(?:\.\d{1,40})?\s*", re.ASCII)
_FRACTION: Final = re.compile(r"\s*(-?\d{1,12}(?:\.\d{1,12})?)(?:/(\d{1,12}))?\s*", re.ASCII)
#: First levels of the hierarchies that darktable and digiKam write for their own use.
_INTERNAL: Final = frozenset(("darktable", "_digikam_internal_tags_"))
#: The separators of levels of a hierarchy; every program but those that write `lr` uses slashes.
_LEVELS: Final = {"lr:hierarchicalSubject": re.compile(r"\|")}
_SLASHES: Final = re.compile(r"[/|]")
#: Between the levels of a path of keywords; a bar would mean "or" in searches.
PATH: Final = "/"
#: Colours by their number in darktable, and in digiKam.
_DARKTABLE: Final = ("Red", "Yellow", "Green", "Blue", "Purple")
_DIGIKAM: Final = ("", "Red", "Orange", "Yellow", "Green", "Blue", "Magenta", "Gray", "Black", "White")
#: The label of a picture that was picked in digiKam or Lightroom.
PICKED: Final = "Picked"
#: Values of the flags that reject (-1) or pick (1) a picture.
_PICKS: Final = (
    ("digiKam:PickLabel", {"1": -1, "3": 1}),
    ("xmpDM:pick", {"-1": -1, "1": 1}),
    ("xmpDM:good", {"false": -1, "true": 1}),
)


class XmpForm(StrEnum):
    """The written form of the values of a property."""

    TEXT = "text"
    ALT = "Alt"
    """One text in several languages."""
    BAG = "Bag"
    SEQ = "Seq"


@dataclass(frozen=True, slots=True)
class XmpField:
    """A row of the table: fields of the metadata, and the properties from which they are read."""

    fields: tuple[str, ...]
    """Fields of `Metadata` that are read together."""
    properties: tuple[str, ...]
    """In order of preference."""
    form: XmpForm
    """The form of the first property."""
    read: Callable[[Properties, Sequence[str]], Any]
    """Returns the value of the field, or a tuple of the values of several fields, from these properties."""


def read_fields(values: Properties, *names: str) -> dict[str, Any]:
    """Return the fields of `Metadata` that these properties give; all of the table, or those with these names."""
    found: dict[str, Any] = {}
    for row in FIELDS:
        if not names or row.fields[0] in names:
            value = row.read(values, row.properties)
            found |= zip(row.fields, value if len(row.fields) > 1 else (value,), strict=True)
    return found


def properties_of(*names: str) -> Iterator[str]:
    """Yield the properties of the rows whose first field is one of these."""
    for row in FIELDS:
        if row.fields[0] in names:
            yield from row.properties


def first(values: Properties, *names: str) -> str:
    """Return the first value of the first property in this order that exists, or an empty text."""
    return next((values[name][0] for name in names if name in values), "")


def _line(values: Properties, names: Sequence[str], limit: int = limits.LINE) -> str:
    return clean(first(values, *names), limit)


def _lines(values: Properties, names: Sequence[str]) -> str:
    return clean_text(first(values, *names))


def _description(values: Properties, names: Sequence[str]) -> str:
    own, *copies = names
    written = _lines(values, copies)  # cameras write their name into these
    return _lines(values, [own]) or ("" if is_boilerplate(written) else written)


def _people(values: Properties, names: Sequence[str]) -> str:
    return clean(", ".join(values.get(names[0], ())[:_MOST_NAMES]))


def _is_set(values: Properties, names: Sequence[str]) -> bool:
    return first(values, *names).strip().lower() in ("1", "true")


def _zone(values: Properties, names: Sequence[str]) -> str:
    zone = _line(values, names)
    return zone if is_zone(zone) else ""


def _date(values: Properties, names: Sequence[str]) -> WrittenDate:
    """Return the date of the first property in this order that has a date."""
    dates = (read_date(first(values, name)) for name in names)
    return next((date for date in dates if date.local is not None), WrittenDate())


def _satellite_time(values: Properties, names: Sequence[str]) -> datetime | None:
    moment, zone = parse_date(first(values, *names))
    return utc_of(moment, zone or 0) if moment is not None else None


def _position(values: Properties, names: Sequence[str]) -> tuple[float | None, float | None, bool]:
    """Return latitude and longitude, and whether the receiver had no fix."""
    # Apple writes positive degrees, and the hemisphere in a property of its own, as Exif does.
    lat_name, lng_name, lat_side, lng_side, status = names
    lat, lng = valid_position(
        parse_degrees(first(values, lat_name), first(values, lat_side).strip(), LATITUDE),
        parse_degrees(first(values, lng_name), first(values, lng_side).strip(), LONGITUDE),
    )
    return lat, lng, lat is not None and first(values, status).strip() == "V"


def _altitude(values: Properties, names: Sequence[str]) -> int:
    """Return the altitude in metres above sea level; 0 when unknown."""
    parts = _fraction(first(values, names[0]))
    if parts is None:
        return 0
    metres = parts[0] / parts[1]
    return valid_altitude(-metres if first(values, names[1]).strip() == "1" else metres)


def _camera(values: Properties, names: Sequence[str]) -> tuple[str, str]:
    """Return maker and model."""
    written = first(values, names[0])
    make = make_name(written)
    return make, model_name(first(values, names[1]), make, written)


def _fraction(written: str) -> tuple[int, int] | None:
    """Return numerator and denominator of `28/10`, `3` or `2.8`; None for anything else and a denominator of 0."""
    match = _FRACTION.fullmatch(written[:64])
    if match is None or not int(match[2] or 1):
        return None
    return (Fraction(match[1]) / int(match[2] or 1)).as_integer_ratio()


def _number(values: Properties, names: Sequence[str]) -> float:
    """Return the number of the first property in this order that is above 0, else 0.0."""
    parts = (_fraction(first(values, name)) for name in names)
    return next((top / bottom for top, bottom in filter(None, parts) if top > 0), 0.0)


def _pick(values: Properties) -> int:
    """Return 1 for a picked picture, -1 for a rejected one, 0 for one that is neither."""
    flags = (meaning.get(first(values, name).strip().lower(), 0) for name, meaning in _PICKS)
    return next(filter(None, flags), 0)


def _rating(values: Properties, names: Sequence[str]) -> int:
    """Return the stars, 0 to 5; -1 for rejected, whatever stars it has."""
    if _pick(values) < 0:
        return -1
    name = next((name for name in names if name in values), "")
    written = first(values, name)
    if not _NUMBER.fullmatch(written):
        return 0
    number = float(written)
    if name == "MicrosoftPhoto:Rating":  # 1, 25, 50, 75 and 99 per cent are one to five stars
        return valid_rating(1 + round(number / 25)) if number > 0 else 0
    return valid_rating(number)


def _labels(values: Properties, names: Sequence[str]) -> tuple[str, ...]:
    """Return colour labels in words, in those of the editor where it writes any, and `PICKED`."""
    words, colour, darktable, digikam = names[:4]
    written = first(values, words) or first(values, colour)
    return text.keywords((
        *([] if written.strip().lower() == "none" else [written]),
        *(_in_words(number, _DARKTABLE) for number in values.get(darktable, ())),
        _in_words(first(values, digikam), _DIGIKAM),
        PICKED if _pick(values) > 0 else "",
    ))  # fmt: skip


def _in_words(number: str, names: Sequence[str]) -> str:
    place = number.strip()
    return names[int(place)] if len(place) == 1 and place in "0123456789"[: len(names)] else ""


def _keywords(values: Properties, names: Sequence[str]) -> tuple[str, ...]:
    """Return the keywords, then the last level of each hierarchy, the other levels, and the paths of all levels."""
    subjects, *hierarchies = names
    words = values.get(subjects, ())
    # Writers that do not know bags write all keywords as one, separated by commas.
    flat = text.keywords(words, split=len(words) == 1)
    known = {word.casefold() for word in flat}
    paths = [
        path
        for name in hierarchies
        for written in values.get(name, ())
        if (path := _path(written, known if name not in _LEVELS else (), _LEVELS.get(name, _SLASHES)))
    ]
    shown = [path for path in paths if not _is_internal(path)]
    # darktable writes each level of its own tags as a keyword, too.
    hidden = {level.casefold() for path in paths if _is_internal(path) for level in path}
    hidden -= {level.casefold() for path in shown for level in path}
    whole = (PATH.join(path) for path in shown if len(path) > 1)
    return text.keywords((
        *(word for word in flat if word.casefold() not in hidden and not _is_internal(_SLASHES.split(word))),
        *(path[-1] for path in shown),
        *(level for path in shown for level in path),
        *(path for path in whole if len(path) <= limits.KEYWORD),
    ))  # fmt: skip


def _path(written: str, known: Sequence[str] | set[str], separator: re.Pattern[str]) -> list[str]:
    """Return the levels of a hierarchy, the highest first; a keyword that contains the separator has one level."""
    whole = clean(written, limits.TEXT)
    levels = [whole] if whole.casefold() in known else separator.split(whole, _MOST_LEVELS)[:_MOST_LEVELS]
    return [level for level in (clean(level, limits.KEYWORD) for level in levels) if level]


def _is_internal(path: Sequence[str]) -> bool:
    return len(path) > 1 and path[0].casefold() in _INTERNAL


def _place(values: Properties, names: Sequence[str]) -> tuple[str, str, str]:
    """Return city, state, and the code of the country or, without one of two letters, its name."""
    city, state, country, code = (clean(first(values, name)) for name in names)
    return city, state, code if len(code) == 2 or not country else country


_TEXT, _ALT, _BAG, _SEQ = XmpForm
_title = partial(_line, limit=limits.TITLE)
_short = partial(_line, limit=64)
FIELDS: Final = (
    XmpField(
        ("taken_local", "utc_offset", "date_parts"),
        ("exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate", "exif:DateTimeDigitized"),
        _TEXT, _date,
    ),
    XmpField(
        ("modified_local", "modified_offset"), ("xmp:ModifyDate", "tiff:DateTime"),
        _TEXT, lambda values, names: _date(values, names)[:2],
    ),
    XmpField(("taken_utc",), ("exif:GPSTimeStamp", "exif:GPSDateTime"), _TEXT, _satellite_time),
    XmpField(
        ("lat", "lng", "unfixed"),
        ("exif:GPSLatitude", "exif:GPSLongitude", "exif:GPSLatitudeRef", "exif:GPSLongitudeRef", "exif:GPSStatus"),
        _TEXT, _position,
    ),
    XmpField(("altitude",), ("exif:GPSAltitude", "exif:GPSAltitudeRef"), _TEXT, _altitude),
    XmpField(
        ("city", "state", "country"),
        ("photoshop:City", "photoshop:State", "photoshop:Country", "Iptc4xmpCore:CountryCode"),
        _TEXT, _place,
    ),
    XmpField(("camera_make", "camera_model"), ("tiff:Make", "tiff:Model"), _TEXT, _camera),
    XmpField(("camera_serial",), ("exifEX:BodySerialNumber", "aux:SerialNumber"), _TEXT, _line),
    XmpField(("lens_make",), ("exifEX:LensMake",), _TEXT, lambda values, names: make_name(first(values, *names))),
    XmpField(
        ("lens_model",), ("exifEX:LensModel", "aux:Lens"), _TEXT, lambda values, names: lens_name(first(values, *names))
    ),
    XmpField(
        ("iso",), ("exifEX:PhotographicSensitivity", "exif:ISOSpeedRatings"),
        _TEXT, lambda values, names: valid_iso(_number(values, names)),
    ),
    XmpField(
        ("focal_length",), ("exif:FocalLengthIn35mmFilm", "exif:FocalLength"),
        _TEXT, lambda values, names: valid_focal_length(_number(values, names)),
    ),
    XmpField(("f_number",), ("exif:FNumber",), _TEXT, lambda values, names: valid_f_number(_number(values, names))),
    XmpField(
        ("exposure",), ("exif:ExposureTime",), _TEXT, lambda values, names: exposure(_fraction(first(values, *names)))
    ),
    XmpField(("title",), ("dc:title", "photoshop:Headline", "acdsee:caption"), _ALT, _title),
    XmpField(("description",), ("dc:description", "tiff:ImageDescription"), _ALT, _description),
    XmpField(
        ("keywords",),
        ("dc:subject", "lr:hierarchicalSubject", "digiKam:TagsList", "MicrosoftPhoto:LastKeywordXMP"),
        _BAG, _keywords,
    ),
    XmpField(
        ("labels",),
        (
            "xmp:Label", "photoshop:LabelColor", "darktable:colorlabels", "digiKam:ColorLabel",
            *(name for name, _ in _PICKS),
        ),
        _TEXT, _labels,
    ),
    XmpField(
        ("rating",),
        ("xmp:Rating", "acdsee:rating", "MicrosoftPhoto:Rating", *(name for name, _ in _PICKS)),
        _TEXT, lambda values, names: _rating(values, names[:3]),
    ),
    XmpField(("favorite",), ("fstop:favorite",), _TEXT, _is_set),
    XmpField(("archived",), ("svc:Archived",), _TEXT, _is_set),
    XmpField(("private",), ("svc:Private",), _TEXT, _is_set),
    XmpField(("scan",), ("svc:Scan",), _TEXT, _is_set),
    XmpField(("panorama",), ("svc:Panorama",), _TEXT, _is_set),
    XmpField(("zone",), ("svc:TimeZone",), _TEXT, _zone),
    XmpField(("subject",), ("svc:Subject",), _TEXT, _line),
    XmpField(("artist",), ("dc:creator",), _SEQ, _people),
    XmpField(("copyright",), ("dc:rights",), _ALT, _line),
    XmpField(("license",), ("xmpRights:UsageTerms", "cc:license", "xmpRights:WebStatement"), _ALT, _line),
    XmpField(("notes",), ("exif:UserComment", "acdsee:notes"), _ALT, _lines),
    XmpField(("software",), ("xmp:CreatorTool", "tiff:Software"), _TEXT, _line),
    XmpField(("document_id",), ("xmpMM:OriginalDocumentID", "xmpMM:DocumentID"), _TEXT, _line),
    XmpField(("instance_id",), ("xmpMM:InstanceID",), _TEXT, _line),
    XmpField(("burst_id",), ("GCamera:BurstID",), _TEXT, _short),
    XmpField(("original_name",), ("xmpMM:PreservedFileName", "crs:RawFileName"), _TEXT, _line),
)  # fmt: skip
