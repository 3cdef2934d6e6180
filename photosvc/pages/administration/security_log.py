"""Administration > Security log: who signed in, what was refused, and what decides on access."""

from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from photosvc.auth.audit import table
from photosvc.auth.audit.events import parse_events
from photosvc.core.errors import InvalidValueError
from photosvc.core.texts.since import parse_since, parse_until
from photosvc.pages.administration import event_words
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.web.current import current_service

#: Entries of a page.
_COUNT: Final = 50
_FILTERS: Final = ("user", "event", "from", "to")
_LONGEST: Final = 255
_MOST_DIGITS: Final = 18


def add_routes(pages: Blueprint) -> None:
    """Add the security log to the pages."""
    pages.add_url_rule("/administration/security-log", "security_log", show_security_log, methods=["GET"])


@administration_page("audit.view")
def show_security_log() -> Response:
    """The entries that the filters let through, the newest first."""
    given = {name: request.args.get(name, "").strip()[:_LONGEST] for name in _FILTERS}
    before = _last_seen()
    try:
        found = _entries(given, before)
    except InvalidValueError as error:
        return _log(given, [], error=error)
    older = ""
    if len(found) > _COUNT:
        found = found[:_COUNT]
        older = url_for(".security_log", **_set(given), before=found[-1].id)
    return _log(given, found, older=older, newest=url_for(".security_log", **_set(given)) if before else "")


def _entries(given: dict[str, str], before: int | None) -> list[Any]:
    service = current_service()
    since = parse_since(given["from"], service.now(), field="from") if given["from"] else None
    until = parse_until(given["to"], service.now(), field="to") if given["to"] else None
    events = parse_events(given["event"])
    with service.reading() as connection:
        return list(
            table.latest(
                connection,
                count=_COUNT + 1,
                since=since,
                until=until,
                before=before,
                user=given["user"],
                events=events,
            )
        )


def _last_seen() -> int | None:
    """The id of the last entry of the page before; None where the address has none."""
    digits = request.args.get("before", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else None


def _set(given: dict[str, str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value}


def _log(
    given: dict[str, str],
    entries: list[Any],
    *,
    error: InvalidValueError | None = None,
    older: str = "",
    newest: str = "",
) -> Response:
    return show_administration(
        "security-log",
        "security_log",
        error=error,
        entries=entries,
        given=given,
        filtered=bool(_set(given)),
        older=older,
        newest=newest,
        words=event_words,
    )
