"""A running PhotoPrism, asked by its API: photos with people and labels, favorites of people and labels, and albums."""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import msgspec

from photosvc.core.clock import Clock
from photosvc.exchange.imported import (
    ImportedAlbum,
    ImportedLabel,
    ImportedPerson,
    ImportedPhoto,
    Reader,
    Unreadable,
    in_our_folder,
)
from photosvc.exchange.photoprism_records import (
    FileRecord,
    LabelRecord,
    PhotoLabelRecord,
    SubjectRecord,
    album_of,
    person_of,
    photo_of,
    with_files,
)
from photosvc.exchange.remote import RemoteApi, RemoteError
from photosvc.index.photoprism_yaml import Tree, is_photo, texts_of
from photosvc.media.text import clean
from photosvc.records import limits

#: Records of one answer, and the most answers for one list.
_PAGE: Final = 500
_MOST_PAGES: Final = 20_000
#: Every photo: those in searches of any quality, then those that these leave out.
_LISTS: Final[tuple[dict[str, str], ...]] = ({}, {"archived": "true"}, {"hidden": "true"}, {"private": "true"})
_UID: Final = re.compile(r"[a-z][a-z0-9]{1,31}", re.ASCII)
_Record = TypeVar("_Record")


class _Listed(msgspec.Struct, frozen=True):
    UID: str = ""


class _Related(msgspec.Struct, frozen=True):
    Files: list[FileRecord] | None = None
    Labels: list[PhotoLabelRecord] | None = None


