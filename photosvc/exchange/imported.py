"""The records that readers of other programs' libraries return, and the report of an import."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

#: Names of files in a report.
_MOST_NAMES: Final = 1000


class Outcome(StrEnum):
    """The end of a value in an import."""

    TAKEN = "taken"
    EQUAL = "equal"
    KEPT = "kept"
    """A person set another value here."""
    NO_HOME = "no_home"
    """The library has nothing for it."""
    NO_MATCH = "no_match"
    """The photo or album is not in the library."""


@dataclass(frozen=True, slots=True)
class ImportedPhoto:
    """A photo of another program."""

    key: str
    """Its UID there."""
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name of a value in the report -> the values of the edit that sets it, as `edits.apply` takes them."""
    keywords: tuple[str, ...] = ()
    path: str = ""
    """Folder below the originals."""
    name: str = ""
    """Name of the file without its extension."""
    edited_at: datetime | None = None
    """The time of the last edit by a person."""
    homeless: tuple[str, ...] = ()
    """Names of values that the library has nothing for."""


@dataclass(frozen=True, slots=True)
class ImportedAlbum:
    """An album of another program."""

    key: str
    values: Mapping[str, Any]
    """As `albums.make_album` takes them."""
    cover: str = ""
    """SHA-1 of the chosen cover; empty without one."""
    members: tuple[str, ...] = ()
    """The keys of its photos in their order."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that cannot be read."""

    name: str
    reason: str


@dataclass(slots=True)
class Report:
    """The effects of an import, or those that it would have."""

    run: int | None = None
    """Number of the run; None if nothing changed."""
    counts: dict[str, Counter[Outcome]] = field(default_factory=dict)
    """Name of a value -> numbers of outcomes."""
    unmatched: list[str] = field(default_factory=list)
    """The first photos and albums that the library does not have, with the reason."""
    unreadable: list[Unreadable] = field(default_factory=list)
    """The first records that cannot be read."""

    def count(self, name: str, outcome: Outcome, number: int = 1) -> None:
        """Count a value."""
        if number:
            self.counts.setdefault(name, Counter())[outcome] += number

    def list_unmatched(self, sentence: str) -> None:
        """List a photo or album without match."""
        if len(self.unmatched) < _MOST_NAMES:
            self.unmatched.append(sentence)

    def list_unreadable(self, record: Unreadable) -> None:
        """Count a record that cannot be read, and list it."""
        self.count("record", Outcome.NO_MATCH)
        if len(self.unreadable) < _MOST_NAMES:
            self.unreadable.append(record)
