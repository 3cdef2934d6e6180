"""New files that nothing in the library or in their batch is related to: most files of a first run.

Each becomes a photo of its own at once. The others go through the session: they move, replace, repeat or complete what
is there, have sidecars, or may share a photo with other files.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.index.describing.compose import split_name
from photosvc.index.describing.file_columns import write_extraction
from photosvc.index.extract import READER_VERSION, Extraction
from photosvc.index.scanning.scan import FoundFile
from photosvc.index.sidecars.folders import Folders
from photosvc.index.stacking.keys import keys_of
from photosvc.index.storing.stored_files import StoredFiles
from photosvc.models import ORIGINALS_ROOT, File, Photo, StackKey, photo_keywords
from photosvc.models.database.among import among
from photosvc.models.database.plain import insert_of, insert_plain, next_ids, plain
from photosvc.models.database.prepared import run_many

_CHUNK: Final = 500
_INSERT_WORDS: Final = insert(photo_keywords)


class NewFiles:
    """Finds such files in a batch, makes their photos as plain objects, and inserts these when they are described."""

    def __init__(self, session: Session, folders: Folders, kinds: Collection[str], now: datetime) -> None:
        self._session = session
        self._folders = folders
        self._kinds = kinds
        self._now = now
        self._keys: dict[str, frozenset[int]] = {}
        self._alone: set[str] = set()
        self.photos: list[Photo] = []
        """The photos made so far."""
        self.extractions: dict[str, Extraction] = {}
        """Those of their files, by name, as `read_extraction` gives them."""
        self.photo_ids: Iterator[int] = iter(())
        """Ids for all new photos of the batch, in the order of its files: those that this inserts come last."""
        self.file_ids: Iterator[int] = iter(())

    def load(self, batch: Sequence[tuple[FoundFile, Extraction]], files: StoredFiles) -> None:
        """Find out which files of the batch are alone."""
        media = {found.name: one for found, one in batch if one.media_type != "sidecar"}
        self._keys = {name: keys_of(name, one, self._kinds) for name, one in media.items()}
        hashes = Counter(one.hash for one in media.values())
        counts = Counter(chain.from_iterable(self._keys.values()))
        shared = {key for key, count in counts.items() if count > 1} | self._stored(counts)
        new = [name for name in media if files.named(name) is None]
        count = len({media[name].hash for name in new if not files.with_content(media[name].hash)})
        self.photo_ids = next_ids(self._session, Photo, count)
        self.file_ids = next_ids(self._session, File, count)
        if len(media) == len(batch):  # a sidecar may belong to files of its batch
            self._alone = {
                name
                for name in new
                if hashes[media[name].hash] == 1
                and not files.with_content(media[name].hash)
                and shared.isdisjoint(self._keys[name])
                and not self._folders.companions(name)
            }

    def _stored(self, keys: Iterable[int]) -> set[int]:
        """Those of the keys that files of the library have."""
        every = iter(keys)
        found: set[int] = set()
        connection = self._session.connection()
        while some := list(islice(every, _CHUNK)):
            stored = select(StackKey.key).where(among(self._session, StackKey.key, some))
            found.update(connection.execute(stored).scalars())
        return found

    def __contains__(self, found: FoundFile) -> bool:
        """Whether the file becomes a photo of its own at once."""
        return found.name in self._alone

    def add(self, found: FoundFile, extraction: Extraction) -> Photo:
        """A photo of this file alone, to be described before it is inserted."""
        path, name, _ = split_name(found.name)
        times = {"created_at": self._now, "updated_at": self._now}
        uid = ids.new_uid(ids.PHOTO, self._now)
        photo = plain(Photo, id=next(self.photo_ids), uid=uid, path=path, name=name, keywords=[], files=[], **times)
        file = plain(
            File,
            id=next(self.file_ids),
            uid=ids.new_uid(ids.FILE, self._now),
            root=ORIGINALS_ROOT,
            name=found.name,
            photo=photo,
            photo_id=photo.id,
            markers=[],
            reader_version=READER_VERSION,
            **times,
        )
        self.extractions[found.name] = write_extraction(file, extraction)
        file.size, file.mtime_ns = found.size, found.mtime_ns
        photo.files.append(file)
        self.photos.append(photo)
        return photo

    def insert(self) -> None:
        """Insert the described photos with their files; what they refer to is flushed."""
        for photo in self.photos:
            photo.camera_id, photo.lens_id, photo.place_id = photo.camera.id, photo.lens.id, photo.place.id
        files = [file for photo in self.photos for file in photo.files]
        insert_plain(self._session, Photo, self.photos)
        insert_plain(self._session, File, files)
        connection = self._session.connection()
        keys = [{"key": key, "file_id": file.id} for file in files for key in self._keys[file.name]]
        run_many(connection, insert_of(StackKey), keys)
        words = [{"photo_id": photo.id, "keyword_id": one.id} for photo in self.photos for one in photo.keywords]
        run_many(connection, _INSERT_WORDS, words)
        for file in files:
            for marker in file.markers:
                marker.file_id = file.id
                self._session.add(marker)
        self._session.flush()
