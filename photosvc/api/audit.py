"""The security log of the API: GET /audit."""

from typing import Any, Final

from flask import Response, request

from photosvc.auth import audit_store
from photosvc.auth.audit_log import parse_events
from photosvc.core.times import parse_since, parse_until
from photosvc.records.accounts import AuditEntrySchema
from photosvc.search.reading.photos import parse_number
from photosvc.web.answers import json_answer
from photosvc.web.contract import TEXT, OwnBlueprint, answers, describe, refuses, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import require

audit = OwnBlueprint("audit", __name__)

_MOST: Final = 1000
_LAST: Final = 10**10 - 1
_schema = AuditEntrySchema(many=True)


def _parameters() -> list[dict[str, Any]]:
    count = {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 100}
    described: dict[str, tuple[dict[str, Any], str]] = {
        "count": (count, "The most entries in the answer."),
        "before": ({"type": "integer"}, "Only entries with a lower `id`: that of the last entry of the previous page."),
        "since": (TEXT, "Only entries of this time or later: `12h`, `2d`, `2026-02-28` or `2026-02-28T12:00:00Z`."),
        "until": (TEXT, "Only entries before this time, in the same forms; a day is included as a whole."),
        "event": (TEXT, "Only these events or parts of the log, with commas: `login.refused`, `changes`."),
        "user": (TEXT, "Only entries by or about the account with this name, or the account or client with this UID."),
    }
    return describe(described)


@audit.get("/audit")
@require("audit.view")
@takes_query(_parameters)
@answers(AuditEntrySchema, "The entries, the newest first.", many=True)
@refuses(400)
def list_audit_entries() -> Response:
    """List the security log: log-ins, refusals, and changes of accounts, credentials and settings of access.

    `times` counts the event: equal refusals within a minute are one entry for the first and one for the others.
    """
    given, service = request.args, current_service()
    count = parse_number(given.get("count", ""), "count", 1, _MOST, 100)
    before = parse_number(given.get("before", ""), "before", 1, _LAST, _LAST)
    since = parse_since(given["since"], service.now()) if given.get("since", "").strip() else None
    until = parse_until(given["until"], service.now()) if given.get("until", "").strip() else None
    events = parse_events(given.get("event", ""))
    with service.reading() as connection:
        found = audit_store.latest(
            connection, count=count, since=since, until=until, before=before, user=given.get("user", ""), events=events
        )
        return json_answer(_schema.dump(found))
