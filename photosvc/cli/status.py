"""`svc status`: the size of the library, its last index runs, and the files that failed."""

from typing import Any

import click
from sqlalchemy import func, select

from photosvc import __version__
from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, format_options, print_list, print_record
from photosvc.core.message import counted
from photosvc.index import requests
from photosvc.index.run_log import last_run
from photosvc.jobs.queue import is_running
from photosvc.library.failures import count_failed, failed_files
from photosvc.models import Photo, User
from photosvc.search.reading.statistics import read_library_size
from photosvc.web.service import Service

_FIGURES = {
    "version": "Version", "instance": "Instance", "database": "Database",
    "originals": "Originals", "photos": "Photos", "hidden": "Photos hidden", "files": "Files",
    "missing": "Files missing",
    "failed": "Files failed", "albums": "Albums", "accounts": "Accounts", "waiting": "Folders waiting",
    "indexing": "Indexing now", "indexed_at": "Last indexed", "scanned_at": "Last indexed whole",
}  # fmt: skip
_FAILURES = {"name": "File", "reason": "Why", "at": "When", "source": "By"}


@click.command()
@click.option(
    "--failures", type=click.IntRange(0, 10_000), default=10, show_default=True, help="Files that failed to list."
)
@format_options
@with_database
def status(service: Service, failures: int) -> None:
    """Print the size of the library, its last index runs, and the files that failed.

    Photos are those that a search finds by itself; the others, such as archived ones, are hidden. Files are those in
    the originals, failed ones included. `svc check` counts both in the same way.

    CSV has only the figures; the table and JSON list the files as well.
    """
    record, failed = _figures(service, failures)
    if chosen_format() == "json":
        print_record({**{key: key for key in _FIGURES}, "failures": "failures"}, {**record, "failures": failed})
        return
    parts = ", ".join(f"{number} {kind}" for kind, number in record["photos"].items())
    photos = f"{sum(record['photos'].values())} ({parts})" if parts else "0"  # such as `80 (72 image, 8 video)`
    print_record(_FIGURES, {**record, "photos": photos})
    if chosen_format() == "table" and failed:
        print_list(_FAILURES, failed)
        if (more := record["failed"] - len(failed)) > 0:
            click.echo(f"{counted(more, 'more file')} failed: --failures {record['failed']} lists all.")


def _figures(service: Service, most: int) -> tuple[dict[str, Any], list[dict[str, str]]]:
    with service.reading(orm=True) as session:
        counts = read_library_size(session, sees_private=True)
        last, number = last_run(session), count_failed(session)
        failed = [
            {
                "name": file.name,
                "reason": file.problem.sentence,
                "at": f"{file.at:%Y-%m-%d %H:%M}",
                "source": file.source,
            }
            for file in (failed_files(session, text="", count=most, offset=0) if number and most else ())
        ]
        record = {
            "version": __version__,
            "instance": str(service.instance),
            "database": service.engine().url.render_as_string(),
            "originals": str(service.settings.originals),
            "photos": dict(sorted(counts.photos.items())),
            "hidden": (session.scalar(select(func.count()).select_from(Photo)) or 0) - sum(counts.photos.values()),
            "files": counts.files + counts.broken,
            "missing": counts.missing,
            "failed": number,
            "albums": counts.albums,
            "accounts": session.scalar(select(func.count()).select_from(User)),
            "waiting": len(requests.waiting(session)),
            "indexing": is_running(session, service.now()),
            "indexed_at": last.ended_at and last.ended_at.isoformat(timespec="seconds"),
            "scanned_at": last.whole_at and last.whole_at.isoformat(timespec="seconds"),
        }
    return record, failed
