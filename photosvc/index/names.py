"""What a file's name tells: its folder, its base name, sometimes a date or a title."""

import re
from datetime import datetime

_DATE_TIME = re.compile(
    r"(?<!\d)((?:19|20)\d\d)([-_.:/]?)([01]\d)\2([0-3]\d)"
    r"(?:[-_.T /]{1,3}(?:at[ _])?([0-2]\d)([-_.:h]?)([0-5]\d)\6([0-5]\d))?(?!\d)"
)
_CAMERA_NAME = re.compile(
    r"""^_?(?:img|dsc|dscn|dscf|mvi|pict|vid|pxl|gopr|mov|cimg|sam|imgp|hpim|epsn|mvc|pol|dcp|pano)?[a-z_]?
    [-_\ ]?[\w-]*\d{3,}""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def split_name(name: str) -> tuple[str, str, str]:
    """Folder, base name and extension (lower case, no dot) of a relative path."""
    folder, _, file = name.rpartition("/")
    base, dot, extension = file.rpartition(".")
    return (folder, base, extension.lower()) if dot and base else (folder, file, "")


def date_in(name: str) -> datetime | None:
    """The date, or date and time, that a file or folder name spells, naive; None without one."""
    for match in _DATE_TIME.finditer(name):
        year, _, month, day, hour, _, minute, second = match.groups()
        try:
            return datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001 - wall time
        except ValueError:
            continue
    return None


def title_in(base: str) -> str:
    """A title made of the words in a base name; empty when a camera named the file."""
    if _CAMERA_NAME.match(base) or not _WORD.search(base):
        return ""
    words = re.sub(r"[-_.+\s]+", " ", _DATE_TIME.sub(" ", base)).split()
    return " ".join(word if any(map(str.isupper, word)) else word.capitalize() for word in words)[:200]
