"""The metadata of a file, as one record for all containers and standards, and rules that merge several records.

Dates may be partial: people and some cameras write the year alone, or year and month. Cameras and lenses get the names
that their makers advertise.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from photosvc.core.geo import is_position
from photosvc.media.text import clean, is_plausible, keywords, parse_date, utc_of
from photosvc.records import limits

#: Bytes of a block of metadata; longer ones are left out.
MAX_BLOCK: Final = 1 << 21
#: Parts of a date that are known: year, month and day; year and month; the year alone.
DAY, MONTH, YEAR = 3, 2, 1
# `1954`, `2020-01`, and the notations of Exif and IPTC for unknown parts: `1954:00:00 00:00:00`, `20200100`.
_PARTIAL: Final = re.compile(r"\s*(\d{4})(?:[:\-/.]?(\d{2}|  )(?:[:\-/.]?(?:00|  ))?)?(?:[T :][0: ]*)?Z?\s*", re.ASCII)
#: Facts that belong together. A group comes as a whole from the first source that has its first fact; when no
#: source has that fact, from the first source that has its second fact, and so on.
_GROUPS: Final = (
    ("taken_local", "taken_utc", "utc_offset", "date_parts"),
    ("modified_local", "modified_offset"),
    ("lat", "lng", "altitude", "unfixed"),
    ("city", "country", "state"),
    ("camera_model", "camera_make"),
    ("lens_model", "lens_make"),
)
#: Texts that people write.
_WRITTEN: Final = frozenset(
    ("title", "description", "subject", "artist", "copyright", "license", "notes", "rating", "document_id")
)
#: No place is further from UTC than 14 hours; a camera's clock may be off a little.
FURTHEST: Final = timedelta(hours=15)
#: Wall time and satellite time closer than this are the same moment.
SAME_MOMENT: Final = timedelta(minutes=15)
#: Zones differ by multiples of half an hour, apart from a few of 45 minutes.
_ZONE_STEP: Final = timedelta(minutes=30)
_STEP_ERROR: Final = timedelta(minutes=5)
# Texts that cameras write into ImageDescription on their own: their name, or the name of the file.
_BOILERPLATE: Final = re.compile(
    r"(?:(?:olympus|sony|epson|minolta|konica|kodak|samsung|ricoh|panasonic) )?"
    r"(?:dsc|dsc picture|digital camera|digital still camera|dig ital camera|exif_jpeg_picture)"
    r"|(?:[a-z]:)?[\\/]?dcim[\\/].*"
    r"|[\w-]{1,24}\.(?:jpe?g|tiff?|dng|gpr)"
    r"|(?:dsc|img|dcp|hpim|im|p)[_-]?\d{4,8}",
    re.IGNORECASE | re.ASCII,
)
# Makers as written in Exif, case folded -> the name on the camera, where the two differ.
_MAKES: Final = {
    "eastman kodak": "Kodak",
    "hewlett-packard": "HP",
    "seiko epson": "Epson",
    "konica minolta camera": "Konica Minolta",
    "lg electronics": "LG",
    "samsung techwin": "Samsung",
    "olympus imaging": "OLYMPUS",
    "olympus optical": "OLYMPUS",
    "om digital solutions": "OM SYSTEM",
    "ricoh imaging": "RICOH",
    "leica camera": "Leica",
}
# Kind of camera, and the makes and models of that kind; the first match wins. The API names the kinds in `CameraType`.
_TYPES: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE | re.ASCII))
    for kind, pattern in (
        ("scanner", r".*scan(ner|jet|snap)?\b|epson (perfection|gt-|expression)|canon canoscan|plustek|hp officejet"),
        ("film", r"noritsu|.*\bsp-?(500|2000|3000)\b|.*\bfrontier|.*pakon"),
        ("360-degree", r"insta360|.*\btheta\b|.*gear 360|gopro (max|fusion)"),
        ("action", r"gopro|.*\bosmo action|.*\bhdr-as|.*\bfdr-x|yi action"),
        ("instant", r"polaroid (snap|z\d|pop|now)|.*\binstax"),
        ("tablet", r"apple ipad|samsung (sm-[tpx]\d|gt-[pn]\d)|.*\b(tab|pad) ?[a-z]?\d"),
        ("phone", r"apple iphone|samsung (sm-|gt-|galaxy|sgh-|sch-)|google (pixel|nexus)|motorola|huawei|honor|xiaomi"),
        ("phone", r"redmi|poco|oneplus|oppo|vivo|realme|nokia|htc|lg |lge |blackberry|nothing|fairphone|.*\bxperia"),
        ("video", r"sony (hdr-|fdr-|dcr-|hxr-|pxw-)|canon (vixia|legria|xa\d|mvx)|.*camcorder|panasonic hc-|jvc"),
        ("body", r"canon eos|nikon (d\d|z ?\d|z ?f|1 )|sony (ilce|ilca|slt|dslr|nex|zv-e)|pentax (k|\*ist)|hasselblad"),
        ("body", r"fujifilm (x-?[tehsa]\d|x-pro|gfx|finepix s\dpro)|panasonic (dc-g|dc-s|dmc-g|dmc-l)|olympus e-"),
        ("body", r"om system|leica (m|sl|s)|sigma (sd|fp|dp)|phase one|konica minolta (dynax|maxxum|alpha)"),
        ("compact", r"canon (powershot|ixus|digital ixus|ixy)|nikon (coolpix|e\d)|sony (dsc-|cybershot|fdmavica|zv-1)"),
        ("compact", r"fujifilm (finepix|x100|x\d|xf)|panasonic dmc-|olympus|kodak|casio|ricoh|hp |epson"),
        ("compact", r"minolta|samsung"),
    )
)
_COMPANY = re.compile(r"[\s,.]+(?:corporation|corp|company|co|ltd|inc|ag|gmbh)\b[\s.,]*", re.IGNORECASE)
_NO_LENS: Final = frozenset(("", "n/a", "none", "unknown", "----", "0.0 mm f/0.0", "0 mm f/0"))


class WrittenDate(NamedTuple):
    """A date as written; `local` is None when there is none."""

    local: datetime | None = None
    """Naive wall time; the first day of a month or year whose day is unknown."""
    offset: int | None = None
    """Minutes east of UTC; None when unknown."""
    parts: int = DAY
    """The part of the date that is known: `DAY`, `MONTH` or `YEAR`."""


def read_date(text: str, *, subseconds: str = "") -> WrittenDate:
    """Return the date of a text in the notation of Exif, XMP or IPTC, which may be partial.

    The result is empty if the date is impossible or implausible, see `parse_date`.
    """
    local, offset = parse_date(text, subseconds=subseconds)
    if local is not None:
        return WrittenDate(local, offset)
    match = _PARTIAL.fullmatch(text[:64])
    if match is None:
        return WrittenDate()
    month = int((match[2] or "").strip() or 0)
    try:
        first = datetime(int(match[1]), month or 1, 1)  # noqa: DTZ001 - wall time
    except ValueError:
        return WrittenDate()
    return WrittenDate(first, None, MONTH if month else YEAR) if is_plausible(first) else WrittenDate()


@dataclass(frozen=True, slots=True)
class Region:
    """A marked area: a name and a box relative to the upright picture (top left corner, 0 to 1)."""

    name: str
    kind: str
    """`face` or empty."""
    x: float
    y: float
    w: float
    h: float

    @property
    def is_whole(self) -> bool:
        """Return whether it is no area but a person somewhere in the picture."""
        return self == whole_picture(self.name)


def whole_picture(name: str) -> Region:
    """Return the region of a person of whom no area is known."""
    return Region(name, "", 0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata of one file. Every text is clean: without control characters, stripped, of limited length."""

    taken_local: datetime | None = None
    """Wall time at the camera, naive; only plausible years (1826 up to next year)."""
    taken_utc: datetime | None = None
    """Aware UTC time, from the creation time of a video or a GPS time stamp."""
    utc_offset: int | None = None
    """Minutes east of UTC at the camera (Exif OffsetTimeOriginal); None when unknown."""
    date_parts: int = DAY
    """The part of `taken_local` that is known: `DAY`, `MONTH` or `YEAR`."""
    modified_local: datetime | None = None
    """Naive wall time of the last change (Exif ModifyDate): the picture is not younger."""
    modified_offset: int | None = None
    camera_make: str = ""
    camera_model: str = ""
    camera_serial: str = ""
    lens_make: str = ""
    lens_model: str = ""
    iso: int = 0
    focal_length: int = 0
    """Millimetres, 35 mm equivalent preferred."""
    f_number: float = 0.0
    exposure: str = ""
    """Shutter time, `1/160` or `2.5` seconds."""
    lat: float | None = None
    """Decimal degrees; `lat` and `lng` are both set or both None."""
    lng: float | None = None
    altitude: int = 0
    """Metres."""
    unfixed: bool = False
    """True if the receiver had no fix: the position may belong to another place or day."""
    title: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    subject: str = ""
    artist: str = ""
    copyright: str = ""
    license: str = ""
    notes: str = ""
    software: str = ""
    rating: int = 0
    """Stars 0 to 5; -1 rejected."""
    document_id: str = ""
    content_id: str = ""
    """Identifier that the picture and the video of a Live Photo share."""
    burst_id: str = ""
    """Identifier that the pictures of a burst share."""
    instance_id: str = ""
    original_name: str = ""
    regions: tuple[Region, ...] = ()
    labels: tuple[str, ...] = ()
    """Marks of editors in words: colour labels, `Picked`, and the names of marked areas that show no person."""
    city: str = ""
    """City, state, and the name or code of the country, as people wrote them."""
    state: str = ""
    country: str = ""
    zone: str = ""
    """IANA name of the time zone, where a person chose it."""
    favorite: bool = False
    archived: bool = False
    """Archived, or in the trash."""
    private: bool = False
    scan: bool = False
    panorama: bool = False
    edited: bool = False
    """An editor holds adjustments that the file does not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """The unread blocks of metadata in a picture file; empty where the file has none."""

    exif: bytes = b""
    r"""A TIFF structure, with or without `Exif\0\0` before it."""
    xmp: bytes = b""
    more_xmp: bytes = b""
    """The extension of an XMP that does not fit into one block: a packet of its own."""
    iptc: bytes = b""
    """IPTC-IIM records."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Text chunks of a PNG, by keyword."""
    changed_utc: datetime | None = None
    """Naive UTC time of the last change."""


