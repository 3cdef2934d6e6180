"""The security log, GET /audit."""

from typing import Any

from flask import Response, request

from photosvc.auth.audit import latest_entries, parse_events
from photosvc.core.times import parse_since, parse_until
from photosvc.records.accounts import AuditEntrySchema
from photosvc.web.contract import (
    TEXT,
    answers,
    describe,
    takes_query,
)
from photosvc.web.paging import log_parameters, read_page_of_log
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

audit = OwnBlueprint("audit", __name__)

_entries = AuditEntrySchema(many=True)


def _parameters() -> list[dict[str, Any]]:
    described: dict[str, tuple[dict[str, Any], str]] = {
        **log_parameters("entries", "id"),
        "since": (TEXT, "Only entries of this time or later: `12h`, `2d`, `2026-02-28` or `2026-02-28T12:00:00Z`."),
        "until": (TEXT, "Only entries before this time, in the same forms; a day is included as a whole."),
        "event": (TEXT, "Only these events or parts of the log, with commas: `login.refused`, `changes`."),
        "user": (TEXT, "Only entries by or about the account with this name, or the account or client with this UID."),
    }
    return describe(described)


@audit.get("/audit")
@require("audit.view")
@takes_query(_parameters)
@answers(AuditEntrySchema, "The entries, the newest first.", many=True, refuses=(400,))
def list_audit_entries() -> Response:
    """List the security log: log-ins, refusals, and changes of accounts, credentials and settings of access.

    `times` counts the event: equal refusals from one network within a minute are one entry.
    """
    parameters, service = request.args, current_service()
    count, before = read_page_of_log()
    since = parse_since(parameters["since"], service.now()) if parameters.get("since", "").strip() else None
    until = parse_until(parameters["until"], service.now()) if parameters.get("until", "").strip() else None
    events = parse_events(parameters.get("event", ""))
    with service.reading() as connection:
        entries = latest_entries(
            connection,
            count=count,
            since=since,
            until=until,
            before=before,
            user=parameters.get("user", ""),
            events=events,
        )
        return json_answer(_entries.dump(entries))
