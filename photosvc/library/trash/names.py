"""Names in the trash: each deletion has a folder of its own, below which an original keeps its former path."""

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from photosvc.library.staging.names import STAGING_FOLDER

#: Below the originals. Scans skip it, and clients do not see it.
TRASH_FOLDER: Final = f"{STAGING_FOLDER}/trash"
#: Rows of deleted files that are not in the trash have names in this folder, which does not exist: their own names are
#: free for other files.
GONE_FOLDER: Final = f"{STAGING_FOLDER}/gone"
#: Ends the name of a folder whose deletion is not committed yet.
UNFINISHED: Final = ".part"
_TIME: Final = "%Y%m%dT%H%M%SZ"
_DELETION: Final = re.compile(r"(\d{8}T\d{6}Z)-[0-9a-f]{8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Kept:
    """An original in the trash."""

    deletion: str
    """The folder of its deletion, whose name begins with the time."""
    name: str
    """Its former name, relative to the originals."""
    size: int
    """Bytes."""

    @property
    def item(self) -> str:
        """Its name below the trash."""
        return f"{self.deletion}/{self.name}"

    @property
    def path(self) -> str:
        """Its name relative to the originals; the library calls the file so while it is in the trash."""
        return f"{TRASH_FOLDER}/{self.item}"

    @property
    def deleted_at(self) -> datetime:
        """When it was deleted or replaced."""
        return time_of(self.deletion)


def new_deletion(now: datetime) -> str:
    """A name for the folder of a deletion."""
    return f"{now.astimezone(UTC):{_TIME}}-{secrets.token_hex(4)}"


def is_deletion(folder: str) -> bool:
    """Whether the folder of a finished deletion may have this name."""
    match = _DELETION.fullmatch(folder)
    if match is None:
        return False
    try:
        datetime.strptime(match[1], _TIME)  # noqa: DTZ007 - only its form counts
    except ValueError:
        return False
    return True


def time_of(deletion: str) -> datetime:
    """The time in the name of a deletion."""
    return datetime.strptime(deletion.partition("-")[0], _TIME).replace(tzinfo=UTC)


def within(deletion: str) -> str:
    """With what the names of the files of a deletion begin."""
    return f"{TRASH_FOLDER}/{deletion}/"
