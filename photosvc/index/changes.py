"""What changed since the last run: the files of a scan compared with those in the database."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.paths import clean_name
from photosvc.core.problems import Problem, Reason, Severity, Validity
from photosvc.index.extract import READER_VERSION
from photosvc.index.scan import FoundFile, Unreachable, scan
from photosvc.index.summary import Summary
from photosvc.media.errors import MODULES
from photosvc.media.formats import by_extension, is_sidecar
from photosvc.models import ORIGINALS_ROOT, File, RejectedFile


@dataclass(slots=True)
class KnownFile:
    """A file of an earlier run."""

    size: int
    mtime_ns: int
    problem: Problem | None
    """Why it is not in the library, or cannot be shown."""
    reader_version: int = READER_VERSION
    missing: bool = False
    found: bool = False
    """The scan of this run has found it."""

    def is_same(self, found: FoundFile) -> bool:
        """Whether opening it again would give the same result as before."""
        if self.missing or (self.size, self.mtime_ns) != (found.size, found.mtime_ns):
            return False
        return self.problem is None or not _may_be_gone(self.problem)

    @property
    def is_outdated(self) -> bool:
        """Whether a reader of an older version read it, which may have left out some of its metadata."""
        return not self.missing and self.reader_version < READER_VERSION

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


def known_files(session: Session, folder: str) -> dict[str, KnownFile]:
    """Clean name -> file in the database, for all files below `folder`."""
    known = {}
    for table, columns in (
        (RejectedFile, (RejectedFile.reason, RejectedFile.detail, RejectedFile.reader_version)),
        (File, (File.error, File.error_detail, File.reader_version, File.missing)),
    ):
        query = select(table.name, table.size, table.mtime_ns, *columns).where(table.root == ORIGINALS_ROOT)
        if folder:
            query = query.where(table.name.startswith(clean_name(folder) + "/", autoescape=True))
        for name, size, mtime_ns, code, detail, *rest in session.execute(query):
            known[name] = KnownFile(size, mtime_ns, Problem.from_columns(code, detail), *rest)
    return known


@dataclass(frozen=True, slots=True)
class Changes:
    """The files that a run must read, and those that are gone."""

    to_read: list[FoundFile]
    gone: list[str]
    """Names of files in the database that the scan did not find."""


def find_changes(
    root: Path, folder: str, known: dict[str, KnownFile], summary: Summary, *, force: bool, settle: float = 0
) -> Changes:
    """Scan `folder` below `root` and compare; files that need no reading are counted in the summary.

    Args:
        root: the folder of originals.
        folder: where to scan, relative to `root`.
        known: the files in the database; the scan marks those that it finds.
        summary: takes unchanged, skipped and unreadable files.
        force: read unchanged files again.
        settle: seconds; new and changed files that were written within this time are not read.

    """
    to_read: list[FoundFile] = []
    duplicates: list[tuple[FoundFile, KnownFile, Problem]] = []
    unreadable: set[str] = set()
    for found in scan(root, folder):
        if isinstance(found, Unreachable):
            summary.report(found.name, found.problem)
            if found.problem.reason.severity is Severity.FAILED:
                unreadable.add(found.name)
        elif is_sidecar(found.name) or by_extension(found.name) is None:
            reason = Reason.SIDECAR if is_sidecar(found.name) else Reason.UNKNOWN_EXTENSION
            summary.report(found.name, Problem.of(reason))
        else:
            before = known.get(found.name)
            if before is not None:
                before.found = True
            if settle and _may_be_written(found, before, settle):
                summary.report(found.name, Problem.of(Reason.UNSETTLED))
            elif before is None or force or before.is_outdated or not before.is_same(found):
                to_read.append(found)
                summary.read_again += before is not None and before.is_outdated and before.is_same(found)
            elif before.problem is None:
                summary.unchanged += 1
            elif before.duplicate_of:
                duplicates.append((found, before, before.problem))
            else:
                summary.skipped.append((found.name, before.problem))
    # A duplicate may be the last file with its content when the other one is gone or changed: read it again.
    changed = {found.name for found in to_read}
    for found, before, problem in duplicates:
        other = known.get(before.duplicate_of)
        if other is not None and (not other.found or before.duplicate_of in changed):
            to_read.append(found)
        else:
            summary.skipped.append((found.name, problem))
    # A scan that finds no picture at all rather means a disk that is not mounted than a deleted library.
    found_any = bool(to_read) or any(file.found for file in known.values()) or (folder != "" and _has_pictures(root))
    return Changes(to_read, list(_gone(known, unreadable)) if found_any else [])


def _may_be_written(found: FoundFile, before: KnownFile | None, settle: float) -> bool:
    """Whether a new or changed file was written less than `settle` seconds ago.

    A time that lies further in the future, by the clock of a file server, does not keep the file waiting.
    """
    is_changed = before is None or not before.is_same(found)
    return is_changed and abs(time.time_ns() - found.ctime_ns) < settle * 1e9


def _has_pictures(root: Path) -> bool:
    return any(isinstance(found, FoundFile) and by_extension(found.name) is not None for found in scan(root))


def _gone(known: dict[str, KnownFile], unreadable: set[str]) -> Iterator[str]:
    """Names of known files that were not found; files in a folder that cannot be read may still exist."""
    for name, file in known.items():
        if not (file.found or file.missing or name in unreadable or unreadable.intersection(_folders(name))):
            yield name


def _folders(name: str) -> Iterator[str]:
    """The folders that contain the file, and `""` for the root."""
    while name:
        name = name.rpartition("/")[0]
        yield name
