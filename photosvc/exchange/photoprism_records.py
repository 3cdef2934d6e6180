"""PhotoPrism's records of photos, albums and people, of which YAML, API and dump have the same names.

Only what a person entered is read; see `index.photoprism_yaml` for the values of photos.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import msgspec

from photosvc.core.files import clean_name
from photosvc.core.times import is_zone
from photosvc.exchange.imported import ImportedAlbum, ImportedArea, ImportedPerson, ImportedPhoto
from photosvc.index.photoprism_yaml import ENTERED, Tree, metadata_of
from photosvc.media.metadata import DAY, YEAR, Metadata, whole_picture
from photosvc.media.text import clean, clean_text, parse_date
from photosvc.media.text import keywords as clean_keywords
from photosvc.media.xmp_regions import region_within
from photosvc.records import limits
from photosvc.records.edits import TYPES

_ALBUM_UID: Final = re.compile(r"a[a-z0-9]{1,31}", re.ASCII)
_HASH: Final = re.compile(r"[0-9a-f]{40}", re.ASCII)
#: Type of the albums that a person made; folders, months, states and moments follow from the photos.
MADE: Final = "album"
#: The sources of the names on areas that a person gave.
_NAMED: Final = ENTERED | {"marker"}
#: The uncertainty of a label that a person took away.
_REMOVED: Final = 100
#: `file_root` of originals; the others are pictures that PhotoPrism made.
_ORIGINALS: Final = "/"


class MarkerRecord(msgspec.Struct, frozen=True):
    """A marked area of a file."""

    Type: str = ""
    Src: str = ""
    Name: str = ""
    SubjUID: str = ""
    SubjSrc: str = ""
    X: float = 0.0
    Y: float = 0.0
    W: float = 0.0
    H: float = 0.0
    Invalid: bool = False


class FileRecord(msgspec.Struct, frozen=True):
    """A file of a photo."""

    Hash: str = ""
    Root: str = _ORIGINALS
    Name: str = ""
    OriginalName: str = ""
    Size: int = 0
    Primary: bool = False
    Orientation: int = 0
    OrientationSrc: str = ""
    Markers: list[MarkerRecord] | None = None


class LabelRecord(msgspec.Struct, frozen=True):
    """A label."""

    UID: str = ""
    Name: str = ""
    Favorite: bool = False


class PhotoLabelRecord(msgspec.Struct, frozen=True):
    """A label of a photo."""

    LabelSrc: str = ""
    Uncertainty: int = 0
    Label: LabelRecord = LabelRecord()


class SubjectRecord(msgspec.Struct, frozen=True):
    """A person."""

    UID: str = ""
    Name: str = ""
    Alias: str = ""
    About: str = ""
    Bio: str = ""
    Notes: str = ""
    Favorite: bool = False
    Hidden: bool = False
    ThumbSrc: str = ""


def person_of(record: SubjectRecord) -> ImportedPerson:
    """Return a person, of whom the name is kept here."""
    texts = {"alias": record.Alias, "about": record.About or record.Bio, "notes": record.Notes}
    homeless = [f"person {name}" for name, text in texts.items() if text]
    return ImportedPerson(
        key=record.UID,
        name=clean(record.Name, limits.NAME),
        favorite=record.Favorite,
        hidden=record.Hidden,
        homeless=(*homeless, *(["person cover"] if record.ThumbSrc in ENTERED else [])),
    )


def with_files(
    photo: ImportedPhoto, files: Iterable[FileRecord], labels: Iterable[PhotoLabelRecord], names: Mapping[str, str]
) -> ImportedPhoto:
    """Return a photo with what its files, their areas and its labels say.

    Args:
        names: the names of people by their UIDs.
    """
    every = sorted(files, key=lambda file: not file.Primary)
    originals = [file for file in every if file.Root == _ORIGINALS]
    people, recognised = [], False
    for file in every:
        for marker in file.Markers or ():
            name = clean(names.get(marker.SubjUID, "") or marker.Name, limits.NAME)
            if marker.Invalid or not name or marker.Type not in ("face", ""):
                continue
            if marker.SubjSrc not in _NAMED and marker.Src not in ENTERED:
                recognised = True
                continue
            area = region_within(name, "face", (marker.X, marker.Y, marker.W, marker.H)) or whole_picture(name)
            people.append(ImportedArea(area, file.Hash.lower()))
    turned = {
        file.Hash.lower(): file.Orientation
        for file in originals
        if file.OrientationSrc in ENTERED and 1 <= file.Orientation <= 8 and _HASH.fullmatch(file.Hash.lower())
    }
    chosen = [one.Label.Name for one in labels if one.LabelSrc in ENTERED and one.Uncertainty < _REMOVED]
    shown = next(iter(originals), FileRecord())
    path, _, name = clean_name(shown.Name).rpartition("/")
    return replace(
        photo,
        hashes=tuple(digest for file in originals if _HASH.fullmatch(digest := file.Hash.lower())),
        path=path or photo.path,
        name=name.rpartition(".")[0] or photo.name,
        file_name=clean_name(shown.OriginalName).rpartition("/")[2] or name,
        size=shown.Size,
        keywords=clean_keywords((*photo.keywords, *chosen)),
        people=tuple(people),
        orientations=turned,
        homeless=(*photo.homeless, *(["recognised people"] if recognised else [])),
    )


def photo_of(record: Mapping[str, str]) -> ImportedPhoto:
    """Return the photo of a record, without its place."""
    metadata = metadata_of(record, ENTERED)
    names = ("title", "description", "subject", "notes", "artist", "copyright", "license", "favorite", "private")
    texts: dict[str, dict[str, object]] = {name: {name: value} for name in names if (value := getattr(metadata, name))}
    homeless = [name for name in ("Software",) if record.get(f"Details.{name}Src") in ENTERED]
    if record.get("Stack") == "-1":
        texts["stack"] = {"stack": -1}
    if record.get("TypeSrc") in ENTERED:
        if record.get("Type") in TYPES:
            texts["type"] = {"type": record["Type"]}
        else:
            homeless.append("Type")
    if metadata.taken_local is not None:
        texts["time"] = _time(metadata, metadata.taken_local, record.get("TimeZone", ""))
    if metadata.lat is not None:
        texts["position"] = {"lat": metadata.lat, "lng": metadata.lng, "altitude": metadata.altitude}
    archived, _ = parse_date(record.get("DeletedAt", ""))
    if archived is not None:
        texts["archived"] = {"archived_at": archived.replace(tzinfo=UTC)}
    edited, _ = parse_date(record.get("EditedAt", ""))
    return ImportedPhoto(
        key=record["UID"],
        taken_local=parse_date(record.get("TakenAtLocal", ""))[0],
        values=texts,
        keywords=metadata.keywords,
        edited_at=edited.replace(tzinfo=UTC) if edited else None,
        homeless=tuple(homeless),
    )


def _time(metadata: Metadata, local: datetime, zone: str) -> dict[str, object]:
    """Return the values of an edit: wall time, its known parts, and the zone if it is known."""
    parts: dict[str, object] = {"year": local.year, "month": local.month, "day": local.day}
    if metadata.date_parts != DAY:
        parts |= {"day": -1} | ({"month": -1} if metadata.date_parts == YEAR else {})
    elif metadata.utc_offset is not None and zone and is_zone(zone):
        parts |= {"time_zone": zone}
    return {"taken_at_local": local.replace(tzinfo=UTC), **parts}


def album_of(record: Mapping[str, Tree]) -> ImportedAlbum | None:
    """Return the album of a record; None if it is no record of an album with a title."""

    def text(name: str) -> str:
        value = record.get(name)
        return value if isinstance(value, str) else ""

    title = clean(text("Title"), limits.TITLE)
    if not (_ALBUM_UID.fullmatch(text("UID")) and title and text("Type")):
        return None
    values: dict[str, object] = {
        "title": title,
        "description": clean_text(text("Caption") or text("Description"))[: limits.TEXT],
        "category": clean(text("Category"))[: limits.LINE],
        "location": clean(text("Location"))[: limits.LINE],
        "notes": clean_text(text("Notes"))[: limits.TEXT],
        "filter": clean(text("Filter"))[: limits.TEXT],
        "order": text("Order"),
        "favorite": text("Favorite") == "true",
        "private": text("Private") == "true",
    }
    cover = text("Thumb").lower() if text("ThumbSrc") in ENTERED else ""
    photos = record.get("Photos")
    return ImportedAlbum(
        key=text("UID"),
        values={name: value for name, value in values.items() if value},
        cover=cover if _HASH.fullmatch(cover) else "",
        members=_members(photos if isinstance(photos, list) else ()),
    )


def _members(photos: Collection[Tree]) -> tuple[str, ...]:
    """Return the UIDs of the photos that are shown in an album, in their order by hand, then of their arrival."""
    shown = []
    for photo in photos:
        if not isinstance(photo, dict) or "true" in (photo.get("Hidden"), photo.get("Missing")):
            continue
        uid, order, added = (str(photo.get(name, "")) for name in ("UID", "Order", "CreatedAt"))
        number = int(order) if re.fullmatch(r"-?[0-9]{1,9}", order, re.ASCII) else 0
        shown.append((number, added, uid))
    return tuple(dict.fromkeys(uid for _, _, uid in sorted(shown)))
