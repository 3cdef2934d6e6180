"""What a check may find."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Self


class Fault(StrEnum):
    """Each member: its code, a sentence, and whether an index run or a purge is all that is needed."""

    sentence: str
    is_due: bool

    def __new__(cls, code: str, sentence: str, is_due: bool = False) -> Self:
        """Keep the further columns as attributes of the member."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence, member.is_due = sentence, is_due
        return member

    DAMAGED = "damaged", "its content has changed although its size and time have not"
    MISSING = "missing", "the original is gone"
    UNREADABLE = "unreadable", "the original cannot be read"
    CHANGED = "changed", "it has changed since it was indexed; an index run is due", True
    SEARCH = "search", "its search rows are not what the library says; `svc index --rebuild-search` renders them again"
    SEARCH_ORPHANS = "search_orphans", "search rows of files that the library does not have"
    SEARCH_VERSION = "search_version", "the search rows are of another version; an index run renders them again", True
    THUMBNAIL = "thumbnail", "a cached thumbnail of it is broken or has other pixels"
    THUMBNAIL_ORPHANS = "thumbnail_orphans", "cached files of originals that the library does not have", True


class Finding(NamedTuple):
    """One fault."""

    fault: Fault
    name: str = ""
    """The file relative to the originals, or the cached file; empty when it concerns the library as a whole."""
    number: int = 1
    """How many rows or files it stands for."""


@dataclass(slots=True)
class Report:
    """What a check has looked at and how many faults it found."""

    files: int = 0
    bytes: int = 0
    """Of originals, read."""
    photos: int = 0
    """Photos whose search rows were compared."""
    thumbnails: int = 0
    faults: dict[Fault, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong; what is only due does not count."""
        return all(fault.is_due for fault in self.faults)
