"""What the security log tells, in the words of people."""

from typing import Final

from photosvc.auth.audit.events import ACCESSES, CHANGES, REFUSALS, Event

#: The parts of the log, with their events: first what somebody looks for after something strange.
PARTS: Final = {REFUSALS: "Refusals", ACCESSES: "Sign-ins and tokens", CHANGES: "Changes"}

EVENTS: Final = {
    Event.LOGIN_REFUSED: "Sign-in refused",
    Event.PASSWORD_REFUSED: "Wrong password or code",
    Event.TOKEN_REFUSED: "Token refused",
    Event.CLIENT_REFUSED: "Client refused",
    Event.ACCESS_REFUSED: "Not allowed",
    Event.THROTTLED: "Too many failures",
    Event.LOGIN: "Signed in",
    Event.LOGOUT: "Signed out",
    Event.TOKEN_GRANTED: "Token given to a client",
    Event.TOKEN_REVOKED: "Token given back",
    Event.USER_ADDED: "Account made",
    Event.USER_CHANGED: "Account changed",
    Event.USER_REMOVED: "Account deleted",
    Event.PASSWORD_CHANGED: "Password changed",
    Event.SECOND_FACTOR_STARTED: "Two-factor log-in being set up",
    Event.SECOND_FACTOR_ON: "Two-factor log-in turned on",
    Event.SECOND_FACTOR_OFF: "Two-factor log-in turned off",
    Event.CREDENTIAL_MADE: "App password or token made",
    Event.CREDENTIAL_ENDED: "App password or token revoked",
    Event.SESSION_ENDED: "Signed out by somebody",
    Event.CLIENT_ADDED: "Client made",
    Event.CLIENT_CHANGED: "Client changed",
    Event.CLIENT_REMOVED: "Client deleted",
    Event.KEY_ROTATED: "Key of the service replaced",
}


def event_words(event: str) -> str:
    """What happened; the name of an event that only a later version knows."""
    return EVENTS[Event(event)] if event in EVENTS else event


def choices() -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Each part of the log, its label, and its events with theirs."""
    return [
        (part, label, [(event.value, words) for event, words in EVENTS.items() if event.part == part])
        for part, label in PARTS.items()
    ]
