"""The storage folder of PhotoPrism: its records of photos in `sidecar`, and those of albums in `albums` or `backup`.

Only what a person entered is read; see `index.photoprism_yaml` for the records of photos.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from photosvc.core.files import clean_name, system_sentence
from photosvc.exchange.imported import (
    ImportedAlbum,
    ImportedLabel,
    ImportedPerson,
    ImportedPhoto,
    Reader,
    Unreadable,
    in_our_folder,
)
from photosvc.exchange.photoprism_records import MADE, album_of, photo_of
from photosvc.index.photoprism_yaml import MAX_YAML, read_record, read_tree

#: Bytes of the record of an album; one of 100,000 photos has 7 MB.
_MAX_ALBUM: Final = 1 << 23
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_RECORDS: Final = ".yml"


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
        return sum(1 for _ in _records(self._sidecars, "sidecar"))

    def photos(self) -> Iterator[ImportedPhoto | Unreadable]:
        """Yield the records of photos in the order of their paths."""
        for name in _records(self._sidecars, "sidecar"):
            if isinstance(name, Unreadable):
                yield name
                continue
            try:
                record = read_record(_content(self._sidecars / name, MAX_YAML))
            except (ValueError, OSError) as error:
                yield Unreadable(clean_name(f"sidecar/{name}"), _reason(error))
                continue
            if record is None:
                yield Unreadable(clean_name(f"sidecar/{name}"), "no record of a photo")
            else:
                path, _, base = clean_name(name.rpartition(".")[0]).rpartition("/")
                yield replace(photo_of(record), path=in_our_folder(path, self._folders), name=base)

    def albums(self) -> Iterator[ImportedAlbum | Unreadable]:
        """Yield the records of albums that are not deleted and that a person made."""
        for name in _records(self._albums, "albums"):
            if isinstance(name, Unreadable):
                yield name
                continue
            try:
                record = read_tree(_content(self._albums / name, _MAX_ALBUM), _MAX_ALBUM)
            except (ValueError, OSError) as error:
                yield Unreadable(clean_name(f"albums/{name}"), _reason(error))
                continue
            album = album_of(record)
            if album is None:
                yield Unreadable(clean_name(f"albums/{name}"), "no record of an album")
            elif record.get("Type") == MADE and not record.get("DeletedAt"):
                yield album


class WithFolder(Reader):
    """All that PhotoPrism knows, then the records of a storage folder that it lacks."""

    SOURCE = "photoprism"

    def __init__(self, whole: Reader, folder: PhotoprismFolder, has: Callable[[str], bool]) -> None:
        """Prepare reading; `has` returns whether `whole` has a photo with this UID."""
        self._whole = whole
        self._folder = folder
        self._has = has

    def count(self) -> int:
        """Return the number of photos that PhotoPrism knows."""
        return self._whole.count()

    def people(self) -> Iterator[ImportedPerson | Unreadable]:
        """Yield all people."""
        return self._whole.people()

    def labels(self) -> Iterator[ImportedLabel | Unreadable]:
        """Yield the favorite labels."""
        return self._whole.labels()

    def close(self) -> None:
        """Close connections and temporary files."""
        self._whole.close()

    def photos(self) -> Iterator[ImportedPhoto | Unreadable]:
        """Yield the photos."""
        yield from self._whole.photos()
        for photo in self._folder.photos():
            if isinstance(photo, Unreadable) or not self._has(photo.key):
                yield photo

    def albums(self) -> Iterator[ImportedAlbum | Unreadable]:
        """Yield the albums."""
        seen = set()
        for album in self._whole.albums():
            seen.add("" if isinstance(album, Unreadable) else album.key)
            yield album
        for album in self._folder.albums():
            if isinstance(album, Unreadable) or album.key not in seen:
                yield album


def _records(folder: Path, kind: str) -> Iterator[str | Unreadable]:
    """Yield the names of YAML files below a folder, sorted within each folder; no link is followed.

    A folder that cannot be read is one record, whose name begins with `kind`.
    """
    waiting = [""]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(folder / path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield Unreadable(clean_name(f"{kind}/{path}"), _reason(error))
            continue
        waiting += [f"{path}{entry.name}/" for entry in reversed(found) if entry.is_dir(follow_symlinks=False)]
        files = (entry for entry in found if not entry.is_dir(follow_symlinks=False))
        yield from (f"{path}{entry.name}" for entry in files if entry.name.endswith(_RECORDS))


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
    return system_sentence(error) if isinstance(error, OSError) else "too long, or no YAML of PhotoPrism"
