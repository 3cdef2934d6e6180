"""`svc purge`: files that are gone from the originals, marked as missing or removed."""

import click

from photosvc.cli.group import as_called, with_database
from photosvc.cli.terminal import (
    confirm,
    format_options,
    print_figures,
    yes_option,
)
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
        found = survey(session, service.settings)
        for disk in sorted(found.absent):
            click.echo(f"No disk is mounted on {disk} any more: its files count as gone.", err=True)
        session.rollback()
        if found.moved:
            moved = f"{counted(found.moved, 'file')} {agreeing(found.moved, 'seems', 'seem')} to have been moved"
            line = f"{moved} and {agreeing(found.moved, 'is', 'are')} left alone: run svc index."
            click.echo(as_called(line), err=True)
        if hard and not dry_run and (found.files or found.photos):
            confirm(_question(found), yes=yes)
        marked, removed = len(found.unmarked), Removed()
        if not dry_run:
            marked = mark(session, service.settings, service.clock, found)
            forget_disks(session, found.absent)
            if hard:
                removed = remove(session, service.settings, service.clock, service.picture_cache, found)
    record = {
        "missing": len(found.files),
        "marked": marked,
        "photos": len(found.photos),
        "edited": found.edited,
        "favorites": found.favorites,
        "in_albums": found.in_albums,
        "examples": found.examples,
        **({"moved": found.moved} if found.moved else {}),
        "removed": {"files": removed.files, "photos": removed.photos, "thumbnails": removed.thumbnails},
        "dry_run": dry_run,
    }
    if print_figures(record):
        return
    if hard and dry_run:
        files, photos = counted(len(found.files), "file"), counted(len(found.photos), "photo")
        click.echo(f"{files} and {photos} would be removed. {_losses(found)}")
    elif hard:
        files, photos = counted(removed.files, "file"), counted(removed.photos, "photo")
        click.echo(f"{files}, {photos} and {counted(removed.thumbnails, 'thumbnail')} removed")
    else:
        would, photos = "would be " if dry_run else "", counted(len(found.photos), "photo")
        click.echo(f"{len(found.files)} missing, {marked} {would}newly marked; {photos} without files")


def _question(found: Survey) -> str:
    listed = "".join(f"  {name}\n" for name in found.examples)
    gone, alone = len(found.files), len(found.photos)
    more = gone - len(found.examples)
    return (
        f"{counted(gone, 'file')} {agreeing(gone, 'is', 'are')} gone from the originals:\n{listed}"
        + (f"  and {more} more\n" if more else "")
        + f"{counted(alone, 'photo')} {agreeing(alone, 'has', 'have')} no other file. {_losses(found)}\n"
        + "Remove them from the library?"
    )


def _losses(found: Survey) -> str:
    """Return the sentence about edits, favourites and albums that would be lost."""
    edited, favorites, inside = found.edited, found.favorites, found.in_albums
    return (
        f"Of these photos {edited} {agreeing(edited, 'was', 'were')} edited, "
        f"{favorites} {agreeing(favorites, 'is a favorite', 'are favorites')}, "
        f"{inside} {agreeing(inside, 'is', 'are')} in albums."
    )
