"""The trash: originals that people deleted or replaced, kept on the same disk until somebody empties it.

Each deletion has a folder of its own, whose name begins with its time; below it, the original has its former path.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from photosvc.library import disk
from photosvc.library.staging.names import STAGING_FOLDER

#: Below the originals. Scans skip it, and clients do not see it.
TRASH_FOLDER: Final = f"{STAGING_FOLDER}/trash"


@dataclass(frozen=True, slots=True)
class Trash:
    """The trash of a folder of originals. Names are those of the library, relative to the originals."""

    originals: Path

    def put(self, name: str, now: datetime) -> str:
        """Move a file or folder into the trash, by one rename; gives its name there.

        Raises:
            PhotosvcError: the disk refuses it.

        """
        kept = self._new_name(name, now)
        disk.rename(self.originals, name, kept, make_folders=True)
        return kept

    def keep(self, name: str, now: datetime) -> str:
        """Keep the content of a file that will be replaced: gives its name in the trash.

        Raises:
            PhotosvcError: the disk refuses it, or has no hard links.

        """
        kept = self._new_name(name, now)
        disk.link(self.originals, name, kept)
        return kept

    @staticmethod
    def _new_name(name: str, now: datetime) -> str:
        return f"{TRASH_FOLDER}/{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}/{name}"
