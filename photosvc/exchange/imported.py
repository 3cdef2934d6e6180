"""The one model of other programs' libraries: the records that all readers return, and the report of an import.

A reader yields only what a person entered: values that a program made up are made again here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, ClassVar, Final

from photosvc.media.metadata import Region
from photosvc.media.text import clean
from photosvc.media.xmp_fields import PATH
from photosvc.records import limits

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
class ImportedArea:
    """A person in a photo of another program."""

    area: Region
    """Relative to the upright picture; `media.metadata.whole_picture` for a person without an area."""
    hash: str = ""
    """SHA-1 of the file; empty, or that of a file that is not here, for the file that shows the photo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPhoto:
    """A photo of another program.

    It is one here by its key, if an earlier run changed it; else by the SHA-1 of a file; else by `path` and `name`;
    else by `file_name`, `size` and `taken_local`, if one photo alone has all three. Empty values find nothing.
    """

    key: str
    """Its UID there."""
    hashes: tuple[str, ...] = ()
    """SHA-1 of its files in lower-case hexadecimal digits."""
    path: str = ""
    """Folder below our originals; see `in_our_folder`."""
    name: str = ""
    """Name of the file in that folder, without its extension."""
    file_name: str = ""
    """Name of the file as the camera wrote it, with its extension."""
    size: int = 0
    """Bytes of that file."""
    taken_local: datetime | None = None
    """Wall time at which it was taken, without a zone."""
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name of a value in the report -> the values of the edit that sets it, as `edits.apply` takes them.

    Readers name them title, description, subject, notes, artist, copyright, license, rating, favorite, private, type,
    `time` (`taken_at_local`, `time_zone`, `year`, `month`, `day`), `position` (`lat`, `lng`, `altitude`) and `archived`
    (`archived_at`).
    """
    keywords: tuple[str, ...] = ()
    """Keywords, labels and tags; see `levels_of` for hierarchies."""
    people: tuple[ImportedArea, ...] = ()
    orientations: Mapping[str, int] = field(default_factory=dict)
    """SHA-1 of a file -> the Exif orientation that a person chose for it."""
    edited_at: datetime | None = None
    """The time of the last edit by a person."""
    homeless: tuple[str, ...] = ()
    """Names of values that the library has nothing for."""


@dataclass(frozen=True, slots=True)
class ImportedStack:
    """Photos of another program that a person made one photo."""

    keys: tuple[str, ...]
    """The keys of the photos; the first one shows the stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPerson:
    """A person of another program, whom `ImportedPhoto.people` names."""

    key: str
    name: str
    favorite: bool = False
    hidden: bool = False
    birth_date: date | None = None
    homeless: tuple[str, ...] = ()
    """Names of values that the library has nothing for, such as the cover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLabel:
    """A label or tag of another program that is a favorite there."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class ImportedAlbum:
    """An album of another program."""

    key: str
    values: Mapping[str, Any]
    """As `albums.make_album` takes them: title, description, category, location, notes, filter, order, …"""
    cover: str = ""
    """The key of the photo on the chosen cover, or the SHA-1 of its file; empty without one."""
    members: tuple[str, ...] = ()
    """The keys of its photos in their order."""
    homeless: tuple[str, ...] = ()
    """Names of values that the library has nothing for, such as comments."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that cannot be read."""

    name: str
    reason: str


class Reader:
    """A reader of another program's library, from which those of each program derive.

    All methods are called once in a run, in the order in which they stand here. Each yields `Unreadable` for a record
    that cannot be read. A `PhotosvcError` ends the run; what was written before stays, and the next run goes on.
    """

    SOURCE: ClassVar[str]
    """Name of the program in the history, and in the table of what came from where."""

    def count(self) -> int:
        """Return the number of records of photos; 0 if it is not known in advance."""
        return 0

    def photos(self) -> "Iterator[ImportedPhoto | Unreadable]":
        """Yield the photos."""
        raise NotImplementedError

    def stacks(self) -> "Iterator[ImportedStack | Unreadable]":
        """Yield the stacks that a person made."""
        yield from ()

    def people(self) -> "Iterator[ImportedPerson | Unreadable]":
        """Yield the people with more than a name."""
        yield from ()

    def labels(self) -> "Iterator[ImportedLabel | Unreadable]":
        """Yield the favorite labels."""
        yield from ()

    def albums(self) -> "Iterator[ImportedAlbum | Unreadable]":
        """Yield the albums that a person made."""
        yield from ()

    def close(self) -> None:
        """Close connections and temporary files."""


def levels_of(tag: str) -> tuple[str, ...]:
    """Return the keywords of a tag whose levels are separated by slashes: each level, the last one first, and the path.

    They are those that files with hierarchies have; see `media.xmp_fields`.
    """
    levels = [level for part in tag.split(PATH) if (level := clean(part, limits.KEYWORD))]
    whole = PATH.join(levels)
    words = (*levels[-1:], *levels[:-1], *([whole] if len(levels) > 1 and len(whole) <= limits.KEYWORD else []))
    return tuple(dict.fromkeys(words))


def in_our_folder(path: str, folders: Sequence[tuple[str, str]]) -> str:
    """Return a folder below our originals for one of another program.

    Args:
        folders: a folder there, and the same one below our originals; an empty one is that of its originals.
    """
    for theirs, ours in sorted(folders, key=lambda one: -len(one[0])):
        if not theirs or path == theirs or path.startswith(f"{theirs}/"):
            return "/".join(filter(None, (ours, path[len(theirs) :].strip("/"))))
    return path


@dataclass(slots=True)
class Report:
    """The effects of an import, or those that it would have."""

    run: int | None = None
    """Number of the run; None if nothing changed."""
    counts: dict[str, Counter[Outcome]] = field(default_factory=dict)
    """Name of a value -> numbers of outcomes."""
    by_name: list[str] = field(default_factory=list)
    """The first photos that are found only by their name, size and time."""
    unmatched: list[str] = field(default_factory=list)
    """The first photos and albums that the library does not have, with the reason."""
    unreadable: list[Unreadable] = field(default_factory=list)
    """The first records that cannot be read."""

    def count(self, name: str, outcome: Outcome, number: int = 1) -> None:
        """Count a value."""
        if number:
            self.counts.setdefault(name, Counter())[outcome] += number

    def list_by_name(self, sentence: str) -> None:
        """Count a photo that is found only by its name, size and time, and list it."""
        self.count("photo by name", Outcome.TAKEN)
        if len(self.by_name) < _MOST_NAMES:
            self.by_name.append(sentence)

    def list_unmatched(self, sentence: str) -> None:
        """List a photo or album without match."""
        if len(self.unmatched) < _MOST_NAMES:
            self.unmatched.append(sentence)

    def list_unreadable(self, record: Unreadable) -> None:
        """Count a record that cannot be read, and list it."""
        self.count("record", Outcome.NO_MATCH)
        if len(self.unreadable) < _MOST_NAMES:
            self.unreadable.append(record)
