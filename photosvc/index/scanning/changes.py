"""What changed since the last run: the files of a scan compared with those in the database."""

import heapq
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import collate, literal, select
from sqlalchemy.orm import Session

from photosvc.core.paths import clean_name
from photosvc.core.problems import Problem, Reason, Severity, Validity
from photosvc.index.extract import READER_VERSION
from photosvc.index.running.summary import Outcome, Status, Summary
from photosvc.index.scanning.scan import FoundFile, Unreachable, scan
from photosvc.index.scanning.worklist import Worklist
from photosvc.index.sidecars.names import is_read
from photosvc.media.errors import MODULES
from photosvc.media.formats import by_extension, is_sidecar, may_have_pixels
from photosvc.models import GONE, ORIGINALS_ROOT, File, RejectedFile, Sidecar
from photosvc.models.database.below import is_below

#: Rows that are read from the database at once.
_PORTION = 1000


@dataclass(slots=True)
class KnownFile:
    """A file of an earlier run."""

    size: int
    mtime_ns: int
    problem: Problem | None
    """Why it is not in the library, or cannot be shown."""
    reader_version: int = READER_VERSION
    missing: bool = False

    def is_same(self, found: FoundFile) -> bool:
        """Whether opening it again would give the same result as before, or must not happen."""
        if self._waits:
            return True
        if self.missing or (self.size, self.mtime_ns) != (found.size, found.mtime_ns):
            return False
        return self.problem is None or not _may_be_gone(self.problem)

    @property
    def is_outdated(self) -> bool:
        """Whether a reader of an older version read it, which may have left out some of its metadata."""
        return not self.missing and self.reader_version < READER_VERSION and not self._waits

    @property
    def _waits(self) -> bool:
        """Whether only a run with `--force` reads it."""
        return self.problem is not None and self.problem.reason.validity is Validity.UNTIL_FORCED

    @property
    def duplicate_of(self) -> str:
        """The name of the file with the same content; empty when this is no duplicate."""
        duplicate = self.problem is not None and self.problem.reason is Reason.DUPLICATE
        return self.problem.details[0] if self.problem and duplicate else ""


def _may_be_gone(problem: Problem) -> bool:
    """Whether the problem may have gone although the file is unchanged."""
    if problem.reason is Reason.MISSING_EXTRA:
        module = MODULES.get(problem.details[0])
        return module is not None and find_spec(module) is not None
    return problem.reason.validity is Validity.TRANSIENT


Known = Iterator[tuple[str, KnownFile]]


def known_files(session: Session, folder: str) -> Known:
    """Clean name and row of each file in the database below `folder`, by name in the order of code points."""
    stored = _rows(session, folder, File, File.error, File.error_detail, File.reader_version, File.missing)
    rejected = _rows(
        session, folder, RejectedFile, RejectedFile.reason, RejectedFile.detail, RejectedFile.reader_version
    )
    sidecars = _rows(session, folder, Sidecar, literal(""), literal(""), Sidecar.reader_version)
    last = None
    for name, known in heapq.merge(stored, sidecars, rejected, key=itemgetter(0)):
        if name != last:  # a rejected file that an earlier run could read has both rows; that of the photo counts
            yield name, known
        last = name


def _rows(session: Session, folder: str, table: type[File | RejectedFile | Sidecar], *columns: Any) -> Known:  # noqa: ANN401 - columns
    dialect = session.get_bind().dialect.name
    by_name = collate(table.name, "C") if dialect == "postgresql" else table.name
    query = select(table.name, table.size, table.mtime_ns, *columns)
    query = query.where(table.root == ORIGINALS_ROOT, table.size != GONE)
    if folder:
        query = query.where(is_below(table.name, clean_name(folder), dialect))
    if table is Sidecar:  # scans leave hidden folders out, as that of the trash: what lies there is not gone
        query = query.where(~table.name.startswith("."))
    rows = session.execute(query.order_by(by_name).execution_options(yield_per=_PORTION))
    for name, size, mtime_ns, code, detail, *rest in rows:
        yield name, KnownFile(size, mtime_ns, Problem.from_columns(code, detail) if code else None, *rest)


