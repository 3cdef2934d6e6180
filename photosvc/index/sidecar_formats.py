"""The formats of sidecars: XMP, the JSON of Google Takeout and of ExifTool, and Apple's adjustments.

Google Takeout writes one JSON file for each picture, and one for each album. ExifTool's is that of `exiftool -json`,
with values in words or as numbers (`-n`), and names with or without groups (`-G`).
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, Final

import orjson

from photosvc.core.problems import FileProblemError, Reason
from photosvc.media import text
from photosvc.media.exif import exposure
from photosvc.media.metadata import (
    Metadata,
    Region,
    lens_name,
    make_name,
    model_name,
    valid_altitude,
    valid_f_number,
    valid_focal_length,
    valid_iso,
    valid_position,
    valid_rating,
)
from photosvc.media.text import (
    LATITUDE,
    LONGITUDE,
    clean,
    clean_text,
    is_plausible,
    parse_date,
    parse_degrees,
    parse_offset,
)
from photosvc.media.xmp import read_xmp_sidecar
from photosvc.media.xmp_tree import MAX_PACKET
from photosvc.records import limits

MOST_PEOPLE: Final = 256
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = re.compile(r"-?\d{1,12}", re.ASCII)
#: Takeout writes these into the JSON file of an album, in one of its two forms.
_OF_ALBUMS: Final = frozenset(("access", "date", "albumData"))
#: Folders that hold all pictures of a year are no albums. Takeout names them in the language of its owner: a word for
#: photos, one for "from" and the year, in any combination of the languages, or the year first. Titles of people have
#: other words, or none but a year and a noun.
_YEAR_FOLDER: Final = re.compile(
    r"(?:Photos|Fotos|Foto|Foto's|Fotografien|Bilder|Billeder|Foton|Valokuvat|Kuvat|Zdjęcia|Fotky|Fotografie"
    r"|Fotografije|Fotografii|Fotografies|Slike|Fényképek|Fotók|Фото|Фотографии|Фотографії|Світлини|Снимки"
    r"|Φωτογραφίες|Ảnh|صور)"
    r"(?: (?:from|von|aus|de|del|dal|da|di|uit|van|från|fra|vuodelta|z|roku|iz|din|za|за|з|от|από|το|từ|năm|من|-|–))"
    r"{1,2} \d{4}"
    r"|תמונות מ-?\d{4}"
    r"|\d{4} ?(?:年の写真|年のフォト|年的照片|年的相片|년의 사진|년 사진)"
)
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
#: Bytes of JSON, whose objects take much more memory than its text; that of a picture has a few kilobytes.
MAX_JSON: Final = 1 << 21
_APPLE: Final = re.compile(rb"<key>\s*adjustment(?:FormatIdentifier|Data)\s*</key>")


def read_takeout_picture(record: Mapping[str, Any]) -> Metadata | None:
    """Return the metadata of a picture; None when the record is not that of a picture.

    The title is the name of the file before Takeout cut it. Names of people come without areas: each is marked on the
    whole picture.
    """
    taken = record.get("photoTakenTime")
    if not isinstance(taken, dict):
        return None
    lat, lng, altitude = _position(record)
    people = dict.fromkeys(islice(_people(record), MOST_PEOPLE))
    return Metadata(
        taken_utc=_moment(taken),
        lat=lat,
        lng=lng,
        altitude=altitude,
        description=clean_text(_string(record, "description")),
        original_name=clean(_string(record, "title")),
        regions=tuple(Region(name, "", 0.0, 0.0, 1.0, 1.0) for name in people),
        favorite=record.get("favorited") is True,
        archived=record.get("archived") is True or record.get("trashed") is True,
    )


def read_takeout_album(record: Mapping[str, Any]) -> Metadata | None:
    """Return the title and description of an album; None when the record is not that of an album."""
    if not _OF_ALBUMS.intersection(record):
        return None
    inner = record.get("albumData")
    album = inner if isinstance(inner, dict) else record
    title = clean(_string(album, "title"), limits.TITLE)
    if not title or _YEAR_FOLDER.fullmatch(unicodedata.normalize("NFC", title).replace("’", "'")):
        return None
    return Metadata(title=title, description=clean_text(_string(album, "description")))


def _string(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _moment(taken: Mapping[str, Any]) -> datetime | None:
    """Return the time, which Takeout writes as text in seconds since 1970; 0 stands for an unknown time."""
    written = taken.get("timestamp")
    seconds = str(written) if isinstance(written, int | str) else ""
    if _SECONDS.fullmatch(seconds) and int(seconds) != 0:
        with suppress(OverflowError):
            moment = _EPOCH + timedelta(seconds=int(seconds))
            return moment if is_plausible(moment) else None
    return None


def _position(record: Mapping[str, Any]) -> tuple[float | None, float | None, int]:
    """Return the position that Google Photos shows, which people may have set, or else that of the file."""
    for name in ("geoData", "geoDataExif"):
        data = record.get(name)
        if not isinstance(data, dict):
            continue
        lat, lng = valid_position(_number(data.get("latitude")), _number(data.get("longitude")))
        if lat is not None:
            return lat, lng, valid_altitude(_number(data.get("altitude")) or 0.0)
    return None, None, 0


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _people(record: Mapping[str, Any]) -> Iterator[str]:
    people = record.get("people")
    for person in people if isinstance(people, list) else ():
        name = clean(_string(person, "name")) if isinstance(person, dict) else ""
        if name:
            yield name


class _Tags:
    """The tags of one record by their names without groups."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._values: dict[str, Any] = {}
        for name, value in islice(record.items(), MOST_TAGS):
            self._values.setdefault(name.rpartition(":")[2], value)

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return the texts of the first of these tags that has any. A list has one text for each item."""
        for name in names:
            value = self._values.get(name)
            listed = value[:_MOST_VALUES] if isinstance(value, list) else [value]
            if texts := tuple(filter(None, map(_exiftool_text, listed))):
                return texts
        return ()

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
    if "SourceFile" not in record and not any(name.endswith("ExifToolVersion") for name in islice(record, MOST_TAGS)):
        return None
    tags = _Tags(record)
    taken, offset = _taken(tags)
    lat, lng = valid_position(_degrees(tags, "GPSLatitude", LATITUDE), _degrees(tags, "GPSLongitude", LONGITUDE))
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
        iso=valid_iso(tags.number("ISO")),
        focal_length=valid_focal_length(tags.number("FocalLengthIn35mmFormat", "FocalLength")),
        f_number=valid_f_number(tags.number("FNumber", "Aperture")),
        exposure=_exposure(tags.text("ExposureTime", "ShutterSpeed")),
        lat=lat,
        lng=lng,
        altitude=_altitude(tags),
        title=clean(tags.text("Title", "ObjectName", "Headline"), limits.TITLE),
        description=clean_text(tags.text("Description", "Caption-Abstract", "ImageDescription")),
        keywords=text.keywords((*tags.texts("Subject"), *tags.texts("Keywords"))),
        subject=clean(", ".join(tags.texts("PersonInImage")[:16])),
        artist=clean(", ".join(tags.texts("Artist", "Creator", "By-line")[:16])),
        copyright=clean(tags.text("Copyright", "Rights", "CopyrightNotice")),
        license=clean(tags.text("License", "WebStatement")),
        notes=clean_text(tags.text("UserComment")),
        software=clean(tags.text("CreatorTool", "Software")),
        rating=valid_rating(tags.number("Rating")),
        label=clean(tags.text("Label"), limits.KEYWORD),
        document_id=clean(tags.text("OriginalDocumentID", "DocumentID")),
        original_name=clean(tags.text("PreservedFileName", "RawFileName")),
    )


def _exiftool_text(value: object) -> str:
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


#: Bytes of the largest sidecar that is read.
MAX_BYTES: Final = MAX_PACKET


class SidecarKind(StrEnum):
    """The kind of a sidecar: the program that wrote it, or its purpose."""

    XMP = "xmp"
    TAKEOUT = "takeout"
    ALBUM = "album"
    """The album of a folder of Google Takeout."""
    EXIFTOOL = "exiftool"
    APPLE = "apple"


@dataclass(frozen=True, slots=True)
class SidecarContent:
    """The content of one sidecar file."""

    kind: SidecarKind
    metadata: Metadata
    """For an album, only title and description."""


def read_sidecar(content: bytes, file_type: str) -> SidecarContent | None:
    """Return the content of a sidecar; None for a file that is not about a picture or an album.

    Args:
        content: the bytes, cut at `MAX_BYTES` + 1.
        file_type: `xmp`, `json` or `aae`; all others give None.

    Raises:
        FileProblemError: it is damaged or too large.
    """
    if file_type == "json":
        return _read_json(content)
    if file_type not in ("xmp", "aae"):
        return None
    if len(content) > MAX_BYTES:
        raise FileProblemError(Reason.BAD_SIDECAR)
    if file_type == "aae":
        if not (_APPLE.search(content) or content.startswith(b"bplist00")):
            raise FileProblemError(Reason.BAD_SIDECAR)
        return SidecarContent(SidecarKind.APPLE, Metadata(edited=True))
    metadata = read_xmp_sidecar(content)
    if metadata is None:
        raise FileProblemError(Reason.BAD_SIDECAR)
    return SidecarContent(SidecarKind.XMP, metadata)


def _read_json(content: bytes) -> SidecarContent | None:
    if len(content) > MAX_JSON:
        return None
    try:
        record: Any = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise FileProblemError(Reason.BAD_SIDECAR) from None
    if isinstance(record, list) and len(record) == 1:
        record = record[0]
    if not isinstance(record, dict):
        return None
    for kind, reader in (
        (SidecarKind.TAKEOUT, read_takeout_picture),
        (SidecarKind.ALBUM, read_takeout_album),
        (SidecarKind.EXIFTOOL, read_exiftool),
    ):
        if (metadata := reader(record)) is not None:
            return SidecarContent(kind, metadata)
    return None
