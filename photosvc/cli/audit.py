"""`svc audit`: the security log."""

from typing import Any

import click

from photosvc.auth.audit import BY_CLIENT, latest_entries
from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, count_option, format_options, print_list
from photosvc.core.times import parse_since
from photosvc.records.accounts import AuditEntrySchema
from photosvc.web.service import Service

_LOG_COLUMNS = {
    "at": "Time", "event": "Event", "times": "Times", "actor": "By", "address": "From", "subject": "Account or Client",
    "target": "Credential or Key", "detail": "Detail",
}  # fmt: skip
_LOG_VALUES = ("id", *_LOG_COLUMNS, "actor_kind", "actor_uid", "credential", "subject_uid", "request_id")


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
        entries = latest_entries(connection, count=count, since=moment, user=user)
    rows: list[dict[str, Any]] = AuditEntrySchema(many=True).dump(entries)
    if chosen_format() != "table":
        print_list({name: name for name in _LOG_VALUES}, rows)
        return
    for row in rows:
        if row["actor_kind"] == BY_CLIENT:
            row["actor"] = f"client {row['actor']}"
    print_list(_LOG_COLUMNS, rows)
