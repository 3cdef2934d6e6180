"""The rows of sidecars, and their links to files.

The one of the two that is stored last makes the link, so that both may come in any order and in different runs. The
sidecar of a duplicate belongs to the file with its content, for as long as the duplicate is one.
"""

import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Column, Table, and_, delete, select
from sqlalchemy.orm import Session

from photosvc.core.files import clean_name, disk_name
from photosvc.core.problems import Reason
from photosvc.index.extract import READER_VERSION, Extraction
from photosvc.index.file_columns import dump_metadata, load_metadata
from photosvc.index.scan import ScannedFile, is_gone
from photosvc.index.sidecar_formats import SidecarKind
from photosvc.index.sidecar_names import companions, confirms, is_read
from photosvc.index.sidecar_values import StoredSidecar
from photosvc.index.takeout_albums import FolderAlbums
from photosvc.index.takeout_parts import TakeoutParts
from photosvc.media.metadata import Metadata
from photosvc.models import GONE, ORIGINALS_ROOT, File, RejectedFile, Sidecar, copy_sidecars, file_sidecars
from photosvc.models.counters import LIBRARY, read_counter
from photosvc.models.statements import among, in_portions, insert_into

#: Folders that stay in memory. Batches are sorted by name, so that few folders are in use at a time.
_CACHED: Final = 4
#: Kinds of sidecars that may say that a photo is private.
_PRIVATE: Final = (SidecarKind.PHOTOPRISM, SidecarKind.XMP)
#: More folders stay if they are in several parts of a Takeout, to which a run comes back once for each part: as many as
#: have this number of names. Of 12,000 files in 40 parts, the companions are found in 3 s and not in 17.
_CACHED_NAMES: Final = 100_000


