"""The options of an index run, and its result."""

from dataclasses import dataclass, field

from photosvc.core.problems import Problem, Severity


@dataclass(slots=True)
class Summary:
    """Counts and lists of a run; names are relative to the originals."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    """Files of the library that are gone from the folder."""
    skipped: list[tuple[str, Problem]] = field(default_factory=list)
    """Names and problems of files that are left out on purpose, or that failed in an earlier run."""
    failed: list[tuple[str, Problem]] = field(default_factory=list)
    """Names and problems of files that should have been readable."""
    rebuilt: int = 0
    """Search rows of an older version, rendered again before the run."""
    read_again: int = 0
    """Unchanged files that a reader of an older version had read; they are among those updated or skipped."""
    thumbnails: int = 0
    """Thumbnails made along the way."""
    seconds: float = 0.0

    def report(self, name: str, problem: Problem) -> None:
        """List a file among those skipped or failed, by the severity of its problem."""
        (self.failed if problem.reason.severity is Severity.FAILED else self.skipped).append((name, problem))

    def add(self, other: "Summary") -> None:
        """Add the counts and lists of another part of the run."""
        self.indexed += other.indexed
        self.updated += other.updated
        self.skipped += other.skipped
        self.failed += other.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptions:
    """How to run the index."""

    subfolder: str = ""
    force: bool = False
    """Read files again that have not changed."""
    workers: int = 0
    """Number of processes; 0 takes the setting, whose default is one for each core."""
    thumbnails: bool = False
    """Make the usual thumbnails of the files that are read."""
    settle: float = 0
    """Seconds: new and changed files that were written within this time are left to a later run, as `unsettled`."""
    dry_run: bool = False
    """Only count the files that would be read."""
