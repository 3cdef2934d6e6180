"""`svc trash`: originals that were deleted or replaced, their restoration, and deletion for good."""

from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final

import click

from photosvc.cli.group import LazyGroup, PlainError, with_database
from photosvc.cli.terminal import Duration, confirm, count_option, format_options, print_figures, print_list, yes_option
from photosvc.core.message import counted
from photosvc.core.times import shifted
from photosvc.library.journal import Author
from photosvc.library.trash.folder import Trash, TrashedFile
from photosvc.library.trash.restoring import (
    END_OF_TIME,
    Restored,
    count_files,
    empty_trash,
    files_of_item,
    kept_until,
    older_deletions,
    open_trash,
    photos_of,
    restore_files,
    under_name,
)
from photosvc.web.service import Service

_LISTED: Final = {
    "DeletedAt": "Deleted", "KeptUntil": "Kept until", "Size": "Bytes", "Name": "Name", "PhotoUID": "Photo",
    "Item": "Item",
}  # fmt: skip


@click.group(cls=LazyGroup)
def trash() -> None:
    """List, restore and permanently delete originals that were deleted or replaced."""


@trash.command()
@click.argument("text", default="")
@count_option
@format_options
@with_database
def ls(service: Service, text: str, count: int) -> None:
    """List the originals in the trash, the last one first; with TEXT, only those with this text in their names."""
    listed = Trash(service.settings.originals).page(0, count, text)
    with service.reading(orm=True) as session:
        photos = photos_of(session, listed)
    print_list(_LISTED, [_row(file, photos.get(file.path, ""), kept_until(file, service.settings)) for file in listed])


@trash.command()
@click.argument("items", nargs=-1, metavar="ITEM...")
@click.option("--all", "everything", is_flag=True, help="Restore everything in the trash.")
@click.option("--as", "name", metavar="NAME", help="Restore one file under this name, relative to the originals.")
@click.option("--dry-run", is_flag=True, help="Only print what would be restored.")
@format_options
@with_database
def restore(service: Service, items: tuple[str, ...], everything: bool, name: str | None, dry_run: bool) -> None:
    """Restore originals under their names, and their photos under the same UIDs with all that people entered.

    ITEM is the UID of a photo, a former name, or an item of `svc trash ls`; the part of an item before the first slash
    means all files that were deleted together. A name that another file has by now stays with that file; the exit code
    is then 1.
    """
    if bool(items) == everything:
        raise click.UsageError("name the ITEMs to restore, or use --all")
    if name is not None and len(items) != 1:
        raise click.UsageError("--as needs one ITEM")
    folder = open_trash(service.writing, service.settings)
    with service.reading(orm=True) as session:
        chosen_files = (
            folder.every_file() if everything else chain(*(files_of_item(session, folder, item) for item in items))
        )
        files = list(dict.fromkeys(chosen_files))
    if name is not None:
        files = under_name(files, name)
    if dry_run:
        done = Restored(files=[file.target for file in files])
    else:
        done = restore_files(service.writing, service.settings, files, Author("", "svc trash"), service.now())
    _report_restored(done, dry_run=dry_run)
    if done.taken:
        names = f"{counted(len(done.taken), 'name')} that other files have by now"
        raise PlainError(f"Not restored: {names}; rename these, or restore with --as", 1)


@trash.command()
@click.option(
    "--older-than",
    metavar="AGE",
    type=Duration("days"),
    default="0",
    help="Only files deleted longer ago than this: days, or 12h, 30d, 2w.",
)
@click.option("--dry-run", is_flag=True, help="Only count what would be deleted permanently.")
@format_options
@yes_option
@with_database
def empty(service: Service, older_than: int, dry_run: bool, yes: bool) -> None:
    """Delete the originals in the trash for good."""
    folder = open_trash(service.writing, service.settings)
    deletions = older_deletions(
        folder, shifted(service.now(), -timedelta(seconds=older_than)) if older_than else END_OF_TIME
    )
    done = count_files(folder, deletions)
    if not dry_run and done.files:
        confirm(f"Delete {done.files:,} originals with {done.size:,} bytes permanently?", yes=yes)
    if not dry_run:
        done = empty_trash(service.writing, folder, deletions)
    if not print_figures({"files": done.files, "bytes": done.size, "dry_run": dry_run}):
        what = f"{counted(done.files, 'file')} with {counted(done.size, 'byte')}"
        click.echo(f"{what} {'would be deleted' if dry_run else 'deleted'} permanently")


def _row(file: TrashedFile, photo_uid: str, until: datetime | None) -> dict[str, Any]:
    return {
        "DeletedAt": f"{file.deleted_at:%Y-%m-%dT%H:%M:%SZ}",
        "KeptUntil": f"{until:%Y-%m-%dT%H:%M:%SZ}" if until else None,
        "Size": file.size,
        "Name": file.name,
        "PhotoUID": photo_uid,
        "Item": file.item,
    }


def _report_restored(done: Restored, *, dry_run: bool) -> None:
    if print_figures({"files": done.files, "photos": done.photos, "taken": done.taken, "dry_run": dry_run}):
        return
    for name in done.taken:
        click.echo(f"{name} stays in the trash: another file is in its place", err=True)
    files, photos = counted(len(done.files), "file"), counted(len(done.photos), "photo")
    lines = [*done.files, f"{files} would be restored"] if dry_run else [f"{files} restored, {photos}"]
    click.echo("\n".join(lines))
