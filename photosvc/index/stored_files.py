"""The stored files that a batch may change or repeat, and the files of a batch that were sent."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from math import inf
from typing import Any

from sqlalchemy import and_, not_, select, update
from sqlalchemy.orm import Session, joinedload, selectinload
from sqlalchemy.orm.attributes import set_committed_value

from photosvc.models import ORIGINALS_ROOT, File, Photo, UploadedFile
from photosvc.models.statements import among, unindexed

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


class StoredFiles:
    """Files by name and by content. `put` keeps them up to date while a batch changes files without flushing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._by_name: dict[str, File | None] = {}
        self._by_hash: dict[str, list[File]] = {}

    def load(self, names: Collection[str], hashes: Collection[str]) -> None:
        """Look these names and contents up in advance."""
        if names := set(names) - self._by_name.keys():
            files = {file.name: file for file in self._select(File.name, names)}
            self._by_name |= {name: files.get(name) for name in names}
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
        """Return the files with this hash: first the present, then the missing files, each from the oldest on."""
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
        is_listed = and_(root == ORIGINALS_ROOT, among(self._session, column, values))
        with self._session.no_autoflush:
            # In a first run, most files are new; a query for objects takes ten times as long to find nothing.
            ids = self._session.connection().execute(select(File.id).where(is_listed)).scalars().all()
            if not ids:
                return []
            query = select(File).where(among(self._session, File.id, ids)).options(*_NEEDED)
            return self._session.scalars(query).unique().all()


class SentFiles:
    """The files of a batch that were uploaded or imported."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._contributed: set[str] = set()
        self._sent_names: dict[str, str] = {}

    def load(self, media: Mapping[str, str]) -> None:
        """Look these files up.

        Args:
            media: name -> hash.
        """
        columns = (UploadedFile.name, UploadedFile.hash, UploadedFile.original_name, UploadedFile.contributed)
        connection = self._session.connection()
        at_name = select(*columns).where(among(self._session, UploadedFile.name, media))
        with_content = select(*columns).where(
            among(self._session, UploadedFile.hash, set(media.values())), not_(UploadedFile.contributed)
        )
        named = {row.name: row for row in connection.execute(at_name)}
        # A file that was renamed since then is known by its content.
        same = {row.hash: row for row in connection.execute(with_content)}
        self._contributed = {name for name, row in named.items() if row.contributed}
        self._sent_names = {
            name: row.original_name for name, content in media.items() if (row := named.get(name) or same.get(content))
        }

    def sent_name(self, name: str) -> str:
        """Return the name under which a file was sent or imported; empty for other files."""
        return self._sent_names.get(name, "")

    def is_contributed(self, name: str) -> bool:
        """Return whether a visitor of a link or a contributor of an album sent the new file of this name."""
        return name in self._contributed
