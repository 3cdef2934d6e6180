"""What a run has to do, kept in a temporary database on disk: memory does not grow with the library."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Self

from photosvc.core.problems import Problem
from photosvc.index.scanning.scan import FoundFile

#: SQLite deletes a database without a name when it is closed, and after a crash. Rolling back is not needed.
_SCHEMA = """
PRAGMA temp_store = FILE;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE to_read (phase INTEGER, name TEXT, size INTEGER, mtime_ns INTEGER, known INTEGER,
    PRIMARY KEY (phase, name)) WITHOUT ROWID;
CREATE TABLE absent (name TEXT PRIMARY KEY, gone INTEGER) WITHOUT ROWID;
CREATE TABLE duplicates (name TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, other TEXT, code TEXT, detail TEXT)
    WITHOUT ROWID;
BEGIN;
"""
_IS_CHANGED = """
(other IN (SELECT name FROM absent) OR other IN (SELECT name FROM to_read WHERE phase < 2))
"""


class Worklist:
    """Files to read, files that are gone, and duplicates of either; add names in ascending order."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_SCHEMA)
        self.found_any = False
        """Whether the folder has any file that may belong to the library."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def read(self, found: FoundFile, *, known: bool, first: bool = False) -> None:
        """Add a file to read.

        Args:
            found: the file.
            known: the database has a row of this name.
            first: read it before the others: a sidecar, so that its picture is described once.

        """
        row = (0 if first else 1, found.name, found.size, found.mtime_ns, known)
        self._database.execute("INSERT INTO to_read VALUES (?, ?, ?, ?, ?)", row)

    def add_absent(self, name: str, *, gone: bool) -> None:
        """Add a known file that was not found; `gone` when it is to be marked as missing."""
        self._database.execute("INSERT INTO absent VALUES (?, ?)", (name, gone))

    def keep(self, folder: str) -> int:
        """Let no file below a folder, whose disk is not mounted, count as gone; gives how many would."""
        below = (f"{folder}/", f"{folder}0")  # the character after the slash
        kept = self._database.execute("UPDATE absent SET gone = 0 WHERE gone AND name >= ? AND name < ?", below)
        return kept.rowcount

    def add_duplicate(self, found: FoundFile, other: str, problem: Problem) -> None:
        """Add an unchanged duplicate of the file `other`."""
        row = (found.name, found.size, found.mtime_ns, other, problem.reason.value, problem.detail)
        self._database.execute("INSERT INTO duplicates VALUES (?, ?, ?, ?, ?, ?)", row)

    def settle_duplicates(self) -> Iterator[tuple[str, Problem]]:
        """Add duplicates whose other file is absent or to be read to the files to read; gives the remaining ones.

        Such a duplicate may be the last file with its content. It is read after the files it may be a duplicate of.
        """
        self._database.execute(
            f"INSERT INTO to_read SELECT 2, name, size, mtime_ns, 1 FROM duplicates WHERE {_IS_CHANGED}"  # noqa: S608 - a constant
        )
        for name, code, detail in self._rows(f"SELECT name, code, detail FROM duplicates WHERE NOT {_IS_CHANGED}"):  # noqa: S608 - a constant
            problem = Problem.from_columns(code, detail)
            if problem is not None:
                yield name, problem

    def count_to_read(self) -> int:
        """The number of files to read."""
        ((count,),) = self._database.execute("SELECT count(*) FROM to_read")
        return int(count)

    def to_read(self) -> Iterator[tuple[FoundFile, bool]]:
        """The files to read, sidecars first, duplicates last, and whether the database has a row of their name."""
        for name, size, mtime_ns, known in self._rows("SELECT name, size, mtime_ns, known FROM to_read"):
            yield FoundFile(name, size, mtime_ns), bool(known)

    def gone(self) -> Iterator[str]:
        """The names of files that are gone; none when the scan found no file at all.

        Then the disk is more likely not mounted than the library deleted.
        """
        if self.found_any:
            for (name,) in self._rows("SELECT name FROM absent WHERE gone"):
                yield name

    def count_kept(self) -> int:
        """The number of files that are gone and are not among `gone`."""
        if self.found_any:
            return 0
        ((count,),) = self._database.execute("SELECT count(*) FROM absent WHERE gone")
        return int(count)

    def _rows(self, query: str) -> Iterator[sqlite3.Row]:
        with closing(self._database.cursor()) as cursor:
            yield from cursor.execute(query)
