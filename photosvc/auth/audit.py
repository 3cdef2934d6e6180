"""The security log: its events and entries, its table and its log lines.

Texts of an entry are one short line of printable characters and contain nothing secret.

A line is logged only after its entry has been committed. Each part of the table keeps its newest entries, at most a
quarter of them of one actor, so that a flood of entries removes none of other parts, and few of other actors.

Equal refusals within a minute, from one network and with one credential, are counted in one entry. Wrong names and
passwords are not: the throttle limits their number, and each entry has the account that was tried. If their entries
depended on the name, the time of an answer would show which names exist.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

from photosvc.auth.principal import HOST_USER, Principal
from photosvc.core import ids
from photosvc.core.accounts import is_name, normal_name
from photosvc.core.errors import InvalidValueError
from photosvc.core.logs import FIELDS, as_text
from photosvc.core.message import Message, did_you_mean
from photosvc.models import VISIT, AuditEntry, Client, Credential, User

#: Refused requests: anyone can cause any number of them, so equal ones are counted, and they displace no other part.
REFUSALS: Final = "refusals"
#: Everyday acts of the holders of credentials.
ACCESSES: Final = "accesses"
#: Longest word, in characters, that an error message repeats.
_LONGEST: Final = 32
#: Longest text of an entry, in characters.
MAX_TEXT = 200
#: Options whose values the log contains. Of others, such as the email address, it only names the change.
_SHOWN = frozenset({"role", "scope", "lifetime", "limit", "token_format"})
#: Columns of options that have another name than their column.
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
    events: set[Event] = set()
    for word in text.lower().replace(",", " ").split():
        named = {event for event in Event if word in {event.value, event.part}}
        if not named:
            quoted = f'"{word[:_LONGEST]}"'
            msg = Message("{name} is not an event", name=quoted)
            raise InvalidValueError(did_you_mean(msg, word, [*PARTS, *Event]), field="event")
        events |= named
    return frozenset(events)


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


def log_values(entry: Entry) -> dict[str, Any]:
    """Return the non-empty values of an entry, without its time, for a line of the log."""
    values = {field.name: getattr(entry, field.name) for field in fields(Entry) if field.name != "created_at"}
    return {name: value for name, value in values.items() if value and (name, value) != ("times", 1)}


def describe_credential(credential: Credential) -> str:
    """Return the kind, name and scope of a credential."""
    name = f" {credential.name!r}" if credential.name else ""
    return f"{credential.kind.replace('_', ' ')}{name}, scope {credential.scope}"


def describe_client(client: Client) -> str:
    """Return the role and scope of a client."""
    return f"role {client.role}, scope {client.scope}"


def describe_changes(before: User | Client, options: Mapping[str, object]) -> str:
    """Return a phrase of the changes that options will make; None and unknown names change nothing."""
    phrases = []
    for name, value in options.items():
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


#: The logger of the security log: refusals are logged as warnings, all other events as information.
LOGGER = "photosvc.security"
_LOG = logging.getLogger(LOGGER)
#: Key in `Session.info` of the entries of an open transaction.
_UNLOGGED = "photosvc_audit"
#: The oldest entries are deleted whenever the number of a new one is a multiple of this, so that hardly any write of
#: an entry costs more than the INSERT.
_SWEEP_EVERY: Final = 64
#: Entries that one statement deletes: more than are added between two sweeps.
_MOST_SWEPT: Final = 250
#: Actors whose entries fill a part together: each has at most this fraction of it.
_SHARES: Final = 4
_NAMES: Final = tuple(field.name for field in fields(Entry))
_ADD = insert(AuditEntry).returning(AuditEntry.id)
_OF_PART = AuditEntry.part == bindparam("of_part")
_OF_ACTOR = AuditEntry.actor_uid == bindparam("of_actor")
_BUSY = (
    select(AuditEntry.actor_uid)
    .where(_OF_PART)
    .group_by(AuditEntry.actor_uid)
    .having(func.count() > bindparam("newest"))
    .limit(_SHARES)
)
#: Time for which equal refusals are counted in one entry, and the number of entries among which that one is searched.
WINDOW: Final = timedelta(minutes=1)
_LATEST: Final = 100
_LATEST_REFUSALS = (
    select(AuditEntry.id).where(AuditEntry.part == REFUSALS).order_by(AuditEntry.id.desc()).limit(_LATEST).subquery()
)
_EQUAL_VALUES = ("event", "address", "credential", "detail")
_EQUAL = select(func.max(AuditEntry.id)).where(
    AuditEntry.id.in_(select(_LATEST_REFUSALS.c.id)),
    AuditEntry.created_at.between(bindparam("window_began"), bindparam("refused_at")),
    *(getattr(AuditEntry, name) == bindparam(f"of_{name}") for name in _EQUAL_VALUES),
)
_SAME_SUBJECT = AuditEntry.subject_uid == bindparam("of_subject_uid")
#: Counts a refusal in an equal one, which has a subject as long as all concern the same one.
_COUNT = update(AuditEntry).where(AuditEntry.id == _EQUAL.scalar_subquery()).returning(AuditEntry.id)
_COUNT = _COUNT.values(
    times=AuditEntry.times + 1,
    subject=case((_SAME_SUBJECT, AuditEntry.subject), else_=""),
    subject_uid=case((_SAME_SUBJECT, AuditEntry.subject_uid), else_=""),
)


def log_after_commit(session: Session, entries: Sequence[Entry]) -> None:
    """Log these entries once the session's transaction has committed; a rollback drops them."""
    session.info.setdefault(_UNLOGGED, []).extend(entries)


