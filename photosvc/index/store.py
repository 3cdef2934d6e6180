"""The store: extractions written into the rows of files and photos. It flushes; the caller commits.

Files whose problem may pass are tried again: the rows that keep the problems count the tries.

Files that are gone from the disk get a mark in their rows, and photos without other files are hidden. Statements do
this for all files at once: a mark needs neither the objects of the photos nor their search rows rendered.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, and_, delete, or_, select, update
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.core.problems import Problem, Reason, pause_after
from photosvc.core.vocabulary import parse_kinds
from photosvc.index.agreement import Facts, contradict, is_edit
from photosvc.index.extract import READER_VERSION, Extraction
from photosvc.index.file_columns import read_extraction, write_extraction
from photosvc.index.identity import Contents, Identity, facts_of
from photosvc.index.photo_changes import PhotoChanges, mark_cameras
from photosvc.index.quality import hide_photos
from photosvc.index.restack import copies_of, new_photo, restack, stored_keys, write_keys
from photosvc.index.scan import FoundFile, aside_folder
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_links import Folders, Sidecars
from photosvc.index.stack_rules import keys_of
from photosvc.index.stored_files import SentFiles, StoredFiles
from photosvc.media.formats import split_name
from photosvc.models import ORIGINALS_ROOT, File, Photo, RejectedFile
from photosvc.models.engine import begin_write
from photosvc.models.statements import UNLOADED, among, is_below, number_new
from photosvc.settings import Settings

#: Files that are looked up at once; further ones are due at the next look.
_MOST: Final = 1000
#: Private files of one moment that a new picture is compared with, and the inexactness of a moment.
_MOST_OF_MOMENT: Final = 50
_SECOND: Final = timedelta(seconds=1)


def _rejection(found: FoundFile, problem: Problem, now: datetime) -> RejectedFile:
    may_pass = problem.reason.may_pass
    return RejectedFile(
        root=ORIGINALS_ROOT,
        name=found.name,
        size=found.size,
        mtime_ns=found.mtime_ns,
        reason=problem.reason.value,
        detail=problem.detail,
        reader_version=READER_VERSION,
        attempts=int(may_pass),
        retry_at=now + pause_after(1) if may_pass else None,
        created_at=now,
    )


def _count_tries(session: Session, rejected: Sequence[RejectedFile], now: datetime) -> None:
    """Add the tries that the stored rows of these files have to new rows, which are not in the session yet."""
    tried = {row.name: row for row in rejected if row.attempts}
    if not tried:
        return
    columns = (RejectedFile.name, RejectedFile.size, RejectedFile.mtime_ns, RejectedFile.attempts)
    stored = select(*columns).where(RejectedFile.root == ORIGINALS_ROOT, among(session, RejectedFile.name, tried))
    for name, size, mtime_ns, attempts in session.connection().execute(stored):
        row = tried[name]
        if (size, mtime_ns) == (row.size, row.mtime_ns):
            row.attempts += attempts
            row.retry_at = now + pause_after(row.attempts)


def due_folders(session: Session, now: datetime) -> set[str]:
    """Return the folders of files that are to be read again now."""
    due = select(RejectedFile.name).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.retry_at <= now)
    return {name.rpartition("/")[0] for name in session.connection().execute(due.limit(_MOST)).scalars()}


def put_off(session: Session, folder: str, started: datetime) -> None:
    """Let files wait that were due when a run over a folder began and that it did not find, as without their disk.

    This is done in a transaction of its own, if there are any.
    """
    due: Any = and_(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.retry_at <= started)
    if folder:
        due = and_(due, or_(RejectedFile.name == folder, is_below(RejectedFile.name, folder)))
    if session.scalar(select(RejectedFile.id).where(due).limit(1)) is not None:
        session.rollback()
        begin_write(session)
        later = update(RejectedFile).where(due).values(retry_at=started + pause_after(3))
        session.execute(later, execution_options=UNLOADED)
        session.commit()


class Saved(NamedTuple):
    """The result of storing an extraction."""

    problem: Problem | None
    """The reason why the file was not stored as part of a photo, or cannot be shown."""
    new: bool
    """True if the library had no file of this name or content."""


class Store:
    """The store of one batch of an index run in the transaction of the session; `kinds` of stacks are on."""

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
        self._catalog = shared_rows
        self._now = now
        self._kinds = kinds
        self._files = StoredFiles(session)
        self._contents = contents or Contents(root)
        self._left: set[str] = set()
        self._rejected: dict[str, RejectedFile | None] = {}
        self._changed: dict[Photo, None] = {}
        self._stacked: dict[File, Extraction] = {}
        self._new_photos: dict[tuple[str, str], Photo] = {}
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

    def load(self, names: Collection[str], read: Sequence[tuple[FoundFile, Extraction]] = ()) -> None:
        """Look up in advance the rows that files of these names change: a few statements for a whole batch."""
        self._sidecars.load(names)
        self._files.load(names, [one.hash for _, one in read])
        self._sent.load({found.name: one.hash for found, one in read if one.media_type != "sidecar"})
        contents = [one.metadata for _, one in read]
        self._catalog.load_cameras_and_lenses(contents)
        self._catalog.load_cells((one.lat, one.lng) for one in contents if one.lat is not None and one.lng is not None)

    def save(self, found: FoundFile, extraction: Extraction) -> Saved:
        """Store the extraction of one file; a duplicate of another file is rejected."""
        if extraction.media_type == "sidecar":
            return self._save_sidecar(found, extraction)
        if extraction.problem is not None and extraction.problem.reason.may_pass:
            return self._save_partly(found, extraction, extraction.problem)
        named = self._files.named(found.name)
        is_contributed = self._sent.is_contributed(found.name) if named is None else named.contributed
        same = [] if is_contributed else self._repeated(found.name, extraction.hash)
        awaited = None
        if not (same or is_contributed):
            awaited = self._contents.awaited(self._session, found, extraction, named)
        if awaited is not None or self._stays_removed(found.name, named, same):
            if named is not None:
                self._set_aside(named, hides=False)
            problem = Problem.of(Reason.DUPLICATE, awaited) if awaited is not None else Problem(Reason.REMOVED)
            self.reject(found, problem)
            return Saved(problem, new=False)
        identity = self._contents.identify(self._session, found.name, extraction, named, same)
        if identity.original is not None:
            return self._save_duplicate(found, identity.original, identity.displaced)
        file, unknown = self._row_for(found, extraction, identity), named is None or identity.row is None
        has_moved = file is not None and file.name != found.name
        new = file is None or not file.hash
        file = file or self._new_file(found, extraction)
        self._files.put(file, found.name, extraction.hash)
        write_extraction(file, extraction, self._sent.sent_name(found.name))
        file.size, file.mtime_ns, file.missing = found.size, found.mtime_ns, False
        if new or has_moved or self._session.is_modified(file):  # asked before a query flushes the changes
            file.updated_at = self._now
        file.reader_version = READER_VERSION
        self._rejected[found.name] = None
        self._sidecars.link(file, new=new)
        if unknown:
            self._sidecars.albums.add(found.name, file)
        self._changed[file.photo] = None
        self._stacked[file] = extraction
        return Saved(extraction.problem, new)

    def _row_for(self, found: FoundFile, extraction: Extraction, identity: Identity[File]) -> File | None:
        """Free the name of a file, and return the row that it takes; None when it is a new one."""
        file = identity.row
        if identity.displaced is not None:
            heir = self._set_aside(identity.displaced, hides=file is None)
            file = file or heir
        if file is None:
            return None
        if file.name != found.name:
            self._leave_name(file)
        elif file.hash != extraction.hash:
            self._left.add(found.name)
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
        """Return the files with this content, without those of visitors and contributors, unless these are gone.

        Content that a visitor sent as well stays a photo of its own, which tells neither side about the other. A file
        of theirs that is gone from its place may have been moved by a person.
        """
        same = self._files.with_content(content)
        return [one for one in same if not (one.contributed and self._contents.is_in_place(one, name))]

    def _save_partly(self, found: FoundFile, extraction: Extraction, problem: Problem) -> Saved:
        """Store a file of which only metadata could be read this time; values known of the same content stay."""
        file = self._files.named(found.name)
        if file is not None and file.hash == extraction.hash and not file.missing:
            file.size, file.mtime_ns = found.size, found.mtime_ns
            self._changed[file.photo] = None
            new = False
        elif file is not None and self._is_undecided(file, extraction):
            new = False
        else:
            saved = self.save(found, replace(extraction, problem=None))
            if saved.problem is not None:  # a duplicate
                return saved
            new = saved.new
        self.reject(found, problem)
        return Saved(problem, new)

    def _is_undecided(self, file: File, extraction: Extraction) -> bool:
        """Return whether only the pixels can tell if this unknown content is an edit of that of the file."""
        if not file.hash or self._files.with_content(extraction.hash):
            return False
        facts = facts_of(file), Facts.of(extraction, extraction.metadata)
        return not (is_edit(*facts) or contradict(*facts))

    def _save_duplicate(self, found: FoundFile, original: File, displaced: File | None) -> Saved:
        """Reject a file with the content of another one."""
        if displaced is not None:
            self._set_aside(displaced, hides=False)
        problem = Problem.of(Reason.DUPLICATE, original.name)
        self._sidecars.link_copy(found.name, original)
        if self._reason(found.name) is None:
            self._sidecars.albums.add(found.name, original)
            self._changed[original.photo] = None
        self.reject(found, problem)
        return Saved(problem, new=False)

    def _set_aside(self, file: File, *, hides: bool) -> File | None:
        """Free the name of a file whose content is gone from there, until the run or a later one finds it.

        If `hides`, the new content of a private photo's file is to be private too; its row is returned.
        """
        name, private = file.name, file.photo.private
        self._left.add(name)
        self._files.put(file, f"{aside_folder()}/{name}", file.hash)
        file.missing = True
        self._changed[file.photo] = None
        self.restack(file)
        return self._private_file(name, file) if hides and private else None

    def _leave_name(self, file: File) -> None:
        """Note that a file has moved away from its name; a private photo leaves privacy to unknown content there.

        When the file was edited beside a copy of its former content, the copy keeps the photo, and the edited picture
        must not become public.
        """
        self._left.add(file.name)
        name, private = file.name, file.photo.private
        if private and not self._contents.is_gone(name):
            content = self._contents.hash_of(name)
            if not (content and self._files.with_content(content)):
                self._files.put(file, f"{aside_folder()}/{name}", file.hash)
                self._private_file(name, file)

    def _private_file(self, name: str, former: File) -> File:
        """Make the row of a file that is to be read, in a hidden photo that is private.

        Args:
            former: the file that had the name; content that contradicts its facts is not private.
        """
        folder, base, _ = split_name(name)
        photo = new_photo(self._session, folder, base, self._now)
        photo.private, photo.checked_at = True, self._now
        file = self._add_file(photo)
        file.hash, file.size, file.mtime_ns, file.missing = "", 0, 0, True
        write_extraction(file, replace(read_extraction(former), hash="", size=0, mtime_ns=0))
        self._files.put(file, name, "")
        self._session.flush()
        return file

    def _save_sidecar(self, found: FoundFile, extraction: Extraction) -> Saved:
        """Store a sidecar; one that cannot be read, or says nothing about pictures, is rejected."""
        if extraction.problem is None:
            self._rejected[found.name] = None
            return Saved(None, self._sidecars.save(found, extraction))
        problem = extraction.problem if self._sidecars.has_companions(found.name) else Problem(Reason.UNRELATED)
        self._change(self._sidecars.remove([found.name])[1])
        self.reject(found, problem)
        return Saved(problem, new=False)

    def _change(self, photo_ids: Collection[int]) -> None:
        """Note photos whose files did not change; those without files wait until one returns."""
        if photo_ids:
            query = select(Photo).where(Photo.id.in_(photo_ids), Photo.files.any(File.missing.is_(False)))
            self._changed |= dict.fromkeys(self._session.scalars(query.order_by(Photo.id)))

    def reject(self, found: FoundFile, problem: Problem) -> None:
        """Record why this file is no part of a photo; one that an earlier run could read stays if that may pass."""
        self._rejected[found.name] = _rejection(found, problem, self._now)
        file = self._files.named(found.name)
        if file is not None and self._contents.has_moved(self._session, file, found):
            file = self._set_aside(file, hides=True)
        if file is not None and not problem.reason.may_pass:  # an earlier run could read it
            file.problem, file.size, file.mtime_ns, file.missing = problem, found.size, found.mtime_ns, False
            file.reader_version = READER_VERSION
            self._changed[file.photo] = None

    def mark_missing(self, names: Sequence[str]) -> list[str]:
        """Mark files as missing and delete sidecars, some thousands at most; return the names of those that existed.

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
        self._rejected |= dict.fromkeys(names)
        sidecars, changed = self._sidecars.remove(names)
        self._change(changed)
        return [row.name for row in rows] + sidecars

    def restack(self, file: File) -> None:
        """Stack a stored file again."""
        self._stacked[file] = read_extraction(file)

    def rename(self, file: File, name: str, *, restack: bool = True) -> None:
        """Let a stored file follow its original, which was renamed, with its photo and all values that people set.

        Args:
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
        """Stack the changed files, describe and project the photos whose files changed, and return their number."""
        with self._session.no_autoflush:
            self._write_rejections()
            number_new(self._session, Photo)
            number_new(self._session, File)
            keys = self._keys()
            lone = self._lone(keys)
            self._photos.describe_new([file.photo for file in lone])
        self._session.flush()
        linked = self._sidecars.finish()
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
        for row in filter(None, self._rejected.values()):
            if row.reason == Reason.DUPLICATE.value:
                copies[row.detail].append(row.name)
        return {
            file: keys_of(file.name, extraction, self._kinds, copies.get(file.name, ()))
            for file, extraction in self._stacked.items()
        }

    def _lone(self, keys: Mapping[File, Collection[int]]) -> dict[File, None]:
        """Return the new files that share no key with other files and have no sidecars: nothing changes their photos.

        Most files of a first run are such. Described before they are inserted, each is written once.
        """
        counts = Counter(chain.from_iterable(keys.values()))
        shared = {key for key, count in counts.items() if count > 1} | stored_keys(self._session, counts)
        new = [file for file in keys if file in self._session.new and shared.isdisjoint(keys[file])]
        return dict.fromkeys(file for file in new if not self._sidecars.has_companions(file.name))

    def _write_rejections(self) -> None:
        if self._left:  # copies of what these names had are read again
            copies = (RejectedFile.root == ORIGINALS_ROOT, RejectedFile.reason == Reason.DUPLICATE.value)
            left = delete(RejectedFile).where(*copies, among(self._session, RejectedFile.detail, self._left))
            self._session.execute(left, execution_options=UNLOADED)
        names = self._rejected.keys()
        self._sidecars.settle(names)
        former = and_(RejectedFile.root == ORIGINALS_ROOT, among(self._session, RejectedFile.name, names))
        rejected = list(filter(None, self._rejected.values()))
        self._restack_originals(former, rejected)
        _count_tries(self._session, rejected, self._now)
        self._session.execute(delete(RejectedFile).where(former), execution_options=UNLOADED)
        self._session.add_all(rejected)

    def _restack_originals(self, former: ColumnElement[bool], rejected: Sequence[RejectedFile]) -> None:
        """Stack the files again of which duplicates came or went: the names of duplicates count."""
        is_copy, columns = RejectedFile.reason == Reason.DUPLICATE.value, (RejectedFile.name, RejectedFile.detail)
        before = {tuple(row) for row in self._session.connection().execute(select(*columns).where(former, is_copy))}
        now = {(row.name, row.detail) for row in rejected if row.reason == Reason.DUPLICATE.value}
        names = {original for _, original in before ^ now}
        self._files.load(names, [])
        for file in filter(None, map(self._files.named, names)):
            if file not in self._stacked and not file.missing:
                self.restack(file)

    def _stays_removed(self, name: str, named: File | None, same: Sequence[File]) -> bool:
        """Return whether a file only has another time since a person removed its content from the library."""
        is_back = named is None and bool(same) and all(file.missing for file in same)
        return is_back and self._contents.is_changed(name) and self._reason(name) == Reason.REMOVED.value

    def _reason(self, name: str) -> str | None:
        """Return the code of the reason for which an earlier run rejected a file; None if it did not."""
        query = select(RejectedFile.reason).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == name)
        with self._session.no_autoflush:
            return self._session.scalar(query)

    def _new_file(self, found: FoundFile, extraction: Extraction) -> File:
        """Make a file of a new photo, which `restack` joins with others; new pictures of one name share it at once.

        Not so those that visitors and contributors sent: they stay alone.
        """
        folder, base, _ = split_name(found.name)
        is_contributed = self._sent.is_contributed(found.name)
        picture = extraction.media_type != "video" and not is_contributed
        shared = self._new_photos.get((folder, base)) if picture else None
        photo = shared or new_photo(self._session, folder, base, self._now)
        if picture:
            self._new_photos[folder, base] = photo
        file = self._add_file(photo)
        file.unstacked = file.contributed = is_contributed
        return file

    def _add_file(self, photo: Photo) -> File:
        times = {"created_at": self._now, "updated_at": self._now}
        uid = ids.new_uid(ids.FILE, self._now)
        file = File.with_defaults(uid=uid, root=ORIGINALS_ROOT, photo=photo, markers=[], **times)
        self._session.add(file)
        return file
