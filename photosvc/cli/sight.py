"""`svc sight`: what pictures show, found by a small model on this machine."""

from collections.abc import Mapping

import click

from photosvc.cli.group import LazyGroup, with_database
from photosvc.cli.terminal import confirm, format_options, print_figures, print_record, progress_bar, yes_option
from photosvc.core.errors import ConflictError
from photosvc.core.message import counted
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import SIGHT
from photosvc.sight import runs
from photosvc.web.service import Service

_HEADINGS = {
    "on": "On", "done": "Looked at", "failed": "Failed", "due": "Due", "labelled": "Photos with labels",
}  # fmt: skip


@click.group(cls=LazyGroup)
def sight() -> None:
    """Find labels in pictures, such as dog or beach. Nothing leaves this machine; it is off until it is turned on."""


@sight.command()
@with_database
def on(service: Service) -> None:
    """Turn it on: indexers look at all pictures, and at new ones after each index run."""
    with service.writing() as session:
        runs.turn_on(session, service.clock)
    with service.reading() as connection:
        due = runs.read_status(connection, service.clock).due
    click.echo(f"On. {counted(due, 'picture')} due; `svc sight run` looks at them at once.", err=True)


@sight.command()
@with_database
def off(service: Service) -> None:
    """Turn it off: no picture is looked at. Labels that were found stay until they are erased."""
    with service.writing() as session:
        runs.turn_off(session, service.clock)
    click.echo("Off. Labels that were found stay; `svc sight erase` removes them.", err=True)


@sight.command()
@format_options
@with_database
def status(service: Service) -> None:
    """Show whether it is on, and the numbers of pictures that were looked at, failed and are due."""
    with service.reading() as connection:
        found = runs.read_status(connection, service.clock)
    print_record(_HEADINGS, {name: getattr(found, name) for name in _HEADINGS})


@sight.command()
@click.option("--workers", "-w", type=click.IntRange(1, 256), help="Number of processes; by default one for each core.")
@format_options
@with_database
def run(service: Service, workers: int | None) -> None:
    """Look at all pictures that are due. An interrupted run goes on where it was."""
    with service.writing() as session:
        if not runs.is_on(session):
            raise ConflictError("Sight is off; turn it on with `svc sight on`.")
        runs.request_run(session, service.clock)
    lease = Lease(service.engine(), service.clock)
    if lease.claim(SIGHT) is None:
        raise ConflictError("An indexer is looking at the pictures; `svc sight status` shows how far it is.")
    lease.keep()
    counts: Mapping[str, int] = {"done": 0, "failed": 0}
    error: BaseException | None = None
    try:
        with progress_bar("Looking at pictures") as progress:
            for counts in runs.look_at_due(lease, service.settings, workers or 0):
                if progress:
                    progress(counts["done"] + counts["failed"], counts["total"])
    except BaseException as raised:
        error = raised
        raise
    finally:
        lease.end(error)
    if not print_figures({"done": counts["done"], "failed": counts["failed"]}):
        click.echo(f"{counts['done']} looked at, {counts['failed']} failed")


@sight.command()
@yes_option
@with_database
def erase(service: Service, yes: bool) -> None:
    """Turn it off and remove all labels that it found. Keywords of people and files stay."""
    confirm("Remove all labels that were found in pictures?", yes=yes)
    done = 0
    with progress_bar("Removing labels") as progress:
        for done, total in runs.erase(service.engine(), service.clock):
            if progress:
                progress(done, total)
    click.echo(f"Off. The labels of {counted(done, 'photo')} are removed.", err=True)
