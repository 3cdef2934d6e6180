"""The names under which originals are downloaded: valid on every system, and unique within an archive."""

import re
import unicodedata
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final

#: Bytes of a name.
_MAX_BYTES: Final = 200
#: Characters of an extension; a longer one is part of the name.
_MAX_EXTENSION: Final = 20
#: Control and direction characters, and characters that Windows does not allow in names.
_UNSAFE: Final = re.compile('[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"*/:<>?\\\\|\ud800-\udfff]')
#: Names of Windows devices, with any extension and with blanks before it.
_RESERVED: Final = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?")


def download_name(kind: str, *, name: str, original_name: str, title: str, taken_at_local: datetime) -> str:
    """Return the name under which a file of a photo is saved.

    Args:
        kind: `file` for the name in the library, `original` for the name it was imported under, anything else for
            the time and title of the photo: `20240501-120000-At the lake.jpg`.
        name: path of the file in the library.
        original_name: empty when unknown.
        title: title of the photo; may be empty.
        taken_at_local: wall time of the photo.
    """
    path = PurePosixPath(name)
    if kind == "file":
        return safe_name(path.name)
    if kind == "original":
        return safe_name(PurePosixPath(original_name or path.name).name)
    return safe_name("-".join(filter(None, (f"{taken_at_local:%Y%m%d-%H%M%S}", title or path.stem))) + path.suffix)


class UniqueNames:
    """The names of an archive, each used once; names that differ only in case or accents count as equal."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take(self, name: str) -> str:
        """Return the name made safe, with a number before its extension if an equal one was taken before."""
        safe = safe_name(name)
        path, own = PurePosixPath(safe), _folded(safe)
        while (key := _folded(safe)) in self._counts:
            self._counts[own] += 1
            safe = f"{path.stem} ({self._counts[own]}){path.suffix}"
        self._counts[key] = 1
        return safe


def _folded(name: str) -> str:
    """Return the name without case and compatibility forms, as some file systems treat such names as equal."""
    return unicodedata.normalize("NFKD", name).casefold()


def safe_name(name: str) -> str:
    """Return a safe file name of at most 200 bytes: no separators, no control characters, no reserved names."""
    safe = _UNSAFE.sub("_", name).strip(". ") or "file"
    if _RESERVED.fullmatch(safe):
        safe = f"_{safe}"
    stem, dot, extension = safe.rpartition(".")
    if not dot or len(extension) > _MAX_EXTENSION:
        stem, extension = safe, ""
    room = _MAX_BYTES - len(extension.encode()) - 1
    stem = stem.encode()[:room].decode(errors="ignore")
    return f"{stem}.{extension}" if extension else stem.rstrip(". ")
