"""Scopes: sets of words that limit what a credential may reach.

    scope    = word (blank word)*
    word     = "*" | "read" | "write" | resource [":true" | ":false"]

- The name of a resource opens it, `*` opens all; `name:false` closes one, even if other words open it.
- `read` or `write` alone limits the open resources to reading or writing; both together, or neither, limit nothing.
- A scope of modes only (`read`, `write`, `read write`) opens all resources.
- The empty scope opens nothing.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from photosvc.core.errors import InvalidValueError
from photosvc.core.message import Message, did_you_mean

ALL, READ, WRITE = "*", "read", "write"


@dataclass(frozen=True, slots=True)
class ScopeName:
    """A name for scopes, with a description."""

    name: str
    description: str


#: General scopes first, then resources by name.
SCOPES: tuple[ScopeName, ...] = (
    ScopeName(ALL, "Everything the owner's role allows"),
    ScopeName(READ, "Read, but change nothing; alone: everywhere"),
    ScopeName(WRITE, "Change, but read nothing; alone: everywhere"),
    ScopeName("albums", "Albums and what is in them"),
    ScopeName("api", "Interfaces without a resource of their own"),
    ScopeName("calendar", "Pictures by month"),
    ScopeName("cameras", "Camera makes and models"),
    ScopeName("cluster", "The machines that serve the library"),
    ScopeName("config", "The configuration as the service reports it"),
    ScopeName("default", "Endpoints without a resource of their own"),
    ScopeName("favorites", "Marks of favourite pictures"),
    ScopeName("feedback", "Messages to the owner of the service"),
    ScopeName("files", "Originals and files made from them"),
    ScopeName("folders", "The folders of the originals"),
    ScopeName("labels", "Labels and keywords"),
    ScopeName("lenses", "Lens makes and models"),
    ScopeName("logs", "The service's log"),
    ScopeName("metrics", "Figures for monitoring"),
    ScopeName("moments", "Pictures grouped by occasion"),
    ScopeName("passcode", "One's own two-factor authentication"),
    ScopeName("password", "Account passwords"),
    ScopeName("people", "People and their faces"),
    ScopeName("photos", "Photos, their metadata, previews and downloads"),
    ScopeName("places", "Places and maps"),
    ScopeName("services", "Connections to other services"),
    ScopeName("sessions", "Login sessions, app passwords and tokens"),
    ScopeName("settings", "One's own settings"),
    ScopeName("shares", "Links that share pictures"),
    ScopeName("users", "User accounts"),
    ScopeName("videos", "Videos and their metadata"),
    ScopeName("vision", "Picture recognition"),
    ScopeName("webdav", "The originals as a WebDAV folder"),
    ScopeName("webhooks", "Notifications to other services"),
)

MODES = frozenset({READ, WRITE})

#: All resources that a scope can open.
RESOURCES: tuple[str, ...] = tuple(item.name for item in SCOPES if item.name not in MODES | {ALL})

_CLOSED = ":false"
_MAX_LENGTH = 1000
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}\Z")
_KNOWN = frozenset({ALL, *MODES, *RESOURCES})
#: A placeholder for all resources that a scope does not name, including resources of later versions.
_ANY_OTHER = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """A parsed scope; its text is the sorted words, `*` first."""

    words: frozenset[str] = frozenset()

    @property
    def modes(self) -> frozenset[str]:
        """Return `read`, `write` or both: the modes in which the open resources may be used."""
        return (self.words & MODES) or MODES

    @property
    def names(self) -> frozenset[str]:
        """Return the resources opened by name."""
        return frozenset(word for word in self.words - MODES - {ALL} if not word.endswith(_CLOSED))

    @property
    def closed(self) -> frozenset[str]:
        """Return the resources closed by name."""
        return frozenset(word.removesuffix(_CLOSED) for word in self.words if word.endswith(_CLOSED))

    @property
    def is_open(self) -> bool:
        """Return whether the scope opens resources that it does not name."""
        return ALL in self.words or (bool(self.words & MODES) and not self.names)

    def covers(self, resource: str, *, write: bool) -> bool:
        """Return whether the scope reaches `resource`, for writing or for reading."""
        return (
            (WRITE if write else READ) in self.modes
            and resource not in self.closed
            and (resource in self.words or self.is_open)
        )

    def __bool__(self) -> bool:
        return any(self.covers(name, write=write) for name in _mentioned(self) for write in (False, True))

    def __str__(self) -> str:
        return " ".join(sorted(self.words))


EVERYTHING = Scope(frozenset({ALL}))


@lru_cache(maxsize=1024)
def parse_scope(text: str, *, known_only: bool = True) -> Scope:
    """Parse a scope; letter case, order and repeats do not matter.

    Args:
        text: words separated by blanks, at most 1000 characters.
        known_only: refuse names that this version does not know; scopes stored by a later version keep them.

    Raises:
        InvalidValueError: a word is malformed, or a name unknown; the message then suggests the nearest one.
    """
    if len(text) > _MAX_LENGTH:
        raise InvalidValueError(f"a scope has at most {_MAX_LENGTH} characters", field="scope")
    return Scope(frozenset(_word(word, known_only=known_only) for word in text.lower().split()))


def _word(word: str, *, known_only: bool) -> str:
    name, colon, value = word.partition(":")
    if colon and (name == ALL or name in MODES):
        raise InvalidValueError(f'"{name}" cannot be limited with a colon', field="scope")
    if colon and value not in {"true", "false"}:
        raise InvalidValueError(f'only ":true" and ":false" can follow the scope "{name[:32]}"', field="scope")
    if name not in _KNOWN and (known_only or not _NAME.match(name)):
        quoted = f'"{name[:32]}"'
        msg = Message("{name} is not a scope", name=quoted)
        raise InvalidValueError(did_you_mean(msg, name, sorted(_KNOWN)), field="scope")
    return name + _CLOSED if value == "false" else name


def is_within(inner: Scope, outer: Scope) -> bool:
    """Return whether `outer` covers all that `inner` covers, even when later versions add resources."""
    return all(
        outer.covers(name, write=write)
        for name in _mentioned(inner, outer)
        for write in (False, True)
        if inner.covers(name, write=write)
    )


def _mentioned(*scopes: Scope) -> frozenset[str]:
    named = frozenset[str]().union(*(scope.names | scope.closed for scope in scopes))
    return named | frozenset({*RESOURCES, _ANY_OTHER})
