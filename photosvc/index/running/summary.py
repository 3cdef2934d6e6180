"""The options of an index run, and its result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Self

from photosvc.core.problems import Problem, Severity


class Status(StrEnum):
    """What a run did with a file."""

    INDEXED = "indexed"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    MISSING = "missing"
    """It belongs to the library and is gone from the folder."""
    SKIPPED = "skipped"
    """Left out on purpose, or failed in an earlier run."""
    FAILED = "failed"
    """It should have been readable."""


class Outcome(NamedTuple):
    """One file of a run."""

    name: str
    """Relative to the originals."""
    status: Status
    problem: Problem | None = None

    @classmethod
    def of_problem(cls, name: str, problem: Problem) -> Self:
        """A file that is skipped or failed, by the severity of its problem."""
        return cls(name, Status.FAILED if problem.reason.severity is Severity.FAILED else Status.SKIPPED, problem)


#: Called with every file of a run.
Observer = Callable[[Outcome], None]


@dataclass(slots=True)
class Summary:
    """Counts of a run; lists no files, because memory must not grow with the library."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    skipped: int = 0
    failed: int = 0
    rebuilt: int = 0
    """Search rows of an older version, rendered again before the run."""
    read_again: int = 0
    """Unchanged files that a reader of an older version had read; they are among those updated or skipped."""
    thumbnails: int = 0
    """Thumbnails made along the way."""
    cache_refusal: str = ""
    """A sentence: why thumbnails could not be kept; empty when all were."""
    kept: int = 0
    """Files that are gone and yet not marked as missing, because no original is there: the disk is not mounted."""
    unmounted: dict[str, int] = field(default_factory=dict)
    """Folders on which a disk was mounted before and none is now, with the number of files left as they are."""
    seconds: float = 0.0
    observer: Observer | None = None

    @property
    def left(self) -> int:
        """Files that were not found and yet not marked as missing, because a disk is not mounted."""
        return self.kept + sum(self.unmounted.values())

    @property
    def warning(self) -> str:
        """A sentence about the whole run; empty when there is nothing to say."""
        sentences = [
            f"No disk is mounted on {disk} any more: its files ({count}) were not marked as missing. "
            "Run `svc purge` if it will not come back."
            for disk, count in self.unmounted.items()
        ]
        if self.kept:
            sentences.append(
                f"There is no picture or video in the originals, and {self.kept} in the library: nothing was marked "
                "as missing. Is the disk mounted?"
            )
        return " ".join(sentences)

    def add(self, outcome: Outcome) -> None:
        """Count a file and pass it to the observer."""
        name = outcome.status.value
        setattr(self, name, getattr(self, name) + 1)
        if self.observer:
            self.observer(outcome)


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
    unmounted: frozenset[str] = frozenset()
    """Folders whose disk was mounted before and is not now: their files are not marked as missing."""
    dry_run: bool = False
    """Only count the files that would be read."""
