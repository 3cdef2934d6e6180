"""An import run: files that the library lacks are copied into the staging folder and added, some at a time.

It can be stopped or killed at any moment, and another run completes it. A file of the originals is always whole, a file
to import is removed only after its original is durable, and files that the originals have already are found by their
content.
"""

import logging
import os
from collections import Counter
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

from sqlalchemy import Engine, insert, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import NotFoundError
from photosvc.core.files import open_inside
from photosvc.core.locks import exclusive_lock
from photosvc.core.problems import FileProblemError, Problem, Reason, Severity, system_symbol
from photosvc.index.extract import Extraction, hash_of
from photosvc.index.scan import FoundFile, Unreachable
from photosvc.index.sidecar_formats import MAX_BYTES, Kind
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import IMPORT, State, Waiting
from photosvc.library.admission import ADDED, DUPLICATE, Admission, Admitted
from photosvc.library.albums import album_of_people, make_album, uids_by_title
from photosvc.library.content import InspectionPool, ReceivedFile, inspection_pool, kind_of
from photosvc.library.import_folder import ImportFolder, is_as_found, known_sizes
from photosvc.library.staging import Part, Staging, add_original
from photosvc.library.storage_errors import ReadOnlyError
from photosvc.media.formats import HEAD_SIZE
from photosvc.media.metadata import Metadata
from photosvc.models import Job, JobFailure
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.query.fold import fold
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
_PIECE: Final = 1 << 20
#: Failed files of one import on request that are kept, and that are logged.
MOST_FAILURES: Final = 1000
_MOST_LOGGED: Final = 20
#: Files and bytes of one portion, which wait in the staging folder until all of them have been read.
_MOST_FILES: Final = 32
_MOST_BYTES: Final = 256 << 20
#: Seconds for which a run waits for files that are still being written.
_PATIENCE: Final = 1800.0
_REFUSAL: Final = "Another import is running; wait until it ends."


class Fate(StrEnum):
    """The result for one file."""

    IMPORTED = "imported"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Imported:
    """A file and its result."""

    name: str
    """Relative to the folder of imports."""
    fate: Fate
    placed: str = ""
    """Its name among the originals, also that of the file that a duplicate repeats."""
    problem: Problem | None = None

    @classmethod
    def refused(cls, name: str, problem: Problem) -> Self:
        """Return the result for a file that stays where it is."""
        return cls(name, Fate.SKIPPED if problem.reason.severity is Severity.SKIPPED else Fate.FAILED, problem=problem)


