"""The API of Immich: photos, stacks, people and albums of the account to which a key belongs.

Immich does not say who set a value. A date that is the time of the file is left out; all other values count as entered.
"""

import base64
import binascii
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import msgspec

from photosvc.core.files import clean_name
from photosvc.core.geo import is_position
from photosvc.core.times import UTC_ZONE, fixed_zone, is_zone
from photosvc.exchange.imported import (
    ImportedAlbum,
    ImportedArea,
    ImportedPerson,
    ImportedPhoto,
    ImportedStack,
    Reader,
    Unreadable,
    in_our_folder,
    levels_of,
)
from photosvc.exchange.remote import RemoteApi, RemoteError
from photosvc.index.file_columns import INT64
from photosvc.media.metadata import Region, whole_picture
from photosvc.media.text import clean, clean_text, parse_date, parse_offset
from photosvc.records import limits

#: Records of one answer, and answers of one list.
PAGE: Final = 250
_MOST_PAGES: Final = 100_000
#: Bytes of an album with all its photos.
_MOST_ALBUM: Final = 256 << 20
_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)
_ORDERS: Final = {"asc": "oldest", "desc": "newest"}
#: Answers to a key without the permission, and of versions without the list.
_REFUSALS: Final = (400, 403, 404)
_Record = TypeVar("_Record")


class _Face(msgspec.Struct, rename="camel"):
    bounding_box_x1: float = msgspec.field(name="boundingBoxX1")
    bounding_box_y1: float = msgspec.field(name="boundingBoxY1")
    bounding_box_x2: float = msgspec.field(name="boundingBoxX2")
    bounding_box_y2: float = msgspec.field(name="boundingBoxY2")
    image_width: float
    image_height: float


class _Owner(msgspec.Struct):
    id: str = ""
    name: str = ""


class _OwnedFace(_Face, kw_only=True):
    person: _Owner | None = None


class _Person(msgspec.Struct, rename="camel"):
    id: str
    name: str = ""
    birth_date: str | None = None
    is_hidden: bool = False
    is_favorite: bool = False
    faces: list[_Face] = []


class _Tag(msgspec.Struct):
    value: str = ""


class _Exif(msgspec.Struct, rename="camel"):
    description: str | None = None
    rating: float | None = None
    date_time_original: str | None = None
    time_zone: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    file_size_in_byte: int | None = None


class Asset(msgspec.Struct, rename="camel"):
    """A picture or video of Immich."""

    id: str
    checksum: str = ""
    original_file_name: str = ""
    original_path: str = ""
    file_modified_at: str | None = None
    local_date_time: str | None = None
    is_favorite: bool = False
    is_archived: bool = False
    is_trashed: bool = False
    visibility: str = ""
    live_photo_video_id: str | None = None
    library_id: str | None = None
    tags: list[_Tag] | msgspec.UnsetType | None = msgspec.UNSET
    people: list[_Person] | None = None
    exif_info: _Exif | None = None

    @property
    def hash(self) -> str:
        """Return the SHA-1 of its file in hexadecimal digits; empty if Immich has only that of its path."""
        if self.library_id is not None:
            return ""
        try:
            digest = base64.b64decode(self.checksum, validate=True)
        except (binascii.Error, ValueError):
            return ""
        return digest.hex() if len(digest) == 20 else ""

    @property
    def size(self) -> int:
        """Return the bytes of its file; 0 if they are unknown."""
        size = (self.exif_info.file_size_in_byte or 0) if self.exif_info else 0
        return size if 0 < size <= INT64 else 0

    @property
    def modified_at(self) -> datetime | None:
        """Return the time of the last change of its file."""
        moment, _ = parse_date(self.file_modified_at or "")
        return moment.replace(tzinfo=UTC) if moment else None

    @property
    def file_name(self) -> str:
        """Return the name of its file without folders; empty if it has none."""
        name = clean(self.original_file_name.replace("\\", "/").rpartition("/")[2])
        return "" if name in (".", "..") else name


