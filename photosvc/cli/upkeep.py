"""Commands of operators: `svc status`, `svc check`, `svc purge` and `svc audit`; the scheduler of index runs."""

import os
import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import click
from sqlalchemy import func, select

from photosvc import __version__
from photosvc.auth.audit import BY_CLIENT, latest_entries
from photosvc.cli.group import as_called, with_database
from photosvc.cli.terminal import (
    chosen_format,
    confirm,
    count_option,
    format_options,
    print_figures,
    print_list,
    print_record,
    progress_bar,
    yes_option,
)
from photosvc.core.message import agreeing, counted
from photosvc.core.times import parse_since
from photosvc.index import requested
from photosvc.index.check import Check, CheckOptions, Finding, Report
from photosvc.index.jobs import is_running
from photosvc.index.purge import Removed, Survey, mark, remove, survey
from photosvc.index.run_log import last_run
from photosvc.index.scan import forget_disks
from photosvc.library.failures import count_failed, failed_files
from photosvc.models import User
from photosvc.models.engine import UnitOfWork
from photosvc.records.accounts import AuditEntrySchema
from photosvc.search.reading.statistics import read_library_size
from photosvc.web.current import Service
from photosvc.workers.scheduler import Scheduler, connected

#: Most findings that the JSON lists; all are counted.
_MOST_LISTED: Final = 10_000
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of this scheduler of dask.distributed read the files, such as tcp://host:8786.",
)
_FIGURES = {
    "version": "Version", "instance": "Instance", "database": "Database",
    "originals": "Originals", "photos": "Photos", "files": "Files", "missing": "Files missing",
    "failed": "Files failed", "albums": "Albums", "accounts": "Accounts", "waiting": "Folders waiting",
    "indexing": "Indexing now", "indexed_at": "Last indexed", "scanned_at": "Last indexed whole",
}  # fmt: skip
_FAILURES = {"name": "File", "reason": "Why", "at": "When", "source": "By"}
_LOG_COLUMNS = {
    "at": "Time", "event": "Event", "times": "Times", "actor": "By", "address": "From", "subject": "Account or Client",
    "target": "Credential or Key", "detail": "Detail",
}  # fmt: skip
_LOG_VALUES = ("id", *_LOG_COLUMNS, "actor_kind", "actor_uid", "credential", "subject_uid", "request_id")


@click.command()
@click.argument("subfolder", default="")
@click.option("--sample", metavar="N|P%", help="Number or share of files to check; each call takes the next ones.")
@format_options
@with_database
def check(service: Service, subfolder: str, sample: str | None) -> None:
    """Check the library, or one SUBFOLDER of its originals.

    Reads every original and compares its hash, which shows damage that no program notices; compares the search rows
    with the library; and decodes the cached thumbnails. Changes nothing. The exit code is 1 if anything is wrong.
    """
    number, percent = _parse_sample(sample)
    listed: list[Finding] = []

    def found(finding: Finding) -> None:
        if chosen_format() != "json":
            where = f" {finding.name}" if finding.name else f" {finding.number}"
            click.echo(f"{finding.fault.value}{where}: {finding.fault.sentence}", err=True)
        elif len(listed) < _MOST_LISTED:
            listed.append(finding)

    os.nice(10)  # requests come first
    options = CheckOptions(subfolder=subfolder, sample=number, percent=percent)
    with progress_bar("Checking") as progress, UnitOfWork(service.engine()) as session:
        check = Check(session, service.settings, service.picture_cache, options, found, progress, service.clock)
        report = check.run()
    _print_report(report, listed)
    if not report.is_sound:
        raise click.exceptions.Exit(1)


def _parse_sample(sample: str | None) -> tuple[int | None, float | None]:
    """Return the number of files, or the percentage, in the value of `--sample`."""
    if sample is None:
        return None, None
    if re.fullmatch(r"[1-9][0-9]{0,11}", sample):
        return int(sample), None
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?%", sample) and 0 < float(sample[:-1]) <= 100:
        return None, float(sample[:-1])
    msg = f"{sample!r} is neither a number of files such as 500 nor a share such as 5%"
    raise click.BadParameter(msg, param_hint="--sample")


