"""The folders of originals, for the files in them that belong together."""

import os
from collections import OrderedDict
from pathlib import Path
from typing import Final

from photosvc.core.paths import clean_name, disk_name
from photosvc.index.scanning.scan import is_gone
from photosvc.index.sidecars.names import companions

#: Folders that are kept in memory; batches are sorted by name, so few are in use at a time.
_KEPT: Final = 4


class Folders:
    """Which sidecars and pictures belong together; reads the names in a folder once when it is asked for first."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: OrderedDict[str, dict[str, tuple[str, ...]]] = OrderedDict()

    def companions(self, name: str) -> list[str]:
        """The sidecars that a file may have, the most specific first, or the files that a sidecar may belong to.

        Args:
            name: clean path relative to the root; so are those in the result.

        """
        folder, slash, base = name.rpartition("/")
        if folder not in self._read:
            self._read[folder] = companions(self._names(folder))
            if len(self._read) > _KEPT:
                self._read.popitem(last=False)
        self._read.move_to_end(folder)
        return [folder + slash + other for other in self._read[folder].get(base, ())]

    def has(self, name: str) -> bool:
        """Whether the disk has a file of this name, or cannot tell."""
        return not is_gone(self._root, name)

    def _names(self, folder: str) -> list[str]:
        try:
            return [clean_name(name) for name in sorted(os.listdir(self._root / disk_name(folder)))]  # noqa: PTH208 - faster, and undecodable bytes stay
        except OSError:  # the scan reports it
            return []
