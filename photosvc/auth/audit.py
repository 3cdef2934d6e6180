"""Entries of the security log: the events and their parts, the actor, and short phrases for details.

Texts of an entry are one short line of printable characters and contain nothing secret.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Protocol

from photosvc.auth.principal import HOST_USER, Principal
from photosvc.core.errors import InvalidValueError
from photosvc.core.message import Message
from photosvc.core.words import did_you_mean
from photosvc.models import VISIT, Client, Credential, User

#: Refused requests: anyone can cause any number of them, so equal ones are counted, and they displace no other part.
REFUSALS: Final = "refusals"
#: Everyday acts of the holders of credentials.
ACCESSES: Final = "accesses"
#: Longest word, in characters, that an error message repeats.
_LONGEST: Final = 32
#: Longest text of an entry, in characters.
MAX_TEXT = 200
#: Options whose values are shown. Of all others, such as email, the log has only that they changed.
_SHOWN = frozenset({"role", "scope", "lifetime", "limit", "token_format"})
#: Columns of the options whose columns have another name.
_COLUMNS = {"lifetime": "token_lifetime", "limit": "token_limit"}


#: Changes that affect the access of others, or later access.
CHANGES: Final = "changes"
PARTS: Final = (REFUSALS, ACCESSES, CHANGES)


class Event(StrEnum):
    """An event of the security log. Its value appears in logs and answers and never changes."""

    LOGIN_REFUSED = "login.refused"
    """A log-in failed: wrong name, password or code, or a client that tried."""
    PASSWORD_REFUSED = "password.refused"  # noqa: S105 - the name of an event
    """A logged-in user sent a wrong password or code to confirm something."""
    TOKEN_REFUSED = "token.refused"  # noqa: S105 - the name of an event
    """A request showed a token or app password that is unknown, revoked or expired."""
    CLIENT_REFUSED = "client.refused"
    """An OAuth2 client showed no valid secret."""
    ACCESS_REFUSED = "access.refused"
    """The credential is valid, but its rights do not cover the action."""
    THROTTLED = "throttled"
    """Too many failures came from an address, for an account or with a token."""

    LOGIN = "login"
    """A login session began."""
    LOGOUT = "logout"
    """A user ended the current login session."""
    TOKEN_GRANTED = "token.granted"  # noqa: S105 - the name of an event
    """An OAuth2 client got an access token."""
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - the name of an event
    """A token was revoked at the OAuth2 endpoint."""

    USER_ADDED = "user.added"
    USER_CHANGED = "user.changed"
    """The role, name or address of an account changed, or the account was disabled or enabled."""
    USER_REMOVED = "user.removed"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105 - the name of an event
    SECOND_FACTOR_STARTED = "second_factor.started"
    """A secret for an authenticator app was shown."""
    SECOND_FACTOR_ON = "second_factor.on"
    SECOND_FACTOR_OFF = "second_factor.off"
    CREDENTIAL_MADE = "credential.made"
    """An app password or access token was made."""
    CREDENTIAL_ENDED = "credential.ended"
    SESSION_ENDED = "session.ended"
    """A login session was ended by its owner from elsewhere, or by an administrator."""
    CLIENT_ADDED = "client.added"
    CLIENT_CHANGED = "client.changed"
    CLIENT_REMOVED = "client.removed"
    LINK_MADE = "link.made"
    """A public link to an album was made."""
    LINK_CHANGED = "link.changed"
    LINK_ENDED = "link.ended"
    LINK_UPLOADED = "link.uploaded"
    """A visitor of a public link added files to its album."""
    ALBUM_SHARED = "album.shared"
    """An album was shared with an account."""
    SHARE_CHANGED = "share.changed"
    SHARE_ENDED = "share.ended"
    """An account was removed from an album, or left it."""
    KEY_ROTATED = "key.rotated"
    """A key of the service was replaced."""

    @property
    def part(self) -> str:
        """Return the part of the log that the event belongs to."""
        if self in _REFUSALS:
            return REFUSALS
        return ACCESSES if self in _ACCESSES else CHANGES


def parse_events(text: str) -> frozenset[Event]:
    """Return the events that a text names by event or part, separated by blanks or commas; none if it is empty.

    Raises:
        InvalidValueError: a word names neither an event nor a part.
    """
    found: set[Event] = set()
    for word in text.lower().replace(",", " ").split():
        named = {event for event in Event if word in {event.value, event.part}}
        if not named:
            quoted = f'"{word[:_LONGEST]}"'
            msg = Message("{name} is not an event", name=quoted)
            raise InvalidValueError(did_you_mean(msg, word, [*PARTS, *Event]), field="event")
        found |= named
    return frozenset(found)


_REFUSALS = frozenset({
    Event.LOGIN_REFUSED, Event.PASSWORD_REFUSED, Event.TOKEN_REFUSED, Event.CLIENT_REFUSED, Event.ACCESS_REFUSED,
    Event.THROTTLED,
})  # fmt: skip
_ACCESSES = frozenset({Event.LOGIN, Event.LOGOUT, Event.TOKEN_GRANTED, Event.TOKEN_REVOKED, Event.LINK_UPLOADED})


class Named(Protocol):
    """An account or a client."""

    @property
    def name(self) -> str:
        """Return the user name of an account, or the name of a client."""

    @property
    def uid(self) -> str:
        """Return the UID of the account or client."""


#: Kinds of actors.
BY_USER, BY_CLIENT, BY_VISITOR, BY_COMMAND = "user", "client", "visitor", "command line"


def clean(text: str) -> str:
    """Return `text` as one short line without characters that control terminals, logs or the writing direction."""
    return "".join(character if character.isprintable() else "?" for character in text[:MAX_TEXT])


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The actor of a request, and the address and id of the request."""

    kind: str = ""
    """`user`, `client`, `visitor` or `command line`; empty when the actor is not known."""
    name: str = ""
    uid: str = ""
    credential: str = ""
    """The UID of the credential."""
    address: str = ""
    request_id: str = ""

    @classmethod
    def of(cls, principal: Principal, *, address: str = "", request_id: str = "") -> "Actor":
        """Return the owner of a credential; for a token without an account or client, a client named like the token."""
        if principal.shared is not None and principal.kind == VISIT:
            kind, name, uid = BY_VISITOR, principal.shared.link_uid, principal.shared.link_uid
        else:
            kind = BY_CLIENT if principal.user_uid is None and principal.kind != HOST_USER else BY_USER
            name = principal.user_name or principal.credential_name
            uid = principal.user_uid or principal.client_uid or ""
        credential = principal.credential_uid
        return cls(kind=kind, name=name, uid=uid, credential=credential, address=address, request_id=request_id)