_UNSET: Final = Metadata()
_SINGLE: Final = tuple((item.name,) for item in fields(Metadata) if not any(item.name in group for group in _GROUPS))


def merge(sources: Sequence[Metadata], *, written: Sequence[Metadata] | None = None) -> Metadata:
    """Take each fact from the first source that has it, and all facts of a group from one source.

    Args:
        sources: at least one, the most trusted first.
        written: the same sources in another order of trust, for texts that people write.
    """
    stated = [source for source in sources if source != _UNSET]
    if len(stated) < 2:  # as in most files: there is nothing to choose from
        return stated[0] if stated else _UNSET
    merged: dict[str, Any] = {}
    for group in (*_GROUPS, *_SINGLE):
        order = sources if written is None or group[0] not in _WRITTEN else written
        if group[0] == "lat":
            order = sorted(order, key=lambda source: source.unfixed)
        owner = _owner(group, order)
        merged |= {name: getattr(owner, name) for name in group}
    return Metadata(**merged)


def _owner(group: Sequence[str], records: Sequence[Metadata]) -> Metadata:
    """Return the first record with the first fact of a group; without one, with its second fact, and so on."""
    for name in group:
        for record in records:
            if getattr(record, name) != getattr(_UNSET, name):
                return record
    return _UNSET