class _Assets(msgspec.Struct, rename="camel"):
    items: list[msgspec.Raw]
    next_page: str | int | None = None


class _Found(msgspec.Struct):
    assets: _Assets


class _People(msgspec.Struct, rename="camel"):
    people: list[msgspec.Raw]
    has_next_page: bool = False


_Id: TypeAlias = Annotated[str, msgspec.Meta(pattern=rf"\A{_ID.pattern}\Z")]


class _Member(msgspec.Struct):
    id: _Id


class _Stack(msgspec.Struct, rename="camel"):
    primary_asset_id: _Id
    assets: list[_Member]


class _Listed(msgspec.Struct, rename="camel"):
    id: str
    album_name: str = ""
    description: str = ""
    order: str = ""
    album_thumbnail_asset_id: _Id | None = None


class _Album(_Listed, kw_only=True):
    assets: list[_Member]


@dataclass(slots=True)
class ImmichServer(Reader):
    """A server of Immich.

    Args:
        folders: absolute paths there, without the slash at the beginning, and the same folders below our originals.
        bring: called with the assets of each answer before they are yielded, as to download their originals.
    """

    SOURCE = "immich"

    api: RemoteApi
    folders: Sequence[tuple[str, str]] = ()
    bring: Callable[[Sequence[Asset]], Iterable[Unreadable]] | None = None

    def photos(self) -> Iterator[ImportedPhoto | Unreadable]:
        """Yield the photos of the timeline, then archived and locked ones."""
        has_tags = bool((yield from self._list("/tags", "tags", "tag.read")))
        seen: set[str] = set()
        for page in (page for visibility in ("timeline", "archive", "locked") for page in self._pages(visibility)):
            yield from (record for record in page if isinstance(record, Unreadable))
            found = {asset.id: asset for asset in page if isinstance(asset, Asset) and asset.id not in seen}
            seen |= found.keys()
            assets = [one for one in found.values() if not one.is_trashed and one.visibility != "hidden"]
            if self.bring is not None:
                yield from self.bring(assets)
            for asset in assets:
                try:
                    yield self._photo(self._whole(asset) if has_tags else asset)
                except RemoteError as error:  # it is gone meanwhile
                    if error.answer not in (400, 404):
                        raise
                    yield Unreadable(asset.file_name or asset.id, error.message)

    def stacks(self) -> Iterator[ImportedStack | Unreadable]:
        """Yield the stacks, the chosen photo first."""
        for raw in (yield from self._list("/stacks", "stacks", "stack.read")):
            stack = _decoded(raw, _Stack, "a stack")
            if isinstance(stack, Unreadable):
                yield stack
                continue
            keys = tuple(dict.fromkeys((stack.primary_asset_id, *(member.id for member in stack.assets))))
            if len(keys) > 1:
                yield ImportedStack(keys)

    def people(self) -> Iterator[ImportedPerson | Unreadable]:
        """Yield the named people that are favorites or hidden, or have a birth date."""
        for page in range(1, _MOST_PAGES):
            try:
                answer = self.api.get("/people", _People, {"withHidden": "true", "page": page, "size": PAGE})
            except RemoteError as error:
                if error.answer not in _REFUSALS:
                    raise
                yield Unreadable("people", f"not taken, as without the permission person.read ({error.message})")
                return
            for raw in answer.people:
                person = _decoded(raw, _Person, "a person")
                if isinstance(person, Unreadable):
                    yield person
                elif (name := clean(person.name)) and (person.is_favorite or person.is_hidden or person.birth_date):
                    yield ImportedPerson(
                        key=person.id,
                        name=name,
                        favorite=person.is_favorite,
                        hidden=person.is_hidden,
                        birth_date=_day(person.birth_date or ""),
                    )
            if not (answer.has_next_page and answer.people):
                return

    def albums(self) -> Iterator[ImportedAlbum | Unreadable]:
        """Yield the albums of the account and those that others share with it."""
        own = yield from self._list("/albums", "albums", "album.read")
        shared = yield from self._list("/albums?shared=true", "shared albums", "album.read")
        seen: set[str] = set()
        for raw in (*own, *shared):
            listed = _decoded(raw, _Listed, "an album")
            if isinstance(listed, Unreadable):
                yield listed
                continue
            if listed.id in seen:
                continue
            seen.add(listed.id)
            try:
                album = self.api.get(f"/albums/{listed.id}", _Album, most=_MOST_ALBUM)
            except RemoteError as error:
                if not error.answer:
                    raise
                yield Unreadable(clean(listed.album_name) or "an album", error.message)
                continue
            yield _album(album)

    def close(self) -> None:
        """Close the connection."""
        self.api.close()

    def _pages(self, visibility: str) -> Iterator[list[Asset | Unreadable]]:
        page = 1
        wanted = {"size": PAGE, "withExif": True, "withPeople": True, "withStacked": True, "visibility": visibility}
        for _ in range(_MOST_PAGES):
            try:
                answer = self.api.post("/search/metadata", _Found, {**wanted, "page": page}).assets
            except RemoteError as error:
                if visibility != "locked" or error.answer not in (401, *_REFUSALS):
                    raise
                yield [Unreadable("locked photos", "keys may not read them: take them out of the locked folder first")]
                return
            yield [_decoded(raw, Asset, "a photo") for raw in answer.items]
            following = str(answer.next_page or "")[:9]
            if not (answer.items and following.isascii() and following.isdigit() and int(following) > page):
                return
            page = int(following)

    def _list(self, path: str, name: str, permission: str) -> Generator[Unreadable, None, list[msgspec.Raw]]:
        """Return the records of a list; one that the key may not read is yielded as such, and empty."""
        try:
            return self.api.get(path, list[msgspec.Raw])
        except RemoteError as error:
            if error.answer not in _REFUSALS:
                raise
            yield Unreadable(name, f"not taken, as without the permission {permission} ({error.message})")
            return []

    def _whole(self, asset: Asset) -> Asset:
        """Return an asset with its tags, which not every version of Immich lists with the others."""
        return asset if asset.tags is not msgspec.UNSET else self.api.get(f"/assets/{asset.id}", Asset)

    def _photo(self, asset: Asset) -> ImportedPhoto:
        exif = asset.exif_info or _Exif()
        values: dict[str, dict[str, Any]] = {}
        if text := clean_text(exif.description or ""):
            values["description"] = {"description": text}
        if exif.rating and -1 <= (rating := round(exif.rating)) <= 5:
            values["rating"] = {"rating": rating}
        if asset.is_favorite:
            values["favorite"] = {"favorite": True}
        if asset.visibility == "locked":
            values["private"] = {"private": True}
        if asset.visibility == "archive" or asset.is_archived:
            values["archived"] = {"archived_at": self.api.clock()}
        lat, lng = exif.latitude, exif.longitude
        if lat is not None and lng is not None and is_position(lat, lng) and (lat, lng) != (0, 0):
            values["position"] = {"lat": lat, "lng": lng}
        local, _ = parse_date(asset.local_date_time or "")
        homeless = []
        if local is not None and _is_entered(exif, asset.modified_at):
            zone = _zone(exif.time_zone or "")
            values["time"] = _time(local, zone)
            if zone is None:
                homeless.append("time zone")
        tags = asset.tags or ()
        path, _, base = clean_name(asset.original_path.strip("/")).rpartition("/")
        is_mapped = any(not theirs or path == theirs or path.startswith(f"{theirs}/") for theirs, _ in self.folders)
        return ImportedPhoto(
            key=asset.id,
            hashes=(asset.hash,) if asset.hash else (),
            path=in_our_folder(path, self.folders) if is_mapped else "",
            name=base.rpartition(".")[0] if is_mapped else "",
            file_name=asset.file_name,
            size=asset.size,
            taken_local=local,
            values=values,
            keywords=tuple(dict.fromkeys(word for tag in tags for word in levels_of(tag.value))),
            people=tuple(self._people(asset)),
            homeless=tuple(homeless),
        )

    def _people(self, asset: Asset) -> Iterator[ImportedArea]:
        """Yield the named people; their areas are asked for if the list of photos has none."""
        named = {person.id: name for person in asset.people or () if (name := clean(person.name))}
        areas = [(person.id, face) for person in asset.people or () for face in person.faces if person.id in named]
        if named.keys() - {key for key, _ in areas}:
            with_owners = [(face.person.id, face) for face in self._faces(asset.id) if face.person]
            areas += [(key, face) for key, face in with_owners if key in named.keys() - {key for key, _ in areas}]
        regions = [(key, region) for key, face in areas if (region := _region(named[key], face))]
        for key, name in named.items():
            own = [region for owner, region in regions if owner == key] or [whole_picture(name)]
            yield from (ImportedArea(region, asset.hash) for region in own)

    def _faces(self, asset_id: str) -> list[_OwnedFace]:
        try:
            return self.api.get("/faces", list[_OwnedFace], {"id": asset_id})
        except RemoteError as error:
            if not error.answer:
                raise
            return []  # without the permission face.read, people have no areas