#: Called with each file.
Observer: TypeAlias = Callable[[Imported], object]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import."""

    folder: str = ""
    """Below the folder of imports, in the form of `core.files.clean_name`; empty for all of it."""
    moves: bool = False
    """True if files that are among the originals then are removed from the folder of imports."""
    dry_run: bool = False
    """True to find out only which files would be imported."""
    settle: int = 0
    """Seconds for which a file must not have been written to."""
    user_id: int | None = None
    """The account in whose quota the files count; None for no quota."""
    albums: Sequence[str] = ()
    """UIDs of albums that the photos are added to."""


@dataclass(slots=True)
class _Source:
    """A file that may be imported."""

    found: FoundFile
    status: os.stat_result
    media_type: str
    received: ReceivedFile
    part: Part | None = None


def _album_of(session: Session, described: Metadata, now: datetime) -> str:
    """Return the UID of the first album of this title that people can add to; make it if there is none."""
    for uid in uids_by_title(session).get(fold(described.title), ()):
        if not album_of_people(session, uid, sees_private=True).filter:
            return uid
    return make_album(session, {"title": described.title, "description": described.description}, now).uid


def _read(file: FileIO, size: int) -> bytes:
    """Read from a file to import; an error of its disk becomes `FileProblemError`."""
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
    source: ImportFolder
    options: ImportOptions
    observer: Observer
    _sizes: set[int] = field(default_factory=set, init=False)
    """The sizes of the files that the library has: a file of another size is new."""
    _pool: InspectionPool = field(init=False)
    _emptied: set[str] = field(default_factory=set, init=False)
    _albums: dict[str, str] = field(default_factory=dict, init=False)
    """The UIDs of albums by the folders that have one in Google Takeout."""

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
        folder = self.source.check(self.settings.originals, self.options.folder)
        self.options = replace(self.options, folder=folder)
        with UnitOfWork(self.engine) as session:
            self._sizes = known_sizes(session)
        with (
            exclusive_lock(self.settings.cache / "import.lock", _REFUSAL),
            inspection_pool(self.settings) as self._pool,
            closing(self._readable_groups()) as found,
        ):
            left: list[Sequence[FoundFile]] = []
            for groups in _portioned(found):
                left += self._bring(groups)
                yield sum(map(len, groups))
            yield from self._wait_for(left)

    def _wait_for(self, left: Sequence[Sequence[FoundFile]]) -> Generator[int, None, None]:
        """Import groups whose files are no longer being written."""
        end = self.clock.monotonic() + _PATIENCE
        while left and self.clock.monotonic() < end:
            look = self.clock.monotonic() + self.options.settle
            while self.clock.monotonic() < look:
                yield 0
            again, left = filter(None, map(self.source.again, left)), []
            for groups in _portioned(again):
                left += self._bring(groups)
                yield sum(map(len, groups))
        for file in chain.from_iterable(left):
            self.observer(Imported.refused(file.name, Problem(Reason.UNSETTLED)))

    def count(self) -> int:
        """Return the number of files of any kind below the folder."""
        groups = self.source.groups(self.options.folder)
        return sum(len(group) for group in groups if not isinstance(group, Unreachable))

    def _readable_groups(self) -> Generator[Sequence[FoundFile], None, None]:
        for group in self.source.groups(self.options.folder):
            if isinstance(group, Unreachable):
                self.observer(Imported.refused(group.name, group.problem))
            else:
                yield group

    def _bring(self, groups: Sequence[Sequence[FoundFile]]) -> list[Sequence[FoundFile]]:
        """Import these files and pass each to the observer; return the groups that may still be written to.

        Raises:
            PhotosvcError: the files cannot be stored. Those before them are added, and none is removed or half there.
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
        left: list[Sequence[FoundFile]] = []
        with ExitStack() as parts:
            for group in groups:
                if self._may_be_written(group):
                    left.append(group)
                    continue
                sources = self._opened(group)
                if not self._are_known(sources, admission):
                    for one in self._staged(sources, parts):
                        staged[one.received.path] = one
            for outcome in admission.admit([one.received for one in staged.values()]) if staged else ():
                self._finish(staged[outcome.file.path], outcome, admission)
        for folder in sorted(self._emptied, key=len, reverse=True):
            self.source.remove_empty(folder, self.options.folder)
        self._emptied.clear()
        return left

    def _may_be_written(self, group: Sequence[FoundFile]) -> bool:
        """Return whether one of these files was written a moment ago; the future of a file server does not count."""
        now = self.clock().timestamp()
        return any(abs(now - found.ctime_ns / 1e9) < self.options.settle for found in group)

    def _opened(self, group: Sequence[FoundFile]) -> list[_Source]:
        """Return the files of a group that may be added; the observer gets the others."""
        opened = []
        for found in group:
            try:
                opened.append(self._looked_at(found))
            except FileProblemError as error:
                self.observer(Imported.refused(found.name, error.problem))
        if all(one.media_type == "sidecar" for one in opened):
            for one in opened:
                if self._is_album(one):
                    self.observer(Imported(one.found.name, Fate.IMPORTED))
                    continue
                self.observer(Imported.refused(one.found.name, Problem(Reason.UNRELATED)))
            return []
        return opened

    def _is_album(self, one: _Source) -> bool:
        """Return whether a file names the album of its folder in Google Takeout, for which the library has one then.

        The file stays where it is, for files of its folder that another run imports.
        """
        is_json = one.found.name.lower().endswith(".json") and one.found.size <= MAX_BYTES
        if self.options.dry_run or not is_json:
            return False
        with ExitStack() as parts:
            try:
                part = self._copy(one, parts)
            except FileProblemError:
                return False
            ((_, read),) = self._pool.run([(part.path, one.received.name)])
        if not isinstance(read, Extraction) or read.problem is not None or read.codec != Kind.ALBUM:
            return False
        with write_session(self.engine, library=True) as session:
            self._albums[one.received.folder] = _album_of(session, read.metadata, self.clock())
        return True

    def _looked_at(self, found: FoundFile) -> _Source:
        folder, _, name = found.name.rpartition("/")
        with self.source.open(found) as file:
            kind = kind_of(name, found.size, _read(file, HEAD_SIZE), self.settings)
            if isinstance(kind, Problem):
                raise FileProblemError(kind.reason, *kind.details)
            received = ReceivedFile(Path(), name, found.size, "", folder)
            return _Source(found, os.fstat(file.fileno()), kind[0], received)

    def _are_known(self, sources: Sequence[_Source], admission: Admission) -> bool:
        """Return whether the library has all of these files; they are finished then, without a copy."""
        if not all(one.found.size in self._sizes for one in sources):
            return False
        known = []
        for one in sources:
            try:
                with self.source.open(one.found) as file:
                    one.received = replace(one.received, hash=hash_of(file))
            except (FileProblemError, OSError):
                return False
            # Without albums nothing is written, and others may write meanwhile.
            begin = write_session if admission.albums_in(one.received.folder) else UnitOfWork
            name = admission.find(partial(begin, self.engine), one.received)
            if name is None:
                return False
            known.append((one, name))
        for one, name in known:
            self._finish(one, Admitted(one.received, DUPLICATE, name), admission)
        return True

    def _staged(self, sources: Sequence[_Source], parts: ExitStack) -> Sequence[_Source]:
        """Return the files that could be copied, each with its part."""
        if self.options.dry_run:
            for one in sources:
                self.observer(Imported(one.found.name, Fate.IMPORTED))
            return ()
        copied = []
        for one in sources:
            try:
                part = self._copy(one, parts)
            except FileProblemError as error:
                self.observer(Imported.refused(one.found.name, error.problem))
                continue
            one.part, one.received = part, replace(one.received, path=part.path, hash=part.hash)
            copied.append(one)
        return copied

    def _copy(self, one: _Source, parts: ExitStack) -> Part:
        left = one.found.size
        with self.source.open(one.found) as file, ExitStack() as undo:
            staging = Staging(self.settings.originals)
            part = undo.enter_context(staging.receive(most_bytes=left, expected_length=left))
            while piece := _read(file, min(left, _PIECE)):
                part.write(piece)
                left -= len(piece)
            if left or not is_as_found(os.fstat(file.fileno()), one.found):
                raise FileProblemError(Reason.CHANGED)
            part.date(one.status.st_mtime_ns)
            part.flush()  # now, and not within the write transaction
            parts.enter_context(undo.pop_all())
        return part

    def _finish(self, one: _Source, outcome: Admitted, admission: Admission) -> None:
        """Report the result for a file, and remove the file if it is to be moved and its original is there."""
        if outcome.problem is not None:
            self.observer(Imported.refused(one.found.name, outcome.problem))
            return
        self._sizes.add(one.found.size)
        is_new = outcome.status == ADDED
        self.observer(Imported(one.found.name, Fate.IMPORTED if is_new else Fate.DUPLICATE, outcome.placed))
        if not self.options.moves or self.options.dry_run:
            return
        if is_new or (self._is_other_file(one, outcome.placed) and admission.is_same(outcome.file, outcome.placed)):
            self.source.remove(one.found, one.status)
            self._emptied.add(one.found.name.rpartition("/")[0])

    def _is_other_file(self, one: _Source, name: str) -> bool:
        """Return whether the original is another file, and not this one in a folder that is mounted twice."""
        try:
            with FileIO(open_inside(self.settings.originals, name)) as original:
                return not os.path.samestat(os.fstat(original.fileno()), one.status)
        except (OSError, NotFoundError):
            return False


