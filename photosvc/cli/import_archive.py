"""`svc import archive`: what `svc export archive` wrote, brought into this library."""

from pathlib import Path

import click

from photosvc.cli.export import check_apart
from photosvc.cli.group import with_database
from photosvc.cli.import_library import dry_run_option, prefer_option, print_report
from photosvc.cli.imports import index_imported
from photosvc.cli.terminal import FullPath, format_options, progress_bar
from photosvc.core.locks import exclusive_lock
from photosvc.exchange.archive_folder import ArchiveFolder
from photosvc.exchange.archive_import import ArchiveImport
from photosvc.exchange.archive_reader import ArchiveReader
from photosvc.exchange.imported import Report
from photosvc.exchange.library_import import LibraryImport, Preference
from photosvc.library.imports import REFUSAL
from photosvc.web.service import Service


@click.command()
@click.argument("folder", type=FullPath(file_okay=False))
@prefer_option
@dry_run_option
@format_options
@with_database
def archive(service: Service, folder: Path, prefer: Preference, dry_run: bool) -> None:
    """Bring in what `svc export archive` wrote into FOLDER: photos, albums, people, labels, the trash and the history.

    Photos that are not here come with all their values and their history, and their originals if FOLDER has them; no
    file is replaced. Of photos that are here, by their content, what people entered is taken over. FOLDER is checked
    first: if a record in it is damaged, nothing changes. The exit code is 1 if an original is missing or damaged.
    """
    check_apart(service, folder, "FOLDER")
    report = Report()
    source = ArchiveFolder(folder)
    done = ArchiveImport(service.engine(), service.settings, service.clock, source, report, dry_run=dry_run)
    run = LibraryImport(
        service.engine(), service.clock, service.settings.timezone, ArchiveReader(source, done), prefer=prefer,
        dry_run=dry_run, report=report,
    )  # fmt: skip
    with exclusive_lock(service.settings.cache / "import.lock", REFUSAL), progress_bar("Importing") as progress:
        count = 0
        for portion in done.run():
            count += portion
            if progress:
                progress(count, len(done.listed))
        if not dry_run:
            index_imported(service)
        done.finish()
        for _ in run.run():
            pass
    print_report(report, dry_run=dry_run)
    if report.unreadable:
        raise click.exceptions.Exit(1)
