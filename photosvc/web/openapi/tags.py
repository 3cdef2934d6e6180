"""The tags of operations: the resources that the beginning of a path stands for, as people call them."""

from collections.abc import Collection
from typing import Final, NamedTuple


class Tag(NamedTuple):
    """A group of operations."""

    name: str
    text: str
    """What it is about."""
    parts: tuple[str, ...]
    """What the paths of its operations begin with; the longest one counts."""


TAGS: Final = (
    Tag("accounts", "Accounts, with their sessions, app passwords and two-factor log-in.", ("users",)),
    Tag("albums", "Albums of people, and the months, folders and regions of the library.", ("albums",)),
    Tag("batch", "Changes of many photos, albums or labels at once.", ("batch",)),
    Tag("downloads", "Originals, one by one or many as a zip archive.", ("dl", "zip")),
    Tag("folders", "Folders of the originals, and of files that wait to be imported.", ("folders",)),
    Tag("import", "Bringing files from the import folder into the originals.", ("import",)),
    Tag("index", "Index runs, and the files that they could not read.", ("index", "errors")),
    Tag("labels", "What photos show.", ("labels",)),
    Tag("OAuth2", "Tokens of OAuth2 clients.", ("oauth",)),
    Tag("people", "People, and the faces that were found in photos.", ("subjects", "faces", "markers")),
    Tag("photos", "Search, timeline and map; one photo, its values, files and history.", (
        "photos", "files", "suggest", "geo", "moments",
    )),
    Tag("security log", "Who signed in, was refused, or changed accounts and credentials.", ("audit",)),
    Tag("service", "Settings for clients, health, figures, and this document.", (
        "config", "healthz", "readyz", "status", "metrics", "openapi.json",
    )),
    Tag("sessions", "Signing in and out.", ("session", "sessions")),
    Tag("thumbnails", "Pictures in the sizes that screens need.", ("t",)),
    Tag("trash", "Deleted originals, which can be restored.", ("trash",)),
    Tag("uploads", "New files, whole or in pieces that can be continued.", ("uploads", "users/{user_uid}/upload")),
    Tag("videos", "Videos in formats that browsers play.", ("videos",)),
)  # fmt: skip
_NAMES: Final = {part: tag.name for tag in TAGS for part in tag.parts}


def tag_of(path: str) -> str:
    """The name of the tag of a path below that of the API.

    Raises:
        LookupError: `TAGS` has none for it.

    """
    part = path.removeprefix("/")
    while part and part not in _NAMES:
        part = part.rpartition("/")[0]
    return _NAMES[part]


def described_tags(names: Collection[str]) -> list[dict[str, str]]:
    """The tags with these names as the document describes them."""
    return [{"name": tag.name, "description": tag.text} for tag in TAGS if tag.name in names]
