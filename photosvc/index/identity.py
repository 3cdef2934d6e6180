"""Identity of files: a row of the library follows its content, over the whole index run.

- If a row has the content, and its own name is gone or has other content by now, the file has moved: the row takes the
  new name.
- If a row has the content, and its name still has it, the file is a duplicate.
- Unknown content under a known name is an edit in place if it agrees with the former content, see `index.agreement`:
  the row of that name takes it, unless its former content is elsewhere among the originals. Of several such names, the
  first whose former content is nowhere else takes it, and the others are duplicates.
- All other content is new, also under a known name: cameras and phones count from 0001 again.

A row that loses its name waits, marked as missing, under a name that no file has, until its content is stored. So each
transaction leaves a correct library, also if the run is killed after it.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.core.files import disk_name, is_as_known
from photosvc.core.problems import Problem, UnreadableFileError
from photosvc.index.agreement import Facts, is_edit
from photosvc.index.exclusions import Exclusions, is_hidden
from photosvc.index.extract import Extraction, content_hash
from photosvc.index.file_columns import load_metadata
from photosvc.index.scan import ScannedFile, scan
from photosvc.index.worklist import Worklist
from photosvc.models import ORIGINALS_ROOT, File, UploadedFile
from photosvc.models.statements import among, unindexed
from photosvc.workers.pool import Pool

#: A file with its extraction, or the reason why there is none.
ReadFile = tuple[ScannedFile, Extraction | Problem]
#: A row of files with these columns, or an object.
Row = TypeVar("Row", bound=Any)
_COLUMNS = (
    File.name, File.hash, File.size, File.mtime_ns, File.error, File.media_type, File.duration_ns, File.details,
    File.colors, File.luminance, File.look_1, File.look_2, File.look_3, File.look_4,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Identity(Generic[Row]):
    """The row that a file takes, and the row that loses its name to the file."""

    row: Row | None = None
    """The row that the file takes; None when it is new or a duplicate."""
    original: Row | None = None
    """The row of another file on disk with the same content."""
    displaced: Row | None = None
    """The row that has the name and loses it."""


def facts_of(row: Any) -> Facts:  # noqa: ANN401 - a file or a row of one
    """Return the facts of the content that a row has."""
    return Facts.of(row, load_metadata(row.details))


class Contents:
    """The contents of originals during a run. A file is opened only if its size and time differ from those of its row.

    Args:
        work: the worklist of the run; None outside of runs.
        folder: the folder that the run scans, empty for all originals.
        pool: the processes that read the files; None reads them in this process.
        pause: called after each file that is read outside of a transaction.
    """

    def __init__(
        self,
        root: Path,
        work: Worklist | None = None,
        folder: str = "",
        pool: Pool[Path, str] | None = None,
        pause: Callable[[], object] = lambda: None,
    ) -> None:
        self._root = os.path.realpath(root)
        self._work = work
        self._exclusions = Exclusions(root)
        self._folder = folder
        self._looked_outside = not folder
        self._pool = pool
        self._pause = pause
        self._learns: Session | None = None
        """The session of `learn`; None in transactions that store."""
        self._read_sizes: set[tuple[int, bool]] = set()
        """Sizes of which the contents of all files to read, or with True of the changed ones, are noted."""

    def learn(self, session: Session, batch: Sequence[ReadFile]) -> list[ReadFile]:
        """Read the contents that storing this batch needs before its transaction, in which other writers wait.

        Returns:
            The batch in the order in which to store it: edited files, known names whose former content is elsewhere,
            new names. Each file may be a copy of the files before it.
        """
        batch = sorted(batch, key=lambda read: read[0].name)
        if self._work is None or not self._work.compares:
            return batch
        self._learns = session  # reads may pause; the session has no open transaction meanwhile
        try:
            edited = self._learn(session, self._work, batch)
        finally:
            self._learns = None
            session.rollback()

        def place(read: ReadFile) -> tuple[int, str]:
            name = read[0].name
            return 0 if name in edited else 1 if changed(name) else 2, name

        changed = self._work.is_changed
        return sorted(batch, key=place)

    def _learn(self, session: Session, work: Worklist, batch: Sequence[ReadFile]) -> set[str]:
        """Read the contents that storing this batch needs, and return the names of files that were edited in place."""
        for scanned, read in batch:
            work.note(scanned.name, read.hash if isinstance(read, Extraction) else None, stored=True)
        media = [(scanned, read) for scanned, read in batch if not _is_sidecar(read)]
        files = select(*_COLUMNS).where(unindexed(File.root) == ORIGINALS_ROOT)
        connection = session.connection()
        hashes = {read.hash for _, read in media if isinstance(read, Extraction)}
        same = connection.execute(files.where(among(session, File.hash, hashes))).all()
        named = select(*_COLUMNS).where(File.root == ORIGINALS_ROOT)
        named = named.where(among(session, File.name, [scanned.name for scanned, _ in media]))
        rows = {row.name: row for row in connection.execute(named)}
        edited = set()
        for scanned, read in media:
            row = rows.get(scanned.name)
            if isinstance(read, Extraction):
                same_content = [other for other in same if other.hash == read.hash]
                identity = self.identify(session, scanned.name, read, row, same_content)
                if row is not None and identity.row is row and row.hash:
                    edited.add(scanned.name)
                if not same_content:
                    self.awaited(session, scanned, read, row)
            elif row is not None:
                self.has_moved(session, row, scanned)
        return edited

    def identify(
        self, session: Session, name: str, read: Extraction, named: Row | None, same: Iterable[Row]
    ) -> Identity[Row]:
        """Return the row that a file takes, and the row that loses its name to the file.

        Args:
            read: its content.
            named: the row of this name.
            same: the rows with this content, preferred ones first.
        """
        if named is not None and named.hash == read.hash:
            return Identity(named)
        moved = None
        for row in same:
            if self.is_in_place(row, name):
                return Identity(original=row, displaced=named)
            moved = moved or row
        if moved is not None:
            return Identity(moved, displaced=named)
        if named is None or not named.hash:  # the latter only has the name of a private photo that moved away
            return Identity(named)
        return Identity(named) if self._was_edited(session, named, read) else Identity(displaced=named)

    def awaited(self, session: Session, scanned: ScannedFile, read: Extraction, named: Row | None) -> str | None:
        """Return the known name whose changed file, which is yet to be stored, has the content of this one.

        Unknown content belongs there: a private picture may have been edited and copied. The row of this name keeps the
        content if it is an edit of it. It is none if the former content of the row is elsewhere or disagrees, or if the
        row never had content and only reserves the name of a private photo that moved away.
        """
        names = self._names_with(read.hash, scanned.size, besides=scanned.name, changed=True)
        if not names or (named is not None and self._was_edited(session, named, read)):
            return None
        query = select(*_COLUMNS).where(File.root == ORIGINALS_ROOT, among(session, File.name, names))
        rows = session.connection().execute(query.order_by(File.name)).all()
        edited = next((row.name for row in rows if self._was_edited(session, row, read)), None)
        return edited or (names[0] if named is None else None)

    def has_moved(self, session: Session, row: Row, scanned: ScannedFile) -> bool:
        """Return whether the file of a row was replaced by this one, which cannot be read, and is elsewhere now."""
        changed = (row.size, row.mtime_ns) != (scanned.size, scanned.mtime_ns)
        return changed and self._is_elsewhere(session, row)

    def hash_of(self, name: str) -> str:
        """Return the hash of the regular file that has this name now; empty when there is none that can be read."""
        known = self._work.content(name) if self._work is not None else None
        return self._read([name])[name] if known is None else known

    def _read(self, names: Collection[str]) -> dict[str, str]:
        """Read files, and return their hashes; the hash of a file that cannot be read is empty."""
        hashes = dict.fromkeys(names, "")
        files: dict[Path, str] = {}
        for name in names:
            with suppress(OSError):
                files[Path(self._path(name))] = name
        if self._learns is not None:
            self._learns.rollback()
        for file, content in self._pool.run(files) if self._pool is not None else map(_read, files):
            if isinstance(content, str):
                hashes[files[file]] = content
            if self._learns is not None:
                self._pause()
        if self._work is not None:
            for name, content in hashes.items():
                self._work.note(name, content, stored=False)
        return hashes

    def is_gone(self, name: str) -> bool:
        """Return whether no regular file has this name; false if the disk cannot tell."""
        try:
            return self._status(name) is None
        except OSError:
            return False

    def is_in_place(self, row: Row, name: str) -> bool:
        """Return whether the file of this row still has its content; true if the disk cannot tell.

        Args:
            row: of another name than `name`, which may be another spelling of it.
        """
        try:
            status = self._status(row.name)
            if status is None or self._is_same_file(status, name, row.name):
                return False
        except OSError:
            return True
        is_unread = self._work is None or self._work.content(row.name) is None
        # With an error, another file may have been refused under this name.
        if is_unread and is_as_known(status, row.size, row.mtime_ns) and not row.error:
            return True
        return self.hash_of(row.name) in {row.hash, ""}

    def is_changed(self, name: str) -> bool:
        """Return whether a name that the database knows has a changed file in this run."""
        return self._work is not None and self._work.is_changed(name)

    def is_outdated(self, name: str) -> bool:
        """Return whether the row of this name may describe another file than the one that has the name now.

        The run has yet to read that file, or the one to which the content of the row may have moved.
        """
        return self._work is not None and self._work.is_outdated(name)

    def _is_same_file(self, status: os.stat_result, name: str, other: str) -> bool:
        """Return whether both names are spellings of one, as on file systems that ignore letter case."""
        if name == other or name.casefold() != other.casefold() or status.st_nlink > 1:
            return False
        try:
            return os.path.samestat(status, os.lstat(self._path(name)))
        except OSError:
            return False

    def _was_edited(self, session: Session, row: Row, read: Extraction) -> bool:
        """Return whether this is an edit of the content of a row, whose file changed, and that is nowhere else now."""
        if not row.hash or self._is_elsewhere(session, row):
            return False
        return is_edit(facts_of(row), Facts.of(read, read.metadata))

    def _is_elsewhere(self, session: Session, row: Row) -> bool:
        """Return whether another original, which is new, changed or a duplicate, has the content of this row."""
        if self._work is None or not row.hash:
            return False
        if self._not_contributed(session, self._names_with(row.hash, row.size, besides=row.name)):
            return True
        if not self._looked_outside:
            self._looked_outside = True
            self._work.add_others(self._outside(), outside=True)
        others = self._work.others_of_size(row.size)
        for scanned in self._not_unchanged(session, list(others)) if others else ():
            if self.hash_of(scanned.name) == row.hash and self._not_contributed(session, [scanned.name]):
                if others[scanned]:
                    self._work.read_also(scanned)
                return True
        return False

    def _names_with(self, content: str, size: int, *, besides: str, changed: bool = False) -> list[str]:
        """Return the files to read that have this content; with `changed`, only files of known names.

        All files of this size are hashed, once for each size: many may have the same one, such as raws.
        """
        if self._work is None or not self._work.compares:
            return []
        if self._read_sizes.isdisjoint({(size, changed), (size, False)}):
            self._read_sizes.add((size, changed))
            self._read(self._work.unread_of_size(size, changed=changed))
        return [name for name in self._work.names_with(content, changed=changed) if name != besides]

    def _not_contributed(self, session: Session, names: Sequence[str]) -> set[str]:
        """Return the names of the files that no visitor or contributor sent.

        Otherwise a visitor who sends the former content of an edited file would detach its photo from it.
        """
        if not names:
            return set()
        sent = select(UploadedFile.name).where(among(session, UploadedFile.name, names), UploadedFile.contributed)
        return set(names).difference(session.connection().execute(sent).scalars())

    def _outside(self) -> Iterator[ScannedFile]:
        """Yield the files outside of the folder that the run scans."""
        within = f"{self._folder}/"
        for scanned in scan(Path(self._root)):
            if isinstance(scanned, ScannedFile) and not scanned.name.startswith(within):
                yield scanned

    def _not_unchanged(self, session: Session, others: Sequence[ScannedFile]) -> Iterator[ScannedFile]:
        """Yield the files that differ from the row of their name, or have none."""
        query = select(File.name, File.size, File.mtime_ns).where(File.root == ORIGINALS_ROOT, File.missing.is_(False))
        query = query.where(among(session, File.name, [scanned.name for scanned in others]))
        known = {row.name: (row.size, row.mtime_ns) for row in session.connection().execute(query)}
        return (scanned for scanned in others if known.get(scanned.name) != (scanned.size, scanned.mtime_ns))

    def _status(self, name: str) -> os.stat_result | None:
        """Return the status of the regular file that has this name now; None if no file has it.

        Files that scans leave out, such as those in the trash, count as gone: the same content elsewhere replaces them.
        """
        if is_hidden(name) or self._exclusions.exclude(name):
            return None
        path = self._path(name)
        if os.path.realpath(path) != path:
            return None
        try:
            status = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status if stat.S_ISREG(status.st_mode) else None

    def _path(self, name: str) -> str:
        return f"{self._root}/{disk_name(name)}"


def _read(file: Path) -> tuple[Path, str | PhotosvcError]:
    try:
        return file, content_hash(file)
    except UnreadableFileError as error:
        return file, error


def _is_sidecar(read: Extraction | Problem) -> bool:
    return isinstance(read, Extraction) and read.media_type == "sidecar"