#: A person or program that runs `svc` on the machine of the service.
COMMAND_LINE = Actor(kind=BY_COMMAND, name=BY_COMMAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One event with its actor and subject. Its fields are the columns of the table."""

    created_at: datetime
    event: Event
    times: int = 1
    actor_kind: str = ""
    actor: str = ""
    actor_uid: str = ""
    credential: str = ""
    address: str = ""
    subject: str = ""
    subject_uid: str = ""
    target: str = ""
    detail: str = ""
    request_id: str = ""


def new_entry(
    now: datetime, event: Event, actor: Actor, *, subject: Named | None = None, target: str = "", detail: str = ""
) -> Entry:
    """Return an entry with clean texts.

    Args:
        subject: the account or client that it happened to.
        target: the UID of the credential, session or key that was made or ended.
        detail: a short phrase with further facts; must not contain anything secret, nor anything that a person typed
            into a field for names: people type passwords there.
    """
    return Entry(
        created_at=now,
        event=event,
        actor_kind=actor.kind,
        actor=clean(actor.name),
        actor_uid=actor.uid,
        credential=actor.credential,
        address=clean(actor.address),
        subject=clean(subject.name) if subject is not None else "",
        subject_uid=subject.uid if subject is not None else "",
        target=clean(target),
        detail=clean(detail),
        request_id=clean(actor.request_id),
    )


def told(entry: Entry) -> dict[str, Any]:
    """Return the non-empty values of an entry, without its time, for a line of the log."""
    values = {field.name: getattr(entry, field.name) for field in fields(Entry) if field.name != "created_at"}
    return {name: value for name, value in values.items() if value and (name, value) != ("times", 1)}


def credential(found: Credential) -> str:
    """Return the kind, name and scope of a credential."""
    name = f" {found.name!r}" if found.name else ""
    return f"{found.kind.replace('_', ' ')}{name}, scope {found.scope}"


def client(found: Client) -> str:
    """Return the role and scope of a client."""
    return f"role {found.role}, scope {found.scope}"


def changes(before: User | Client, given: Mapping[str, object]) -> str:
    """Return the changes by columns or options, before they are made; None and unknown names change nothing."""
    phrases = []
    for name, value in given.items():
        old = getattr(before, _COLUMNS.get(name, name), None)
        if value is None or value == old:
            continue
        if isinstance(value, bool):
            phrases.append(name if value else f"not {name}")
        elif name in _SHOWN:
            phrases.append(f"{name.replace('_', ' ')} {old} to {value}")
        else:
            phrases.append(name.replace("_", " "))
    return ", ".join(phrases)
