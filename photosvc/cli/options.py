"""Options that several commands share, and how a new secret is printed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from photosvc.web.current import Service

yes_option = click.option("--yes", "-y", is_flag=True, help="Do it without asking.")

count_option = click.option(
    "--count", "-n", type=click.IntRange(1, 100_000), default=100, show_default=True, help="At most this many."
)


@contextmanager
def printing_secret(service: "Service", undo: "Callable[[Session], object]") -> Iterator[None]:
    """Print a new secret inside. If printing fails, the secret is lost, and `undo` removes what it belongs to."""
    click.echo("Keep the secret now: it is not shown again.", err=True)
    try:
        yield
        sys.stdout.flush()
    except BaseException:
        with service.writing() as session:
            undo(session)
        raise
