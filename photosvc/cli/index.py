"""`svc index`: a run over the originals and its report; `svc watch`, which keeps the library up to date.

The option `--parent` ends an indexer that `svc run` started together with the server.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from types import FrameType
from typing import Any, Final

import click

from photosvc.cli.group import as_called, with_database
from photosvc.cli.originals import keep_folder, replace_option, warn_of_missing_originals
from photosvc.cli.terminal import lines_option, print_json, progress_bar, progress_lines, scheduler_of, scheduler_option
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import ConflictError
from photosvc.core.message import counted
from photosvc.index.run import Progress, rebuild_search, run_index
from photosvc.index.run_log import IndexOptions, Outcome, Summary
from photosvc.index.watcher import OtherJobs, Reporter, RequestedIndexer, Watcher, indexer_lock
from photosvc.library.job_runner import JobRunner
from photosvc.library.staging import Staging
from photosvc.library.trash.deletion import finish_deletions
from photosvc.library.trash.restoring import sweep_trash
from photosvc.library.upload_queue import delete_expired, known_tokens
from photosvc.models.engine import UnitOfWork, write_session
from photosvc.web.service import Service

#: Seconds in which the watcher must end after a signal, because a call of the database or the disk may take longer.
_PATIENCE: Final = 2.0
_COUNTS: Final = ("indexed", "updated", "unchanged", "missing", "skipped", "failed")


def _end_with(_ctx: click.Context, _option: click.Parameter, parent: int | None) -> int | None:
    """End this process as soon as it gets another parent, because its own has ended."""

    def wait() -> None:
        while os.getppid() == parent:
            SYSTEM_CLOCK.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    if parent is not None:
        threading.Thread(target=wait, daemon=True).start()
    return parent


parent_option = click.option(
    "--parent", type=int, hidden=True, callback=_end_with, help="End with this process, the parent."
)


def run_line(summary: Summary, *, dry_run: bool = False, thumbnails: bool = False) -> str:
    """Return the counts and seconds of an index run as one line."""
    words = {"indexed": "would be indexed", "updated": "would be updated"} if dry_run else {}
    line = ", ".join(f"{getattr(summary, name)} {words.get(name, name)}" for name in _COUNTS)
    made = f", {counted(summary.thumbnails, 'thumbnail')} made" if thumbnails else ""
    return f"{line}{made} in {summary.seconds:.1f} s"


@click.command()
@click.argument("subfolder", default="")
@click.option("--force", "-f", is_flag=True, help="Read unchanged files again.")
@click.option("--workers", "-w", type=click.IntRange(1, 256), help="Number of processes; by default one for each core.")
@scheduler_option
@click.option("--dry-run", is_flag=True, help="Only count the files that would be read.")
@click.option(
    "--rebuild-search", is_flag=True, help="Render the search rows again from the library; reads no originals."
)
@click.option("--wished", is_flag=True, hidden=True, help="Run the index jobs of requests until none is left.")
@click.option("--thumbs", is_flag=True, help="Make the usual thumbnails of all files that are read.")
@lines_option
@replace_option
@parent_option
@with_database
def index(
    service: Service,
    subfolder: str,
    force: bool,
    workers: int | None,
    scheduler: str | None,
    dry_run: bool,
    rebuild_search: bool,
    wished: bool,
    thumbs: bool,
    as_json: bool,
    *,
    replace: bool,
    parent: int | None,
) -> None:
    """Index the originals, or one SUBFOLDER of them.

    Originals are only read. A broken file is recorded with its reason, and the run continues; the exit code is then 1.
    """
    if rebuild_search:
        _rebuild(service)
        return
    if wished:
        _index_wished(service)
        return

    if scheduler is not None and thumbs:
        msg = "--thumbs fills the cache of the machine that reads a file: call `svc thumbs --scheduler` afterwards"
        raise click.UsageError(msg)
    keep_folder(service, replace=replace)
    if parent is None:
        warn_of_missing_originals(service, service.settings.originals)
    else:
        os.nice(10)  # requests come first
    options: dict[str, Any] = {"subfolder": subfolder, "force": force, "thumbnails": thumbs, "dry_run": dry_run}
    shown = nullcontext(progress_lines()) if parent is not None else progress_bar("Indexing")
    with scheduler_of(service, scheduler, workers) as remote, shown as progress:
        given = IndexOptions(workers=workers or 0, scheduler=remote, **options)
        summary = run_and_report(service, given, progress, as_json=as_json)
    if summary.failed or summary.cache_refusal or summary.left:
        raise click.exceptions.Exit(1)


def run_and_report(
    service: Service, options: IndexOptions, progress: Progress | None = None, *, as_json: bool = False
) -> Summary:
    """Index, and print the summary."""
    if not options.dry_run:
        finish_deletions(service.writing, service.settings)
    observer = _print_record if as_json else _print_problem
    with UnitOfWork(service.engine()) as session:
        summary = run_index(session, service.settings, service.clock, options, progress, observer)
    if summary.rebuilt:
        click.echo(f"{counted(summary.rebuilt, 'search row')} of an older version rendered again.", err=True)
    if summary.read_again:
        verb, files = "would be read" if options.dry_run else "read", counted(summary.read_again, "unchanged file")
        click.echo(f"{files} {verb} again: this version reads more than the one before.", err=True)
    if summary.cache_refusal:
        click.echo(f"Thumbnails are missing. {summary.cache_refusal}", err=True)
    if summary.warning:
        click.echo(as_called(summary.warning), err=True)
    if as_json:
        _print_counts(summary, options)
    else:
        click.echo(run_line(summary, dry_run=options.dry_run, thumbnails=options.thumbnails))
    return summary


def _index_wished(service: Service) -> None:
    os.nice(10)  # requests come first
    RequestedIndexer(service.engine(), service.settings, service.clock, other_jobs_of(service)).run()


def _rebuild(service: Service) -> None:
    with UnitOfWork(service.engine()) as session:
        count = rebuild_search(session, service.settings, service.clock)
    click.echo(f"{counted(count, 'search row')} rendered again.", err=True)


def _print_problem(outcome: Outcome) -> None:
    if outcome.problem:
        click.echo(f"{outcome.status.value} {outcome.name}: {outcome.problem.sentence}", err=True)


def _print_record(outcome: Outcome) -> None:
    record = {"name": outcome.name, "status": outcome.status.value}
    if outcome.problem:
        record |= {"code": outcome.problem.reason.value, "reason": outcome.problem.sentence}
    print_json(record, indented=False)


def _print_counts(summary: Summary, options: IndexOptions) -> None:
    record = {
        **{name: getattr(summary, name) for name in _COUNTS},
        "seconds": round(summary.seconds, 3),
        "dry_run": options.dry_run,
        **({"kept": summary.left} if summary.left else {}),
        **({"read_again": summary.read_again} if summary.read_again else {}),
        **({"thumbnails": summary.thumbnails} if options.thumbnails else {}),
    }
    print_json(record, indented=False)


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
def watch(service: Service, interval: float, as_json: bool, parent: int | None) -> None:
    """Index changes of the originals, and jobs of other processes, until a signal ends it.

    Prints one line for each run that changed the library. From time to time, also deletes expired credentials and
    leftovers of the cache.
    """

    def looked(summary: Summary) -> None:
        click.echo(run_line(summary))

    def failed_file(file: Outcome) -> None:
        click.echo(f"failed {file.name}: {file.problem.sentence if file.problem else ''}", err=True)

    keep_folder(service, replace=False)
    with _ended_by_signals(), ExitStack() as lock:
        os.nice(10)  # requests come first
        click.echo(f"Watching {service.settings.originals}", err=True)
        ran, trouble = partial(_print_run, service, as_json), partial(click.echo, err=True)
        reporter = Reporter(ran, failed_file, trouble, progress_lines(), looked if parent is not None else None)
        cache, other_jobs = service.picture_cache, other_jobs_of(service, lock=lock)
        Watcher(service.engine(), service.settings, service.clock, cache, reporter, interval, other_jobs).run()


class _Ended(BaseException):
    """A signal asked the process to end. Handlers of errors do not catch it."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End the block at SIGTERM or SIGINT, and roll back an open transaction.

    Python runs signal handlers only between two of its own instructions. If the process waits longer elsewhere, such as
    for the lock of a database, it ends without its handler after `_PATIENCE` seconds; the database then rolls back.
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