def log_committed(session: Session) -> None:
    """Log the entries that the session's transaction has committed."""
    log(session.info.pop(_UNLOGGED, ()))


def log(entries: Iterable[Entry]) -> None:
    """Log a line for each entry."""
    for entry in entries:
        level = logging.WARNING if entry.event.part == REFUSALS else logging.INFO
        if _LOG.isEnabledFor(level):
            values = log_values(entry)
            _LOG.log(level, "%s", as_text(values), extra={FIELDS: values})


def _deletion_beyond(*conditions: ColumnElement[bool]) -> Delete:
    """Return a statement that deletes the oldest entries that meet the conditions, beyond the `newest` ones."""
    newest_surplus = select(AuditEntry.id).where(*conditions).order_by(AuditEntry.id.desc())
    newest_surplus = newest_surplus.offset(bindparam("newest")).limit(1)
    surplus = select(AuditEntry.id).where(*conditions, AuditEntry.id <= newest_surplus.scalar_subquery())
    # Locked rows are skipped, so that two transactions that sweep do not wait for each other.
    surplus = surplus.order_by(AuditEntry.id).limit(_MOST_SWEPT).with_for_update(skip_locked=True)
    return delete(AuditEntry).where(AuditEntry.id.in_(surplus))


_SWEEP_PART = _deletion_beyond(_OF_PART)
_SWEEP_ACTOR = _deletion_beyond(_OF_PART, _OF_ACTOR)


def add(session: Session, entries: Sequence[Entry], *, keep: int) -> None:
    """Add entries in the session's write transaction; each part of the log keeps the `keep` newest ones."""
    connection = session.connection()
    due = False
    for entry in entries:
        values = {name: getattr(entry, name) for name in _NAMES}
        number = connection.execute(_ADD, {**values, "part": entry.event.part}).scalar_one()
        due = due or number % _SWEEP_EVERY == 0
    if due:
        for part in PARTS:
            share = {"of_part": part, "newest": keep // _SHARES}
            for actor in connection.execute(_BUSY, share).scalars().all():
                connection.execute(_SWEEP_ACTOR, {**share, "of_actor": actor})
            connection.execute(_SWEEP_PART, {"of_part": part, "newest": keep})


def add_refusal(session: Session, entry: Entry, *, keep: int) -> bool:
    """Add a refusal as `add` does, or count it in an equal one of the last minute; return whether it was added."""
    if entry.event in {Event.LOGIN_REFUSED, Event.CLIENT_REFUSED} and not entry.detail:
        add(session, [entry], keep=keep)
        return True
    values = {f"of_{name}": getattr(entry, name) for name in (*_EQUAL_VALUES, "subject_uid")}
    values |= {"window_began": entry.created_at - WINDOW, "refused_at": entry.created_at}
    if session.connection().execute(_COUNT, values).first() is not None:
        return False
    add(session, [entry], keep=keep)
    return True


def latest_entries(
    connection: Connection,
    *,
    count: int,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
    user: str = "",
    events: Collection[str] = (),
) -> Sequence[Row[tuple[AuditEntry]]]:
    """Return the newest entries, the newest first.

    Args:
        since: only entries of this time or later.
        until: only entries before this time.
        before: only entries with smaller ids: the next page.
        user: only entries by or about the account of this name, or the account or client of this UID, even if it was
            removed.
        events: only these events; empty for all.
    """
    query = select(AuditEntry.__table__).order_by(AuditEntry.id.desc()).limit(count)
    if since is not None:
        query = query.where(AuditEntry.created_at >= since)
    if until is not None:
        query = query.where(AuditEntry.created_at < until)
    if events:
        query = query.where(AuditEntry.event.in_(sorted(events)))
    if before is not None:
        query = query.where(AuditEntry.id < before)
    if user.strip():
        key = normal_name(user)
        if not is_name(key):  # it may hold characters that PostgreSQL refuses; UIDs are valid names
            return ()
        acts = or_(AuditEntry.actor_uid == key, and_(AuditEntry.actor == key, AuditEntry.actor_kind == BY_USER))
        # UIDs of accounts and clients begin with different letters, and names of clients are free.
        concerns = and_(AuditEntry.subject == key, AuditEntry.subject_uid.startswith(ids.USER))
        query = query.where(or_(acts, concerns, AuditEntry.subject_uid == key))
    return connection.execute(query).all()
