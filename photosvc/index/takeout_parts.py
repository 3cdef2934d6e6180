"""The parts of a Google Takeout: archives of one tree, whose folders are split, and which people unpack apart.

Parts lie beside each other. Either each has a folder `Takeout` in a folder named by its archive, such as
`takeout-20240501T101500Z-002`, or programs that unpack have numbered that folder: `Takeout`, `Takeout 2`, `Takeout(3)`.
"""

import os
import re
from itertools import islice
from pathlib import Path
from typing import Final

from photosvc.core.files import clean_name, disk_name

_TOP: Final = re.compile(r"takeout(?:[ _-]?\(?\d{1,4}\)?)?", re.IGNORECASE | re.ASCII)
#: The end of the name of an archive that differs between parts.
_NUMBER: Final = re.compile(r"[\d\s()_-]*$", re.ASCII)
#: More parts are separate trees; Takeout makes a thousand of 2 GB for 2 TB.
_MOST_PARTS: Final = 1000


class TakeoutParts:
    """The folders in parts of a Takeout. The folders in which parts may lie are read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._tops: dict[str, tuple[str, ...]] = {}

    def of(self, folder: str) -> tuple[str, ...]:
        """Return a folder and the same folder in the other parts, which need not exist.

        Args:
            folder: path relative to the root.
        """
        names = folder.split("/")
        depth = _depth(names)
        if not depth:
            return (folder,)
        top = "/".join(names[:depth])
        if top not in self._tops:
            self._tops[top] = tuple(dict.fromkeys((top, *islice(self._beside(names[:depth]), _MOST_PARTS))))
        return tuple("/".join((part, *names[depth:])) for part in self._tops[top])

    def _beside(self, names: list[str]) -> list[str]:
        *above, _ = names
        archives = [above]
        if above:
            *parent, archive = above
            archives += [[*parent, name] for name in self._folders(parent) if _series(name) == _series(archive)]
        return ["/".join((*one, name)) for one in archives for name in self._folders(one) if _TOP.fullmatch(name)]

    def _folders(self, names: list[str]) -> list[str]:
        try:
            with os.scandir(self._root / disk_name("/".join(names))) as entries:
                return sorted(clean_name(entry.name) for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:  # the scan reports it
            return []


def inside_takeout(name: str) -> str:
    """Return the path of a file within the tree of its Takeout; the same one if no folder around it is a part."""
    *folders, base = name.split("/")
    return "/".join((*folders[_depth(folders) :], base))


def _depth(names: list[str]) -> int:
    """Return the number of folders up to the one that is a part of a Takeout; 0 if none is."""
    return next((depth for depth, name in enumerate(names, 1) if _TOP.fullmatch(name)), 0)


def _series(archive: str) -> str:
    return _NUMBER.sub("", archive, count=1).casefold()