def _portioned(groups: Iterable[Sequence[FoundFile]]) -> Iterator[list[Sequence[FoundFile]]]:
    """Yield the groups of files, some at a time."""
    portion: list[Sequence[FoundFile]] = []
    files = size = 0
    for group in groups:
        portion.append(group)
        files, size = files + len(group), size + sum(file.size for file in group)
        if files >= _MOST_FILES or size >= _MOST_BYTES:
            yield portion
            portion, files, size = [], 0, 0
    if portion:
        yield portion


def withdraw_imports(session: Session, now: datetime) -> bool:
    """Drop waiting imports and stop the running one, in a write transaction; return whether there is any."""
    gone = queue.withdraw(session, IMPORT)
    return queue.cancel(session, now, [IMPORT.name]) or gone > 0


def import_in_portions(lease: Lease, settings: Settings, job: Waiting) -> Generator[bool, None, None]:
    """Import the folder that is the subject of a job, as a `library.job_runner.Handler`.

    Its arguments are `moves`, true if imported files are removed from the folder of imports, and `albums`, the UIDs of
    albums that the photos are added to.
    """
    wanted, counts = job.arguments, Counter[Fate]()
    failures: list[tuple[str, Problem]] = []

    def observe(file: Imported) -> None:
        counts[file.fate] += 1
        if file.fate is Fate.FAILED and file.problem is not None:
            if counts[Fate.FAILED] <= MOST_FAILURES:
                failures.append((file.name, file.problem))
            if counts[Fate.FAILED] <= _MOST_LOGGED:
                _LOG.warning("import on request: %s: %s", file.name, file.problem.sentence)

    lease.report = lambda: {fate.value: counts[fate] for fate in Fate}
    options = ImportOptions(
        job.subject,
        moves=wanted["moves"],
        settle=settings.watch_settle,
        user_id=job.user_id,
        albums=wanted["albums"],
    )
    source = ImportFolder(settings.import_folder)
    run = ImportRun(lease.engine, settings, lease.clock, source, options, observe)
    with closing(run.portions()) as portions:
        for count in portions:
            _keep(lease, failures)
            yield count > 0
    _keep(lease, failures)
    listed = ", ".join(f"{counts[fate]} {fate.value}" for fate in Fate if counts[fate])
    _LOG.info("import on request: %s", listed or "no files")


