"""`svc cluster`: the machines that serve a library, and the heartbeats of the commands that work for it."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import click

from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, format_options, print_json, print_list

if TYPE_CHECKING:
    from photosvc.index.nodes import Cluster, NodeReport, Role
    from photosvc.web.current import Service
    from photosvc.workers.scheduler import Scheduler

scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of this scheduler of dask.distributed read the files, such as tcp://host:8786.",
)
_HEADINGS: Final = {
    "name": "Machine",
    "role": "Role",
    "version": "Version",
    "state": "State",
    "seen_at": "Last seen",
    "clock_offset": "Clock offset (s)",
    "jobs": "Jobs",
    "cache_bytes": "Cache bytes",
}


@click.command()
@format_options()
@with_database
def cluster(service: "Service") -> None:
    """List the machines that serve the library, and what is wrong with them or with the database's replica.

    The exit code is 1 if anything is wrong: another version, a wrong clock, a machine that fell silent, or a replica
    that is away.
    """
    found = look(service)
    rows = [_row(node) for node in found.nodes]
    if chosen_format() == "json":
        findings = [one.as_record() for one in found.findings]
        print_json({"nodes": rows, "replica": record_of_replica(found), "findings": findings})
    else:
        print_list(_HEADINGS, [{**row, "jobs": ", ".join(job["kind"] for job in row["jobs"])} for row in rows])
        for one in found.findings:
            click.echo(f"{one.fault.value} {one.name}: {one.fault.sentence}", err=True)
    if found.findings:
        raise click.exceptions.Exit(1)


def look(service: "Service") -> "Cluster":
    """Return the present state of the cluster."""
    from photosvc.index.nodes import look_at_cluster

    with service.reading(orm=True) as session:
        return look_at_cluster(session, service.clock, service.replica)


def record_of_replica(found: "Cluster") -> dict[str, Any] | None:
    """Return the state of the replica as JSON has it; None without one."""
    return {"standing": found.replica.standing.value, "behind": found.replica.behind} if found.replica else None


def _row(node: "NodeReport") -> dict[str, Any]:
    return {
        "name": node.row.name,
        "role": node.row.role,
        "version": node.row.version,
        "state": "silent" if node.is_silent else "active",
        "seen_at": node.row.seen_at.isoformat(timespec="seconds"),
        "clock_offset": node.row.clock_offset / 1000,
        "jobs": [job._asdict() for job in node.jobs],
        "cache_bytes": node.row.cache_bytes,
    }


def scheduler_of(
    service: "Service", scheduler: str | None, workers: int | None
) -> "AbstractContextManager[Scheduler | None]":
    """Connect to the scheduler that `--scheduler` names, for the block; None without one.

    Raises:
        click.UsageError: `--workers` is given too, or the address is not valid.
    """
    import re

    if scheduler is None:
        return nullcontext()
    if workers is not None:
        msg = "--workers counts processes of this machine; with --scheduler, those of the scheduler are used"
        raise click.UsageError(msg)
    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:[0-9]{1,5}", scheduler):
        msg = f"{scheduler!r} is no address such as tcp://host:8786 or tls://host:8786"
        raise click.BadParameter(msg, param_hint="--scheduler")
    if service.settings.bucket is not None:
        raise click.UsageError("--scheduler needs a folder that all machines have; the originals are in a bucket")
    from photosvc.workers.scheduler import connected

    return connected(scheduler, str(service.settings.originals), lambda sentence: click.echo(sentence, err=True))


def heartbeat_of(service: "Service", role: "Role") -> AbstractContextManager[None]:
    """Return a context manager that reports this process as a machine in a role."""
    from photosvc.index.nodes import Heartbeat, heartbeat

    return heartbeat(Heartbeat(service.engine(), service.settings, service.clock, role, service.pictures.cache))
