"""The changes since the last run: the files of a scan compared with the files in the database.

The worklist of a run is kept in a temporary database on disk: memory does not grow with the library.
"""

import heapq
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import false, func, literal, select
from sqlalchemy.orm import Session

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.files import clean_name
from photosvc.core.problems import Problem, Reason, Severity, Validity
from photosvc.index.exclusions import Exclusions
from photosvc.index.extract import READER_VERSION
from photosvc.index.run_log import Outcome, Status, Summary
from photosvc.index.scan import ScannedFile, Unreachable, scan
from photosvc.index.sidecar_names import is_read
from photosvc.media.errors import MODULES, has_extra
from photosvc.media.formats import by_extension, is_sidecar, may_have_pixels
from photosvc.models import GONE, ORIGINALS_ROOT, File, RejectedFile, Sidecar
from photosvc.models.statements import after_prefix, is_below
from photosvc.settings import Settings

#: SQLite deletes a database without a name when it is closed, and after a crash. Rolling back is not needed.
_SCHEMA = """
PRAGMA temp_store = FILE;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE to_read (phase INTEGER, name TEXT, size INTEGER, mtime_ns INTEGER, known INTEGER, changed INTEGER,
    ctime_ns INTEGER, PRIMARY KEY (phase, name)) WITHOUT ROWID;
CREATE TABLE absent (name TEXT PRIMARY KEY, gone INTEGER, size INTEGER) WITHOUT ROWID;
CREATE TABLE contents (name TEXT PRIMARY KEY, hash TEXT, stored INTEGER) WITHOUT ROWID;
CREATE INDEX contents_by_hash ON contents (hash);
CREATE TABLE others (size INTEGER, name TEXT, mtime_ns INTEGER, outside INTEGER, PRIMARY KEY (size, name))
    WITHOUT ROWID;
CREATE TABLE duplicates (name TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, other TEXT, code TEXT, detail TEXT)
    WITHOUT ROWID;
BEGIN;
"""
#: The order in which files are read: a sidecar first, so that its picture is described once; known names before new
#: ones, which may be copies of their new contents; duplicates after the files that they may repeat.
_SIDECARS, _KNOWN, _NEW, _DUPLICATES = range(4)
_UNREAD = "NOT EXISTS (SELECT 1 FROM contents WHERE contents.name = to_read.name AND stored)"
_IS_UNSTORED = f"phase = {_KNOWN} AND changed AND NOT ifnull(stored, 0)"
_IS_CHANGED = """
(other IN (SELECT name FROM absent) OR other IN (SELECT name FROM to_read WHERE phase < 3))
"""
#: Problems of folders, whose files may still exist.
_OF_FOLDERS: Final = frozenset({Reason.UNREADABLE_FOLDER, Reason.BAD_PPIGNORE})
#: Rows that are read from the database at once.
_PORTION = 1000