class Folders:
    """The sidecars and pictures that belong together, in a folder and in the same folder of other parts of a Takeout.

    Each folder is read once, when first needed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._parts = TakeoutParts(root)
        self._read: OrderedDict[str, _Group] = OrderedDict()

    def companions(self, name: str) -> list[str]:
        """Return the sidecars that a file may have, the most specific first, or the files that a sidecar may have.

        Args:
            name: clean path relative to the root; so are those in the result.
        """
        folder, _, base = name.rpartition("/")
        parts = self.parts(folder)
        key = min(parts)
        if key not in self._read:
            names = {part: frozenset(self._names(part)) for part in parts}
            self._read[key] = _Group(names, companions(sorted(frozenset().union(*names.values()))))
            while len(self._read) > _CACHED and (len(parts) == 1 or sum(map(len, self._read.values())) > _CACHED_NAMES):
                self._read.popitem(last=False)
        self._read.move_to_end(key)
        return list(self._read[key].beside(folder, base))

    def parts(self, folder: str) -> tuple[str, ...]:
        """Return a folder, and the same folder in other parts of a Takeout that were unpacked apart."""
        return self._parts.of(folder)

    def has(self, name: str) -> bool:
        """Return whether the disk has a file of this name; true if it cannot tell."""
        return not is_gone(self._root, name)

    def _names(self, folder: str) -> list[str]:
        try:
            return [clean_name(name) for name in sorted(os.listdir(self._root / disk_name(folder)))]  # noqa: PTH208 - faster, and undecodable bytes stay
        except OSError:  # the scan reports it
            return []


@dataclass(frozen=True, slots=True)
class _Group:
    """The names in some folders that count as one."""

    names: Mapping[str, Collection[str]]
    """By folder."""
    companions: Mapping[str, Sequence[str]]
    """Of each name, whatever its folder."""

    def __len__(self) -> int:
        return len(self.companions)

    def beside(self, folder: str, base: str) -> Iterator[str]:
        """Yield the paths of the companions of a file; of two in different folders, neither has a double beside it."""
        for other in self.companions.get(base, ()):
            for part, names in self.names.items():
                if other in names and (part == folder or (other not in self.names[folder] and base not in names)):
                    yield f"{part}/{other}" if part else other


class Sidecars:
    """The sidecars of a batch, stored and linked with files in the transaction of the session."""

    def __init__(
        self, session: Session, folders: Folders, now: datetime, is_outdated: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._session = session
        self._is_outdated = is_outdated
        self._folders = folders
        self._now = now
        self._library = read_counter(session, LIBRARY)
        self._known: dict[str, Sidecar | None] = {}
        self._saved: dict[str, tuple[Sidecar, Metadata | None]] = {}
        self._files: dict[File, bool] = {}
        self._copies: dict[str, File] = {}
        self._others: set[str] = set()
        self._parted: list[int] = []
        self.albums = FolderAlbums(session, now, folders.parts)

    def load(self, names: Iterable[str]) -> None:
        """Look up in advance which of these files are known sidecars."""
        wanted = [name for name in names if is_read(name)]
        self._known |= dict.fromkeys(wanted) | self._find(wanted)

    def has_companions(self, name: str) -> bool:
        """Return whether a file may have sidecars, or a sidecar files, by the names in its folder."""
        return bool(self._folders.companions(name))

    def save(self, scanned: ScannedFile, extraction: Extraction) -> bool:
        """Store a sidecar that could be read, without entries of this library's people; return whether it is new."""
        if scanned.name not in self._known:
            self.load([scanned.name])
        row = self._known[scanned.name]
        is_own = extraction.library != "" and extraction.library == str(self._library)
        details = dump_metadata(extraction.others if is_own else extraction.metadata)
        moved = self._moved_album(details) if row is None and extraction.codec == SidecarKind.ALBUM else None
        new = moved is None and (row is None or row.size == GONE)
        row = row or moved
        before = load_metadata(row.details) if row and row.kind == extraction.codec else None
        if row is None:
            row = Sidecar(root=ORIGINALS_ROOT, created_at=self._now)
            self._session.add(row)
        elif row is moved:
            self._known[row.name] = None
        row.name, row.folder = scanned.name, scanned.name.rpartition("/")[0]
        self._known[scanned.name] = row
        row.size, row.mtime_ns, row.updated_at = scanned.size, scanned.mtime_ns, self._now
        row.kind, row.details, row.reader_version = extraction.codec, details, READER_VERSION
        self._saved[scanned.name] = row, before
        return new

    def link(self, file: File, *, new: bool) -> None:
        """Note a stored file, which may have sidecars."""
        self._files[file] = new

    def link_copy(self, name: str, file: File) -> None:
        """Note a duplicate of a stored file: its sidecars belong to that file."""
        self._copies[name] = file

    def settle(self, names: Iterable[str]) -> None:
        """Note the names of all files of the batch: the files that `link_copy` did not name are no duplicates now."""
        self._others.update(names)

    def part(self, file: File) -> None:
        """Note that a stored file has other content now, so that its former duplicates are none any more."""
        self._parted.append(file.id)

    def remove(self, names: Sequence[str]) -> tuple[list[str], set[int]]:
        """Delete sidecars; return the names of existing ones, and the ids of the photos that used them.

        The row of an album stays, so that a file that returns makes no second album.
        """
        rows = {name: row for name, row in self._find(names).items() if row.size != GONE}
        if not rows:
            return [], set()
        for row in rows.values():
            row.size = GONE if row.kind == SidecarKind.ALBUM else row.size
        self._session.flush()
        ids = [row.id for row in rows.values() if row.size != GONE]
        changed = self._photos(ids)
        for links in (file_sidecars, copy_sidecars):
            self._session.execute(delete(links).where(links.c.sidecar_id.in_(ids)))
        self._session.execute(delete(Sidecar).where(Sidecar.id.in_(ids)))
        self._known |= {name: row if row.size == GONE else None for name, row in rows.items()}
        return sorted(rows), changed

    def finish(self) -> set[int]:
        """Link the flushed files and sidecars, and return the ids of the photos that sidecars change."""
        changed: set[int] = set()
        for row, before in self._saved.values():
            if row.kind == SidecarKind.ALBUM:
                changed.update(self.albums.save(row, load_metadata(row.details), before))
        saved = {name: row for name, (row, _) in self._saved.items()}
        known = [row.id for row, _ in self._saved.values()]
        changed |= self._photos(known)
        companions = {
            name: self._folders.companions(name) for name, row in saved.items() if row.kind != SidecarKind.ALBUM
        }
        pairs = self._pairs_of_sidecars(saved, companions) | self._pairs_of_files()
        copies = self._copies_of_sidecars(saved, companions) | self._pairs_of_copies()
        self._make_private((*pairs, *((file, row) for _, file, row in copies)))
        self._delete_links(file_sidecars.c.sidecar_id, known)
        self._delete_links(file_sidecars.c.file_id, [file.id for file, new in self._files.items() if not new])
        self._write(file_sidecars, [{"file_id": file.id, "sidecar_id": row.id} for file, row in pairs])
        changed |= self._replace_copies(known, copies)
        changed.update(file.photo_id for file, row in pairs if row.name in saved)
        return changed

    def _make_private(self, pairs: Iterable[tuple[File, Sidecar]]) -> None:
        """Make the photos of new files and sidecars private that are so in the sidecar; later people alone decide."""
        for file, row in pairs:
            if row.kind in _PRIVATE and load_metadata(row.details).private:
                before = self._saved.get(row.name, (row, load_metadata(row.details)))[1]
                if self._files.get(file) or before is None or not before.private:
                    file.photo.private = True

    def _replace_copies(self, sidecar_ids: Sequence[int], copies: Collection[tuple[str, File, Sidecar]]) -> set[int]:
        """Bring the links of duplicates up to date, and return the ids of the photos whose links differ now."""
        links = copy_sidecars.c
        new = {(name, row.id, file.id) for name, file, row in copies}
        conditions = [
            *(links.name.in_(some) for some in in_portions(list(self._others | self._copies.keys()))),
            *(links.sidecar_id.in_(some) for some in in_portions(sidecar_ids)),
            *(links.file_id.in_(some) for some in in_portions(self._parted)),
        ]
        former = {
            (row.name, row.sidecar_id, row.file_id)
            for condition in conditions
            for row in self._session.execute(select(copy_sidecars).where(condition))
        }
        for name, sidecar_id, _ in former - new:
            self._session.execute(delete(copy_sidecars).where(links.name == name, links.sidecar_id == sidecar_id))
        added = sorted(new - former)
        self._write(copy_sidecars, [dict(zip(copy_sidecars.columns.keys(), one, strict=True)) for one in added])
        saved = set(sidecar_ids)
        files = {file_id for _, sidecar_id, file_id in former | new if sidecar_id in saved}
        files |= {file_id for _, _, file_id in former ^ new}
        return {
            photo_id
            for some in in_portions(list(files))
            for photo_id in self._session.scalars(select(File.photo_id).where(File.id.in_(some)))
        }

    def _write(self, links: Table, rows: Sequence[Mapping[str, object]]) -> None:
        if rows:
            self._session.execute(insert_into(links, self._session).on_conflict_do_nothing(), rows)

    def _pairs_of_sidecars(
        self, saved: Mapping[str, Sidecar], companions: Mapping[str, Sequence[str]]
    ) -> set[tuple[File, Sidecar]]:
        files = self._files_named({other for others in companions.values() for other in others})
        return _confirmed(
            (files[one], saved[name]) for name, others in companions.items() for one in others if one in files
        )

    def _copies_of_sidecars(
        self, saved: Mapping[str, Sidecar], companions: Mapping[str, Sequence[str]]
    ) -> set[tuple[str, File, Sidecar]]:
        """Return the known duplicates beside these sidecars, with the files of their content."""
        originals: dict[str, str] = {}
        for names in in_portions(list({other for others in companions.values() for other in others})):
            query = select(RejectedFile.name, RejectedFile.detail).where(
                RejectedFile.root == ORIGINALS_ROOT,
                RejectedFile.reason == Reason.DUPLICATE.value,
                RejectedFile.name.in_(names),
            )
            originals |= {row.name: row.detail for row in self._session.execute(query)}
        named = self._files_named(set(originals.values()))
        files = {name: file for name, file in named.items() if not file.missing}
        return {
            (one, files[originals[one]], saved[name])
            for name, others in companions.items()
            for one in others
            if originals.get(one) in files and _belongs(saved[name], one)
        }

    def _files_named(self, names: Collection[str]) -> dict[str, File]:
        """Return unchanged files by name: a file that changed together with its sidecar is linked when it is stored."""
        files: dict[str, File] = {}
        for some in in_portions(list(names)):
            query = select(File).where(File.root == ORIGINALS_ROOT, File.name.in_(some))
            files |= {file.name: file for file in self._session.scalars(query) if not self._is_outdated(file.name)}
        return files

    def _pairs_of_copies(self) -> set[tuple[str, File, Sidecar]]:
        companions = {name: self._folders.companions(name) for name in self._copies}
        rows = self._find({other for others in companions.values() for other in others})
        return {
            (name, self._copies[name], rows[one])
            for name, others in companions.items()
            for one in others
            if one in rows and rows[one].kind != SidecarKind.ALBUM and _belongs(rows[one], name)
        }

    def _pairs_of_files(self) -> set[tuple[File, Sidecar]]:
        companions = {file: self._folders.companions(file.name) for file in self._files}
        rows = self._find({other for others in companions.values() for other in others})
        return _confirmed((file, rows[one]) for file, others in companions.items() for one in others if one in rows)

    def _moved_album(self, details: str) -> Sidecar | None:
        """Return the row of an album file with this content whose file is gone; rows of deleted albums come last.

        A deleted album has no id: the row says that there was one.
        """
        same = (Sidecar.root == ORIGINALS_ROOT, Sidecar.kind == SidecarKind.ALBUM, Sidecar.details == details)
        rows = self._session.scalars(select(Sidecar).where(*same).order_by(Sidecar.album_id.is_(None), Sidecar.id))
        return next((row for row in rows if not self._folders.has(row.name)), None)

    def _find(self, names: Collection[str]) -> dict[str, Sidecar]:
        sidecars: dict[str, Sidecar] = {}
        for some in in_portions(list(names)):
            is_listed = and_(Sidecar.root == ORIGINALS_ROOT, among(self._session, Sidecar.name, some))
            ids = self._session.execute(select(Sidecar.id).where(is_listed)).scalars().all()
            if ids:
                rows = self._session.scalars(select(Sidecar).where(among(self._session, Sidecar.id, ids)))
                sidecars |= {row.name: row for row in rows}
        return sidecars

    def _photos(self, sidecar_ids: Sequence[int]) -> set[int]:
        if not sidecar_ids:
            return set()
        return {
            photo_id
            for links in (file_sidecars, copy_sidecars)
            for photo_id in self._session.scalars(
                select(File.photo_id).join(links, links.c.file_id == File.id).where(links.c.sidecar_id.in_(sidecar_ids))
            )
        }

    def _delete_links(self, column: Column[int], ids: Sequence[int]) -> None:
        if ids:
            self._session.execute(delete(file_sidecars).where(column.in_(ids)))


