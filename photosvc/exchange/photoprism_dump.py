"""A dump of PhotoPrism's database: all that its API says, without a running server."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from photosvc.core.errors import InvalidValueError, NotFoundError
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
    MADE,
    FileRecord,
    LabelRecord,
    MarkerRecord,
    PhotoLabelRecord,
    SubjectRecord,
    album_of,
    person_of,
    photo_of,
    with_files,
)
from photosvc.exchange.sql_dump import DumpSyntaxError, read_rows
from photosvc.index.photoprism_yaml import Tree, is_photo
from photosvc.media.text import clean
from photosvc.records import limits

#: Table -> the beginning of its own columns, and the column by which its rows are looked up.
_TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "photos": ("photo_", "ID"),
    "details": ("", "PhotoID"),
    "files": ("file_", "PhotoUID"),
    "markers": ("marker_", "FileUID"),
    "subjects": ("subj_", "UID"),
    "labels": ("label_", "ID"),
    "photos_labels": ("", "PhotoID"),
    "albums": ("album_", "UID"),
    "photos_albums": ("", "AlbumUID"),
}
#: The most characters of a value that is read; vectors of faces are longer.
_MOST: Final = 1 << 14
#: Values that are true or false.
_FLAGS: Final = frozenset(("Favorite", "Private", "Scan", "Panorama", "Hidden", "Missing"))
_UID: Final = re.compile(r"[a-z][a-z0-9]{1,31}", re.ASCII)
_Record = TypeVar("_Record")


class PhotoprismDump(Reader):
    """A dump of PhotoPrism's database, copied into a temporary table."""

    SOURCE = "photoprism"

    def __init__(self, dump: Path, folders: Sequence[tuple[str, str]]) -> None:
        """Read the dump.

        Args:
            folders: as for `in_our_folder`.

        Raises:
            NotFoundError: there is no such file.
            InvalidValueError: it cannot be read, or is no dump of PhotoPrism.
        """
        if not dump.is_file():
            raise NotFoundError(f"There is no file {dump}.", field="dump")
        self._folders = folders
        self._rows = sqlite3.connect("", isolation_level=None)  # a temporary file
        self._rows.execute("CREATE TABLE rows (kind TEXT, key TEXT, data BLOB)")
        self._rows.execute("BEGIN")
        try:
            with dump.open(encoding="utf-8", errors="replace") as file:
                self._rows.executemany("INSERT INTO rows VALUES (?, ?, ?)", _kept(read_rows(file, _TABLES)))
        except OSError as error:
            self.close()
            raise InvalidValueError(f"{dump} cannot be read: {error.strerror}.", field="dump") from None
        except DumpSyntaxError:
            self.close()
            raise InvalidValueError(f"{dump} is no SQL dump of a database, or is cut off.", field="dump") from None
        self._rows.execute("CREATE INDEX by_key ON rows (kind, key)")
        self._rows.execute("CREATE TABLE uids (uid TEXT PRIMARY KEY) WITHOUT ROWID")
        self._rows.execute("COMMIT")
        if not self.count():
            self.close()
            raise InvalidValueError(f"{dump} has no photos of PhotoPrism.", field="dump")
        self._names = {one.UID: one.Name for one in self._all("subjects", SubjectRecord) if one.UID}

    def count(self) -> int:
        """Return the number of photos."""
        number: int = self._rows.execute("SELECT count(*) FROM rows WHERE kind = 'photos'").fetchone()[0]
        return number

    def photos(self) -> Iterator[ImportedPhoto | Unreadable]:
        """Yield the photos."""
        for (data,) in self._rows.execute("SELECT data FROM rows WHERE kind = 'photos' ORDER BY rowid"):
            texts: dict[str, str] = _shown(msgspec.json.decode(data))
            if not is_photo(texts):
                yield Unreadable(f"photo {texts.get('UID', '')[:40]}", "no record of a photo")
                continue
            self._rows.execute("INSERT OR IGNORE INTO uids VALUES (?)", (texts["UID"],))
            number = texts.pop("ID", "")
            for details in self._with_key("details", number):
                texts |= {f"Details.{name}": value for name, value in details.items()}
            files = [
                msgspec.structs.replace(file, Markers=list(self._convert("markers", uid, MarkerRecord)))
                for uid, file in self._files(texts["UID"])
            ]
            photo = with_files(photo_of(texts), files, self._labels(number), self._names)
            yield replace(photo, path=in_our_folder(photo.path, self._folders))

    def people(self) -> Iterator[ImportedPerson | Unreadable]:
        """Yield all people."""
        for subject in self._all("subjects", SubjectRecord):
            if _UID.fullmatch(subject.UID) and clean(subject.Name):
                yield person_of(subject)

    def labels(self) -> Iterator[ImportedLabel | Unreadable]:
        """Yield the favorite labels."""
        for label in self._all("labels", LabelRecord):
            name = clean(label.Name, limits.KEYWORD)
            if label.Favorite and name and _UID.fullmatch(label.UID):
                yield ImportedLabel(key=label.UID, name=name)

    def albums(self) -> Iterator[ImportedAlbum | Unreadable]:
        """Yield the albums that a person made."""
        for (data,) in self._rows.execute("SELECT data FROM rows WHERE kind = 'albums' ORDER BY rowid"):
            record: dict[str, Tree] = dict(_shown(msgspec.json.decode(data)))
            if record.get("Type") != MADE or record.get("DeletedAt"):
                continue
            members = (_shown(one) for one in self._with_key("photos_albums", str(record.get("UID"))))
            record["Photos"] = [{**one, "UID": one.get("PhotoUID", "")} for one in members]
            album = album_of(record)
            yield album or Unreadable(f"album {record.get('UID')!s:.40}", "no record of an album")

    def has(self, uid: str) -> bool:
        """Return whether this photo was read."""
        return bool(self._rows.execute("SELECT 1 FROM uids WHERE uid = ?", (uid,)).fetchone())

    def close(self) -> None:
        """Forget the copy."""
        self._rows.close()

    def _files(self, photo_uid: str) -> Iterator[tuple[str, FileRecord]]:
        for row in self._with_key("files", photo_uid):
            if "DeletedAt" not in row:
                for file in _converted(row, FileRecord):
                    yield row.get("UID", ""), file

    def _labels(self, photo_id: str) -> Iterator[PhotoLabelRecord]:
        for row in self._with_key("photos_labels", photo_id):
            for label in self._convert("labels", row.get("LabelID", ""), LabelRecord):
                for chosen in _converted(row, PhotoLabelRecord):
                    yield msgspec.structs.replace(chosen, Label=label)

    def _with_key(self, kind: str, key: str) -> Iterator[dict[str, str]]:
        query = "SELECT data FROM rows WHERE kind = ? AND key = ? ORDER BY rowid"
        for (data,) in self._rows.execute(query, (kind, key)).fetchall() if key else ():
            yield msgspec.json.decode(data)

    def _convert(self, kind: str, key: str, record: type[_Record]) -> Iterator[_Record]:
        for row in self._with_key(kind, key):
            yield from _converted(row, record)

    def _all(self, kind: str, record: type[_Record]) -> Iterator[_Record]:
        for (data,) in self._rows.execute("SELECT data FROM rows WHERE kind = ? ORDER BY rowid", (kind,)):
            yield from _converted(msgspec.json.decode(data), record)


def _kept(rows: Iterable[tuple[str, dict[str, str]]]) -> Iterator[tuple[str, str, bytes]]:
    """Yield table, key and values of each row, by the names that these have in YAML and at the API."""
    for table, row in rows:
        prefix, key = _TABLES[table]
        values = {_wire(name.removeprefix(prefix)): value for name, value in row.items() if len(value) <= _MOST}
        yield table, values.get(key, ""), msgspec.json.encode(values)


def _wire(column: str) -> str:
    return "".join(part.upper() if part in ("uid", "id") else part.capitalize() for part in column.split("_"))


def _shown(row: Mapping[str, str]) -> dict[str, str]:
    """Return the values of a row as YAML has them."""
    return {name: ("true" if value == "1" else "") if name in _FLAGS else value for name, value in row.items()}


def _converted(row: Mapping[str, str], record: type[_Record]) -> Iterator[_Record]:
    """Yield the record of a row, if it is one."""
    try:
        yield msgspec.convert(row, type=record, strict=False)
    except msgspec.ValidationError:
        return
