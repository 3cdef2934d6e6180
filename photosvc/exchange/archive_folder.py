"""A folder with an open archive as it is read: nothing in it is trusted, and no link in it is followed.

Records are read only if their digests are those of the manifest; a file is read only if the manifest lists it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import msgspec

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.files import clean_name, disk_name, open_inside
from photosvc.exchange.archive_export import MANIFEST, listed
from photosvc.exchange.archive_records import FORMAT
from photosvc.exchange.archive_schema import (
    AlbumRecord,
    Changed,
    ChangeRecord,
    LabelRecord,
    PersonRecord,
    PhotoRecord,
    TrashedRecord,
)
from photosvc.index.exclusions import is_hidden
from photosvc.index.scan import MAX_DEPTH, STAGING_FOLDER, is_too_long

#: Bytes of a line; the record of a photo with all that it may have is shorter.
_MOST_LINE: Final = 1 << 23
#: Bytes of a list, such as that of the albums, which is read whole.
_MOST_LIST: Final = 1 << 28
#: Bytes of the first line of the format.
_MOST_HEAD: Final = 200
_PIECE: Final = 1 << 20
PHOTOS, HISTORY = "photos.jsonl", "history.jsonl"
_LISTS: Final = {
    "albums.json": AlbumRecord, "people.json": PersonRecord, "labels.json": LabelRecord, "trash.json": TrashedRecord,
}  # fmt: skip
_REQUIRED: Final = (PHOTOS, HISTORY, "albums.json", "people.json", "labels.json")
_PHOTO: Final = msgspec.json.Decoder(PhotoRecord)
_CHANGE: Final = msgspec.json.Decoder(ChangeRecord)
_CHANGED: Final = msgspec.json.Decoder(Changed)
_RAW: Final[msgspec.json.Decoder[list[msgspec.Raw]]] = msgspec.json.Decoder(list[msgspec.Raw])
Record = TypeVar("Record")


class _Values(msgspec.Struct):
    """The values of a change, not decoded yet."""

    Before: msgspec.Raw
    After: msgspec.Raw

    def values(self) -> tuple[msgspec.Raw, msgspec.Raw]:
        """Return both."""
        return self.Before, self.After


_VALUES: Final = msgspec.json.Decoder(_Values)


#: The reason to refuse a file with another content than the archive states.
DAMAGED: Final = "it is damaged: its content is another one"


class DamagedFileError(Exception):
    """A file of the archive is missing, or is not the one that the manifest lists; the text says why."""


def require(condition: bool, why: str) -> None:
    """Raise `DamagedFileError` with this reason unless the condition is true."""
    if not condition:
        raise DamagedFileError(why)


class ArchiveFolder:
    """An archive.

    Raises:
        NotFoundError: the folder is none, or an unfinished one.
        InvalidValueError: it has another format, or a list of files that is not valid.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            with self._opened(FORMAT.name) as file:
                head = file.readline(_MOST_HEAD)
        except DamagedFileError:
            raise NotFoundError(
                f"{folder} is no archive of photosvc: it has no {FORMAT.name}", field="FOLDER"
            ) from None
        known = FORMAT.content.partition("\n")[0]
        if head.strip() != known.encode():
            found = clean_name(head.decode(errors="replace").strip())[:60]
            msg = f"{FORMAT.name} says {found!r}: this photosvc reads {known!r}; a newer one may read the archive"
            raise InvalidValueError(msg, field="FOLDER")
        if not (folder / MANIFEST).is_file():
            raise NotFoundError(f"the archive in {folder} is unfinished: export it again", field="FOLDER")
        self.digests = dict(listed(folder / MANIFEST))
        """Name of a file, as on disk -> its SHA-256."""

    def check(self) -> None:
        """Compare the digests of all records.

        Raises:
            InvalidValueError: a record is missing or changed.
        """
        for name in (*_REQUIRED, *(name for name in _LISTS if name not in _REQUIRED and name in self.digests)):
            try:
                with self.opened(name) as file:
                    digest = sha256()
                    while piece := file.read(_PIECE):
                        digest.update(piece)
                require(digest.hexdigest() == self.digests[name], DAMAGED)
            except DamagedFileError as error:
                msg = f"{name}: {error}; nothing was imported. `svc export archive` writes the archive anew"
                raise InvalidValueError(msg, field="FOLDER") from None

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """Open a file that the manifest lists, by its name on disk.

        Raises:
            DamagedFileError: it is not listed, not there, or no regular file.
        """
        require(name in self.digests, f"{MANIFEST} does not list it")
        with self._opened(name) as file:
            yield file

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        try:
            descriptor = open_inside(self.folder, clean_name(name))
        except (OSError, NotFoundError, UnicodeEncodeError):
            raise DamagedFileError("it is missing, or a link leads to it") from None
        with os.fdopen(descriptor, "rb") as file:
            require(stat.S_ISREG(os.fstat(descriptor).st_mode), "it is no regular file")
            yield file

    def photos(self) -> Iterator[Any]:
        """Yield the records of photos, a `PhotoRecord` each.

        Raises:
            InvalidValueError: a line is too long, or no record of a photo.
        """
        for number, line in self._lines(PHOTOS):
            record = _decoded(_PHOTO, line, f"{PHOTOS}, line {number}")
            for file in record.files:
                if not is_name(file.Name, missing=file.Missing):
                    raise _invalid(f"{PHOTOS}, line {number}", f"{file.Name[:100]!r} is no name of a file")
            yield record

    def changes(self) -> Iterator[ChangeRecord]:
        """Yield the changes of the history; as `photos`."""
        for number, line in self._lines(HISTORY):
            where = f"{HISTORY}, line {number}"
            change, values = _decoded(_CHANGE, line, where), _decoded(_VALUES, line, where)
            for side in values.values():
                _decoded(_CHANGED, side, where)
            if change.Undoes is not None and change.Undoes >= number:
                raise _invalid(where, f"it undoes line {change.Undoes}, which is no earlier one")
            yield change

    def listed(self, name: str) -> Iterator[Any]:
        """Yield the records of a list, such as `albums.json`.

        Raises:
            InvalidValueError: it is too long, or no such list.
        """
        if name not in self.digests:
            return
        with self.opened(name) as file:
            content = file.read(_MOST_LIST + 1)
        if len(content) > _MOST_LIST:
            raise _invalid(name, f"it has more than {_MOST_LIST >> 20} MiB")
        decoder = msgspec.json.Decoder(_LISTS[name])
        records: list[msgspec.Raw] = _decoded(_RAW, content, name)
        for number, raw in enumerate(records, 1):
            yield _decoded(decoder, raw, f"{name}, record {number}")

    def _lines(self, name: str) -> Iterator[tuple[int, bytes]]:
        with self.opened(name) as file:
            number = 0
            while line := file.readline(_MOST_LINE + 1):
                number += 1
                if len(line) > _MOST_LINE:
                    raise _invalid(f"{name}, line {number}", f"it has more than {_MOST_LINE >> 20} MiB")
                yield number, line


def is_name(name: str, *, missing: bool) -> bool:
    """Return whether an original may have this name; that of a missing one may be in the folder of the service."""
    try:
        disk = disk_name(name)
        is_clean = clean_name(disk) == name and "\0" not in disk
    except UnicodeEncodeError:
        return False
    parts = disk.split("/")
    if not is_clean or any(part in ("", ".", "..") for part in parts) or len(parts) > MAX_DEPTH:
        return False
    if missing and name.startswith(f"{STAGING_FOLDER}/"):
        return True
    return not is_hidden(name) and not is_too_long(name)


def _decoded(decoder: "msgspec.json.Decoder[Record]", content: bytes | msgspec.Raw, where: str) -> Record:
    try:
        return decoder.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _invalid(where, str(error)[:300]) from None


def _invalid(where: str, why: str) -> InvalidValueError:
    return InvalidValueError(f"{where}: {why}; nothing was imported", field="FOLDER")
