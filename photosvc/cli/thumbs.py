"""`svc thumbs` and `svc cache`: thumbnails made before a request, and the cache of all derived pictures."""

from collections.abc import Iterator, Sequence

import click

from photosvc.cli.group import LazyGroup, with_database, with_service
from photosvc.cli.terminal import (
    confirm,
    format_options,
    print_figures,
    print_record,
    progress_bar,
    scheduler_of,
    scheduler_option,
    yes_option,
)
from photosvc.core.message import counted
from photosvc.library.thumbnail_jobs import matching_files, read_originals, thumbnail_pool
from photosvc.pictures.originals import Original
from photosvc.pictures.prerender import PrerenderTotals, prerender
from photosvc.pictures.sizes import NAMED, USUAL, Size
from photosvc.web.service import Service


@click.command()
@click.argument("query", default="")
@click.option("--sizes", metavar="NAMES", help="Names of sizes, separated by commas; by default the usual ones.")
@click.option("--workers", "-w", type=click.IntRange(1, 256), help="Number of processes; by default one for each core.")
@scheduler_option
@format_options
@with_database
def thumbs(service: Service, query: str, sizes: str | None, workers: int | None, scheduler: str | None) -> None:
    """Make thumbnails of the photos that match QUERY, by default of all.

    QUERY has words and filters as in the API. Thumbnails in the cache are kept. The exit code is 1 if a picture cannot
    be shown.
    """
    chosen_sizes, engine, settings = _sizes(sizes), service.engine(), service.settings
    ids = matching_files(engine, service.today(), query)
    total = PrerenderTotals()
    with (
        scheduler_of(service, scheduler, workers) as remote,
        progress_bar("Thumbnails") as progress,
        thumbnail_pool(settings, workers or 0, remote) as pool,
    ):

        def originals() -> Iterator[Original]:
            for number, original in read_originals(engine, settings, ids):
                if progress:
                    progress(number, len(ids))
                yield original

        for total in prerender(service.picture_cache, pool, originals(), chosen_sizes):  # noqa: B007
            continue
    _report(total)
    if total.failed:
        raise click.exceptions.Exit(1)


def _sizes(names: str | None) -> Sequence[Size]:
    if names is None:
        return USUAL
    listed = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in listed if name not in NAMED]:
        msg = f"there is no size {', '.join(unknown)}; `svc show sizes` lists them"
        raise click.BadParameter(msg, param_hint="--sizes")
    return [NAMED[name] for name in listed]


def _report(total: PrerenderTotals) -> None:
    for name, error in total.failed:
        click.echo(f"failed {name}: {error.message}", err=True)
    failed = [{"name": name, "reason": error.message} for name, error in total.failed]
    if not print_figures({"made": total.made, "kept": total.kept, "failed": failed}):
        click.echo(f"{total.made} made, {total.kept} kept, {len(total.failed)} failed")


@click.group(cls=LazyGroup)
def cache() -> None:
    """Show or clear the cache of thumbnails and videos, which are made again when needed."""


@cache.command()
@format_options
@with_service
def status(service: Service) -> None:
    """Show the number of files in the cache, their total size, and the limit of it."""
    usage, settings = service.picture_cache.usage(), service.settings
    headings = {"folder": "Folder", "files": "Files", "bytes": "Bytes", "limit": "Limit"}
    folder = {"folder": str(settings.cache), "limit": settings.cache_size << 20}
    print_record(headings, {**folder, "files": usage.files, "bytes": usage.bytes})


@cache.command()
@yes_option
@with_service
def clear(service: Service, yes: bool) -> None:
    """Remove every derived picture."""
    confirm("Remove every derived picture? They are made again when a request needs them.", yes=yes)
    removed = service.picture_cache.clear()
    click.echo(f"{counted(removed.files, 'file')} of {counted(removed.bytes, 'byte')} removed.", err=True)
