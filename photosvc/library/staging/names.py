"""Names of files that are written into the originals."""

from typing import Final

from photosvc.core.paths import clean_name
from photosvc.index.scanning.scan import MAX_DEPTH, is_too_long
from photosvc.library.staging.errors import NameRefusedError

#: The staging folder below the originals. Scans skip it, because its name begins with a dot.
STAGING_FOLDER: Final = ".photosvc"
_LONGEST_PART: Final = 255


def is_staging_folder(part: str) -> bool:
    """Whether a part of a name is that of the staging folder, also on file systems that ignore case."""
    return part.casefold() == STAGING_FOLDER


def checked_name(name: str) -> tuple[str, ...]:
    """The parts of a name for a file or folder to be written, relative to the originals.

    Raises:
        NameRefusedError: it is empty, absolute, climbs out, lies in the staging folder, contains bytes that are not
            UTF-8, control characters or line separators, or is longer or deeper than scans read.

    """
    parts = tuple(name.split("/"))
    if any(part in {"", ".", ".."} for part in parts) or any(map(is_staging_folder, parts)) or clean_name(name) != name:
        raise NameRefusedError(field="name")
    if any(len(part.encode()) > _LONGEST_PART for part in parts) or len(parts) > MAX_DEPTH or is_too_long(name):
        msg = "The name is too long."
        raise NameRefusedError(msg, field="name")
    return parts
