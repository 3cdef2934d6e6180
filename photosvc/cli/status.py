"""`svc status`: the figures of the library, the times of its index runs, and the files that failed."""

from typing import TYPE_CHECKING, Any

import click

from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, format_options, print_list, print_record
from photosvc.core.words import counted

if TYPE_CHECKING:
    from photosvc.web.current import Service

_HEADINGS = {
    "version": "Version",
    "instance": "Instance",
    "database": "Database",
    "replica": "Replica",
    "originals": "Originals",
    "photos": "Photos",
    "files": "Files",
    "missing": "Files missing",
    "failed": "Files failed",
    "albums": "Albums",
    "accounts": "Accounts",
    "waiting": "Folders waiting",
    "indexing": "Indexing now",
    "indexed_at": "Last indexed",
    "scanned_at": "Last indexed whole",
}
_FAILURES = {"name": "File", "reason": "Why", "at": "When", "source": "By"}


@click.command()
@click.option(
    "--failures", type=click.IntRange(0, 10_000), default=10, show_default=True, help="Files that failed to list."
)
@format_options()
@with_database
def status(service: "Service", failures: int) -> None:
    """Print the size of the library, its last index runs, and the files that failed.

    CSV, TSV and Markdown have only the figures; the table and JSON list the files as well.
    """
    record, failed = _figures(service, failures)
    if chosen_format() == "json":
        print_record({**{key: key for key in _HEADINGS}, "failures": "failures"}, {**record, "failures": failed})
        return
    print_record(_HEADINGS, {**record, "photos": _by_type(record["photos"])})
    if chosen_format() == "table" and failed:
        print_list(_FAILURES, failed)
        if (more := record["failed"] - len(failed)) > 0:
            click.echo(f"{counted(more, 'more file')} failed: --failures {record['failed']} lists all.")


def _figures(service: "Service", most: int) -> tuple[dict[str, Any], list[dict[str, str]]]:
    from sqlalchemy import func, select

    from photosvc import __version__
    from photosvc.index import requested
    from photosvc.index.jobs import is_running
    from photosvc.index.run_log import last_run
    from photosvc.library.problems import count_failed, failed_files
    from photosvc.models import User
    from photosvc.search.reading.figures import figures

    with service.reading(orm=True) as session:
        found = figures(session, sees_private=True)
        replica = service.replica and service.replica.report(session.connection())
        last, number = last_run(session), count_failed(session)
        failed = [
            {"name": one.name, "reason": one.problem.sentence, "at": f"{one.at:%Y-%m-%d %H:%M}", "source": one.source}
            for one in (failed_files(session, text="", count=most, offset=0) if number and most else ())
        ]
        record = {
            "version": __version__,
            "instance": str(service.instance),
            "database": service.engine().url.render_as_string(),
            "replica": replica and replica.standing.value,
            "originals": str(service.settings.as_given("originals")),
            "photos": dict(sorted(found.photos.items())),
            "files": found.files,
            "missing": found.missing,
            "failed": number,
            "albums": found.albums,
            "accounts": session.scalar(select(func.count()).select_from(User)),
            "waiting": len(requested.waiting(session)),
            "indexing": is_running(session, service.now()),
            "indexed_at": last.ended_at and last.ended_at.isoformat(timespec="seconds"),
            "scanned_at": last.whole_at and last.whole_at.isoformat(timespec="seconds"),
        }
    return record, failed


def _by_type(photos: dict[str, int]) -> str:
    """Return the counts in the form `80 (72 image, 8 video)`."""
    parts = ", ".join(f"{number} {kind}" for kind, number in photos.items())
    return f"{sum(photos.values())} ({parts})" if parts else "0"
