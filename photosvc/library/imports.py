"""Imports: new files of a folder are copied into the staging folder and added, some at a time.

A run can be stopped or killed at any moment, and another run completes it. Originals are always whole. A file to import
is removed only after its original is durable. Files that are originals already are recognised by their content.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import Final, Self, TypeAlias

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import NotFoundError
from photosvc.core.files import open_inside
from photosvc.core.locks import exclusive_lock
from photosvc.core.problems import FileProblemError, Problem, Reason, Severity, system_symbol
from photosvc.index.extract import Extraction, hash_of
from photosvc.index.scan import ScannedFile, Unreachable
from photosvc.index.sidecar_formats import MAX_BYTES, SidecarKind
from photosvc.library.admission import ADDED, DUPLICATE, Admission, Admitted
from photosvc.library.albums import album_of_people, make_album, uids_by_title
from photosvc.library.content import InspectionPool, ReceivedFile, content_kind, inspection_pool
from photosvc.library.import_folder import ImportFolder, is_as_found, known_sizes
from photosvc.library.staging import Part, Staging, add_original
from photosvc.library.storage_errors import ReadOnlyError
from photosvc.media.formats import HEAD_SIZE
from photosvc.media.metadata import Metadata
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.query.fold import fold
from photosvc.settings import Settings

_PIECE: Final = 1 << 20
#: Files and bytes of one portion, which wait in the staging folder until all of them have been read.
_MOST_FILES: Final = 32
_MOST_BYTES: Final = 256 << 20
#: Seconds for which a run waits for files that are still being written.
_PATIENCE: Final = 1800.0
REFUSAL: Final = "Another import is running; wait until it ends."


class ImportOutcome(StrEnum):
    """The outcome for one file."""

    IMPORTED = "imported"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file of the folder of imports, and its outcome."""

    name: str
    """Relative to the folder of imports."""
    outcome: ImportOutcome
    placed: str = ""
    """Its name among the originals; for a duplicate, the name of the equal original."""
    problem: Problem | None = None

    @classmethod
    def refused(cls, name: str, problem: Problem) -> Self:
        """Return the outcome for a file that stays where it is."""
        # A file that vanished was to be imported: perhaps the disk is away.
        is_skipped = problem.reason.severity is Severity.SKIPPED and problem.reason is not Reason.VANISHED
        return cls(name, ImportOutcome.SKIPPED if is_skipped else ImportOutcome.FAILED, problem=problem)


