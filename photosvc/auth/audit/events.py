"""What the security log tells about, and the parts of it."""

import difflib
from enum import StrEnum
from typing import Final

from photosvc.core.errors import InvalidValueError

#: What was refused: anyone can cause any number of these, so they are counted together and pushed out nothing else.
REFUSALS: Final = "refusals"
#: What holders of credentials do all day.
ACCESSES: Final = "accesses"
#: What decides on the access of others, or of later.
CHANGES: Final = "changes"

PARTS: Final = (REFUSALS, ACCESSES, CHANGES)
#: Characters of a word in messages.
_LONGEST: Final = 32


class Event(StrEnum):
    """Something that the security log tells about. The value is what logs and answers show; it never changes."""

    LOGIN_REFUSED = "login.refused"
    """A log-in failed: wrong name, password or code, or a client that tried."""
    PASSWORD_REFUSED = "password.refused"  # noqa: S105 - the name of an event
    """A logged-in user sent a wrong password or code to confirm something."""
    TOKEN_REFUSED = "token.refused"  # noqa: S105 - the name of an event
    """A request showed a token or app password that is unknown, revoked or expired."""
    CLIENT_REFUSED = "client.refused"
    """An OAuth2 client showed no valid secret or assertion."""
    ACCESS_REFUSED = "access.refused"
    """The credential is valid and may not do this."""
    THROTTLED = "throttled"
    """Too many failures came from an address, for an account or with a token."""

    LOGIN = "login"
    """A login session began."""
    LOGOUT = "logout"
    """A user ended the own login session."""
    TOKEN_GRANTED = "token.granted"  # noqa: S105 - the name of an event
    """An OAuth2 client got an access token."""
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - the name of an event
    """A token was revoked at the OAuth2 endpoint."""

    USER_ADDED = "user.added"
    USER_CHANGED = "user.changed"
    """Role, name, address, or whether the account is disabled."""
    USER_REMOVED = "user.removed"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105 - the name of an event
    SECOND_FACTOR_STARTED = "second_factor.started"
    """A secret for an authenticator app was shown."""
    SECOND_FACTOR_ON = "second_factor.on"
    SECOND_FACTOR_OFF = "second_factor.off"
    CREDENTIAL_MADE = "credential.made"
    """An app password or access token."""
    CREDENTIAL_ENDED = "credential.ended"
    SESSION_ENDED = "session.ended"
    """A login session was ended by its owner from elsewhere, or by an administrator."""
    CLIENT_ADDED = "client.added"
    CLIENT_CHANGED = "client.changed"
    CLIENT_REMOVED = "client.removed"
    KEY_ROTATED = "key.rotated"
    """A key of the service was replaced."""

    @property
    def part(self) -> str:
        """The part of the log that it belongs to."""
        if self in _REFUSALS:
            return REFUSALS
        return ACCESSES if self in _ACCESSES else CHANGES


def parse_events(text: str) -> frozenset[Event]:
    """The events that a text names: events and parts, with blanks or commas between them; none where it is empty.

    Raises:
        InvalidValueError: a word is neither.

    """
    found: set[Event] = set()
    for word in text.lower().replace(",", " ").split():
        named = {event for event in Event if word in {event.value, event.part}}
        if not named:
            nearest = difflib.get_close_matches(word[:_LONGEST], [*PARTS, *Event], n=1, cutoff=0.5)
            msg = f'"{word[:_LONGEST]}" is not an event' + (f'; did you mean "{nearest[0]}"?' if nearest else "")
            raise InvalidValueError(msg, field="event")
        found |= named
    return frozenset(found)


_REFUSALS = frozenset(
    {
        Event.LOGIN_REFUSED,
        Event.PASSWORD_REFUSED,
        Event.TOKEN_REFUSED,
        Event.CLIENT_REFUSED,
        Event.ACCESS_REFUSED,
        Event.THROTTLED,
    }
)
_ACCESSES = frozenset({Event.LOGIN, Event.LOGOUT, Event.TOKEN_GRANTED, Event.TOKEN_REVOKED})