def _keep(lease: Lease, failures: list[tuple[str, Problem]]) -> None:
    if not failures:
        return
    own = {"job_id": lease.job_id, "created_at": lease.clock()}
    rows = [{**own, "name": name, "reason": one.reason.value, "detail": one.detail} for name, one in failures]
    with write_session(lease.engine) as session:
        lease.check(session, may_be_stopped=True)
        session.execute(insert(JobFailure), rows)
    failures.clear()


@dataclass(frozen=True, slots=True)
class ImportReport:
    """An import with its state and failures, as `ImportReportSchema` dumps them."""

    job: Job
    state: State
    failures: Sequence[tuple[str, Problem]]
    """Names and problems of the first files that failed."""


def import_reports(session: Session, *, count: int, failures: int) -> list[ImportReport]:
    """Return the last imports, the latest first, each with so many of its failures.

    An import that was stopped counts so at once, and one whose process ended goes on.
    """
    began = select(Job).where(Job.kind == IMPORT.name, Job.started_at.is_not(None))
    found = []
    for job in session.scalars(began.order_by(Job.started_at.desc(), Job.id.desc()).limit(count)):
        failed = select(JobFailure).where(JobFailure.job_id == job.id).order_by(JobFailure.id).limit(failures)
        named = [(one.name, Problem.from_columns(one.reason, one.detail)) for one in session.scalars(failed)]
        state = State.STOPPED if job.cancelled else State(job.outcome or job.state)
        if state is State.INTERRUPTED:
            state = State.RUNNING
        problems = [(name, problem) for name, problem in named if problem is not None]
        found.append(ImportReport(job, state, problems))
    return found
