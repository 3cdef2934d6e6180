"""A Google Takeout: its parts, unpacked apart or beside each other, are one tree of folders.

The JSON beside pictures is read as index runs read it; see `index.sidecar_names` for its names, and
`index.sidecar_values` for the values that give way to those of files. Pictures are known by their content.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.files import open_inside
from photosvc.core.problems import FileProblemError
from photosvc.core.vocabulary import META, XMP
from photosvc.exchange.imported import ImportedAlbum, ImportedArea, ImportedPhoto, Reader, Unreadable
from photosvc.index.extract import hash_of
from photosvc.index.scan import ScannedFile, Unreachable, scan_folders
from photosvc.index.sidecar_formats import MAX_JSON, SidecarKind, read_sidecar
from photosvc.index.sidecar_names import candidates, companions, confirms, is_read, key
from photosvc.index.takeout_parts import inside_takeout
from photosvc.library.import_folder import known_sizes
from photosvc.media.formats import may_have_pixels
from photosvc.media.metadata import Metadata
from photosvc.media.text import clean, clean_text
from photosvc.models import File, Photo
from photosvc.models.statements import among
from photosvc.records import limits

#: Photos that are compared with the library at a time.
_PORTION: Final = 100
#: Sources of values that Takeout does not replace, as in index runs; texts replace those of files.
_KEPT: Final = frozenset((META, XMP))
_NOTES: Final = "narrativeEnrichment"
_PLACES: Final = "locationEnrichment"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file of the tree."""

    root: Path
    name: str
    """Path relative to the root."""
    size: int


@dataclass(slots=True)
class _Picture:
    """A picture with its edited copies and the video of its live photo, wherever they lie."""

    key: str
    name: str
    metadata: Metadata | None = None
    hashes: list[str] = field(default_factory=list)


class TakeoutFolders(Reader):
    """The folders of a Takeout."""

    SOURCE = "takeout"

    def __init__(self, engine: Engine, roots: Sequence[Path], now: datetime) -> None:
        """Read the names of all files; `now` is the time at which archived photos are archived here.

        Raises:
            NotFoundError: a folder cannot be read, or none of them has JSON.
        """
        self._engine = engine
        self._now = now
        self._unreadable: list[Unreadable] = []
        self._folders: defaultdict[str, dict[str, _Entry]] = defaultdict(dict)
        """Folder in the tree -> name -> file; the first of several of one name."""
        for root in roots:
            if not root.is_dir():
                hint = ": unpack the archive first" if root.is_file() else ""
                raise NotFoundError(f"{root} is no folder{hint}", field="FOLDER")
            self._read_names(root)
        if not any(name.lower().endswith(".json") for names in self._folders.values() for name in names):
            listed = ", ".join(map(str, roots))
            raise NotFoundError(f"{listed}: there is no Takeout, with .json files beside pictures", field="FOLDER")
        self._albums: dict[str, ImportedAlbum] = {}
        self._pictures: dict[str, _Picture] = {}
        """Key of a picture, or the hash of one of its files -> the picture."""

    def _read_names(self, root: Path) -> None:
        for entries in scan_folders(root, ""):
            for entry in entries:
                if isinstance(entry, Unreachable):
                    self._unreadable.append(Unreadable(entry.name, entry.problem.sentence))
                elif isinstance(entry, ScannedFile):
                    folder, _, base = inside_takeout(entry.name).rpartition("/")
                    self._folders[folder].setdefault(base, _Entry(root, entry.name, entry.size))

    def count(self) -> int:
        """Return the number of files that are no sidecars."""
        return sum(not is_read(name) for names in self._folders.values() for name in names)

    def photos(self) -> Iterator[ImportedPhoto | Unreadable]:
        """Yield each picture once, with the values of its JSON that index runs would take."""
        yield from self._unreadable
        with Session(self._engine) as session:
            sizes = known_sizes(session)
        for folder in sorted(self._folders):
            yield from self._read_folder(folder, sizes)
        pictures = iter(list({id(picture): picture for picture in self._pictures.values()}.values()))
        while portion := list(islice(pictures, _PORTION)):
            here = self._here([content for picture in portion for content in picture.hashes])
            yield from (_photo(picture, here, self._now) for picture in portion)

    def albums(self) -> Iterator[ImportedAlbum]:
        """Yield the albums, each with the pictures in its folder."""
        yield from self._albums.values()

    def _read_folder(self, folder: str, sizes: set[int]) -> Iterator[Unreadable]:
        names = self._folders[folder]
        beside, records, album = companions(sorted(names)), {}, None
        for name, entry in names.items():
            if not name.lower().endswith(".json"):
                continue
            try:
                content = _read(entry)
                found = read_sidecar(content, "json")
            except (OSError, NotFoundError, FileProblemError):
                yield Unreadable(entry.name, "it cannot be read, or is no JSON")
                continue
            if found is not None and found.kind is SidecarKind.TAKEOUT:
                records[name] = found.metadata
            elif found is not None and found.kind is SidecarKind.ALBUM:
                album = _album(folder, found.metadata, content)
        members: dict[str, None] = {}
        owners: dict[str, str] = {}
        for name in sorted(names):
            if is_read(name) or not may_have_pixels(name):
                continue
            sidecar = _sidecar_of(name, beside.get(name, ()), records)
            picture = self._picture(names[name], name, owners.get(sidecar, ""), sizes)
            if sidecar:
                owners[sidecar] = picture.key
                if picture.metadata is None:
                    picture.metadata, picture.name = records[sidecar], records[sidecar].original_name or name
            members[picture.key] = None
        if album is not None:
            self._albums[folder] = _with_members(album, tuple(members))

    def _picture(self, entry: _Entry, name: str, owner: str, sizes: set[int]) -> _Picture:
        """Return the picture of a file; files with one sidecar, or equal content, are one picture."""
        content = _hash(entry) if entry.size in sizes else ""
        picture = self._pictures.get(content) or self._pictures.get(owner)
        if picture is None:
            own_key = content or f"{name}/{entry.size}"
            picture = self._pictures.setdefault(own_key, _Picture(own_key, name))
        if content and content not in picture.hashes:
            picture.hashes.append(content)
            self._pictures.setdefault(content, picture)
        return picture

    def _here(self, hashes: Sequence[str]) -> Mapping[str, Any]:
        """Return hash -> the columns of the photo here that decide which values it takes."""
        columns = (Photo.taken_src, Photo.place_src, Photo.description_src, Photo.original_name, Photo.name)
        with Session(self._engine) as session:
            query = select(File.hash, *columns).join(Photo, Photo.id == File.photo_id)
            return {row.hash: row for row in session.execute(query.where(among(session, File.hash, set(hashes))))}


