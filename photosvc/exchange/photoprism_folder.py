"""The storage folder of PhotoPrism: its records of photos in `sidecar`, and those of albums in `albums` or `backup`.

Only what a person entered is read; see `index.photoprism_yaml` for the records of photos.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from photosvc.core.files import clean_name
from photosvc.core.times import is_zone
from photosvc.exchange.imported import ImportedAlbum, ImportedPhoto, Reader, Unreadable, in_our_folder
from photosvc.index.photoprism_yaml import ENTERED, MAX_YAML, Tree, metadata_of, read_record, read_tree
from photosvc.media.metadata import DAY, YEAR, Metadata
from photosvc.media.text import clean, clean_text, parse_date
from photosvc.records import limits
from photosvc.records.edits import TYPES

#: Bytes of the record of an album; one of 100,000 photos has 7 MB.
_MAX_ALBUM: Final = 1 << 23
_ALBUM_UID: Final = re.compile(r"a[a-z0-9]{1,31}", re.ASCII)
_HASH: Final = re.compile(r"[0-9a-f]{40}", re.ASCII)
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_RECORDS: Final = ".yml"
#: Records of albums that a person made; folders, months, states and moments follow from the photos.
_MADE: Final = "album"


class PhotoprismFolder(Reader):
    """A storage folder of PhotoPrism."""

    SOURCE = "photoprism"

    def __init__(self, storage: Path, folders: Sequence[tuple[str, str]]) -> None:
        """Prepare reading.

        Args:
            storage: the folder.
            folders: as for `in_our_folder`.
        """
        old, backup = storage / "albums", storage / "backup" / "albums"
        self._sidecars = storage / "sidecar"
        self._albums = old if old.is_dir() else backup
        self._folders = folders

    @property
    def is_there(self) -> bool:
        """Return whether there is a folder with records."""
        return self._sidecars.is_dir() or self._albums.is_dir()

    def count(self) -> int:
        """Return the number of records of photos."""
        return sum(1 for _ in _records(self._sidecars))

    def photos(self) -> Iterator[ImportedPhoto | Unreadable]:
        """Yield the records of photos in the order of their paths."""
        for name in _records(self._sidecars):
            try:
                record = read_record(_content(self._sidecars / name, MAX_YAML))
            except (ValueError, OSError) as error:
                yield Unreadable(clean_name(f"sidecar/{name}"), _reason(error))
                continue
            if record is None:
                yield Unreadable(clean_name(f"sidecar/{name}"), "no record of a photo")
            else:
                path, _, base = clean_name(name.rpartition(".")[0]).rpartition("/")
                yield replace(_photo(record), path=in_our_folder(path, self._folders), name=base)

    def albums(self) -> Iterator[ImportedAlbum | Unreadable]:
        """Yield the records of albums that are not deleted and that a person made."""
        for name in _records(self._albums):
            try:
                record = read_tree(_content(self._albums / name, _MAX_ALBUM), _MAX_ALBUM)
            except (ValueError, OSError) as error:
                yield Unreadable(clean_name(f"albums/{name}"), _reason(error))
                continue
            album = _album(record)
            if album is None:
                yield Unreadable(clean_name(f"albums/{name}"), "no record of an album")
            elif record.get("Type") == _MADE and not record.get("DeletedAt"):
                yield album


def _records(folder: Path) -> Iterator[str]:
    """Yield the names of YAML files below a folder, sorted within each folder; no link is followed."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(folder / path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:  # it is gone, or is no folder
            continue
        waiting += [f"{path}{entry.name}/" for entry in reversed(found) if entry.is_dir(follow_symlinks=False)]
        yield from (f"{path}{entry.name}" for entry in found if entry.name.endswith(_RECORDS))


def _content(file: Path, most: int) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: it is a link, or cannot be read.
        ValueError: it is longer than `most` bytes.
    """
    with os.fdopen(os.open(file, _FLAGS), "rb") as opened:
        content = opened.read(most + 1)
    if len(content) > most:
        raise ValueError
    return content


def _reason(error: Exception) -> str:
    """Return why a record cannot be read."""
    return (error.strerror or "cannot be read") if isinstance(error, OSError) else "too long, or no YAML of PhotoPrism"


def _photo(record: Mapping[str, str]) -> ImportedPhoto:
    """Return the photo of a record, without its place."""
    metadata = metadata_of(record, ENTERED)
    names = ("title", "description", "subject", "notes", "artist", "copyright", "license", "favorite", "private")
    texts: dict[str, dict[str, object]] = {name: {name: value} for name in names if (value := getattr(metadata, name))}
    homeless = [name for name in ("Software",) if record.get(f"Details.{name}Src") in ENTERED]
    if record.get("Stack") == "-1":
        homeless.append("Stack")
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


def _album(record: Mapping[str, Tree]) -> ImportedAlbum | None:
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
