"""Progress of long work: a bar on a terminal, or lines among those of a server."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

#: Seconds between two lines.
_PAUSE: Final = 10.0


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr when that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (what, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def progress_lines(what: str) -> Callable[[int, int], None]:
    """A line on stderr every ten seconds of one run; short runs have none."""
    next_at, last = 0.0, sys.maxsize

    def show(done: int, total: int) -> None:
        nonlocal next_at, last
        now, is_new = time.monotonic(), done <= last
        last = done
        if is_new:  # watchers make many runs, with long pauses between them
            next_at = now + _PAUSE
        elif now >= next_at:
            next_at = now + _PAUSE
            click.echo(f"{what}: {done:,} of {total:,} files", err=True)

    return show
