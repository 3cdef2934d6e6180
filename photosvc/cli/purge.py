"""`svc purge`: files that are gone from the originals, marked as missing or removed."""

import click

from photosvc.cli.group import as_called, with_database
from photosvc.cli.terminal import confirm, format_options, print_figures, yes_option
from photosvc.core.message import agreeing, counted
from photosvc.index.mounts import forget_disks
from photosvc.index.purge import Removed, Survey, mark, remove, survey
from photosvc.models.engine import UnitOfWork
from photosvc.web.service import Service


@click.command()
@click.option(
    "--hard", is_flag=True, help="Remove the files that are gone, and photos without files, from the library."
)
@click.option("--dry-run", is_flag=True, help="Only count what would be marked or removed.")
@format_options
@yes_option
@with_database
def purge(service: Service, hard: bool, dry_run: bool, yes: bool) -> None:
    """Mark files that are gone from the originals as missing, or remove them with --hard.

    Files that are gone are marked as missing, and photos without other files are hidden; they come back as they were
    when the files come back. With --hard their rows are removed, with all that people entered. Originals are never
    changed.
    """
    with UnitOfWork(service.engine()) as session:
        gone_files = survey(session, service.settings)
        for disk in sorted(gone_files.absent):
            click.echo(f"No disk is mounted on {disk} any more: its files count as gone.", err=True)
        session.rollback()
        if gone_files.moved:
            moved = (
                f"{counted(gone_files.moved, 'file')} {agreeing(gone_files.moved, 'seems', 'seem')} to have been moved"
            )
            line = f"{moved} and {agreeing(gone_files.moved, 'is', 'are')} left alone: run svc index."
            click.echo(as_called(line), err=True)
        if hard and not dry_run and (gone_files.files or gone_files.photos):
            confirm(_question(gone_files), yes=yes)
        marked, removed = len(gone_files.unmarked), Removed()
        if not dry_run:
            marked = mark(session, service.settings, service.clock, gone_files)
            forget_disks(session, gone_files.absent)
            if hard:
                removed = remove(session, service.settings, service.clock, service.picture_cache, gone_files)
    record = {
        "missing": len(gone_files.files),
        "marked": marked,
        "photos": len(gone_files.photos),
        "edited": gone_files.edited,
        "favorites": gone_files.favorites,
        "in_albums": gone_files.in_albums,
        "examples": gone_files.examples,
        **({"moved": gone_files.moved} if gone_files.moved else {}),
        "removed": {"files": removed.files, "photos": removed.photos, "thumbnails": removed.thumbnails},
        "dry_run": dry_run,
    }
    if print_figures(record):
        return
    if hard and dry_run:
        files, photos = counted(len(gone_files.files), "file"), counted(len(gone_files.photos), "photo")
        click.echo(f"{files} and {photos} would be removed. {_losses(gone_files)}")
    elif hard:
        files, photos = counted(removed.files, "file"), counted(removed.photos, "photo")
        click.echo(f"{files}, {photos} and {counted(removed.thumbnails, 'thumbnail')} removed")
    else:
        would, photos = "would be " if dry_run else "", counted(len(gone_files.photos), "photo")
        click.echo(f"{len(gone_files.files)} missing, {marked} {would}newly marked; {photos} without files")


def _question(gone_files: Survey) -> str:
    listed = "".join(f"  {name}\n" for name in gone_files.examples)
    number, alone = len(gone_files.files), len(gone_files.photos)
    more = number - len(gone_files.examples)
    return (
        f"{counted(number, 'file')} {agreeing(number, 'is', 'are')} gone from the originals:\n{listed}"
        + (f"  and {more} more\n" if more else "")
        + f"{counted(alone, 'photo')} {agreeing(alone, 'has', 'have')} no other file. {_losses(gone_files)}\n"
        + "Remove them from the library?"
    )


def _losses(gone_files: Survey) -> str:
    """Return the sentence about lost edits, favourites and albums."""
    edited, favorites, inside = gone_files.edited, gone_files.favorites, gone_files.in_albums
    return (
        f"Of these photos {edited} {agreeing(edited, 'was', 'were')} edited, "
        f"{favorites} {agreeing(favorites, 'is a favorite', 'are favorites')}, "
        f"{inside} {agreeing(inside, 'is', 'are')} in albums."
    )
