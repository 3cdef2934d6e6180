"""`svc import photoprism` and `svc import undo`: what people entered in another program."""

from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any, cast

import click

from photosvc.cli.group import PlainError, with_database
from photosvc.cli.terminal import (
    FullPath,
    chosen_format,
    confirm,
    format_options,
    print_figures,
    print_json,
    print_list,
    progress_bar,
    yes_option,
)
from photosvc.core.errors import PhotosvcError
from photosvc.core.files import clean_name
from photosvc.core.message import counted
from photosvc.exchange.import_runs import undo_run
from photosvc.exchange.imported import Outcome, Reader, Report
from photosvc.exchange.library_import import LibraryImport, Preference
from photosvc.exchange.photoprism_api import PhotoprismApi
from photosvc.exchange.photoprism_dump import PhotoprismDump
from photosvc.exchange.photoprism_folder import PhotoprismFolder, WithFolder
from photosvc.exchange.remote import read_key
from photosvc.web.service import Service

_COLUMNS = {"value": "Value"} | {outcome.value: outcome.value.replace("_", " ").capitalize() for outcome in Outcome}
#: Names of photos and records that a table is followed by.
_SHOWN = 20


class FolderMap(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A folder of the other program and the same folder below our originals, `THEIRS=OURS`."""

    name = "folders"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:  # noqa: ANN401
        """Return both without needless slashes."""
        if isinstance(value, tuple):
            return value
        theirs, equals, ours = str(value).partition("=")
        if not equals or ".." in PurePosixPath(theirs).parts + PurePosixPath(ours).parts or ours.startswith("/"):
            self.fail(
                f"{value!r} is no THEIRS=OURS, such as /mnt/photos=family: OURS is below the originals", param, ctx
            )
        return ("/" if theirs.startswith("/") else "") + _clean(theirs), _clean(ours)


def _clean(path: str) -> str:
    return clean_name("/".join(part for part in path.split("/") if part not in ("", ".")))


prefer_option = click.option(
    "--prefer", type=click.Choice(["ours", "theirs", "newest"]), default="ours", show_default=True,
    help="Which value stays if a person set another one here.",
)  # fmt: skip
dry_run_option = click.option("--dry-run", is_flag=True, help="Only print what would change.")


@click.command()
@click.argument("storage", type=FullPath(), required=False)
@click.option("--url", help="Address of a running PhotoPrism, which also knows people and labels.")
@click.option("--token-file", type=FullPath(), help="File whose first line is an access token of PhotoPrism.")
@click.option("--dump", type=FullPath(), help="SQL dump of PhotoPrism's database, which knows as much.")
@click.option(
    "--map", "folders", type=FolderMap(), multiple=True, metavar="THEIRS=OURS",
    help="A folder of PhotoPrism's originals and the same one below ours, such as /mnt/photos=family.",
)  # fmt: skip
@prefer_option
@dry_run_option
@format_options
@with_database
def photoprism(
    service: Service,
    storage: Path | None,
    url: str | None,
    token_file: Path | None,
    dump: Path | None,
    folders: tuple[tuple[str, str], ...],
    prefer: Preference,
    dry_run: bool,
) -> None:
    """Take over what people entered in PhotoPrism: from its folder STORAGE, its API, or its database.

    YAML files in STORAGE have titles, captions, dates, places, keywords, rights, notes, favorites, private and archived
    photos, and albums. API and database also have people with their areas, labels, turned pictures, and favorites of
    people and labels; of STORAGE, if it is named, too, what they lack is added.
    Photos are found by their content or by their paths below the originals, which must be indexed here. Values that a
    person set here stay. A second run changes nothing.
    """
    folders = tuple(("" if theirs.startswith("/") else theirs, ours) for theirs, ours in folders)
    run_import(service, _reader(service, storage, url, token_file, dump, folders), prefer, dry_run=dry_run)


def _reader(
    service: Service,
    storage: Path | None,
    url: str | None,
    token_file: Path | None,
    dump: Path | None,
    folders: tuple[tuple[str, str], ...],
) -> Reader:
    if (url is None) != (token_file is None):
        raise click.UsageError("--url and --token-file belong together.")
    if url is not None and dump is not None:
        raise click.UsageError("Name either --url or --dump.")
    folder = PhotoprismFolder(storage, folders) if storage is not None else None
    if folder is not None and not folder.is_there:
        msg = f"{storage} has no folder sidecar, albums or backup/albums: name the storage folder of PhotoPrism."
        raise PlainError(msg, 3)
    whole: PhotoprismApi | PhotoprismDump | None = None
    if url is not None and token_file is not None:
        whole = PhotoprismApi(url, read_key(token_file), service.clock, folders)
    elif dump is not None:
        whole = PhotoprismDump(dump, folders)
    if whole is None and folder is None:
        raise click.UsageError("Name the storage folder of PhotoPrism, its address by --url, or a dump by --dump.")
    if whole is not None and folder is not None:
        return WithFolder(whole, folder, whole.has)
    return cast("Reader", whole or folder)


def run_import(
    service: Service, reader: Reader, prefer: Preference, *, dry_run: bool, report: Report | None = None
) -> None:
    """Import what a reader reads, and print the report, also of a run that ends early.

    Args:
        report: further counts go into this one, which others count in, too.
    """
    run = LibraryImport(
        service.engine(), service.clock, service.settings.timezone, reader, prefer=prefer, dry_run=dry_run,
        report=report,
    )  # fmt: skip
    try:
        with progress_bar("Importing") as progress:
            done, total = 0, reader.count() if progress else 0
            for count in run.run():
                done += count
                if progress:
                    progress(done, max(total, done))
    except PhotosvcError:
        if run.report.counts:
            print_report(run.report, dry_run=dry_run)
        raise
    print_report(run.report, dry_run=dry_run)


def print_report(report: Report, *, dry_run: bool) -> None:
    """Print the counts of an import, and what was not found."""
    rows = [
        {"value": name} | {outcome.value: counts[outcome] for outcome in Outcome}
        for name, counts in sorted(report.counts.items(), key=lambda one: (one[0] != "photo", one[0]))
    ]
    unreadable = [asdict(record) for record in report.unreadable]
    if chosen_format() == "json":
        lists = {"by_name": report.by_name, "unmatched": report.unmatched, "unreadable": unreadable}
        print_json({"run": report.run, "dry_run": dry_run, "values": rows, **lists})
        return
    print_list(_COLUMNS, rows)
    sentences = [
        *report.by_name,
        *report.unmatched,
        *(f"{record.name}: {record.reason}" for record in report.unreadable),
    ]
    for sentence in sentences[:_SHOWN]:
        click.echo(sentence, err=True)
    if len(sentences) > _SHOWN:
        click.echo(f"… and {len(sentences) - _SHOWN} more; --json lists them.", err=True)
    if dry_run:
        click.echo("Nothing was changed: this was a dry run.", err=True)
    elif report.run is None and not any(counts[Outcome.TAKEN] for counts in report.counts.values()):
        click.echo("Nothing had to be changed.", err=True)
    elif report.run is not None:
        click.echo(f"This was import {report.run}: `svc import undo {report.run}` takes it back.", err=True)


@click.command()
@click.argument("run", type=click.IntRange(1, (1 << 31) - 1))
@yes_option
@format_options
@with_database
def undo(service: Service, run: int, yes: bool) -> None:
    """Take back what the import with the number RUN did.

    Values that somebody changed since stay, and so do albums that the import made and somebody changed since.
    """
    confirm(f"Take back import {run}?", yes=yes)
    undone = undo_run(service.engine(), service.clock, service.settings.timezone, run)
    if not print_figures(asdict(undone)):
        click.echo(
            f"{counted(undone.photos, 'photo')} restored, {counted(undone.changed_since, 'photo')} changed since; "
            f"{counted(undone.albums, 'album')} deleted, {counted(undone.kept_albums, 'album')} changed since; "
            f"{counted(undone.album_photos, 'photo')} taken out of other albums; "
            f"{counted(undone.marks, 'mark')} of people and labels taken back"
        )