class PhotoprismApi(Reader):
    """A running PhotoPrism."""

    SOURCE = "photoprism"

    def __init__(self, address: str, token: str, clock: Clock, folders: Sequence[tuple[str, str]]) -> None:
        """Prepare reading.

        Args:
            address: of PhotoPrism's page.
            token: an access token of an account that sees all photos.
            folders: as for `in_our_folder`.

        Raises:
            InvalidValueError: the address is not valid.
        """
        self._api = RemoteApi(address, {"X-Auth-Token": token}, clock)
        self._folders = folders
        self._subjects: dict[str, SubjectRecord] = {}
        self._listed: sqlite3.Connection | None = None
        self._unreadable: list[Unreadable] = []

    def count(self) -> int:
        """List all photos, and return their number."""
        if self._listed is None:
            self._listed = sqlite3.connect("")  # a temporary file
            self._listed.execute("CREATE TABLE photos (number INTEGER PRIMARY KEY, uid TEXT UNIQUE)")
            for which in _LISTS:
                for listed in self._pages("photos", _Listed, {"merged": "true", "quality": "0", **which}):
                    if isinstance(listed, Unreadable):
                        self._unreadable.append(listed)
                    else:
                        self._listed.execute("INSERT OR IGNORE INTO photos (uid) VALUES (?)", (listed.UID,))
        number: int = self._listed.execute("SELECT count(*) FROM photos").fetchone()[0]
        return number

    def photos(self) -> Iterator[ImportedPhoto | Unreadable]:
        """Yield the photos, each asked for by itself: lists have no people and labels."""
        for hidden in ({}, {"hidden": "yes"}):
            subjects = self._pages("subjects", SubjectRecord, {"type": "person", **hidden})
            self._subjects |= {one.UID: one for one in subjects if isinstance(one, SubjectRecord)}
        names = {uid: subject.Name for uid, subject in self._subjects.items()}
        self.count()
        yield from self._unreadable
        if self._listed is not None:
            for (uid,) in self._listed.execute("SELECT uid FROM photos ORDER BY number"):
                yield self._photo(uid, names)

    def people(self) -> Iterator[ImportedPerson | Unreadable]:
        """Yield all people."""
        for subject in self._subjects.values():
            if clean(subject.Name):
                yield person_of(subject)

    def labels(self) -> Iterator[ImportedLabel | Unreadable]:
        """Yield the favorite labels."""
        for label in self._pages("labels", LabelRecord, {"all": "true"}):
            if isinstance(label, Unreadable):
                yield label
            elif label.Favorite and (name := clean(label.Name, limits.KEYWORD)):
                yield ImportedLabel(key=label.UID, name=name)

    def albums(self) -> Iterator[ImportedAlbum | Unreadable]:
        """Yield the albums that a person made, with their photos in the order in which PhotoPrism shows them."""
        for record in self._pages("albums", dict[str, Any], {"type": "album"}):
            if isinstance(record, Unreadable):
                yield record
                continue
            album = album_of(_as_texts(record))
            if album is None:
                yield Unreadable(f"album {record.get('UID')!s:.40}", "no record of an album")
                continue
            members: dict[str, None] = {}
            if not album.values.get("filter"):
                order = {"order": str(album.values["order"])} if album.values.get("order") else {}
                photos = self._pages("photos", _Listed, {"s": album.key, "merged": "true", **order})
                members = {one.UID: None for one in photos if isinstance(one, _Listed)}
            yield replace(album, members=tuple(members))

    def has(self, uid: str) -> bool:
        """Return whether it lists this photo."""
        self.count()
        query = "SELECT 1 FROM photos WHERE uid = ?"
        return self._listed is not None and bool(self._listed.execute(query, (uid,)).fetchone())

    def close(self) -> None:
        """Close the connection, and forget the list of photos."""
        self._api.close()
        if self._listed is not None:
            self._listed.close()

    def _photo(self, uid: str, names: Mapping[str, str]) -> ImportedPhoto | Unreadable:
        try:
            record = self._api.get(f"/api/v1/photos/{uid}", dict[str, Any])
        except RemoteError as error:
            if error.answer != 404:  # it was deleted meanwhile
                raise
            return Unreadable(f"photo {uid}", "it is gone")
        try:
            related = msgspec.convert(record, type=_Related, strict=False)
            texts = texts_of(_as_texts(record))
        except (msgspec.ValidationError, ValueError, RecursionError):
            return Unreadable(f"photo {uid}", "no record of a photo")
        if not is_photo(texts) or texts["UID"] != uid:
            return Unreadable(f"photo {uid}", "no record of a photo")
        photo = with_files(photo_of(texts), related.Files or (), related.Labels or (), names)
        return replace(photo, path=in_our_folder(photo.path, self._folders))

    def _pages(self, name: str, kind: type[_Record], parameters: Mapping[str, str]) -> Iterator[_Record | Unreadable]:
        """Yield the records of a list, until an answer has none that is new."""
        last: set[str] = set()
        for number in range(_MOST_PAGES):
            page: dict[str, str | int] = {"count": _PAGE, "offset": number * _PAGE, **parameters}
            uids: set[str] = set()
            for raw in self._api.get(f"/api/v1/{name}", list[msgspec.Raw], page):
                try:
                    listed = msgspec.json.decode(raw, type=_Listed)
                    record = msgspec.json.decode(raw, type=kind, strict=False)
                except (msgspec.MsgspecError, ValueError, RecursionError):
                    yield Unreadable(f"{name}: record {number * _PAGE + len(uids) + 1}", "not as PhotoPrism writes it")
                    continue
                if not _UID.fullmatch(listed.UID):
                    yield Unreadable(f"{name}: record {number * _PAGE + len(uids) + 1}", "no UID of PhotoPrism")
                    continue
                uids.add(listed.UID)
                if listed.UID not in last:
                    yield record
            if uids <= last:
                return
            last = uids


def _as_texts(value: Mapping[str, Any]) -> dict[str, Tree]:
    """Return the texts of a JSON object, and those of objects in it, as YAML has them."""
    texts: dict[str, Tree] = {}
    for name, one in value.items():
        if isinstance(one, dict):
            texts[name] = {key: _text(inner) for key, inner in one.items() if not isinstance(inner, dict | list)}
        elif not isinstance(one, list):
            texts[name] = _text(one)
    return texts


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else ""
    return "" if value is None else str(value)
