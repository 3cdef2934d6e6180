"""What to import, and what became of each file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeAlias

from photosvc.core.problems import Problem, Severity


class Fate(StrEnum):
    """What became of a file."""

    IMPORTED = "imported"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Imported:
    """A file and what became of it."""

    name: str
    """Relative to the folder of imports."""
    fate: Fate
    placed: str = ""
    """Its name among the originals, also that of the file that a duplicate repeats."""
    problem: Problem | None = None

    @classmethod
    def refused(cls, name: str, problem: Problem) -> Self:
        """A file that stays where it is."""
        return cls(name, Fate.SKIPPED if problem.reason.severity is Severity.SKIPPED else Fate.FAILED, problem=problem)


#: Called with each file.
Observer: TypeAlias = Callable[[Imported], object]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What to import and how."""

    folder: str = ""
    """Below the folder of imports, in the form of `core.paths.clean_name`; empty for all of it."""
    moves: bool = False
    """Whether files that are among the originals then are removed from the folder of imports."""
    dry_run: bool = False
    """Whether to find out only what would be imported."""
    settle: int = 0
    """Seconds for which a file must not have been written to."""
    user_id: int | None = None
    """The account in whose quota the files count; None for no quota."""
    albums: Sequence[str] = ()
    """UIDs of albums that the photos are added to."""