#: Called with each file.
Observer: TypeAlias = Callable[[ImportedFile], object]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import."""

    folder: str = ""
    """Below the folder of imports, in the form of `core.files.clean_name`; empty for all of it."""
    moves: bool = False
    """True if files are removed from the folder of imports once they are originals."""
    dry_run: bool = False
    """True to report only which files would be imported."""
    settle: int = 0
    """Seconds for which a file must not have been written to."""
    user_id: int | None = None
    """The account in whose quota the files count; None for no quota."""
    albums: Sequence[str] = ()
    """UIDs of albums that the photos are added to."""


@dataclass(slots=True)
class _Source:
    """A file that may be imported."""

    found: ScannedFile
    status: os.stat_result
    media_type: str
    received: ReceivedFile
    part: Part | None = None


def _album_of(session: Session, described: Metadata, now: datetime) -> str:
    """Return the UID of the first album of this title that takes photos; make one if there is none."""
    for uid in uids_by_title(session).get(fold(described.title), ()):
        if not album_of_people(session, uid, sees_private=True).filter:
            return uid
    return make_album(session, {"title": described.title, "description": described.description}, now).uid


def _read(file: FileIO, size: int) -> bytes:
    """Read from a file to import; raise `FileProblemError` for an error of its disk."""
    try:
        return file.read(size)
    except OSError as error:
        raise FileProblemError(Reason.UNREADABLE, system_symbol(error)) from None


@dataclass(slots=True)
class ImportRun:
    """One import from a folder."""

    engine: Engine
    settings: Settings
    clock: Clock
    folder: ImportFolder
    options: ImportOptions
    observer: Observer
    _sizes: set[int] = field(default_factory=set, init=False)
    """The sizes of the library's files in bytes: a file of another size is new."""
    _pool: InspectionPool = field(init=False)
    _emptied: set[str] = field(default_factory=set, init=False)
    _albums: dict[str, str] = field(default_factory=dict, init=False)
    """Folder with an album in Google Takeout -> the UID of the album here."""

    def portions(self) -> Generator[int, None, None]:
        """Import one portion after the other; yield the number of its files, or 0 while it waits for a writer.

        Raises:
            ReadOnlyError: nothing may be added.
            NotFoundError: there is no such folder.
            InvalidValueError: it cannot be imported.
            ConflictError: another import is in progress.
            QuotaExceededError: the account may not add more.
            PhotosvcError: the files cannot be stored.
        """
        if self.settings.readonly:
            raise ReadOnlyError
        subfolder = self.folder.check(self.settings.originals, self.options.folder)
        self.options = replace(self.options, folder=subfolder)
        with UnitOfWork(self.engine) as session:
            self._sizes = known_sizes(session)
        with (
            exclusive_lock(self.settings.cache / "import.lock", REFUSAL),
            inspection_pool(self.settings) as self._pool,
            closing(self._readable_groups()) as readable,
        ):
            unsettled: list[Sequence[ScannedFile]] = []
            for groups in _portioned(readable):
                unsettled += self._import(groups)
                yield sum(map(len, groups))
            yield from self._wait_for(unsettled)

    def _wait_for(self, unsettled: Sequence[Sequence[ScannedFile]]) -> Generator[int, None, None]:
        """Import groups whose files are no longer being written."""
        end = self.clock.monotonic() + _PATIENCE
        while unsettled and self.clock.monotonic() < end:
            look = self.clock.monotonic() + self.options.settle
            while self.clock.monotonic() < look:
                yield 0
            again, unsettled = filter(None, map(self.folder.again, unsettled)), []
            for groups in _portioned(again):
                unsettled += self._import(groups)
                yield sum(map(len, groups))
        for file in chain.from_iterable(unsettled):
            self.observer(ImportedFile.refused(file.name, Problem(Reason.UNSETTLED)))

    def count(self) -> int:
        """Return the number of files of any kind below the folder."""
        groups = self.folder.groups(self.options.folder)
        return sum(len(group) for group in groups if not isinstance(group, Unreachable))

    def _readable_groups(self) -> Generator[Sequence[ScannedFile], None, None]:
        for group in self.folder.groups(self.options.folder):
            if isinstance(group, Unreachable):
                self.observer(ImportedFile.refused(group.name, group.problem))
            else:
                yield group

    def _import(self, groups: Sequence[Sequence[ScannedFile]]) -> list[Sequence[ScannedFile]]:
        """Import these files and pass each to the observer; return the groups that programs may still write to.

        Raises:
            PhotosvcError: a file cannot be stored. The files before it are added, and no source is removed.
        """
        staged: dict[Path, _Source] = {}

        def place(file: ReceivedFile, name: str, undo: ExitStack) -> None:
            if (part := staged[file.path].part) is not None:
                add_original(self.settings, part, name, undo)

        admission = Admission(
            self.settings,
            lambda: write_session(self.engine),
            place,
            self.clock(),
            self.options.user_id,
            self.options.albums,
            self._pool,
            checks_quota=True,
            folder_albums=self._albums,
        )
        unsettled: list[Sequence[ScannedFile]] = []
        with ExitStack() as parts:
            for group in groups:
                if self._may_be_written(group):
                    unsettled.append(group)
                    continue
                sources = self._sources(group)
                if not self._are_known(sources, admission):
                    for source in self._staged(sources, parts):
                        staged[source.received.path] = source
            for outcome in admission.admit([source.received for source in staged.values()]) if staged else ():
                self._finish(staged[outcome.file.path], outcome, admission)
        for folder in sorted(self._emptied, key=len, reverse=True):
            self.folder.remove_empty(folder, self.options.folder)
        self._emptied.clear()
        return unsettled

    def _may_be_written(self, group: Sequence[ScannedFile]) -> bool:
        """Return whether one of these files was written a moment ago; times in the future do not count."""
        now = self.clock().timestamp()
        return any(abs(now - file.ctime_ns / 1e9) < self.options.settle for file in group)

    def _sources(self, group: Sequence[ScannedFile]) -> list[_Source]:
        """Return the files of a group that may be added; the observer gets the other files."""
        sources = []
        for file in group:
            try:
                sources.append(self._open_source(file))
            except FileProblemError as error:
                self.observer(ImportedFile.refused(file.name, error.problem))
        if all(source.media_type == "sidecar" for source in sources):
            for source in sources:
                if self._is_album(source):
                    self.observer(ImportedFile(source.found.name, ImportOutcome.IMPORTED))
                    continue
                self.observer(ImportedFile.refused(source.found.name, Problem(Reason.UNRELATED)))
            return []
        return sources

    def _is_album(self, source: _Source) -> bool:
        """Return whether a file describes its folder as an album of Google Takeout; if so, make sure that it exists.

        The file stays in the folder of imports, because another run may import more of the folder.
        """
        is_json = source.found.name.lower().endswith(".json") and source.found.size <= MAX_BYTES
        if self.options.dry_run or not is_json:
            return False
        with ExitStack() as parts:
            try:
                part = self._copy(source, parts)
            except FileProblemError:
                return False
            ((_, extraction),) = self._pool.run([(part.path, source.received.name)])
        if (
            not isinstance(extraction, Extraction)
            or extraction.problem is not None
            or extraction.codec != SidecarKind.ALBUM
        ):
            return False
        with write_session(self.engine, library=True) as session:
            self._albums[source.received.folder] = _album_of(session, extraction.metadata, self.clock())
        return True

    def _open_source(self, listed: ScannedFile) -> _Source:
        folder, _, name = listed.name.rpartition("/")
        with self.folder.open(listed) as file:
            kind = content_kind(name, listed.size, _read(file, HEAD_SIZE), self.settings)
            if isinstance(kind, Problem):
                raise FileProblemError(kind.reason, *kind.details)
            received = ReceivedFile(Path(), name, listed.size, "", folder)
            return _Source(listed, os.fstat(file.fileno()), kind[0], received)

    def _are_known(self, sources: Sequence[_Source], admission: Admission) -> bool:
        """Return whether the library has all of these files; if so, report them as duplicates without a copy."""
        if not all(source.found.size in self._sizes for source in sources):
            return False
        duplicates = []
        for source in sources:
            try:
                with self.folder.open(source.found) as file:
                    source.received = replace(source.received, hash=hash_of(file))
            except (FileProblemError, OSError):
                return False
            # A folder without an album needs no write transaction, which would block other writers.
            begin = write_session if admission.albums_in(source.received.folder) else UnitOfWork
            name = admission.find(partial(begin, self.engine), source.received)
            if name is None:
                return False
            duplicates.append((source, name))
        for source, name in duplicates:
            self._finish(source, Admitted(source.received, DUPLICATE, name), admission)
        return True

    def _staged(self, sources: Sequence[_Source], parts: ExitStack) -> Sequence[_Source]:
        """Return the files that were copied, each with its part."""
        if self.options.dry_run:
            for source in sources:
                self.observer(ImportedFile(source.found.name, ImportOutcome.IMPORTED))
            return ()
        copied = []
        for source in sources:
            try:
                part = self._copy(source, parts)
            except FileProblemError as error:
                self.observer(ImportedFile.refused(source.found.name, error.problem))
                continue
            source.part, source.received = part, replace(source.received, path=part.path, hash=part.hash)
            copied.append(source)
        return copied

    def _copy(self, source: _Source, parts: ExitStack) -> Part:
        bytes_left = source.found.size
        with self.folder.open(source.found) as file, ExitStack() as undo:
            staging = Staging(self.settings.originals)
            part = undo.enter_context(staging.receive(most_bytes=bytes_left, expected_length=bytes_left))
            while piece := _read(file, min(bytes_left, _PIECE)):
                part.write(piece)
                bytes_left -= len(piece)
            if bytes_left or not is_as_found(os.fstat(file.fileno()), source.found):
                raise FileProblemError(Reason.CHANGED)
            part.date(source.status.st_mtime_ns)
            part.flush()  # before the write transaction, which it would prolong
            parts.enter_context(undo.pop_all())
        return part

    def _finish(self, source: _Source, outcome: Admitted, admission: Admission) -> None:
        """Report the outcome for a file, and remove the file if the import moves files and its original exists."""
        if outcome.problem is not None:
            self.observer(ImportedFile.refused(source.found.name, outcome.problem))
            return
        self._sizes.add(source.found.size)
        is_new = outcome.status == ADDED
        self.observer(
            ImportedFile(
                source.found.name, ImportOutcome.IMPORTED if is_new else ImportOutcome.DUPLICATE, outcome.placed
            )
        )
        if not self.options.moves or self.options.dry_run:
            return
        name = outcome.placed
        if is_new or (self._is_other_file(source, name) and admission.known_originals.has_content(name, outcome.file)):
            self.folder.remove(source.found, source.status)
            self._emptied.add(source.found.name.rpartition("/")[0])

    def _is_other_file(self, source: _Source, name: str) -> bool:
        """Return whether the original is another file than this one, whose folder may be mounted twice."""
        try:
            with FileIO(open_inside(self.settings.originals, name)) as original:
                return not os.path.samestat(os.fstat(original.fileno()), source.status)
        except (OSError, NotFoundError):
            return False


def _portioned(groups: Iterable[Sequence[ScannedFile]]) -> Iterator[list[Sequence[ScannedFile]]]:
    """Yield lists of groups with about `_MOST_FILES` files or `_MOST_BYTES` bytes."""
    portion: list[Sequence[ScannedFile]] = []
    files = size = 0
    for group in groups:
        portion.append(group)
        files, size = files + len(group), size + sum(file.size for file in group)
        if files >= _MOST_FILES or size >= _MOST_BYTES:
            yield portion
            portion, files, size = [], 0, 0
    if portion:
        yield portion
