"""Files and folders that the index leaves out.

Systems and photo programs keep some names for their own use. People exclude a folder, with everything below it, by an
entry `.nomedia` in it, and files and folders by their names in a `.ppignore` of their folder or of one around it.
"""

import os
import re
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from photosvc.core.files import disk_name
from photosvc.core.problems import FileProblemError, Reason, system_symbol

NO_MEDIA: Final = ".nomedia"
PATTERNS: Final = ".ppignore"
#: Names, in lower case, that file systems, NAS systems and photo programs keep for their own use.
_SYSTEM: Final = frozenset((
    "@eadir", "@recycle", "@__thumb", "@tmp", "@recently-snapshot", "#recycle", "#snapshot", "$recycle.bin",
    "system volume information", "__macosx", "lost+found",
))  # fmt: skip
#: Previews of Lightroom, and the pictures that Photos makes from the originals in its library.
_PREVIEWS: Final = ".lrdata"
_LIBRARY, _DERIVED = ".photoslibrary", "resources"
#: Most bytes and patterns of a `.ppignore`.
MOST_BYTES: Final = 64 << 10
MOST_PATTERNS: Final = 1000
#: The beginning of a pattern for paths that end as the rest says.
_ANY_DEPTH: Final = "**/"
#: Most folders whose rules are kept in memory.
_MOST_FOLDERS: Final = 1000


def is_left_out(part: str, folder: str = "") -> bool:
    """Return whether scans leave out files and folders of this name, a part of a path, in a folder of that name."""
    lower = part.lower()
    is_derived = lower == _DERIVED and folder.lower().endswith(_LIBRARY)
    return part.startswith(".") or lower in _SYSTEM or lower.endswith(_PREVIEWS) or is_derived


def is_hidden(name: str) -> bool:
    """Return whether scans leave out the file or folder of this clean name, because of a part of it."""
    return any(is_left_out(part, folder) for folder, part in pairwise(("", *name.split("/"))))


def is_rule(name: str) -> bool:
    """Return whether the entry of this clean name changes what the index leaves out of its folder."""
    folder, _, part = name.rpartition("/")
    return part in {NO_MEDIA, PATTERNS} and not is_hidden(folder)


class _Patterns(NamedTuple):
    """The patterns of one `.ppignore`."""

    base: str
    """The folder of the file, with a slash at the end unless empty."""
    matches: Callable[[str], object]
    """Called with the lower-case name of a file or folder; a folder has a slash at its end."""
    matches_path: Callable[[str], object]
    """Called with the lower-case path relative to the folder."""

    def exclude(self, folder: str, part: str) -> bool:
        """Return whether the patterns name an entry of a folder."""
        return bool(self.matches(part) or self.matches_path(f"{folder.removeprefix(self.base)}{part}".lower()))


@dataclass(frozen=True, slots=True)
class Rules:
    """The exclusions for the entries of one folder."""

    folder: str
    """A clean name with a slash at the end; empty for the originals themselves."""
    leaves_all: bool = False
    """True if nothing in the folder and below is indexed."""
    patterns: tuple[_Patterns, ...] = ()

    def exclude(self, part: str) -> bool:
        """Return whether an entry is left out; the name of a folder has a slash at its end."""
        return self.leaves_all or any(one.exclude(self.folder, part.lower()) for one in self.patterns)


@dataclass(slots=True)
class Exclusions:
    """The exclusions by `.nomedia` and `.ppignore` below a folder of originals, each file read once."""

    root: Path
    count: int = field(default=0, init=False)
    """Entries that were left out: the disk with these files is there."""
    _known: dict[str, Rules] = field(default_factory=dict, init=False)

    def rules(self, folder: str, names: Collection[str] | None = None) -> Rules:
        """Return the exclusions for the entries of a folder. Its clean name ends with a slash unless it is empty.

        Args:
            names: the names of its entries if they are known.

        Raises:
            FileProblemError: a `.ppignore` of the folder, or of one around it, cannot be read or is too large.
        """
        if folder in self._known:
            return self._known[folder]
        rules = Rules("")
        if folder:
            around = folder[: folder.rstrip("/").rfind("/") + 1]
            outer = self.rules(around)
            rules = Rules(folder, outer.exclude(folder[len(around) :]), outer.patterns)
        if not rules.leaves_all:
            path = f"{self.root}/{disk_name(folder)}"
            if os.path.lexists(path + NO_MEDIA) if names is None else NO_MEDIA in names:
                rules = Rules(folder, leaves_all=True)
            elif (names is None or PATTERNS in names) and (own := _read(folder, path + PATTERNS)):
                rules = Rules(folder, patterns=(*rules.patterns, own))
        if len(self._known) >= _MOST_FOLDERS:
            self._known.clear()
        self._known[folder] = rules
        return rules

    def exclude(self, name: str) -> bool:
        """Return whether the file of this clean name is left out; true as well if that cannot be known."""
        folder, slash, part = name.rpartition("/")
        try:
            return self.rules(folder + slash).exclude(part)
        except FileProblemError:
            return True


def _read(base: str, path: str) -> _Patterns | None:
    """Return the patterns of a file; None if there is no regular file of this name.

    Raises:
        FileProblemError: it cannot be read, is too large or no text.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if os.path.islink(path):  # noqa: PTH114 - a text; links are never followed
            return None
        raise FileProblemError(Reason.UNREADABLE_FOLDER, system_symbol(error)) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        try:
            data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise FileProblemError(Reason.UNREADABLE_FOLDER, system_symbol(error)) from error
    lines = _lines(data)
    if len(data) > MOST_BYTES or len(lines) > MOST_PATTERNS or any("\0" in line for line in lines):
        raise FileProblemError(Reason.BAD_PPIGNORE, MOST_BYTES >> 10, MOST_PATTERNS)
    # A name is looked for at any depth anyway.
    lines = [line if "/" in (rest := line.removeprefix(_ANY_DEPTH)).rstrip("/") else rest for line in lines]
    names = [line for line in lines if "/" not in line.rstrip("/")]
    return _Patterns(base, _matcher(names), _matcher([line.lstrip("/") for line in lines if line not in names]))


def _lines(data: bytes) -> list[str]:
    """Return the patterns in lower case, without comments, and without lines that begin with an exclamation mark."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").lower()
    lines = [line.strip() for line in re.split(r"\r\n|\n|\r", text)]
    return [line.removeprefix("\\") for line in lines if line and line[0] not in "#!"]


def _matcher(patterns: Collection[str]) -> Callable[[str], object]:
    """Return a function that tells whether a name matches any of these patterns; a slash at its end is optional."""
    if not patterns:
        return lambda _: False
    either = "|".join(_expression(pattern) for pattern in patterns)
    return re.compile(either).match


def _expression(pattern: str) -> str:
    """Return the expression of a pattern, in which `*` and `?` stand for any characters but slashes."""
    deep = "(?:.*/)?" if pattern.startswith(_ANY_DEPTH) else ""
    own = pattern.removeprefix(_ANY_DEPTH).rstrip("/")
    first, *others = [re.escape(fixed).replace(r"\?", "[^/]") for fixed in own.split("*")]
    # Atomic groups take the nearest place of each text: the time does not grow with the number of wildcards.
    between = "".join(f"(?>[^/]*?{fixed})" for fixed in others[:-1])
    return rf"{deep}{first}{between}{f'[^/]*{others[-1]}' if others else ''}{'/' if pattern.endswith('/') else '/?'}\Z"