def _confirmed(pairs: Iterable[tuple[File, Sidecar]]) -> set[tuple[File, Sidecar]]:
    """Return the pairs whose sidecar belongs to the file, not only by its name."""
    return {(file, row) for file, row in pairs if row.kind != SidecarKind.ALBUM and _belongs(row, file.name)}


def _belongs(row: Sidecar, name: str) -> bool:
    title = load_metadata(row.details).original_name if row.kind == SidecarKind.TAKEOUT else ""
    return confirms(name.rpartition("/")[2], row.name.rpartition("/")[2], title)


def sidecars_of(session: Session, photo_ids: Collection[int]) -> dict[int, list[StoredSidecar]]:
    """Return the sidecars of the files of these photos, by the id of the file."""
    if session.autoflush:  # as before any query of the session
        session.flush()
    sidecars: defaultdict[int, list[StoredSidecar]] = defaultdict(list)
    for some in in_portions(list(photo_ids)):
        for links, picture in ((file_sidecars, File.name), (copy_sidecars, copy_sidecars.c.name)):
            query = select(links.c.file_id, picture, Sidecar.name, Sidecar.kind, Sidecar.details)
            query = query.join(Sidecar, Sidecar.id == links.c.sidecar_id).join(File, File.id == links.c.file_id)
            rows = session.connection().execute(query.where(among(session, File.photo_id, some)))
            for file_id, picture_name, name, kind, details in rows:
                sidecars[file_id].append(StoredSidecar(name, SidecarKind(kind), load_metadata(details), picture_name))
    return sidecars
