"""An entry of the security log: who acted on which account or client, from where. Its texts are clean and short."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Protocol

from photosvc.auth.audit.events import Event
from photosvc.auth.principal import HOST_USER, Principal


class Named(Protocol):
    """An account or a client."""

    @property
    def name(self) -> str:
        """The name to log in with, or of the client."""

    @property
    def uid(self) -> str:
        """The UID."""


#: Kinds of actors.
BY_USER, BY_CLIENT, BY_COMMAND = "user", "client", "command line"

#: Characters of a text of an entry.
MAX_TEXT = 200


def clean(text: str) -> str:
    """`text` in one short line, without characters that control terminals, logs or the direction of writing."""
    return "".join(character if character.isprintable() else "?" for character in text[:MAX_TEXT])


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, from where, in which request."""

    kind: str = ""
    """`user`, `client` or `command line`; empty when the actor is not known."""
    name: str = ""
    uid: str = ""
    credential: str = ""
    """UID of the credential."""
    address: str = ""
    request_id: str = ""

    @classmethod
    def of(cls, principal: Principal, *, address: str = "", request_id: str = "") -> "Actor":
        """The owner of a credential; a token without an account or client is a client of its own name."""
        return cls(
            kind=BY_CLIENT if principal.user_uid is None and principal.kind != HOST_USER else BY_USER,
            name=principal.user_name or principal.credential_name,
            uid=principal.user_uid or principal.client_uid or "",
            credential=principal.credential_uid,
            address=address,
            request_id=request_id,
        )


#: A person or program that runs `svc` on the machine of the service.
COMMAND_LINE = Actor(kind=BY_COMMAND, name=BY_COMMAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What happened. Its fields are the columns of the table."""

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
    now: datetime,
    event: Event,
    actor: Actor,
    *,
    subject: Named | None = None,
    target: str = "",
    detail: str = "",
) -> Entry:
    """An entry, with clean texts.

    Args:
        now: the present.
        event: what happened.
        actor: who did it.
        subject: the account or client that it happened to.
        target: the UID of the credential, session or key that was made or ended.
        detail: what else is worth knowing, as a short phrase; must not contain anything secret, nor anything that a
            person typed into a field for names: people type passwords there.

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
    """The values of an entry for a line of a log, without its time and without empty values."""
    values = {field.name: getattr(entry, field.name) for field in fields(Entry) if field.name != "created_at"}
    return {name: value for name, value in values.items() if value and (name, value) != ("times", 1)}