def _end(_number: int, _frame: FrameType | None) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise _Ended


def _end_late(reading: int) -> None:
    os.read(reading, 1)
    SYSTEM_CLOCK.sleep(_PATIENCE)
    os._exit(0)


def _print_run(service: Service, as_json: bool, folder: str, summary: Summary) -> None:
    counts = {name: getattr(summary, name) for name in ("indexed", "updated", "missing", "failed")}
    if as_json:
        now = service.now().isoformat(timespec="seconds")
        print_json({"at": now, "folder": folder, **counts, "seconds": round(summary.seconds, 3)}, indented=False)
    else:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        click.echo(f"{folder or 'originals'}: {listed or 'search rows rendered again'} in {summary.seconds:.1f} s")


def other_jobs_of(service: Service, *, lock: ExitStack | None = None) -> OtherJobs:
    """Return the further work of an indexer.

    Args:
        lock: gets the lock of the process that takes jobs as soon as no other process holds it; None if the caller
            holds it.
    """
    staging = Staging(service.settings.originals)
    runner = JobRunner(service.engine(), service.settings, service.clock)
    is_held = lock is None

    def often(*, small: bool = False) -> bool:
        nonlocal is_held
        if lock is not None and not is_held:
            with suppress(ConflictError):
                runner.take_over(lock.enter_context(indexer_lock(service.settings, runner.owner)))
                is_held = True
        return is_held and runner.step(small=small)

    def hourly() -> None:
        with UnitOfWork(service.engine()) as session:
            staging.sweep(service.now(), partial(known_tokens, session))
        swept = 1
        while swept:
            with write_session(service.engine()) as session:
                swept = delete_expired(session, staging, service.now())
        # This is the last one, because the disk of originals may fail.
        sweep_trash(partial(write_session, service.engine()), service.settings, service.now())

    return OtherJobs(
        often,
        hourly,
        in_pauses=partial(often, small=True),
        waits=runner.waits,
        is_asked=runner.is_asked,
        owner=runner.owner,
        take_over=runner.take_over,
        close=runner.close,
        before=service.require_schema,
    )
