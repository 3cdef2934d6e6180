"""The files in the database that a batch may change or repeat, found by few statements for the whole batch."""

from collections import defaultdict
from collections.abc import Collection
from math import inf
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from photosvc.models import ORIGINALS_ROOT, File, Photo
from photosvc.models.database.among import among
from photosvc.models.database.unindexed import unindexed

_PHOTO = joinedload(File.photo)
#: What storing a file reads of it and its photo.
_NEEDED = (
    selectinload(File.markers),
    _PHOTO.joinedload(Photo.camera),
    _PHOTO.joinedload(Photo.lens),
    _PHOTO.joinedload(Photo.place),
    _PHOTO.selectinload(Photo.keywords),
    _PHOTO.selectinload(Photo.files).selectinload(File.markers),
)


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
        """The file of this name."""
        self.load([name], [])
        return self._by_name[name]

    def with_content(self, content: str) -> list[File]:
        """The files with this hash: those on disk before missing ones, each from the oldest on."""
        self.load([], [content])
        files = [file for file in self._by_hash[content] if file.hash == content]
        return sorted(files, key=lambda file: (file.missing, file.id or inf))

    def put(self, file: File, name: str, content: str) -> None:
        """Give a file, new or stored, its name and hash."""
        self.load([name], [content] if file.hash != content else [])
        if file.name != name:
            self._by_name |= {file.name: None, name: file}
        if file.hash != content:
            self._by_hash[content].append(file)
        file.name, file.hash = name, content

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
