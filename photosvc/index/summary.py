"""What an index run is asked to do, and what it did."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Summary:
    """What a run did; names are relative to the originals."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    missing: int = 0
    """Files that were known and are gone."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Name and reason of what is no picture or video, or is left out on purpose."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Name and reason of what should have been readable."""
    rebuilt: int = 0
    """Search rows made anew before, because an older version had made them."""
    seconds: float = 0.0

    def add(self, other: "Summary") -> None:
        """Count what another part of the run did."""
        self.indexed += other.indexed
        self.updated += other.updated
        self.skipped += other.skipped
        self.failed += other.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptions:
    """How to run."""

    subfolder: str = ""
    force: bool = False
    """Read files again that have not changed."""
    workers: int = 0
    """Processes; 0 takes the setting, and that by default one for each core."""
    dry_run: bool = False
    """Only tell what would be read."""