class Worklist:
    """Files to read, files that are gone, and duplicates of these; add names in ascending order."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_SCHEMA)
        self._phases = (_SIDECARS, _DUPLICATES)
        self.compares = False
        """True if the database has a row of any file that is changed or absent."""
        self.found_any = False
        """True if the folder has any file that may belong to the library."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def read(self, scanned: ScannedFile, *, known: bool, changed: bool = False, sidecar: bool = False) -> None:
        """Add a file to read.

        Args:
            known: the database has a row of this name.
            changed: it has another size or time than that row, or the row says that it is missing.
        """
        phase = _SIDECARS if sidecar else _KNOWN if known else _NEW
        row = (phase, scanned.name, scanned.size, scanned.mtime_ns, known, changed, scanned.ctime_ns)
        self._database.execute("INSERT INTO to_read VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self.compares |= known

    def add_absent(self, name: str, *, gone: bool, size: int = 0) -> None:
        """Add a known file of this size that was not found; `gone` when it is to be marked as missing."""
        self._database.execute("INSERT INTO absent VALUES (?, ?, ?)", (name, gone, size))
        self.compares = True

    def keep(self, folder: str) -> int:
        """Let no file below a folder whose disk is not mounted count as gone; return the number of these files."""
        below = (f"{folder}/", after_prefix(f"{folder}/"))
        kept = self._database.execute("UPDATE absent SET gone = 0 WHERE gone AND name >= ? AND name < ?", below)
        return kept.rowcount

    def add_duplicate(self, scanned: ScannedFile, other: str, problem: Problem) -> None:
        """Add an unchanged duplicate of the file with the name `other`."""
        row = (scanned.name, scanned.size, scanned.mtime_ns, other, problem.reason.value, problem.detail)
        self._database.execute("INSERT INTO duplicates VALUES (?, ?, ?, ?, ?, ?)", row)

    def settle_duplicates(self) -> Iterator[tuple[str, Problem]]:
        """Add duplicates whose original is absent or to be read to the files to read; yield the other duplicates.

        Such a duplicate may be the last file with its content. It is read after the files it may be a duplicate of.
        """
        self._database.execute(
            f"INSERT INTO to_read SELECT {_DUPLICATES}, name, size, mtime_ns, 1, 0, 0 FROM duplicates "  # noqa: S608 - constants
            f"WHERE {_IS_CHANGED}"
        )
        if self.compares:
            self._database.execute("CREATE INDEX to_read_by_size ON to_read (size)")
        for name, code, detail in self._rows(f"SELECT name, code, detail FROM duplicates WHERE NOT {_IS_CHANGED}"):  # noqa: S608 - a constant
            if (problem := Problem.from_columns(code, detail)) is not None:
                yield name, problem

    def count_to_read(self) -> int:
        """Return the number of files to read."""
        ((count,),) = self._database.execute("SELECT count(*) FROM to_read WHERE phase BETWEEN ? AND ?", self._phases)
        return int(count)

    def to_read(self, *, newest_first: bool = False) -> Iterator[tuple[ScannedFile, bool]]:
        """Yield files to read, sidecars first, duplicates last, and whether the database has a row of their name."""
        order = "phase, ctime_ns DESC, name" if newest_first else "phase, name"
        query = "SELECT name, size, mtime_ns, known FROM to_read WHERE phase BETWEEN ? AND ? "
        for name, size, mtime_ns, known in self._rows(f"{query} ORDER BY {order}", self._phases):
            yield ScannedFile(name, size, mtime_ns), bool(known)

    def read_also(self, scanned: ScannedFile) -> None:
        """Add a file outside of the scanned folder that is to be read once the others have been: see `go_on`."""
        row = (self._phases[1] + 1, scanned.name, scanned.size, scanned.mtime_ns)
        self._database.execute("INSERT OR IGNORE INTO to_read VALUES (?, ?, ?, ?, 0, 0, 0)", row)

    def go_on(self) -> bool:
        """Continue with the files of `read_also`, and return whether there are any."""
        self._phases = (self._phases[1] + 1, self._phases[1] + 1)
        return self.count_to_read() > 0

    def note(self, name: str, content: str | None, *, stored: bool) -> None:
        """Remember the hash of a file, None when it is unknown, and whether it is stored now."""
        self._database.execute(
            "INSERT INTO contents VALUES (?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET hash = excluded.hash, stored = stored OR excluded.stored",
            (name, content, stored),
        )

    def content(self, name: str) -> str | None:
        """Return the hash that was noted for a file."""
        return next((content for (content,) in self._rows("SELECT hash FROM contents WHERE name = ?", (name,))), None)

    def is_outdated(self, name: str) -> bool:
        """Return whether the file of a known name changed and is not stored, or is absent and may be one to store."""
        if not self.compares:
            return False
        changed = f"SELECT 1 FROM to_read WHERE phase = {_KNOWN} AND name = ? AND changed AND {_UNREAD}"  # noqa: S608 - constants
        moved = f"SELECT 1 FROM to_read WHERE size = (SELECT size FROM absent WHERE name = ?) AND {_UNREAD}"  # noqa: S608 - constants
        return any(self._rows(changed, (name,))) or any(self._rows(moved, (name,)))

    def unread_of_size(self, size: int, *, changed: bool) -> list[str]:
        """Return the files to read of this size for which no hash was noted.

        Args:
            changed: as for `names_with`.
        """
        which = f"{_IS_UNSTORED} AND" if changed else "phase > 0 AND"
        query = f"SELECT name FROM to_read LEFT JOIN contents USING (name) WHERE {which} size = ? AND stored IS NULL"  # noqa: S608 - constants
        return [name for (name,) in self._rows(query, (size,))]

    def is_changed(self, name: str) -> bool:
        """Return whether a known name has a changed file."""
        changed = f"SELECT 1 FROM to_read WHERE phase = {_KNOWN} AND name = ? AND changed"  # noqa: S608 - a constant
        return self.compares and any(self._rows(changed, (name,)))

    def names_with(self, content: str, *, changed: bool) -> list[str]:
        """Return the files to read for which this hash was noted.

        Args:
            changed: return only known names that have a changed file, which is not stored yet.
        """
        which = _IS_UNSTORED if changed else "phase > 0"
        query = f"SELECT name FROM contents JOIN to_read USING (name) WHERE hash = ? AND {which} ORDER BY name"  # noqa: S608 - constants
        return [name for (name,) in self._rows(query, (content,))]

    def add_others(self, files: Iterable[ScannedFile], *, outside: bool) -> None:
        """Add files that are not read in this run, because of where they are or because they were just written."""
        rows = ((scanned.size, scanned.name, scanned.mtime_ns, outside) for scanned in files)
        self._database.executemany("INSERT OR IGNORE INTO others VALUES (?, ?, ?, ?)", rows)

    def others_of_size(self, size: int) -> dict[ScannedFile, bool]:
        """Return the files of `add_others` of this size, and whether each is outside of the folder."""
        rows = self._rows("SELECT name, mtime_ns, outside FROM others WHERE size = ?", (size,))
        return {ScannedFile(name, size, mtime_ns): bool(outside) for name, mtime_ns, outside in rows}

    def gone(self) -> Iterator[str]:
        """Yield the names of files that are gone; none when the scan found no file at all.

        Then the disk is more likely not mounted than the library deleted.
        """
        if self.found_any:
            for (name,) in self._rows("SELECT name FROM absent WHERE gone"):
                yield name

    def count_kept(self) -> int:
        """Return the number of files that are gone and are not among `gone`."""
        if self.found_any:
            return 0
        ((count,),) = self._database.execute("SELECT count(*) FROM absent WHERE gone")
        return int(count)

    def _rows(self, query: str, values: Sequence[str | int] = ()) -> Iterator[sqlite3.Row]:
        with closing(self._database.cursor()) as cursor:
            yield from cursor.execute(query, values)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The settings and extras on which problems of files depend."""

    values: Mapping[Reason, str]
    """The present value of the setting that each of these reasons depends on. The last detail of a stored problem is
    the value at that time."""
    extras: frozenset[str]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the conditions of a run with these settings."""
        extras = frozenset(filter(has_extra, MODULES))
        memory = f"{settings.index_memory}{' vips' * ('vips' in extras)}"  # vips decodes large TIFFs by strips
        return cls({Reason.TOO_LARGE: str(settings.max_file_size), Reason.OVER_MEMORY: memory}, extras)

    def noted(self, problem: Problem) -> Problem:
        """Return a problem of this run with the value that it depends on as its last detail."""
        if problem.reason is Reason.OVER_MEMORY:
            return Problem(problem.reason, (*problem.details, self.values[problem.reason]))
        return problem

    def have_changed(self, problem: Problem) -> bool:
        """Return whether a stored problem may have gone because of a setting or an extra."""
        if problem.reason is Reason.MISSING_EXTRA:
            return problem.details[0] in self.extras
        return problem.reason in self.values and problem.details[-1] != self.values[problem.reason]


@dataclass(slots=True)
class KnownFile:
    """A file of an earlier run."""

    size: int
    mtime_ns: int
    problem: Problem | None
    """The reason why it is not in the library, or cannot be shown."""
    reader_version: int = READER_VERSION
    missing: bool = False
    rests: bool = False
    """True while the pause after its last try, which failed for a reason that may pass, is not over."""
    is_unsettled: bool = False
    """True if its problem depends on a setting or an extra that has changed since."""

    def is_same(self, scanned: ScannedFile) -> bool:
        """Return whether it need not, or must not, be read again."""
        if self.missing or (self.size, self.mtime_ns) != (scanned.size, scanned.mtime_ns):
            return False
        if self._waits:
            return True
        rests = self.rests and self.problem is not None and self.problem.reason.validity is Validity.SPACED
        return not (self.is_unsettled or (self.may_pass and not rests))

    @property
    def may_pass(self) -> bool:
        """Return whether another try may succeed with the same file."""
        return self.problem is not None and self.problem.reason.may_pass

    @property
    def is_outdated(self) -> bool:
        """Return whether a reader of an older version read it, which may have left out some of its metadata."""
        return not self.missing and self.reader_version < READER_VERSION and not self._waits

    @property
    def _waits(self) -> bool:
        """Return whether only a run with `--force` reads it while it is unchanged."""
        return self.problem is not None and self.problem.reason.validity is Validity.UNTIL_FORCED

    @property
    def duplicate_of(self) -> str:
        """Return the name of the file with the same content; empty when this is no duplicate."""
        duplicate = self.problem is not None and self.problem.reason is Reason.DUPLICATE
        return self.problem.details[0] if self.problem and duplicate else ""


Known = Iterator[tuple[str, KnownFile]]


def known_files(session: Session, folder: str, now: datetime, conditions: Conditions) -> Known:
    """Yield the clean name and the row of each file in the database below `folder`, in the order of code points."""
    stored = _rows(session, folder, File, File.error, File.error_detail, File.reader_version, File.missing)
    rests = func.coalesce(RejectedFile.retry_at > now, false())
    rejected = _rows(
        session, folder, RejectedFile, RejectedFile.reason, RejectedFile.detail, RejectedFile.reader_version,
        false(), rests,
    )  # fmt: skip
    sidecars = _rows(session, folder, Sidecar, literal(""), literal(""), Sidecar.reader_version)
    for name, rows in groupby(heapq.merge(stored, sidecars, rejected, key=itemgetter(0)), key=itemgetter(0)):
        # A file that an earlier run could read may have a second row, which counts if it is to be tried again.
        (_, known), *others = rows
        known = next((other for _, other in others if other.may_pass), known)
        known.is_unsettled = known.problem is not None and conditions.have_changed(known.problem)
        yield name, known


def _rows(session: Session, folder: str, table: type[File | RejectedFile | Sidecar], *columns: Any) -> Known:  # noqa: ANN401 - columns
    query = select(table.name, table.size, table.mtime_ns, *columns)
    query = query.where(table.root == ORIGINALS_ROOT, table.size != GONE)
    if folder:
        query = query.where(is_below(table.name, clean_name(folder)))
    if table is Sidecar:  # scans leave out hidden folders, such as the trash: files there are not gone
        query = query.where(~table.name.startswith("."))
    rows = session.execute(query.order_by(table.name).execution_options(yield_per=_PORTION))
    for name, size, mtime_ns, code, detail, *rest in rows:
        yield name, KnownFile(size, mtime_ns, Problem.from_columns(code, detail) if code else None, *rest)


class _Merged:
    """The known files, taken in the order of the scan."""

    def __init__(self, files: Known, work: Worklist) -> None:
        self._files = files
        self._work = work
        self._next = next(files, None)

    def take(self, name: str) -> KnownFile | None:
        """Return the known file of this name; the known files before it are absent."""
        self.pass_to(name)
        if self._next is None or self._next[0] != name:
            return None
        _, known = self._next
        self._next = next(self._files, None)
        return known

    def pass_to(self, name: str | None = None) -> None:
        """Add the known files before this name, or all remaining ones, to the absent files."""
        while self._next is not None and (name is None or self._next[0] < name):
            self._pass(gone=True)

    def pass_within(self, folder: str) -> None:
        """Add the known files of a folder that cannot be read as absent but not gone: they may still exist."""
        self.pass_to(folder)
        while self._next is not None and self._next[0].startswith(folder):
            self._pass(gone=False)

    def _pass(self, *, gone: bool) -> None:
        if self._next is not None:
            name, known = self._next
            self._work.add_absent(name, gone=gone and not known.missing, size=known.size)
            self._next = next(self._files, None)


def find_changes(
    root: Path,
    folder: str,
    known: Known,
    summary: Summary,
    work: Worklist,
    *,
    force: bool,
    clock: Clock = SYSTEM_CLOCK,
    settle: float = 0,
    pause: Callable[[], object] = lambda: None,
) -> None:
    """Scan `folder` below `root` and compare; files that need no reading are counted in the summary.

    Args:
        folder: the folder to scan, relative to `root`.
        summary: takes unchanged, skipped and unreadable files.
        work: takes the files to read and those that are gone.
        force: read unchanged files again.
        clock: of the files' times.
        settle: seconds; new and changed files that were written within this time are not read.
        pause: called after each file.
    """
    merged = _Merged(known, work)
    exclusions = Exclusions(root)
    for scanned in scan(root, folder, exclusions):
        pause()
        if isinstance(scanned, Unreachable):
            summary.add(Outcome.of_problem(scanned.name, scanned.problem))
            _pass_unreachable(scanned, merged, work)
        elif is_sidecar(scanned.name) and not is_read(scanned.name):
            summary.add(Outcome.of_problem(scanned.name, Problem(Reason.SIDECAR)))
        elif not (is_read(scanned.name) or may_have_pixels(scanned.name)):
            summary.add(Outcome.of_problem(scanned.name, Problem(Reason.UNKNOWN_EXTENSION)))
        else:
            before = merged.take(scanned.name)
            # A file without an extension may be a note in the folder of a disk that is not mounted.
            work.found_any |= _is_picture(scanned.name) or (before is not None and before.problem is None)
            if settle and _may_be_written(scanned, before, clock(), settle):
                summary.add(Outcome.of_problem(scanned.name, Problem(Reason.UNSETTLED)))
                work.add_others([scanned], outside=False)
            elif before is None or force or before.is_outdated or not before.is_same(scanned):
                same = before is not None and before.is_same(scanned)
                work.read(scanned, known=before is not None, changed=not same, sidecar=is_read(scanned.name))
                summary.read_again += before is not None and before.is_outdated and same
            elif before.problem is None:
                summary.add(Outcome(scanned.name, Status.UNCHANGED))
            elif before.duplicate_of:
                work.add_duplicate(scanned, before.duplicate_of, before.problem)
            else:
                summary.add(Outcome(scanned.name, Status.SKIPPED, before.problem))
    merged.pass_to()
    work.found_any = work.found_any or exclusions.count > 0 or (folder != "" and _has_pictures(root))
    for name, problem in work.settle_duplicates():
        summary.add(Outcome(name, Status.SKIPPED, problem))


def _pass_unreachable(scanned: Unreachable, merged: "_Merged", work: Worklist) -> None:
    """Keep what is known of a file or folder that could not be looked at; a vanished file is absent."""
    reason = scanned.problem.reason
    has_vanished = reason is Reason.VANISHED
    may_be_file = has_vanished or (reason.severity is Severity.FAILED and reason not in _OF_FOLDERS)
    if may_be_file and merged.take(scanned.name):
        work.add_absent(scanned.name, gone=False)
    elif has_vanished or reason in _OF_FOLDERS:
        merged.pass_within(scanned.name and scanned.name + "/")


def _may_be_written(scanned: ScannedFile, before: KnownFile | None, now: datetime, settle: float) -> bool:
    """Return whether a new or changed file was written less than `settle` seconds ago.

    A time further in the future, from the clock of a file server, does not delay the file.
    """
    is_changed = before is None or not before.is_same(scanned)
    return is_changed and abs(now.timestamp() - scanned.ctime_ns / 1e9) < settle


def _has_pictures(root: Path) -> bool:
    return any(isinstance(scanned, ScannedFile) and _is_picture(scanned.name) for scanned in scan(root))


def _is_picture(name: str) -> bool:
    """Return whether the extension is that of a picture or video."""
    return by_extension(name) is not None and not is_sidecar(name)