def _print_report(report: Report, listed: list[Finding]) -> None:
    counts = {"files": report.files, "bytes": report.bytes, "photos": report.photos, "thumbnails": report.thumbnails}
    faults = {fault.value: count for fault, count in sorted(report.faults.items())}
    record = {
        **counts,
        "sound": report.is_sound,
        "faults": faults,
        "findings": [one.as_record() for one in listed],
        "seconds": round(report.seconds, 3),
    }
    if print_figures(record):
        return
    checked = ", ".join(counted(count, what.removesuffix("s")) for what, count in counts.items() if what != "bytes")
    found = ", ".join(f"{count} {code}" for code, count in faults.items()) or "nothing wrong"
    click.echo(f"{checked} checked in {report.seconds:.1f} s: {found}")


def scheduler_of(
    service: Service, scheduler: str | None, workers: int | None
) -> AbstractContextManager[Scheduler | None]:
    """Connect to the scheduler that `--scheduler` names, for the block; None without one.

    Raises:
        click.UsageError: `--workers` is given too, or the address is not valid.
    """
    if scheduler is None:
        return nullcontext()
    if workers is not None:
        msg = "--workers counts processes of this machine; with --scheduler, those of the scheduler are used"
        raise click.UsageError(msg)
    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:[0-9]{1,5}", scheduler):
        msg = f"{scheduler!r} is no address such as tcp://host:8786 or tls://host:8786"
        raise click.BadParameter(msg, param_hint="--scheduler")

    return connected(scheduler, str(service.settings.originals), lambda sentence: click.echo(sentence, err=True))


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


@click.command()
@click.option(
    "--failures", type=click.IntRange(0, 10_000), default=10, show_default=True, help="Files that failed to list."
)
@format_options
@with_database
def status(service: Service, failures: int) -> None:
    """Print the size of the library, its last index runs, and the files that failed.

    CSV, TSV and Markdown have only the figures; the table and JSON list the files as well.
    """
    record, failed = _figures(service, failures)
    if chosen_format() == "json":
        print_record({**{key: key for key in _FIGURES}, "failures": "failures"}, {**record, "failures": failed})
        return
    parts = ", ".join(f"{number} {kind}" for kind, number in record["photos"].items())
    photos = f"{sum(record['photos'].values())} ({parts})" if parts else "0"  # such as `80 (72 image, 8 video)`
    print_record(_FIGURES, {**record, "photos": photos})
    if chosen_format() == "table" and failed:
        print_list(_FAILURES, failed)
        if (more := record["failed"] - len(failed)) > 0:
            click.echo(f"{counted(more, 'more file')} failed: --failures {record['failed']} lists all.")


def _figures(service: Service, most: int) -> tuple[dict[str, Any], list[dict[str, str]]]:
    with service.reading(orm=True) as session:
        found = read_library_size(session, sees_private=True)
        last, number = last_run(session), count_failed(session)
        failed = [
            {"name": one.name, "reason": one.problem.sentence, "at": f"{one.at:%Y-%m-%d %H:%M}", "source": one.source}
            for one in (failed_files(session, text="", count=most, offset=0) if number and most else ())
        ]
        record = {
            "version": __version__,
            "instance": str(service.instance),
            "database": service.engine().url.render_as_string(),
            "originals": str(service.settings.originals),
            "photos": dict(sorted(found.photos.items())),
            "files": found.files,
            "missing": found.missing,
            "failed": number,
            "albums": found.albums,
            "accounts": session.scalar(select(func.count()).select_from(User)),
            "waiting": len(requested.waiting(session)),
            "indexing": is_running(session, service.now()),
            "indexed_at": last.ended_at and last.ended_at.isoformat(timespec="seconds"),
            "scanned_at": last.whole_at and last.whole_at.isoformat(timespec="seconds"),
        }
    return record, failed


@click.command()
@click.option("--since", metavar="TIME", help="Only entries since: 12h, 2d, 2026-02-28 or 2026-02-28T12:00:00Z.")
@click.option(
    "--user",
    "-u",
    metavar="NAME",
    default="",
    help="Only entries by or about this account or UID.",
)
@count_option
@format_options
@with_database
def audit(service: Service, since: str | None, user: str, count: int) -> None:
    """Show the newest entries of the security log, the newest first: log-ins, refusals, changes.

    The formats for programs have all values, the table only the most important ones.
    """
    moment = None if since is None else parse_since(since, service.now(), field="--since")
    with service.reading() as connection:
        found = latest_entries(connection, count=count, since=moment, user=user)
    rows: list[dict[str, Any]] = AuditEntrySchema(many=True).dump(found)
    if chosen_format() != "table":
        print_list({name: name for name in _LOG_VALUES}, rows)
        return
    for row in rows:
        if row["actor_kind"] == BY_CLIENT:
            row["actor"] = f"client {row['actor']}"
    print_list(_LOG_COLUMNS, rows)
