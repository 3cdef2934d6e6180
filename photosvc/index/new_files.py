"""New files, and the stored files that a batch may change or repeat.

Most files of a first run are related to nothing in the library or in their batch: each becomes a photo of its own at
once. The others go through the session: they move, replace, repeat or complete what is there, have sidecars, or may
share a photo with other files. Stored files are found by few statements for the whole batch.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from math import inf
from typing import Any, Final

from sqlalchemy import and_, insert, not_, select, update
from sqlalchemy.orm import Session, joinedload, selectinload
from sqlalchemy.orm.attributes import set_committed_value

from photosvc.core import ids
from photosvc.core.words import in_portions
from photosvc.index.extract import READER_VERSION, Extraction
from photosvc.index.file_columns import write_extraction
from photosvc.index.scan import FoundFile
from photosvc.index.sidecar_links import Folders
from photosvc.index.stack_rules import keys_of, split_name
from photosvc.models import ORIGINALS_ROOT, File, Photo, StackKey, UploadedFile, photo_keywords
from photosvc.models.statements import among, insert_of, insert_plain, next_ids, plain, run_many, unindexed

_FILES: Any = File.__table__
_PHOTO = joinedload(File.photo)
#: Relations of a file and its photo that storing it reads.
_NEEDED = (
    selectinload(File.markers),
    _PHOTO.joinedload(Photo.camera),
    _PHOTO.joinedload(Photo.lens),
    _PHOTO.joinedload(Photo.place),
    _PHOTO.selectinload(Photo.keywords),
    _PHOTO.selectinload(Photo.files).selectinload(File.markers),
)
_INSERT_WORDS: Final = insert(photo_keywords)


class StoredFiles:
    """Files by name and by content, kept up to date while a batch changes them without flushing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._by_name: dict[str, File | None] = {}
        self._by_hash: dict[str, list[File]] = {}

    def load(self, names: Collection[str], hashes: Collection[str]) -> None:
        """Look these names and contents up in advance."""
        if names := set(names) - self._by_name.keys():
            found = {file.name: file for file in self._select(File.name, names)}
            self._by_name |= {name: found.get(name) for name in names}
        if hashes := set(hashes) - self._by_hash.keys():
            same = defaultdict(list)
            for file in self._select(File.hash, hashes):
                same[file.hash].append(file)
            self._by_hash |= {content: same[content] for content in hashes}

    def named(self, name: str) -> File | None:
        """Return the file of this name; None when there is none."""
        self.load([name], [])
        return self._by_name[name]

    def with_content(self, content: str) -> list[File]:
        """Return the files with this hash: those on disk before missing ones, each from the oldest on."""
        self.load([], [content])
        files = [file for file in self._by_hash[content] if file.hash == content]
        return sorted(files, key=lambda file: (file.missing, file.id or inf))

    def put(self, file: File, name: str, content: str) -> None:
        """Give a file, new or stored, its name and hash.

        The name of a stored file changes in the database at once: a flush would change names in the order of ids, and
        each must be free by then, also where files exchange theirs.
        """
        self.load([name], [content] if file.hash != content else [])
        if file.name != name:
            self._by_name |= {file.name: None, name: file}
            if file in self._session and file not in self._session.new:
                renamed = update(_FILES).where(_FILES.c.id == file.id).values(name=name)
                self._session.connection().execute(renamed)
                set_committed_value(file, "name", name)
            else:
                file.name = name
        if file.hash != content:
            self._by_hash[content].append(file)
            file.hash = content

    def _select(self, column: Any, values: Collection[str]) -> Collection[File]:  # noqa: ANN401 - a column of files
        # Without `unindexed`, SQLite would walk all files of the root to find those with a few hashes.
        root = File.root if column is File.name else unindexed(File.root)
        is_one = and_(root == ORIGINALS_ROOT, among(self._session, column, values))
        with self._session.no_autoflush:
            # Most files of a first run are not there; to load none takes ten times as long.
            found = self._session.connection().execute(select(File.id).where(is_one)).scalars().all()
            if not found:
                return []
            query = select(File).where(among(self._session, File.id, found)).options(*_NEEDED)
            return self._session.scalars(query).unique().all()


class NewFiles:
    """The files of a batch that become photos of their own, as plain objects until they are described and inserted."""

    def __init__(self, session: Session, folders: Folders, kinds: Collection[str], now: datetime) -> None:
        self._session = session
        self._folders = folders
        self._kinds = kinds
        self._now = now
        self._keys: dict[str, frozenset[int]] = {}
        self._alone: set[str] = set()
        self._contributed: set[str] = set()
        self._sent_names: dict[str, str] = {}
        self.photos: list[Photo] = []
        """The photos made so far."""
        self.extractions: dict[str, Extraction] = {}
        """The extractions of their files, by name, as `read_extraction` gives them."""
        self.photo_ids: Iterator[int] = iter(())
        """Ids for all new photos of the batch, in the order of its files; those that `insert` writes come last."""
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
        self._load_sent(media)
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
        """Return the keys that files of the library have."""
        found: set[int] = set()
        connection = self._session.connection()
        for some in in_portions(list(keys)):
            stored = select(StackKey.key).where(among(self._session, StackKey.key, some))
            found.update(connection.execute(stored).scalars())
        return found

    def _load_sent(self, media: Mapping[str, Extraction]) -> None:
        """Look up which of these files were uploaded or imported, and under which names."""
        columns = (UploadedFile.name, UploadedFile.hash, UploadedFile.original_name, UploadedFile.apart)
        hashes = {one.hash for one in media.values()}
        connection = self._session.connection()
        at_name = select(*columns).where(among(self._session, UploadedFile.name, media))
        with_content = select(*columns).where(among(self._session, UploadedFile.hash, hashes), not_(UploadedFile.apart))
        named = {row.name: row for row in connection.execute(at_name)}
        # A file that was renamed since then is known by its content.
        same = {row.hash: row for row in connection.execute(with_content)}
        self._contributed = {name for name, row in named.items() if row.apart}
        self._sent_names = {
            name: row.original_name for name, one in media.items() if (row := named.get(name) or same.get(one.hash))
        }

    def sent_name(self, name: str) -> str:
        """Return the name under which a file was sent or imported; empty for other files."""
        return self._sent_names.get(name, "")

    def is_contributed(self, name: str) -> bool:
        """Return whether a visitor of a link or a contributor of an album sent the new file of this name."""
        return name in self._contributed

    def __contains__(self, found: FoundFile) -> bool:
        """Return whether the file becomes a photo of its own at once."""
        return found.name in self._alone

    def add(self, found: FoundFile, extraction: Extraction) -> Photo:
        """Make a photo of this file alone, to be described before it is inserted."""
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
            unstacked=self.is_contributed(found.name),
            contributed=self.is_contributed(found.name),
            reader_version=READER_VERSION,
            **times,
        )
        self.extractions[found.name] = write_extraction(file, extraction, self.sent_name(found.name))
        file.size, file.mtime_ns = found.size, found.mtime_ns
        photo.files.append(file)
        self.photos.append(photo)
        return photo

    def insert(self) -> None:
        """Insert the described photos with their files; the rows that they refer to are flushed."""
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