class _Merged:
    """The known files, taken in the order of the scan."""

    def __init__(self, files: Known, work: Worklist) -> None:
        self._files = files
        self._work = work
        self._next = next(files, None)

    def take(self, name: str) -> KnownFile | None:
        """The known file of this name; those before it are absent."""
        self.pass_to(name)
        if self._next is None or self._next[0] != name:
            return None
        _, known = self._next
        self._next = next(self._files, None)
        return known

    def pass_to(self, name: str | None = None) -> None:
        """Add the known files before this name, or all that are left, to the absent ones."""
        while self._next is not None and (name is None or self._next[0] < name):
            self._pass(gone=True)

    def pass_within(self, folder: str) -> None:
        """The known files of a folder that cannot be read may still exist."""
        self.pass_to(folder)
        while self._next is not None and self._next[0].startswith(folder):
            self._pass(gone=False)

    def _pass(self, *, gone: bool) -> None:
        if self._next is not None:
            name, known = self._next
            self._work.add_absent(name, gone=gone and not known.missing)
            self._next = next(self._files, None)


def find_changes(
    root: Path,
    folder: str,
    known: Known,
    summary: Summary,
    work: Worklist,
    *,
    force: bool,
    settle: float = 0,
) -> None:
    """Scan `folder` below `root` and compare; files that need no reading are counted in the summary.

    Args:
        root: the folder of originals.
        folder: where to scan, relative to `root`.
        known: the files in the database.
        summary: takes unchanged, skipped and unreadable files.
        work: takes the files to read and those that are gone.
        force: read unchanged files again.
        settle: seconds; new and changed files that were written within this time are not read.

    """
    merged = _Merged(known, work)
    for found in scan(root, folder):
        if isinstance(found, Unreachable):
            summary.add(Outcome.of_problem(found.name, found.problem))
            if found.problem.reason is Reason.UNREADABLE_FOLDER:
                merged.pass_within(found.name and found.name + "/")
            elif found.problem.reason.severity is Severity.FAILED and merged.take(found.name):
                work.add_absent(found.name, gone=False)
        elif is_sidecar(found.name) and not is_read(found.name):
            summary.add(Outcome.of_problem(found.name, Problem(Reason.SIDECAR)))
        elif not (is_read(found.name) or may_have_pixels(found.name)):
            summary.add(Outcome.of_problem(found.name, Problem(Reason.UNKNOWN_EXTENSION)))
        else:
            before = merged.take(found.name)
            # A file without an extension may be a note in the folder of a disk that is not mounted.
            work.found_any |= _is_picture(found.name) or (before is not None and before.problem is None)
            if settle and _may_be_written(found, before, settle):
                summary.add(Outcome.of_problem(found.name, Problem(Reason.UNSETTLED)))
            elif before is None or force or before.is_outdated or not before.is_same(found):
                work.read(found, known=before is not None, first=is_read(found.name))
                summary.read_again += before is not None and before.is_outdated and before.is_same(found)
            elif before.problem is None:
                summary.add(Outcome(found.name, Status.UNCHANGED))
            elif before.duplicate_of:
                work.add_duplicate(found, before.duplicate_of, before.problem)
            else:
                summary.add(Outcome(found.name, Status.SKIPPED, before.problem))
    merged.pass_to()
    work.found_any = work.found_any or (folder != "" and _has_pictures(root))
    for name, problem in work.settle_duplicates():
        summary.add(Outcome(name, Status.SKIPPED, problem))


def _may_be_written(found: FoundFile, before: KnownFile | None, settle: float) -> bool:
    """Whether a new or changed file was written less than `settle` seconds ago.

    A time that lies further in the future, by the clock of a file server, does not keep the file waiting.
    """
    is_changed = before is None or not before.is_same(found)
    return is_changed and abs(time.time_ns() - found.ctime_ns) < settle * 1e9


def _has_pictures(root: Path) -> bool:
    return any(isinstance(found, FoundFile) and _is_picture(found.name) for found in scan(root))


def _is_picture(name: str) -> bool:
    """Whether the extension is that of a picture or video."""
    return by_extension(name) is not None and not is_sidecar(name)
