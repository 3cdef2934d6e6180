"""`svc thumbs`: make thumbnails before they are requested."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from photosvc.cli.group import with_database
from photosvc.cli.terminal.progress import progress_bar
from photosvc.cli.terminal.report import print_json

if TYPE_CHECKING:
    from photosvc.pictures.originals import Original
    from photosvc.pictures.thumbnails.ahead import Made
    from photosvc.pictures.thumbnails.sizes import Size
    from photosvc.web.current import Service

_MIB = 1 << 20
#: Files whose rows are read at once.
_PORTION = 500


@click.command()
@click.argument("query", default="")
@click.option("--sizes", metavar="NAMES", help="Names of sizes, separated by commas; by default the usual ones.")
@click.option("--workers", "-w", type=click.IntRange(1, 256), help="Processes; by default one for each core.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@with_database
def thumbs(service: "Service", query: str, sizes: str | None, workers: int | None, as_json: bool) -> None:
    """Make thumbnails of the photos that QUERY finds, by default of all.

    QUERY has words and filters as in the API. What the cache has already is kept. The exit code is 1 when a picture
    cannot be shown.
    """
    from photosvc.core.processors import usable_cores
    from photosvc.pictures.thumbnails.ahead import Made, make_ahead
    from photosvc.pictures.thumbnails.making import make_thumbnails
    from photosvc.workers.pool import WorkerPool

    wanted = _sizes(sizes)
    ids = _matching(service, query)
    settings = service.settings
    pool = WorkerPool(
        make_thumbnails,
        result=list[bytes],
        workers=workers or settings.index_workers or usable_cores(),
        timeout=settings.index_timeout,
        memory_bytes=settings.index_memory * _MIB,
    )
    total = Made()
    with progress_bar("Thumbnails") as progress, pool:
        for total in make_ahead(service.pictures.cache, pool, _originals(service, ids, progress), wanted):  # noqa: B007
            continue
    _report(total, as_json=as_json)
    if total.failed:
        raise click.exceptions.Exit(1)


def _sizes(names: str | None) -> "Sequence[Size]":
    from photosvc.pictures.thumbnails.sizes import NAMED, USUAL

    if names is None:
        return USUAL
    listed = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in listed if name not in NAMED]:
        msg = f"there is no size {', '.join(unknown)}; `svc show sizes` lists them"
        raise click.BadParameter(msg, param_hint="--sizes")
    return [NAMED[name] for name in listed]


def _matching(service: "Service", query: str) -> "Sequence[int]":
    from dataclasses import replace

    from photosvc.search.reading.lookup import matching_ids
    from photosvc.search.reading.request import parse_request

    request = replace(parse_request({"q": query}), count=sys.maxsize)
    with service.reading() as connection:
        return matching_ids(connection, request, sees_private=True)


def _originals(
    service: "Service", ids: "Sequence[int]", progress: "Callable[[int, int], None] | None"
) -> "Iterator[Original]":
    """The files with these ids, read in portions: each portion sees the library as it is by then."""
    from photosvc.search.reading.lookup import files_with_ids
    from photosvc.web.transfers.files import original_of

    for start in range(0, len(ids), _PORTION):
        with service.reading() as connection:
            files = files_with_ids(connection, ids[start : start + _PORTION], sees_private=True)
        for number, found in enumerate(files, start):
            if progress:
                progress(number, len(ids))
            yield original_of(service.settings, found)


def _report(total: "Made", *, as_json: bool) -> None:
    for name, error in total.failed:
        click.echo(f"failed {name}: {error.message}", err=True)
    if as_json:
        failed = [{"name": name, "reason": error.message} for name, error in total.failed]
        record = {"made": total.made, "kept": total.kept, "failed": failed}
        print_json(record)
    else:
        click.echo(f"{total.made} made, {total.kept} kept, {len(total.failed)} failed")
