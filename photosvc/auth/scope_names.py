"""The names a scope may be made of (spec section 5.3)."""

from dataclasses import dataclass

ALL, READ, WRITE = "*", "read", "write"


@dataclass(frozen=True, slots=True)
class ScopeName:
    """A scope and what it opens."""

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
    ScopeName("cluster", "Other nodes of a cluster"),
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

#: Everything a scope can open.
RESOURCES: tuple[str, ...] = tuple(item.name for item in SCOPES if item.name not in MODES | {ALL})
