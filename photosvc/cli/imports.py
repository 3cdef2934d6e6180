"""`svc import`: files of a folder, added to the originals and indexed."""

import os
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from photosvc.cli.group import LazyGroup, PlainError, with_database
from photosvc.cli.index import other_jobs_of
from photosvc.cli.terminal import lines_option, print_json, progress_bar
from photosvc.core.errors import ConflictError
from photosvc.core.problems import Problem
from photosvc.index.watcher import RequestedIndexer, indexer_lock
from photosvc.library.admission import ADDED, DAMAGED, stored_status
from photosvc.library.failures import damaged_imports
from photosvc.library.import_folder import ImportFolder
from photosvc.library.imports import ImportedFile, ImportOptions, ImportOutcome, ImportRun
from photosvc.web.service import Service


class _ImportGroup(LazyGroup):
    """`svc import`: a group whose arguments are those of the import of a folder unless they begin with a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the empty name of the import of a folder before its arguments."""
        is_command = bool(args) and args[0] in self.list_commands(ctx)
        return super().parse_args(ctx, args if is_command else ["", *args])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; the empty name is that of the import of a folder."""
        return super().get_command(ctx, cmd_name) if cmd_name else import_folder


class _FolderCommand(click.Command):
    """The import of a folder, which is called by the name of its group alone."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401
    ) -> click.Context:
        """Return its context, as if the group were the command."""
        group = parent
        if group is not None and not info_name:
            info_name, parent = group.info_name, group.parent
        return super().make_context(info_name, args, parent=parent, **extra)


@click.command(
    "import",
    cls=_FolderCommand,
    epilog="`svc import photoprism STORAGE`, `svc import immich URL` and `svc import takeout FOLDER` take over what "
    "people entered there, `svc import archive FOLDER` what `svc export archive` wrote; `svc import undo RUN` takes "
    "that back. A folder of such a name is ./photoprism.",
)
@click.argument("folder", default="")
@click.option(
    "--move/--copy", "moves", default=False, help="Remove source files after they are imported; default: --copy."
)
@click.option("--dry-run", is_flag=True, help="Only print what would be imported.")
@lines_option
@with_database
def import_folder(service: Service, folder: str, moves: bool, dry_run: bool, as_json: bool) -> None:
    """Import pictures and videos of FOLDER, by default PHOTOSVC_IMPORT_FOLDER, into the originals.

    Each gets a name by the time it was taken, such as 2024/05/20240501_120000_1A2B3C4D.jpg, and so do its sidecars.
    Files that the originals have already are not stored again. The exit code is 1 if files cannot be read.
    """
    counts = dict.fromkeys(ImportOutcome, 0)

    def observe(file: ImportedFile) -> None:
        counts[file.outcome] += 1
        if as_json:
            _print_imported(file)
        elif file.problem is not None:
            click.echo(f"{file.outcome.value} {file.name}: {file.problem.sentence}", err=True)

    source = ImportFolder(_existing_folder(folder) if folder else _default_folder(service))
    options = ImportOptions(moves=moves, dry_run=dry_run)
    run = ImportRun(service.engine(), service.settings, service.clock, source, options, observe)
    began = service.now()
    with progress_bar("Importing") as progress, closing(run.portions()) as portions:
        total = run.count() if progress else 0
        done = 0
        for count in portions:
            done += count
            if progress:
                progress(done, total)
    damaged = 0
    if not dry_run:
        index_imported(service)
        damaged = _print_damaged(service, began, as_json=as_json)
        counts[ImportOutcome.IMPORTED] -= damaged
    _print_counts(counts, dry_run=dry_run, as_json=as_json, damaged=damaged)
    if counts[ImportOutcome.FAILED] or damaged:
        raise click.exceptions.Exit(1)


@click.group(
    "import",
    cls=_ImportGroup,
    commands={
        "archive": "import_archive",
        "immich": "import_immich",
        "photoprism": "import_library",
        "takeout": "import_takeout",
        "undo": "import_library",
    },
)
def import_group() -> None:
    """Import pictures and videos of a folder, or what people entered in another program."""


def _existing_folder(name: str) -> Path:
    """Return the absolute path of a folder that can be listed.

    Raises:
        PlainError: there is no such folder.
        OSError: it cannot be read.
    """
    path = Path(name).absolute()
    try:
        os.scandir(path).close()
    except FileNotFoundError:
        raise PlainError(f"There is no folder {path}.", 3) from None
    except NotADirectoryError:
        raise PlainError(f"{path} is a file: name the folder around it.", 2) from None
    return path


def _default_folder(service: Service) -> Path:
    folder = service.settings.import_folder
    if not folder.is_dir():
        raise PlainError(f"There is no folder {folder}: make it, name a FOLDER, or set PHOTOSVC_IMPORT_FOLDER.", 3)
    return folder


def index_imported(service: Service) -> None:
    """Index the imported files, also those of killed runs, unless another process is indexing."""
    other_jobs = other_jobs_of(service)
    with suppress(ConflictError), indexer_lock(service.settings, other_jobs.owner) as former:
        other_jobs.take_over(former)
        RequestedIndexer(service.engine(), service.settings, service.clock, other_jobs).fulfil(at_once=True)
        other_jobs.often()


def _print_damaged(service: Service, began: datetime, *, as_json: bool) -> int:
    """Print the files that were imported since then and that the index could not show; return how many are damaged."""
    damaged = 0
    with Session(service.engine()) as session:
        rows = damaged_imports(session, began)
    for name, original, *columns in rows:
        problem = Problem.from_columns(*columns)
        if problem is None or (status := stored_status(problem)) == ADDED:
            continue
        damaged += status == DAMAGED
        if as_json:
            record = {"name": name, "status": status, "original": original, "reason": problem.sentence}
            print_json(record, indented=False)
        else:
            words = "damaged" if status == DAMAGED else "not shown"
            click.echo(f"stored, but {words} {name} ({original}): {problem.sentence}", err=True)
    return damaged


def _print_imported(file: ImportedFile) -> None:
    record: dict[str, object] = {"name": file.name, "status": file.outcome.value}
    if file.placed:
        record["original"] = file.placed
    if file.problem:
        record |= {"code": file.problem.reason.value, "reason": file.problem.sentence}
    print_json(record, indented=False)


def _print_counts(counts: dict[ImportOutcome, int], *, dry_run: bool, as_json: bool, damaged: int) -> None:
    by_name = {outcome.value: count for outcome, count in counts.items()} | ({"damaged": damaged} if damaged else {})
    if as_json:
        print_json({**by_name, "dry_run": dry_run}, indented=False)
        return
    words = {"imported": "would be imported"} if dry_run else {}
    click.echo(", ".join(f"{count} {words.get(name, name)}" for name, count in by_name.items()))
