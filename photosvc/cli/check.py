"""`svc check`: originals, search rows and cached thumbnails, compared with what the library knows."""

import os
import re
from typing import Final

import click

from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, format_options, print_figures, progress_bar
from photosvc.core.message import counted
from photosvc.index.check import Check, CheckOptions, CheckReport, Finding
from photosvc.models.engine import UnitOfWork
from photosvc.web.service import Service

#: Most findings that the JSON lists; all are counted.
_MOST_LISTED: Final = 10_000


@click.command()
@click.argument("subfolder", default="")
@click.option("--sample", metavar="N|P%", help="Number or share of files to check; each call takes the next ones.")
@format_options
@with_database
def check(service: Service, subfolder: str, sample: str | None) -> None:
    """Check the library, or one SUBFOLDER of its originals.

    Reads every original and compares its hash, which shows damage that no program notices; compares the search rows
    with the library; and decodes the cached thumbnails. Changes nothing. The exit code is 1 if anything is wrong.
    Files and photos are counted as `svc status` counts them.
    """
    number, percent = _parse_sample(sample)
    listed: list[Finding] = []

    def report_finding(finding: Finding) -> None:
        if chosen_format() != "json":
            where = f" {finding.name}" if finding.name else f" {finding.number}"
            click.echo(f"{finding.fault.value}{where}: {finding.fault.sentence}", err=True)
        elif len(listed) < _MOST_LISTED:
            listed.append(finding)

    os.nice(10)  # requests come first
    options = CheckOptions(subfolder=subfolder, sample=number, percent=percent)
    with progress_bar("Checking") as progress, UnitOfWork(service.engine()) as session:
        check = Check(
            session, service.settings, service.picture_cache, options, report_finding, progress, service.clock
        )
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


def _print_report(report: CheckReport, listed: list[Finding]) -> None:
    faults = {fault.value: count for fault, count in sorted(report.faults.items())}
    record = {
        "files": report.files,
        "bytes": report.bytes,
        "photos": dict(sorted(report.photos.items())),
        "hidden": report.hidden,
        "thumbnails": report.thumbnails,
        "sound": report.is_sound,
        "faults": faults,
        "findings": [one.as_record() for one in listed],
        "seconds": round(report.seconds, 3),
    }
    if print_figures(record):
        return
    hidden = f" and {report.hidden:,} hidden" if report.hidden else ""
    checked = (
        f"{counted(report.files, 'file')}, {counted(report.photos.total(), 'photo')}{hidden}, "
        f"{counted(report.thumbnails, 'thumbnail')}"
    )
    listing = ", ".join(f"{count} {code}" for code, count in faults.items()) or "nothing wrong"
    click.echo(f"{checked} checked in {report.seconds:.1f} s: {listing}")
