"""Administration > Security log: refusals, sign-ins and changes, by account, event and time."""

from collections.abc import Sequence
from typing import Any, Final

from flask import Response, request, url_for

from photosvc.auth import audit
from photosvc.auth.audit import ACCESSES, CHANGES, REFUSALS, Event, parse_events
from photosvc.core.errors import InvalidValueError
from photosvc.core.text import parse_digits
from photosvc.core.times import parse_since, parse_until
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.language import N_
from photosvc.pages.layout import pages
from photosvc.web.service import current_service

#: The parts of the log; readers need the first one after an incident.
PARTS: Final = {REFUSALS: N_("Refusals"), ACCESSES: N_("Sign-ins and tokens"), CHANGES: N_("Changes")}
EVENTS: Final = {
    Event.LOGIN_REFUSED: N_("Sign-in refused"),
    Event.PASSWORD_REFUSED: N_("Wrong password or code"),
    Event.TOKEN_REFUSED: N_("Token refused"),
    Event.CLIENT_REFUSED: N_("Client refused"),
    Event.ACCESS_REFUSED: N_("Not allowed"),
    Event.THROTTLED: N_("Too many failures"),
    Event.LOGIN: N_("Signed in"),
    Event.LOGOUT: N_("Signed out"),
    Event.TOKEN_GRANTED: N_("Token issued to a client"),
    Event.TOKEN_REVOKED: N_("Token revoked by its client"),
    Event.USER_ADDED: N_("Account made"),
    Event.USER_CHANGED: N_("Account changed"),
    Event.USER_REMOVED: N_("Account deleted"),
    Event.PASSWORD_CHANGED: N_("Password changed"),
    Event.SECOND_FACTOR_STARTED: N_("Two-factor authentication being set up"),
    Event.SECOND_FACTOR_ON: N_("Two-factor authentication turned on"),
    Event.SECOND_FACTOR_OFF: N_("Two-factor authentication turned off"),
    Event.CREDENTIAL_MADE: N_("App password or token created"),
    Event.CREDENTIAL_ENDED: N_("App password or token revoked"),
    Event.SESSION_ENDED: N_("Signed out by somebody else"),
    Event.CLIENT_ADDED: N_("Client made"),
    Event.CLIENT_CHANGED: N_("Client changed"),
    Event.CLIENT_REMOVED: N_("Client deleted"),
    Event.LINK_MADE: N_("Public link made"),
    Event.LINK_CHANGED: N_("Public link changed"),
    Event.LINK_ENDED: N_("Public link ended"),
    Event.LINK_UPLOADED: N_("Files added by a public link"),
    Event.ALBUM_SHARED: N_("Album shared with an account"),
    Event.SHARE_CHANGED: N_("Role in a shared album changed"),
    Event.SHARE_ENDED: N_("Account removed from a shared album"),
    Event.KEY_ROTATED: N_("Service key replaced"),
}
#: The most entries on a page.
_COUNT: Final = 50
_FILTERS: Final = ("user", "event", "from", "to")
_LONGEST: Final = 255


def event_words(event: str) -> str:
    """Return an event in words; the name of an event that this version does not know."""
    return EVENTS[Event(event)] if event in EVENTS else event


def choices() -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return each part of the log with its label, and its events with their labels."""
    return [
        (part, label, [(event.value, words) for event, words in EVENTS.items() if event.part == part])
        for part, label in PARTS.items()
    ]


@pages.get("/administration/security-log", endpoint="security_log")
@administration_page("audit.view")
def show_security_log() -> Response:
    """Show the entries that match the filters, the newest first."""
    filters = {name: request.args.get(name, "").strip()[:_LONGEST] for name in _FILTERS}
    present: dict[str, Any] = {name: value for name, value in filters.items() if value}
    before, error, older, newest = _last_seen(), None, "", ""
    entries: Sequence[Any] = ()
    try:
        entries = _entries(filters, before)
        newest = url_for(".security_log", **present) if before else ""
    except InvalidValueError as refused:
        error = refused
    if len(entries) > _COUNT:
        older = url_for(".security_log", **present, before=entries[_COUNT - 1].id)
    return show_administration(
        "security-log",
        "security_log",
        error=error,
        entries=entries[:_COUNT],
        filters=filters,
        filtered=bool(present),
        older=older,
        newest=newest,
        choices=choices,
        event_words=event_words,
    )


def _entries(filters: dict[str, str], before: int | None) -> Sequence[Any]:
    service = current_service()
    since = parse_since(filters["from"], service.now(), field="from") if filters["from"] else None
    until = parse_until(filters["to"], service.now(), field="to") if filters["to"] else None
    events = parse_events(filters["event"])
    with service.reading() as connection:
        return audit.latest_entries(
            connection, count=_COUNT + 1, since=since, until=until, before=before, user=filters["user"], events=events
        )


def _last_seen() -> int | None:
    """Return the id of the last entry of the previous page; None if the address has none."""
    return parse_digits(request.args.get("before", ""))
