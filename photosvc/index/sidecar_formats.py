"""The formats of sidecars: XMP, PhotoPrism's YAML, the JSON of Google Takeout and ExifTool, Apple's adjustments.

Google Takeout writes one JSON file for each picture, and one for each album.
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
from photosvc.index.exiftool_json import read_exiftool
from photosvc.index.photoprism_yaml import read_photoprism
from photosvc.media.metadata import Metadata, valid_altitude, valid_position, whole_picture
from photosvc.media.text import clean, clean_text, is_plausible
from photosvc.media.xmp import read_xmp_sidecar
from photosvc.media.xmp_packet import written_by
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
        regions=tuple(map(whole_picture, people)),
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


#: Bytes of the largest sidecar that is read.
MAX_BYTES: Final = MAX_PACKET


class SidecarKind(StrEnum):
    """The kind of a sidecar: the program that wrote it, or its purpose."""

    XMP = "xmp"
    TAKEOUT = "takeout"
    ALBUM = "album"
    """The album of a folder of Google Takeout."""
    PHOTOPRISM = "photoprism"
    EXIFTOOL = "exiftool"
    APPLE = "apple"


@dataclass(frozen=True, slots=True)
class SidecarContent:
    """The content of one sidecar file."""

    kind: SidecarKind
    metadata: Metadata
    """For an album, only title and description."""
    library: str = ""
    """The library that wrote a part of it, see `media.xmp_packet`; empty if it is not known."""
    others: Metadata = Metadata()
    """The metadata without what people entered in that library."""


def read_sidecar(content: bytes, file_type: str) -> SidecarContent | None:
    """Return the content of a sidecar; None for a file that is not about a picture or an album.

    Args:
        content: the bytes, cut at `MAX_BYTES` + 1.
        file_type: `xmp`, `json`, `yml` or `aae`; all others give None.

    Raises:
        FileProblemError: it is damaged or too large.
    """
    if file_type == "json":
        return _read_json(content)
    if file_type == "yml":
        return _read_yaml(content)
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
    return SidecarContent(SidecarKind.XMP, metadata, *written_by(content))


def _read_yaml(content: bytes) -> SidecarContent | None:
    try:
        metadata = read_photoprism(content)
    except ValueError:
        raise FileProblemError(Reason.BAD_SIDECAR) from None
    return None if metadata is None else SidecarContent(SidecarKind.PHOTOPRISM, metadata)


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
