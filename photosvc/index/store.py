"""The store: extractions written into the rows of files and photos. It flushes; the caller commits.

Files that are gone from the disk get a mark in their rows, and photos without other files are hidden. Statements do
this for all files at once: a mark needs neither the objects of the photos nor their search rows rendered.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.core.problems import Problem, Reason
from photosvc.core.vocabulary import parse_kinds
from photosvc.index.agreement import Facts, contradict, is_edit
from photosvc.index.extract import READER_VERSION, Extraction
from photosvc.index.file_columns import read_extraction, write_extraction
from photosvc.index.identity import Contents, Identity, facts_of
from photosvc.index.photo_changes import PhotoChanges, is_alone, mark_cameras
from photosvc.index.quality import hide_photos
from photosvc.index.rejections import Rejections, stored_reason
from photosvc.index.restack import copies_of, new_photo, restack, stored_keys, write_keys
from photosvc.index.scan import ScannedFile, aside_folder
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_links import Folders, Sidecars
from photosvc.index.stack_rules import keys_of
from photosvc.index.stored_files import SentFiles, StoredFiles
from photosvc.media.formats import split_name
from photosvc.models import ORIGINALS_ROOT, File, Photo
from photosvc.models.statements import UNLOADED, among, number_new
from photosvc.settings import Settings

#: Private files of one moment that a new picture is compared with, and the inexactness of a moment.
_MOST_OF_MOMENT: Final = 50
_SECOND: Final = timedelta(seconds=1)


class Saved(NamedTuple):
    """The result of storing an extraction."""

    problem: Problem | None
    """The reason why the file was not stored as part of a photo, or cannot be shown."""
    new: bool
    """True if the library had no file of this name or content."""


class Store:
    """The store of one batch in the transaction of the session; `kinds` of stacks are on.

    The batch ends with `finish`; the next one needs a new store.
    """

    def __init__(
        self,
        session: Session,
        shared_rows: SharedRows,
        root: Path,
        now: datetime,
        kinds: Collection[str] = frozenset(),
        folders: Folders | None = None,
        contents: Contents | None = None,
    ) -> None:
        self._session = session
        self._shared_rows = shared_rows
        self._now = now
        self._kinds = kinds
        self._files = StoredFiles(session)
        self._contents = contents or Contents(root)
        self._rejections = Rejections(session, now)
        self._changed: dict[Photo, None] = {}
        self._stacked: dict[File, Extraction] = {}
        self._new_photos: dict[tuple[str, str], Photo] = {}
        self._new: list[File] = []
        """New files of new photos, which `finish` inserts."""
        folders = folders or Folders(root)
        self._sidecars = Sidecars(session, folders, now, self._contents.is_outdated)
        self._sent = SentFiles(session)
        self._photos = PhotoChanges(session, shared_rows, now)

    @classmethod
    def of(
        cls,
        session: Session,
        settings: Settings,
        now: datetime,
        folders: Folders | None = None,
        contents: Contents | None = None,
    ) -> "Store":
        """Return a store with these settings."""
        shared_rows, kinds = SharedRows(session, settings.timezone), parse_kinds(settings.stack_by)
        return cls(session, shared_rows, settings.originals, now, kinds, folders, contents)

    def load(self, names: Collection[str], read: Sequence[tuple[ScannedFile, Extraction]] = ()) -> None:
        """Look up in advance the rows that files of these names change: a few statements for a whole batch."""
        self._sidecars.load(names)
        self._files.load(names, [extraction.hash for _, extraction in read])
        media = {scanned.name: extraction.hash for scanned, extraction in read if extraction.media_type != "sidecar"}
        self._sent.load(media)
        self._shared_rows.load([extraction.metadata for _, extraction in read])

    def save(self, scanned: ScannedFile, extraction: Extraction) -> Saved:
        """Store the extraction of one file; a duplicate of another file is rejected."""
        if extraction.media_type == "sidecar":
            return self._save_sidecar(scanned, extraction)
        if extraction.problem is not None and extraction.problem.reason.may_pass:
            return self._save_partly(scanned, extraction, extraction.problem)
        named = self._files.named(scanned.name)
        is_contributed = self._sent.is_contributed(scanned.name) if named is None else named.contributed
        same = [] if is_contributed else self._repeated(scanned.name, extraction.hash)
        problem = None
        if same and self._stays_removed(scanned.name, named, same):
            problem = Problem(Reason.REMOVED)
        elif not (same or is_contributed):
            awaited = self._contents.awaited(self._session, scanned, extraction, named)
            problem = None if awaited is None else Problem.of(Reason.DUPLICATE, awaited)
        if problem is not None:
            if named is not None:
                self._set_aside(named, hides=False)
            self.reject(scanned, problem)
            return Saved(problem, new=False)
        identity = self._contents.identify(self._session, scanned.name, extraction, named, same)
        if identity.original is not None:
            return self._save_duplicate(scanned, identity.original, identity.displaced)
        file = self._row_for(scanned, extraction, identity)
        is_new_name = named is None or identity.row is None
        has_moved = file is not None and file.name != scanned.name
        new = file is None or not file.hash
        file = file or self._new_file(scanned, extraction)
        self._files.put(file, scanned.name, extraction.hash)
        write_extraction(file, extraction, self._sent.sent_name(scanned.name))
        file.assign({"size": scanned.size, "mtime_ns": scanned.mtime_ns, "missing": False})
        if new or has_moved or self._session.is_modified(file):  # asked before a query flushes the changes
            file.updated_at = self._now
        file.assign({"reader_version": READER_VERSION})
        self._rejections.accept(scanned.name)
        self._sidecars.link(file, new=new)
        if is_new_name:
            self._sidecars.albums.add(scanned.name, file)
        self._changed[file.photo] = None
        self._stacked[file] = extraction
        return Saved(extraction.problem, new)

    def _row_for(self, scanned: ScannedFile, extraction: Extraction, identity: Identity[File]) -> File | None:
        """Free the name of a file, and return the row that it takes; None when it is a new one."""
        file = identity.row
        if identity.displaced is not None:
            heir = self._set_aside(identity.displaced, hides=file is None)
            file = file or heir
        if file is None:
            return None
        if file.name != scanned.name:
            self._leave_name(file)
        elif file.hash != extraction.hash:
            self._rejections.leave(scanned.name)
            self._sidecars.part(file)
        facts = Facts.of(extraction, extraction.metadata)
        if not file.hash and contradict(facts_of(file), facts) and not self._is_edit_of_private(facts):
            file.photo.private = False  # this is another picture than the private one that had the name
        return file

    def _is_edit_of_private(self, facts: Facts) -> bool:
        """Return whether unknown content may be an edit of another private picture, as when files exchange names."""
        if facts.first is None or not 1 < facts.first.year < 9999:
            return False
        moment = facts.first.replace(tzinfo=UTC)
        near = Photo.taken_at_local.between(moment - _SECOND, moment + _SECOND)
        private = select(File).join(Photo).where(Photo.private, near, File.root == ORIGINALS_ROOT, File.hash != "")
        with self._session.no_autoflush:
            files = self._session.scalars(private.limit(_MOST_OF_MOMENT)).all()
        return len(files) == _MOST_OF_MOMENT or any(is_edit(facts_of(file), facts) for file in files)

    def _repeated(self, name: str, content: str) -> list[File]:
        """Return the files with this content, except contributed ones that are in their places.

        Content that a visitor sent as well stays a photo of its own: neither side learns about the other. A person may
        have moved a contributed file that is gone from its place.
        """
        same = self._files.with_content(content)
        return [file for file in same if not (file.contributed and self._contents.is_in_place(file, name))]

    def _save_partly(self, scanned: ScannedFile, extraction: Extraction, problem: Problem) -> Saved:
        """Store a file of which only the metadata could be read; known values of the same content stay."""
        file = self._files.named(scanned.name)
        if file is not None and file.hash == extraction.hash and not file.missing:
            file.size, file.mtime_ns = scanned.size, scanned.mtime_ns
            self._changed[file.photo] = None
            new = False
        elif file is not None and self._is_undecided(file, extraction):
            new = False
        else:
            saved = self.save(scanned, replace(extraction, problem=None))
            if saved.problem is not None:  # a duplicate
                return saved
            new = saved.new
        self.reject(scanned, problem)
        return Saved(problem, new)

    def _is_undecided(self, file: File, extraction: Extraction) -> bool:
        """Return whether only the pixels can tell that this unknown content is an edit of the file."""
        if not file.hash or self._files.with_content(extraction.hash):
            return False
        facts = facts_of(file), Facts.of(extraction, extraction.metadata)
        return not (is_edit(*facts) or contradict(*facts))

    def _save_duplicate(self, scanned: ScannedFile, original: File, displaced: File | None) -> Saved:
        """Reject a file with the content of another one."""
        if displaced is not None:
            self._set_aside(displaced, hides=False)
        problem = Problem.of(Reason.DUPLICATE, original.name)
        self._sidecars.link_copy(scanned.name, original)
        if stored_reason(self._session, scanned.name) is None:
            self._sidecars.albums.add(scanned.name, original)
            self._changed[original.photo] = None
        self.reject(scanned, problem)
        return Saved(problem, new=False)

    def _set_aside(self, file: File, *, hides: bool) -> File | None:
        """Free the name of a file whose content has left it; this run or a later one may find the content elsewhere.

        Args:
            hides: true if the new content under the name of a private file must be private, too. The row for it is
                returned.
        """
        name, private = file.name, file.photo.private
        self._rejections.leave(name)
        self._files.put(file, f"{aside_folder()}/{name}", file.hash)
        file.missing = True
        self._changed[file.photo] = None
        self.restack(file)
        return self._private_file(name, file) if hides and private else None

    def _leave_name(self, file: File) -> None:
        """Note that a file has moved away from its name; unknown content there is private if the file is.

        When a private file was edited beside a copy of its former content, the copy keeps the photo, and the edited
        picture must not become public.
        """
        self._rejections.leave(file.name)
        name, private = file.name, file.photo.private
        if private and not self._contents.is_gone(name):
            content = self._contents.hash_of(name)
            if not (content and self._files.with_content(content)):
                self._files.put(file, f"{aside_folder()}/{name}", file.hash)
                self._private_file(name, file)

    def _private_file(self, name: str, former: File) -> File:
        """Make the row of a file that is yet to be read, in a hidden private photo.

        Args:
            former: the file that had the name; content that contradicts its facts becomes public.
        """
        folder, base, _ = split_name(name)
        photo = new_photo(folder, base, self._now)
        photo.private, photo.checked_at = True, self._now
        file = self._add_file(photo)
        self._session.add(file)
        file.hash, file.size, file.mtime_ns, file.missing = "", 0, 0, True
        write_extraction(file, replace(read_extraction(former), hash="", size=0, mtime_ns=0))
        self._files.put(file, name, "")
        self._session.flush()
        return file

    def _save_sidecar(self, scanned: ScannedFile, extraction: Extraction) -> Saved:
        """Store a sidecar, or reject it if it cannot be read or is not about pictures."""
        if extraction.problem is None:
            self._rejections.accept(scanned.name)
            return Saved(None, self._sidecars.save(scanned, extraction))
        problem = extraction.problem if self._sidecars.has_companions(scanned.name) else Problem(Reason.UNRELATED)
        self._change(self._sidecars.remove([scanned.name])[1])
        self.reject(scanned, problem)
        return Saved(problem, new=False)

    def _change(self, photo_ids: Collection[int]) -> None:
        """Note photos to describe again although none of their files changed; photos without files are left out."""
        if photo_ids:
            query = select(Photo).where(Photo.id.in_(photo_ids), Photo.files.any(File.missing.is_(False)))
            self._changed |= dict.fromkeys(self._session.scalars(query.order_by(Photo.id)))

    def reject(self, scanned: ScannedFile, problem: Problem) -> None:
        """Record why this file is no part of a photo. If the reason may pass, the row of an earlier run stays."""
        self._rejections.add(scanned, problem)
        file = self._files.named(scanned.name)
        if file is not None and self._contents.has_moved(self._session, file, scanned):
            file = self._set_aside(file, hides=True)
        if file is not None and not problem.reason.may_pass:
            file.problem, file.size, file.mtime_ns, file.missing = problem, scanned.size, scanned.mtime_ns, False
            file.reader_version = READER_VERSION
            self._changed[file.photo] = None

    def mark_missing(self, names: Sequence[str]) -> list[str]:
        """Mark files as missing and delete sidecars, a few thousand at most; return the names that the library had.

        Photos of which no file is left are hidden.
        """
        session, connection = self._session, self._session.connection()
        stored = select(File.id, File.name, File.photo_id).where(
            File.root == ORIGINALS_ROOT, among(session, File.name, names), File.missing.is_(False)
        )
        rows = connection.execute(stored.order_by(File.id)).all()
        files = update(File).where(among(session, File.id, [row.id for row in rows])).values(missing=True)
        session.execute(files, execution_options=UNLOADED)
        photo_ids = {row.photo_id for row in rows}
        present = select(File.photo_id).where(among(session, File.photo_id, photo_ids), File.missing.is_(False))
        shown = set(connection.execute(present).scalars())
        if gone := photo_ids - shown:
            mark_cameras(session, select(Photo.camera_id).where(among(session, Photo.id, gone)))
            hide_photos(session, gone, self._now)
        self._change(shown)
        self._rejections.accept(*names)
        sidecars, changed = self._sidecars.remove(names)
        self._change(changed)
        return [row.name for row in rows] + sidecars

    def restack(self, file: File) -> None:
        """Stack a stored file again."""
        self._stacked[file] = read_extraction(file)

    def rename(self, file: File, name: str, *, restack: bool = True) -> None:
        """Rename a stored file as its original was; its photo keeps all values that people set.

        Args:
            restack: whether the name may make it part of another photo.
        """
        self._files.put(file, name, file.hash)
        file.updated_at = self._now
        self._rejections.accept(name)
        self._sidecars.link(file, new=False)
        self._changed[file.photo] = None
        if restack:
            self.restack(file)

    def finish(self) -> int:
        """Stack the changed files, describe and project the photos whose files changed, and return their number."""
        with self._session.no_autoflush:
            self._write_rejections()
            number_new(self._session, Photo, dict.fromkeys(file.photo for file in self._new))
            number_new(self._session, File, self._new)
            keys = self._keys()
            lone = self._lone(keys)
            self._photos.describe_new([file.photo for file in lone])
            plain = [file for file in lone if is_alone(file)]
            self._session.add_all(set(self._new).difference(plain))
        self._session.flush()
        self._photos.insert(plain)
        linked = self._sidecars.finish()
        for file in plain:
            if file.photo_id in linked:  # it is loaded instead
                del self._changed[file.photo]
        self._change(linked)
        self._photos.remember(self._changed)
        stored = write_keys(self._session, {file.id: numbers for file, numbers in keys.items()})
        shared = {file.id: stored[file.id] for file in keys if file not in lone}
        restacked = restack(self._session, shared, self._kinds, self._now, self._contents.is_outdated)
        self._changed |= dict.fromkeys(restacked.changed)
        changed = [photo for photo in self._changed if photo.id not in restacked.gone]
        described = {file.photo_id for file in lone} - linked
        self._photos.describe([photo for photo in changed if photo.id not in described])
        self._sidecars.albums.finish()
        self._photos.project(changed, gone=restacked.gone)
        return len(changed)

    def write_keys(self) -> None:
        """Store the keys of the files to stack, without stacking them."""
        write_keys(self._session, {file.id: keys for file, keys in self._keys().items()})

    def _keys(self) -> dict[File, frozenset[int]]:
        """Return the keys of the files to stack."""
        copies = copies_of(self._session, [file.name for file in self._stacked])
        for name, original in self._rejections.duplicates():
            copies[original].append(name)
        return {
            file: keys_of(file.name, extraction, self._kinds, copies.get(file.name, ()))
            for file, extraction in self._stacked.items()
        }

    def _lone(self, keys: Mapping[File, Collection[int]]) -> dict[File, None]:
        """Return the new files that share no key with other files and have no sidecars: their photos stay as they are.

        They are most files of a first run. Described before they are inserted, each is written once.
        """
        counts = Counter(chain.from_iterable(keys.values()))
        shared = {key for key, count in counts.items() if count > 1} | stored_keys(self._session, counts)
        new = [file for file in self._new if shared.isdisjoint(keys[file])]
        return dict.fromkeys(file for file in new if not self._sidecars.has_companions(file.name))

    def _write_rejections(self) -> None:
        """Store the rejections. Stack files again whose duplicates came or went: names of duplicates count, too."""
        self._rejections.forget_copies()
        self._sidecars.settle(self._rejections.names)
        originals = self._rejections.changed_originals()
        self._files.load(originals, [])
        for file in filter(None, map(self._files.named, originals)):
            if file not in self._stacked and not file.missing:
                self.restack(file)
        self._rejections.write()

    def _stays_removed(self, name: str, named: File | None, same: Sequence[File]) -> bool:
        """Return whether a file only has another time since a person removed its content from the library."""
        if named is not None or not all(file.missing for file in same):
            return False
        return self._contents.is_changed(name) and stored_reason(self._session, name) == Reason.REMOVED.value

    def _new_file(self, scanned: ScannedFile, extraction: Extraction) -> File:
        """Make a file of a new photo, which `restack` may join with others.

        New pictures of one base name share a photo at once. Contributed files stay alone.
        """
        folder, base, _ = split_name(scanned.name)
        is_contributed = self._sent.is_contributed(scanned.name)
        picture = extraction.media_type != "video" and not is_contributed
        shared = self._new_photos.get((folder, base)) if picture else None
        photo = shared or new_photo(folder, base, self._now)
        if picture:
            self._new_photos[folder, base] = photo
        file = self._add_file(photo)
        self._new.append(file)
        file.unstacked = file.contributed = is_contributed
        return file

    def _add_file(self, photo: Photo) -> File:
        uid = ids.new_uid(ids.FILE, self._now)
        values = {"uid": uid, "root": ORIGINALS_ROOT, "created_at": self._now, "updated_at": self._now}
        return File.with_defaults(values, photo=photo, markers=[])
