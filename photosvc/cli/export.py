"""`svc export`: what people entered, in formats of other programs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.cli.group import LazyGroup, with_database
from photosvc.cli.terminal import FullPath, confirm, lines_option, print_json, progress_bar, yes_option
from photosvc.core.locks import exclusive_lock
from photosvc.exchange.archive_export import ArchiveExport, Originals, check_archive
from photosvc.exchange.sidecar_export import ExportedSidecar, SidecarExport, SidecarOutcome
from photosvc.library.thumbnail_jobs import matching_files
from photosvc.models import File, Photo
from photosvc.models.statements import in_portions
from photosvc.web.service import Service

_BAD = (SidecarOutcome.KEPT, SidecarOutcome.FAILED)


@click.group(cls=LazyGroup)
def export() -> None:
    """Take what people entered out of the library, in formats that other programs read."""


@export.command()
@click.argument("query", default="")
@click.option("--into", type=FullPath(file_okay=False), metavar="FOLDER", help="Write into this folder.")
@click.option("--beside", is_flag=True, help="Write beside the originals; the sidecars of other programs are merged.")
@click.option("--remove", is_flag=True, help="Take away what was written, in place of writing it.")
@yes_option
@lines_option
@with_database
def xmp(service: Service, query: str, into: Path | None, beside: bool, remove: bool, yes: bool, as_json: bool) -> None:
    """Write an XMP sidecar, such as IMG_1.jpg.xmp, for each file of the photos that match QUERY, by default of all.

    It has the values that the file does not say itself: titles, dates, places, people, keywords and marks that people
    set here or another sidecar has. QUERY has words and filters as in the API. Values that another program changed
    since they were written stay, and are reported; the exit code is 1 then, and if a sidecar cannot be written.
    """
    if (into is None) == (not beside):
        raise click.UsageError("give either --into FOLDER or --beside")
    folder = into or _originals(service, yes=yes, remove=remove)
    if into is not None:
        check_apart(service, into, "--into")
    if not remove:
        folder.mkdir(parents=True, exist_ok=True)
    ids = _photo_ids(service, query)
    counts: Counter[SidecarOutcome] = Counter()
    with _only_export(service), progress_bar("Sidecars") as progress:
        done = 0
        for results in SidecarExport(service.engine(), folder, removes=remove, beside=beside).run(ids):
            counts.update(result.outcome for result in results)
            _print(results, as_json=as_json)
            done = min(done + SidecarExport.PORTION, len(ids))
            if progress:
                progress(done, len(ids))
    by_name = {outcome.value: counts[outcome] for outcome in SidecarOutcome}
    _print_counts(by_name, as_json=as_json)
    if any(counts[outcome] for outcome in _BAD):
        raise click.exceptions.Exit(1)


@export.command()
@click.argument("folder", type=FullPath(file_okay=False))
@click.argument("query", default="")
@click.option(
    "--originals",
    "mode",
    type=click.Choice([mode.value for mode in Originals]),
    default=Originals.COPY.value,
    show_default=True,
    help="Copy the originals, link them on the same file system, or leave them out.",
)
@click.option("--verify", is_flag=True, help="Check the digests of an archive in FOLDER, in place of writing one.")
@lines_option
@with_database
def archive(service: Service, folder: Path, query: str, mode: str, *, verify: bool, as_json: bool) -> None:
    """Write all that people entered into FOLDER, with the originals, so that no program of ours is needed to read it.

    FOLDER is new or empty, or has an archive from before, which is brought up to date; the originals in it stay. QUERY
    limits it to the photos that a search finds. Accounts, passwords, tokens and links stay out. The exit code is 1 if a
    file is missing, damaged, or not one of the archive.
    """
    if verify:
        _verify(folder, as_json=as_json)
        return
    check_apart(service, folder, "FOLDER")
    ids = _photo_ids(service, query)
    run = ArchiveExport(service.engine(), service.settings.originals, folder, mode=Originals(mode))
    with _only_export(service), progress_bar("Photos") as progress:
        for done in run.run(ids, whole=not query.strip()):
            if progress:
                progress(done, len(ids))
    for missing in run.missing:
        if as_json:
            print_json(asdict(missing), indented=False)
        else:
            click.echo(f"missing {missing.name}: {missing.reason}", err=True)
    counts = {"photos": len(ids), "files": run.files, "missing": len(run.missing)}
    _print_counts(counts, as_json=as_json)
    if run.missing:
        raise click.exceptions.Exit(1)


def _verify(folder: Path, *, as_json: bool) -> None:
    files = damaged = 0
    for name, wrong in check_archive(folder):
        files += 1
        damaged += bool(wrong)
        if wrong and as_json:
            print_json({"name": name, "reason": wrong}, indented=False)
        elif wrong:
            click.echo(f"{name}: {wrong}", err=True)
    _print_counts({"files": files, "damaged": damaged}, as_json=as_json)
    if damaged:
        raise click.exceptions.Exit(1)


def _print_counts(counts: Mapping[str, int], *, as_json: bool) -> None:
    if as_json:
        print_json(counts, indented=False)
    else:
        click.echo(", ".join(f"{count} {name}" for name, count in counts.items()))


def _originals(service: Service, *, yes: bool, remove: bool) -> Path:
    """Return the folder of the originals, after asking whether sidecars beside them may change."""
    settings = service.settings
    if settings.readonly:
        raise click.UsageError("PHOTOSVC_READONLY is set: originals do not change; give --into FOLDER")
    if not settings.originals.is_dir():
        raise click.UsageError(f"the folder of originals {str(settings.originals)!r} does not exist")
    verb = "Take our values out of the sidecars" if remove else "Write sidecars"
    confirm(f"{verb} beside the originals in {settings.originals}?", yes=yes)
    return settings.originals


def check_apart(service: Service, folder: Path, hint: str) -> None:
    """Refuse a folder that contains the originals or files of the service, or is among them."""
    target = folder.resolve()
    for own, what in ((service.settings.originals, "the originals"), (service.instance, "the files of the service")):
        if target.is_relative_to(own.resolve()) or own.resolve().is_relative_to(target):
            msg = f"the folder is among {what}, or around them; name one apart from them"
            raise click.BadParameter(msg, param_hint=hint)


def _only_export(service: Service) -> AbstractContextManager[list[str]]:
    """Hold the lock of exports: two at once would write into the same unfinished files."""
    return exclusive_lock(service.instance / "export.lock", "another export is running; wait until it has ended")


def _photo_ids(service: Service, query: str) -> Sequence[int]:
    """Return the ids of the photos that a query finds, else of all, also archived, hidden and private ones."""
    with Session(service.engine()) as session:
        if not query.strip():
            return session.scalars(select(Photo.id).order_by(Photo.id)).all()
        file_ids = matching_files(service.engine(), service.today(), query)
        found: dict[int, None] = {}
        for portion in in_portions(file_ids):
            found |= dict.fromkeys(session.scalars(select(File.photo_id).where(File.id.in_(portion))))
        return sorted(found)


def _print(results: Sequence[ExportedSidecar], *, as_json: bool) -> None:
    for result in results:
        if as_json:
            print_json(asdict(result), indented=False)
        elif result.outcome in _BAD:
            click.echo(f"{result.outcome} {result.name}: {result.reason}", err=True)
