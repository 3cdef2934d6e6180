"""`svc import`: the import of a folder into the originals."""

from contextlib import closing, suppress
from typing import TYPE_CHECKING

import click

from photosvc.cli.group import with_database
from photosvc.cli.terminal import lines_option, print_json, progress_bar
from photosvc.core.errors import ConflictError

if TYPE_CHECKING:
    from photosvc.library.import_run import Fate, Imported
    from photosvc.web.current import Service


@click.command("import")
@click.argument("folder", default="")
@click.option(
    "--move/--copy", "moves", default=False, help="Remove source files after they are imported; default: --copy."
)
@click.option("--dry-run", is_flag=True, help="Only print what would be imported.")
@lines_option
@with_database
def import_folder(service: "Service", folder: str, moves: bool, dry_run: bool, as_json: bool) -> None:
    """Import pictures and videos of FOLDER, by default PHOTOSVC_IMPORT_FOLDER, into the originals.

    Each gets a name by the time it was taken, such as 2024/05/20240501_120000_1A2B3C4D.jpg, and so do its sidecars.
    Files that the originals have already are not stored again. The exit code is 1 if files cannot be read.
    """
    from pathlib import Path

    from photosvc.library.import_folder import ImportFolder
    from photosvc.library.import_run import Fate, ImportOptions, ImportRun

    counts = dict.fromkeys(Fate, 0)

    def observe(file: "Imported") -> None:
        counts[file.fate] += 1
        if as_json:
            _print_record(file)
        elif file.problem is not None:
            click.echo(f"{file.fate.value} {file.name}: {file.problem.sentence}", err=True)

    source = ImportFolder(Path(folder).absolute() if folder else service.settings.import_folder)
    options = ImportOptions(moves=moves, dry_run=dry_run)
    run = ImportRun(service.engine(), service.settings, service.clock, source, options, observe)
    with progress_bar("Importing") as progress, closing(run.portions()) as portions:
        total = run.count() if progress else 0
        done = 0
        for count in portions:
            done += count
            if progress:
                progress(done, total)
    if not dry_run:
        _index(service)
    _print_counts(counts, dry_run=dry_run, as_json=as_json)
    if counts[Fate.FAILED]:
        raise click.exceptions.Exit(1)


def _index(service: "Service") -> None:
    """Index the imported files, also those of killed runs, unless another process is indexing."""
    from photosvc.cli.thumbs import chores_of
    from photosvc.index.watcher import RequestedIndexer, indexer_lock

    chores = chores_of(service)
    with suppress(ConflictError), indexer_lock(service.settings, chores.owner) as former:
        chores.take_over(former)
        RequestedIndexer(service.engine(), service.settings, service.clock, chores).fulfil(at_once=True)
        chores.often()


def _print_record(file: "Imported") -> None:
    record: dict[str, object] = {"name": file.name, "status": file.fate.value}
    if file.placed:
        record["original"] = file.placed
    if file.problem:
        record |= {"code": file.problem.reason.value, "reason": file.problem.sentence}
    print_json(record, indented=False)


def _print_counts(counts: "dict[Fate, int]", *, dry_run: bool, as_json: bool) -> None:
    by_name = {fate.value: count for fate, count in counts.items()}
    if as_json:
        print_json({**by_name, "dry_run": dry_run}, indented=False)
        return
    words = {"imported": "would be imported"} if dry_run else {}
    click.echo(", ".join(f"{count} {words.get(name, name)}" for name, count in by_name.items()))
