"""What the name of a file contains: folder, base name, sometimes a date; and titles for photos without one."""

import re
from datetime import datetime

from photosvc.index.places.gazetteer import UNKNOWN, country_name

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
#: Characters of city and country together that still leave room for more in a title.
_MAX_PLACE = 45


def split_name(name: str) -> tuple[str, str, str]:
    """Folder, base name and extension (lower case, no dot) of a relative path."""
    folder, _, file = name.rpartition("/")
    base, dot, extension = file.rpartition(".")
    return (folder, base, extension.lower()) if dot and base else (folder, file, "")


def date_in(name: str) -> datetime | None:
    """The date, or date and time, in the name of a file or folder, naive; None without one."""
    for match in _DATE_TIME.finditer(name):
        year, _, month, day, hour, _, minute, second = match.groups()
        try:
            return datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001 - wall time
        except ValueError:
            continue
    return None


def title_in(base: str) -> str:
    """The words of a base name as a title; empty when the name was made by a camera."""
    if _CAMERA_NAME.match(base) or not _WORD.search(base):
        return ""
    words = re.sub(r"[-_.+\s]+", " ", _DATE_TIME.sub(" ", base)).split()
    return " ".join(word if any(map(str.isupper, word)) else word.capitalize() for word in words)[:200]


def make_title(*, people: list[str], city: str, country: str, base_name: str, year: int) -> str:
    """A title from people, else place, else the words of the file name, else `Unknown`; then the year."""
    year_text = str(year) if year > 0 else ""
    city = "" if city == UNKNOWN else city
    country = country_name(country)
    country = "" if country == UNKNOWN else country
    if 0 < len(people) <= 3:
        parts = [_enumerate(people), city or country, year_text]
    elif city:
        short = country != city and len(city) + len(country) < _MAX_PLACE
        parts = [city, country if short else "", year_text]
    elif country:
        parts = [country, year_text]
    else:
        parts = [title_in(base_name) or UNKNOWN, year_text]
    return " / ".join(filter(None, parts))[:200]


def _enumerate(people: list[str]) -> str:
    return people[0] if len(people) == 1 else ", ".join(people[:-1]) + " & " + people[-1]
