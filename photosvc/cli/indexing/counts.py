"""The counts of an index run."""

from typing import TYPE_CHECKING

from photosvc.core.texts.counted import counted

if TYPE_CHECKING:
    from photosvc.index.running.summary import Summary


def run_line(summary: "Summary", *, dry_run: bool = False, thumbnails: bool = False) -> str:
    """The counts of an index run and its seconds, in a line."""
    counts = [
        (summary.indexed, "would be indexed" if dry_run else "indexed"),
        (summary.updated, "would be updated" if dry_run else "updated"),
        (summary.unchanged, "unchanged"),
        (summary.missing, "missing"),
        (summary.skipped, "skipped"),
        (summary.failed, "failed"),
    ]
    line = ", ".join(f"{count} {what}" for count, what in counts)
    made = f", {counted(summary.thumbnails, 'thumbnail')} made" if thumbnails else ""
    return f"{line}{made} in {summary.seconds:.1f} s"
