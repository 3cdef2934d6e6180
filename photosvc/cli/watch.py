"""`svc watch`: the process that keeps the library up to date with the folder of originals."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

import click

from photosvc.cli.group import with_database
from photosvc.cli.index import parent_option, run_line
from photosvc.cli.originals import keep_folder
from photosvc.cli.terminal import lines_option, print_json, progress_lines

if TYPE_CHECKING:
    from types import FrameType

    from photosvc.index.run_log import Outcome, Summary
    from photosvc.web.current import Service


#: Seconds in which the watcher must end after a signal; a call of the database or of the disk may take longer.
_PATIENCE: Final = 2.0


@click.command()
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=2.0,
    show_default=True,
    help="Seconds without events before a changed folder is indexed.",
)
@lines_option
@parent_option
@with_database
def watch(service: "Service", interval: float, as_json: bool, parent: int | None) -> None:
    """Index changes of the originals, and jobs of other processes, until a signal ends it.

    Prints one line for each run that changed the library. From time to time, also deletes expired credentials and
    leftovers of the cache.
    """
    from photosvc.cli.thumbs import chores_of
    from photosvc.index.watcher import Reporter, Watcher

    def ran(folder: str, summary: "Summary") -> None:
        _print_run(folder, summary, service.now().isoformat(timespec="seconds"), as_json=as_json)

    def looked(summary: "Summary") -> None:
        click.echo(run_line(summary))

    def failed_file(file: "Outcome") -> None:
        click.echo(f"failed {file.name}: {file.problem.sentence if file.problem else ''}", err=True)

    def trouble(sentence: str) -> None:
        click.echo(sentence, err=True)

    keep_folder(service, replace=False)
    with _ended_by_signals(), ExitStack() as lock:
        os.nice(10)  # requests come first
        click.echo(f"Watching {service.settings.originals}", err=True)
        reporter = Reporter(ran, failed_file, trouble, progress_lines(), looked if parent is not None else None)
        cache = service.pictures.cache
        chores = chores_of(service, lock=lock)
        Watcher(service.engine(), service.settings, service.clock, cache, reporter, interval, chores).run()


class _Ended(BaseException):
    """A signal asked the process to end; no handler of errors catches it."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End the block at SIGTERM or SIGINT, and roll an open transaction back.

    Python runs a signal handler only between two of its own instructions. A process that waits elsewhere for longer,
    such as for the lock of a database, is ended without its handler; the database then rolls back.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_end_late, args=(reading,), daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        yield
    except _Ended:
        return


def _end(_number: int, _frame: "FrameType | None") -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise _Ended


def _end_late(reading: int) -> None:
    os.read(reading, 1)
    time.sleep(_PATIENCE)
    os._exit(0)


def _print_run(folder: str, summary: "Summary", now: str, *, as_json: bool) -> None:
    counts = {name: getattr(summary, name) for name in ("indexed", "updated", "missing", "failed")}
    if as_json:
        record = {"at": now, "folder": folder, **counts, "seconds": round(summary.seconds, 3)}
        print_json(record, indented=False)
    else:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        click.echo(f"{folder or 'originals'}: {listed or 'search rows rendered again'} in {summary.seconds:.1f} s")
