"""Options and manners that commands share."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from photosvc.web.current import Service

yes_option = click.option("--yes", "-y", is_flag=True, help="Do it without asking.")

count_option = click.option(
    "--count", "-n", type=click.IntRange(1, 100_000), default=100, show_default=True, help="At most so many."
)


@contextmanager
def writing(service: "Service") -> Iterator[None]:
    """One transaction that writes: all of the command's changes, or none."""
    from photosvc.models.database import begin_write

    session = service.session
    begin_write(session)
    try:
        yield
    except BaseException:
        session.rollback()
        raise
    session.commit()


@contextmanager
def printing_secret(service: "Service", undo: Callable[[], object]) -> Iterator[None]:
    """Print a new secret inside. If that fails, nobody has it, and `undo` removes what it belongs to."""
    click.echo("Keep the secret now: it is not shown again.", err=True)
    try:
        yield
        sys.stdout.flush()
    except BaseException:
        with writing(service):
            undo()
        raise