def _decoded(raw: msgspec.Raw, kind: type[_Record], name: str) -> _Record | Unreadable:
    """Return a record, if it has the expected form and all its IDs can stand in an address."""
    try:
        record = msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Unreadable(name, "not as expected from Immich")
    ids = (getattr(record, "id", "x"), getattr(record, "live_photo_video_id", None) or "x")
    return record if all(map(_ID.fullmatch, ids)) else Unreadable(name, "not as expected from Immich")


def _is_entered(exif: _Exif, modified_at: datetime | None) -> bool:
    """Return whether a photo has a date that is not the time of its file, which Immich takes for one without a date."""
    moment, _ = parse_date(exif.date_time_original or "")
    if moment is None:
        return False
    return modified_at is None or abs(moment.replace(tzinfo=UTC) - modified_at) >= timedelta(seconds=1)


def _time(local: datetime, zone: str | None) -> dict[str, Any]:
    """Return the values of an edit of the time, in whole seconds, as they are compared."""
    values = {"taken_at_local": local.replace(tzinfo=UTC, microsecond=0)}
    parts = {"year": local.year, "month": local.month, "day": local.day}
    return values | parts | ({"time_zone": zone} if zone else {})


def _zone(text: str) -> str | None:
    """Return the IANA name of a zone, also of `UTC+2`; empty if it is unknown, None if it has no name.

    Immich writes `UTC` for photos without a zone, too.
    """
    if text in ("", UTC_ZONE):
        return ""
    if is_zone(text):
        return text
    minutes = parse_offset(text)
    if minutes == 0:
        return ""
    return (fixed_zone(minutes) or None) if minutes is not None else None


def _day(text: str) -> date | None:
    """Return a date from the text of a date or time."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _region(name: str, face: _Face) -> Region | None:
    """Return the area of a face; None if it is no box inside the picture."""
    if face.image_width <= 0 or face.image_height <= 0:
        return None
    left, right = (min(max(x / face.image_width, 0.0), 1.0) for x in (face.bounding_box_x1, face.bounding_box_x2))
    top, bottom = (min(max(y / face.image_height, 0.0), 1.0) for y in (face.bounding_box_y1, face.bounding_box_y2))
    return Region(name, "face", left, top, right - left, bottom - top) if right > left and bottom > top else None


def _album(album: _Album) -> ImportedAlbum | Unreadable:
    title = clean(album.album_name, limits.TITLE)
    if not title:
        return Unreadable("an album", "it has no title")
    values = {"title": title, "description": clean_text(album.description), "order": _ORDERS.get(album.order, "")}
    return ImportedAlbum(
        key=album.id,
        values={name: value for name, value in values.items() if value},
        cover=album.album_thumbnail_asset_id or "",
        members=tuple(dict.fromkeys(member.id for member in album.assets)),
    )