def merge_file(exif: Metadata, iptc: Metadata, xmp: Metadata) -> Metadata:
    """Merge the records of a file: Exif, XMP, IPTC in this order; for texts XMP, IPTC, Exif; keywords of all three.

    The last program that edited a text is right, and such programs write XMP.
    """
    merged = merge((exif, xmp, iptc), written=(xmp, iptc, exif))
    # The satellite clock is independent of the date: it is also right for a date of another source.
    taken_utc = merged.taken_utc or exif.taken_utc or xmp.taken_utc
    return replace(
        merged,
        keywords=keywords((*xmp.keywords, *iptc.keywords, *exif.keywords)),
        description="" if is_boilerplate(merged.description) else merged.description,
        taken_utc=_trusted_utc(taken_utc, merged),
    )


def is_boilerplate(description: str) -> bool:
    """Return whether a camera wrote this description on its own."""
    return _BOILERPLATE.fullmatch(description) is not None


def _trusted_utc(utc: datetime | None, metadata: Metadata) -> datetime | None:
    """Return the satellite time, or None when it belongs to another moment: receivers repeat their last fix.

    A satellite time may contradict the offset because the owner of the camera has not changed the offset on a journey.
    It counts if there is a position, and if it fits the wall time in another zone.
    """
    local = metadata.taken_local
    if utc is None or local is None:
        return utc
    if metadata.utc_offset is not None and abs(utc_of(local, metadata.utc_offset) - utc) < SAME_MOMENT:
        return utc
    difference = utc_of(local, 0) - utc
    from_step = (difference + _ZONE_STEP / 2) % _ZONE_STEP - _ZONE_STEP / 2
    fits = metadata.utc_offset is None or (
        metadata.lat is not None and not metadata.unfixed and abs(from_step) <= _STEP_ERROR
    )
    return utc if fits and abs(difference) <= FURTHEST else None