def _read(entry: _Entry) -> bytes:
    with os.fdopen(open_inside(entry.root, entry.name), "rb") as file:
        return file.read(MAX_JSON + 1)


def _hash(entry: _Entry) -> str:
    """Return the SHA-1 of a file; empty if it cannot be read."""
    try:
        with os.fdopen(open_inside(entry.root, entry.name), "rb") as file:
            return hash_of(file)
    except (OSError, NotFoundError):
        return ""


def _sidecar_of(name: str, beside: Sequence[str], records: Mapping[str, Metadata]) -> str:
    """Return the name of the JSON of a picture; empty if there is none."""
    order = {candidate: rank for rank, candidate in enumerate(candidates(name))}
    own = [one for one in beside if one in records and confirms(name, one, records[one].original_name)]
    return min(own, key=lambda one: order.get(key(one), len(order)), default="")


def _photo(picture: _Picture, here: Mapping[str, Any], now: datetime) -> ImportedPhoto:
    metadata = picture.metadata or Metadata()
    photo = next((here[content] for content in picture.hashes if content in here), None)
    values: dict[str, dict[str, Any]] = {}
    if metadata.description and getattr(photo, "description_src", "") != XMP:
        values["description"] = {"description": metadata.description}
    if metadata.favorite:
        values["favorite"] = {"favorite": True}
    if metadata.archived:
        values["archived"] = {"archived_at": now}
    if metadata.taken_utc is not None and getattr(photo, "taken_src", "") not in _KEPT:
        values["time"] = {"taken_at": metadata.taken_utc}
    if metadata.lat is not None and getattr(photo, "place_src", "") not in _KEPT:
        values["position"] = {"lat": metadata.lat, "lng": metadata.lng, "altitude": metadata.altitude}
    return ImportedPhoto(
        key=picture.key,
        hashes=tuple(picture.hashes),
        file_name=picture.name,
        name=picture.name,
        values=values,
        people=tuple(ImportedArea(area) for area in metadata.regions),
    )


def _album(folder: str, metadata: Metadata, content: bytes) -> ImportedAlbum:
    """Return the album of a folder, with the texts and places that people added between its photos."""
    record: Any = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    record = record.get("albumData") if isinstance(record.get("albumData"), dict) else record
    given = record.get("enrichments")
    enrichments = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    notes = [_text(one.get(_NOTES), "text") for one in enrichments]
    places = [_text(one, "name") for held in enrichments for one in _listed(held.get(_PLACES), "location")]
    values = {
        "title": metadata.title,
        "description": metadata.description,
        "location": clean(_text(record, "location") or ", ".join(dict.fromkeys(filter(None, places))), limits.LINE),
        "notes": clean_text("\n".join(filter(None, notes)), limits.TEXT),
    }
    homeless = tuple(name for name, held in (("album comments", "sharedAlbumComments"),) if record.get(held))
    return ImportedAlbum(key=folder, values={name: value for name, value in values.items() if value}, homeless=homeless)


def _text(record: object, name: str) -> str:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def _listed(record: object, name: str) -> list[Any]:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, list) else []


def _with_members(album: ImportedAlbum, members: tuple[str, ...]) -> ImportedAlbum:
    return ImportedAlbum(album.key, album.values, members=members, homeless=album.homeless)
