"""Store: write extractions into the rows of files and photos. Flushes; the caller commits."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import and_, delete, select
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.core.problems import Problem, Reason
from photosvc.index.describing.compose import split_name
from photosvc.index.describing.describe import describe
from photosvc.index.describing.file_columns import read_extraction, write_extraction
from photosvc.index.estimates.due import Sighting, mark_due, sighting
from photosvc.index.extract import READER_VERSION, Extraction
from photosvc.index.scanning.scan import FoundFile
from photosvc.index.sidecars.folders import Folders
from photosvc.index.sidecars.links import Sidecars, sidecars_of
from photosvc.index.stacking.keys import keys_of
from photosvc.index.stacking.restack import new_photo, restack
from photosvc.index.storing.catalog import Catalog
from photosvc.index.storing.missing import mark_files
from photosvc.index.storing.new_files import NewFiles
from photosvc.index.storing.same_content import same_content
from photosvc.index.storing.stored_files import StoredFiles
from photosvc.models import ORIGINALS_ROOT, File, Photo, RejectedFile
from photosvc.models.database.among import among
from photosvc.search.projection.project import project, project_new

#: Statements whose rows no object in the session stands for.
_UNLOADED: Final = {"synchronize_session": False}


class Saved(NamedTuple):
    """What became of an extraction."""

    problem: Problem | None
    """Why the file was not stored as part of a photo, or cannot be shown."""
    new: bool
    """The library had no file of this name or content."""


class Store:
    """Stores one batch of an index run in the transaction of the session; `kinds` of stacks are on."""

    def __init__(
        self,
        session: Session,
        catalog: Catalog,
        root: Path,
        now: datetime,
        kinds: Collection[str] = frozenset(),
        folders: Folders | None = None,
    ) -> None:
        self._session = session
        self._catalog = catalog
        self._root = root
        self._now = now
        self._kinds = kinds
        self._files = StoredFiles(session)
        self._rejected: dict[str, RejectedFile | None] = {}
        self._changed: dict[Photo, None] = {}
        self._stack_keys: dict[File, frozenset[int]] = {}
        self._new_photos: dict[tuple[str, str], Photo] = {}
        folders = folders or Folders(root)
        self._sidecars = Sidecars(session, folders, now)
        self._new = NewFiles(session, folders, kinds, now)
        self._sightings: dict[int, Sighting | None] = {}

    def load(self, names: Collection[str], read: Sequence[tuple[FoundFile, Extraction]] = ()) -> None:
        """Look up in advance what files of these names change: a few statements for a whole batch."""
        self._sidecars.load(names)
        self._files.load(names, [one.hash for _, one in read])
        self._new.load(read, self._files)
        contents = [one.metadata for _, one in read]
        self._catalog.load_gear(contents)
        self._catalog.load_cells((one.lat, one.lng) for one in contents if one.lat is not None and one.lng is not None)

    def save(self, found: FoundFile, extraction: Extraction) -> Saved:
        """Store the extraction of one file; a duplicate of another file is rejected."""
        if extraction.media_type == "sidecar":
            return self._save_sidecar(found, extraction)
        if found in self._new:
            photo = self._new.add(found, extraction)
            self._rejected[found.name] = None
            self._sidecars.albums.add(found.name, photo.files[0])
            self._changed[photo] = None
            return Saved(extraction.problem, new=True)
        file = self._files.named(found.name)
        new = unknown = False
        if file is None:
            same, moved = same_content(self._files, self._root, extraction.hash)
            if same is not None:
                problem = Problem.of(Reason.DUPLICATE, same.name)
                if not self._is_rejected(found.name):
                    self._sidecars.albums.add(found.name, same)
                    self._changed[same.photo] = None
                self.reject(found, problem)
                return Saved(problem, new=False)
            new, unknown = moved is None, True
            file = moved if moved is not None else self._new_file(found, extraction)
        self._files.put(file, found.name, extraction.hash)
        write_extraction(file, extraction)
        file.size, file.mtime_ns, file.missing = found.size, found.mtime_ns, False
        if new or self._session.is_modified(file):  # asked before a query flushes the changes
            file.updated_at = self._now
        file.reader_version = READER_VERSION
        self._rejected[found.name] = None
        self._sidecars.link(file, new=new)
        if unknown:
            self._sidecars.albums.add(found.name, file)
        self._changed[file.photo] = None
        self._stack_keys[file] = keys_of(file.name, extraction, self._kinds)
        return Saved(extraction.problem, new)

    def _save_sidecar(self, found: FoundFile, extraction: Extraction) -> Saved:
        """Store a sidecar; one that cannot be read, or says nothing about pictures, is rejected."""
        if extraction.problem is None:
            self._rejected[found.name] = None
            return Saved(None, self._sidecars.save(found, extraction))
        problem = extraction.problem if self._sidecars.has_picture(found.name) else Problem(Reason.UNRELATED)
        self._change(self._sidecars.remove([found.name])[1])
        self.reject(found, problem)
        return Saved(problem, new=False)

    def _change(self, photo_ids: Collection[int]) -> None:
        """Note photos whose files did not change; those without files wait until one returns."""
        if photo_ids:
            query = select(Photo).where(Photo.id.in_(photo_ids), Photo.files.any(File.missing.is_(False)))
            self._changed |= dict.fromkeys(self._session.scalars(query.order_by(Photo.id)))

    def reject(self, found: FoundFile, problem: Problem) -> None:
        """Record why this file is no part of a photo."""
        self._rejected[found.name] = RejectedFile(
            root=ORIGINALS_ROOT,
            name=found.name,
            size=found.size,
            mtime_ns=found.mtime_ns,
            reason=problem.reason.value,
            detail=problem.detail,
            reader_version=READER_VERSION,
            created_at=self._now,
        )
        file = self._files.named(found.name)
        if file is not None:  # an earlier run could read it
            file.problem, file.size, file.mtime_ns, file.missing = problem, found.size, found.mtime_ns, False
            file.reader_version = READER_VERSION
            self._changed[file.photo] = None

    def mark_missing(self, names: Sequence[str]) -> list[str]:
        """Mark files as missing and delete sidecars; gives the names of those that there were."""
        marked = mark_files(self._session, names, self._now)
        self._sightings |= marked.sightings
        self._change(marked.shown)
        self._rejected |= dict.fromkeys(names)
        sidecars, changed = self._sidecars.remove(names)
        self._change(changed)
        return marked.names + sidecars

    def restack(self, file: File) -> None:
        """Stack a stored file again."""
        self._stack_keys[file] = keys_of(file.name, read_extraction(file), self._kinds)

    def rename(self, file: File, name: str, *, restack: bool = True) -> None:
        """Let a stored file follow its original, which was renamed, with its photo and all that people set.

        Args:
            file: the file.
            name: its new name.
            restack: whether the name may make it part of another photo.

        """
        self._files.put(file, name, file.hash)
        file.updated_at = self._now
        self._rejected[name] = None
        self._sidecars.link(file, new=False)
        self._changed[file.photo] = None
        if restack:
            self.restack(file)

    def finish(self) -> int:
        """Stack the changed files, describe every photo whose files changed and project it; gives their number."""
        self._write_rejections()
        self._session.flush()
        self._change(self._sidecars.finish())
        keys = {file.id: keys for file, keys in self._stack_keys.items()}
        self._remember(self._changed)
        restacked = restack(self._session, keys, self._kinds, self._now, self._new.photo_ids)
        self._sightings |= restacked.sightings
        self._changed |= dict.fromkeys(restacked.changed)
        changed = [photo for photo in self._changed if photo.id not in restacked.gone]
        sidecars = sidecars_of(self._session, [photo.id for photo in changed])
        with self._session.no_autoflush:
            for photo in changed:
                describe(photo, sidecars, self._catalog, self._now, self._new.extractions)
        self._session.flush()
        self._new.insert()
        self._sidecars.albums.finish()
        self._project(changed, restacked.gone)
        mark_due(self._session, self._sightings, {photo.id: sighting(photo) for photo in changed})
        self._sightings.clear()
        self._changed.clear()
        self._stack_keys.clear()
        self._new_photos.clear()
        return len(changed)

    def _project(self, changed: Sequence[Photo], gone: Collection[int]) -> None:
        new = {photo.id for photo in self._new.photos}
        others = [photo for photo in changed if photo.id not in new]
        if new:
            project_new(self._session, new, list(filter(_has_no_order, self._new.photos)))
        if others or gone:
            project(self._session, [*(photo.id for photo in others), *gone], filter(_has_no_order, others))

    def _remember(self, photos: Iterable[Photo]) -> None:
        """Keep what these photos say about their cameras; those of this batch are new."""
        self._sightings |= {photo.id: sighting(photo) for photo in photos if photo.checked_at is not None}

    def _write_rejections(self) -> None:
        names = self._rejected.keys()
        former = and_(RejectedFile.root == ORIGINALS_ROOT, among(self._session, RejectedFile.name, names))
        self._session.execute(delete(RejectedFile).where(former), execution_options=_UNLOADED)
        self._session.add_all(filter(None, self._rejected.values()))
        self._rejected.clear()

    def _is_rejected(self, name: str) -> bool:
        query = select(RejectedFile.id).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == name)
        with self._session.no_autoflush:
            return self._session.scalar(query) is not None

    def _new_file(self, found: FoundFile, extraction: Extraction) -> File:
        """A file of a new photo, which `restack` joins with others; new pictures of one name share it at once."""
        folder, base, _ = split_name(found.name)
        picture = extraction.media_type != "video"
        shared = self._new_photos.get((folder, base)) if picture else None
        photo = shared or new_photo(self._session, folder, base, self._now, next(self._new.photo_ids, None))
        if picture:
            self._new_photos[folder, base] = photo
        file = File(
            id=next(self._new.file_ids, None),
            uid=ids.new_uid(ids.FILE, self._now),
            root=ORIGINALS_ROOT,
            photo=photo,
            markers=[],
            created_at=self._now,
            updated_at=self._now,
        )
        self._session.add(file)
        return file


def _has_no_order(photo: Photo) -> bool:
    """Whether no list of a photo has several members: they may be in another order than in the database."""
    return len(photo.files) == 1 and len(photo.files[0].markers) <= 1 and len(photo.keywords) <= 1