def valid_position(lat: float | None, lng: float | None) -> tuple[float, float] | tuple[None, None]:
    """Return the rounded pair if it lies on the globe, else None twice.

    It is None for 0, 0 too, which receivers without a fix write.
    """
    if lat is None or lng is None:
        return None, None
    if not is_position(lat, lng) or (lat == 0 and lng == 0):
        return None, None
    return round(lat, 6), round(lng, 6)


def valid_altitude(metres: float) -> int:
    """Return whole metres above sea level; 0 beyond 100 km."""
    return round(metres) if math.isfinite(metres) and abs(metres) <= limits.ALTITUDE else 0


def valid_rating(stars: float) -> int:
    """Return the whole number of stars, -1 for rejected; 0 for any other number."""
    return round(stars) if limits.LOWEST_RATING <= stars <= limits.HIGHEST_RATING else 0


def valid_iso(value: float) -> int:
    """Return the whole sensitivity; 0 beyond ten million."""
    return round(value) if 0 < value <= limits.ISO else 0


def valid_focal_length(millimetres: float) -> int:
    """Return whole millimetres; 0 beyond 100 m."""
    return round(millimetres) if 0 < millimetres <= limits.FOCAL_LENGTH else 0


def valid_f_number(value: float) -> float:
    """Return the aperture with two decimals; 0.0 beyond a thousand."""
    return round(value, 2) if 0 < value <= limits.F_NUMBER else 0.0


def make_name(written: str | bytes) -> str:
    """Return the maker without its legal form: `NIKON CORPORATION` is `NIKON`."""
    name = clean(written)
    while (shorter := _COMPANY.sub(" ", name).strip(" ,.")) != name and shorter:
        name = shorter
    return _MAKES.get(name.casefold(), name)


def model_name(written: str | bytes, make: str, written_make: str | bytes = b"") -> str:
    """Return the model without a leading maker: `Canon EOS RP` by `Canon` is `EOS RP`."""
    name = clean(written)
    for maker in (clean(written_make), make):
        if maker and name.casefold().startswith(maker.casefold() + " "):
            name = name[len(maker) + 1 :].lstrip()
    return name


def lens_name(written: str | bytes) -> str:
    """Return the lens as written, or an empty text for a placeholder that a camera without a lens writes."""
    name = clean(written)
    return "" if name.casefold() in _NO_LENS else name


def lens_of_range(limits: tuple[float | None, ...]) -> str:
    """Return a name made of the limits of a lens: `18-55mm f/3.5-5.6`; empty when a focal length is unknown.

    Args:
        limits: shortest and longest focal length, widest aperture at each (Exif 2.32, LensSpecification).
    """
    if len(limits) != 4 or not limits[0] or not limits[1]:
        return ""
    wide, tele = limits[2:]
    return clean(f"{_span(limits[0], limits[1])}mm" + (f" f/{_span(wide, tele or wide)}" if wide else ""))


def _span(low: float, high: float) -> str:
    return f"{round(low, 1):g}" if round(low, 1) == round(high, 1) else f"{round(low, 1):g}-{round(high, 1):g}"


def camera_type(make: str, model: str) -> str:
    """Return the kind of a camera (body, compact, phone, tablet, action, …); empty when unknown."""
    name = f"{make} {model}"
    return next((kind for kind, pattern in _TYPES if pattern.match(name)), "")
