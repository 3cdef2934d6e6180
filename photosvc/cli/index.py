"""`svc index`: bring the library up to date with the folder of originals."""

from typing import TYPE_CHECKING

import click

from photosvc.cli.group import with_database
from photosvc.cli.progress import progress_bar

if TYPE_CHECKING:
    from photosvc.core.problems import Problem
    from photosvc.index.summary import IndexOptions, Summary
    from photosvc.web.current import Service


@click.command()
@click.argument("subfolder", default="")
@click.option("--force", "-f", is_flag=True, help="Read files again that have not changed.")
@click.option("--workers", "-w", type=click.IntRange(1, 256), help="Processes; by default one for each core.")
@click.option("--dry-run", is_flag=True, help="Only count the files that would be read.")
@click.option(
    "--rebuild-search", is_flag=True, help="Render the search rows again from the library; reads no originals."
)
@click.option("--thumbs", is_flag=True, help="Make the usual thumbnails of the files that are read.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@with_database
def index(
    service: "Service",
    subfolder: str,
    force: bool,
    workers: int | None,
    dry_run: bool,
    rebuild_search: bool,
    thumbs: bool,
    as_json: bool,
) -> None:
    """Index the originals, or one SUBFOLDER of them.

    Originals are only read. A broken file is recorded with its reason and the run continues; the exit code is then 1.
    """
    if rebuild_search:
        _rebuild(service)
        return
    from photosvc.index.summary import IndexOptions

    options = IndexOptions(subfolder=subfolder, force=force, workers=workers or 0, thumbnails=thumbs, dry_run=dry_run)
    if run_and_report(service, options, as_json=as_json).failed:
        raise click.exceptions.Exit(1)


def run_and_report(service: "Service", options: "IndexOptions | None" = None, *, as_json: bool = False) -> "Summary":
    """Index with a progress bar and print the summary."""
    from photosvc.index.job import run_index
    from photosvc.index.summary import IndexOptions
    from photosvc.models.database import UnitOfWork

    options = options or IndexOptions()
    with progress_bar("Indexing") as progress, UnitOfWork(service.engine()) as session:
        summary = run_index(session, service.settings, service.clock, options, progress)
    if summary.rebuilt:
        click.echo(f"{summary.rebuilt} search rows of an older version rendered again.", err=True)
    if summary.read_again:
        click.echo(_read_again(summary, options), err=True)
    if as_json:
        _print_json(summary, options)
    else:
        _print_summary(summary, options)
    return summary


def _rebuild(service: "Service") -> None:
    from photosvc.index.job import rebuild_search
    from photosvc.models.database import UnitOfWork

    with UnitOfWork(service.engine()) as session:
        count = rebuild_search(session, service.settings)
    click.echo(f"{count} search rows rendered again.", err=True)


def _read_again(summary: "Summary", options: "IndexOptions") -> str:
    verb = "would be read" if options.dry_run else "read"
    return f"{summary.read_again} unchanged files {verb} again: this version reads more than the one that read them."


def _print_summary(summary: "Summary", options: "IndexOptions") -> None:
    for name, problem in summary.skipped:
        click.echo(f"skipped {name}: {problem.sentence}", err=True)
    for name, problem in summary.failed:
        click.echo(f"failed {name}: {problem.sentence}", err=True)
    counts = [
        (summary.indexed, "would be indexed" if options.dry_run else "indexed"),
        (summary.updated, "would be updated" if options.dry_run else "updated"),
        (summary.unchanged, "unchanged"),
        (summary.missing, "missing"),
        (len(summary.skipped), "skipped"),
        (len(summary.failed), "failed"),
    ]
    if options.thumbnails:
        counts.append((summary.thumbnails, "thumbnails made"))
    click.echo(", ".join(f"{count} {what}" for count, what in counts) + f" in {summary.seconds:.1f} s")


def _print_json(summary: "Summary", options: "IndexOptions") -> None:
    import orjson

    record = {
        "indexed": summary.indexed,
        "updated": summary.updated,
        "unchanged": summary.unchanged,
        "missing": summary.missing,
        "skipped": [_file_record(*file) for file in summary.skipped],
        "failed": [_file_record(*file) for file in summary.failed],
        "seconds": round(summary.seconds, 3),
        "dry_run": options.dry_run,
        **({"read_again": summary.read_again} if summary.read_again else {}),
        **({"thumbnails": summary.thumbnails} if options.thumbnails else {}),
    }
    click.echo(orjson.dumps(record, option=orjson.OPT_INDENT_2).decode())


def _file_record(name: str, problem: "Problem") -> dict[str, str]:
    return {"name": name, "code": problem.reason.value, "reason": problem.sentence}
