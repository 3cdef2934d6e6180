"""Dates and titles in the names of files and folders, in the forms that cameras, phones, messengers and people write.

A date is a whole one, with or without a time, or the month or year of a folder: `2005/08`, `2005-08 Holiday`, `1998
Wedding`. Numbers that only look like a year, as in `IMG_1998`, resolutions and telephone numbers, are none.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from photosvc.core.times import to_local
from photosvc.media.metadata import MONTH, YEAR, WrittenDate
from photosvc.media.text import is_plausible

_YEAR: Final = r"(?:19|20)\d\d"
#: A date with the year first, or with the day or month first and the year last; perhaps with a time. The separators
#: within each are the same. Words such as `at`, `um` or `a las` may stand between date and time.
_DATE_TIME: Final = re.compile(
    rf"""(?<!\d)
    (?:(?P<year>{_YEAR})(?P<dash>[-_.:/]?)(?P<month>[01]\d)(?P=dash)(?P<day>[0-3]\d)
      |(?P<first>[0-3]?\d)(?P<dot>[-_.])(?P<second>[0-3]?\d)(?P=dot)(?P<last>{_YEAR}))
    (?:
      (?P<gap>(?:[-_.,T\ /]{{1,3}}(?:[^\W\d_]{{1,4}}[\ _.]{{1,2}}){{0,2}})?)
      (?P<hour>[0-2]?\d)(?P<colon>[-_.:h]?)(?P<minute>[0-5]\d)(?:(?P=colon)(?P<seconds>[0-5]\d)(?:[.,]?\d{{3}})?)?
      (?:\s?(?P<half>[ap])\.?\s?m(?![^\W_]))?
    )?(?!\d)""",
    re.VERBOSE | re.IGNORECASE,
)
# Milliseconds since 1970, of 2001 and later: the whole name, or after the word that an app puts before them.
_EPOCH: Final = re.compile(r"(?:FB_IMG_|mmexport|IMG_|VID_)?(1\d{12})")
#: Pixel phones name pictures and videos by the time in UTC, others by the wall time.
_IN_UTC: Final = "PXL_"
_MONTH: Final = re.compile(rf"(?<!\d)(?<!\d[-_. ])({_YEAR})([-_. /])(0[1-9]|1[0-2])(?!\d|[-_.]\d)")
#: Beginnings of the names that cameras give.
_CAMERAS: Final = "img|dsc|dscn|dscf|mvi|pict|vid|pxl|gopr|mov|cimg|sam|imgp|hpim|epsn|mvc|pol|dcp|pano"
#: A year that is a word of its own, without another number beside it: no span, resolution or telephone number.
_LONE_YEAR: Final = re.compile(
    rf"(?<![^\W_]|\#)(?<!\d[\W_])(?<!\d[\W_]{{2}})(?<!\d[\W_]{{3}})(?<!\d[\W_]x[\W_])"
    rf"({_YEAR})(?![^\W_]|[\W_]{{1,3}}\d|[\W_]x[\W_]?\d)",
    re.IGNORECASE,
)
_OF_A_CAMERA: Final = re.compile(rf"(?<![^\W\d_])(?:{_CAMERAS})[-_ ]$", re.IGNORECASE)
_CAMERA_NAME: Final = re.compile(rf"^_?(?:{_CAMERAS})?[a-z_]?[-_ ]?[\w-]*\d{{3,}}", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]{3,}")


def date_in(name: str, zone: str) -> datetime | None:
    """Return the whole date, or date and time, in the name of a file or folder, naive; None without one.

    A name in UTC, or of milliseconds since 1970, gives the wall time in `zone`.
    """
    if found := next(_moments(name), None):
        return to_local(found[1].replace(tzinfo=UTC), zone) if name.startswith(_IN_UTC) else found[1]
    counted = _EPOCH.fullmatch(name.partition(".")[0])
    at = datetime.fromtimestamp(int(counted[1]) // 1000, UTC) if counted else None
    return to_local(at, zone) if at is not None and is_plausible(at) else None


def date_in_path(path: str, zone: str) -> WrittenDate:
    """Return the date in a relative path; empty without one.

    It is the whole date in the name of the file, or else that of the deepest folder; without one, the month at the
    beginning of the file's name, or else the month or year of the deepest folder that has one.
    """
    folder, _, name = path.rpartition("/")
    # A number that is the whole name of a file is no day, but it may be the time of its folder's day.
    in_folders = [moment for end, moment in _moments(path) if end <= len(folder)]
    if whole := date_in(name, zone) or next(reversed(in_folders), None):
        return WrittenDate(whole)
    return next(_periods(folder, name), WrittenDate())


def _periods(folder: str, name: str) -> Iterator[WrittenDate]:
    """Yield each plausible month or year of a file's name and of its folders, the deepest first."""
    month = _MONTH.match(name)
    if month and month[2] == "-":
        yield from _period(month[1], month[3])
    parts = folder.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        above, here = f"{parts[depth - 1]}/" if depth else "", parts[depth]
        months = [match for match in _MONTH.finditer(above + here) if match.end() > len(above)]
        years = {match[1] for match in _LONE_YEAR.finditer(here) if not _OF_A_CAMERA.search(here[: match.start()])}
        if months:
            yield from _period(months[-1][1], months[-1][3])
        elif len(years) == 1:
            yield from _period(years.pop())


def _period(year: str, month: str = "") -> Iterator[WrittenDate]:
    first = datetime(int(year), int(month or 1), 1)  # noqa: DTZ001 - wall time
    if is_plausible(first):
        yield WrittenDate(first, None, MONTH if month else YEAR)


def _moments(name: str) -> Iterator[tuple[int, datetime]]:
    """Yield each possible and plausible date with its time, after the end of the date in the name."""
    end = 0
    while match := _DATE_TIME.search(name, end):
        end = max(match.end("day"), match.end("last"))
        day, time = _day(match), _time(match)
        if day is None or time is None:
            continue
        try:
            moment = datetime(*day, *time)  # noqa: DTZ001 - wall time
        except ValueError:
            continue
        if is_plausible(moment):
            yield end, moment


def _day(match: re.Match[str]) -> tuple[int, int, int] | None:
    """Return year, month and day; None for `05-06-2008`, in which either number may be the month."""
    if match["year"]:
        return int(match["year"]), int(match["month"]), int(match["day"])
    day, month = int(match["first"]), int(match["second"])
    if month > 12:
        day, month = month, day
    elif day <= 12 and day != month and match["dot"] != ".":
        return None
    return int(match["last"]), month, day


def _time(match: re.Match[str]) -> tuple[int, int, int] | None:
    """Return hour, minute and second, zeros without a time; None if other digits follow the date at once."""
    hour, colon, half = match["hour"], match["colon"], match["half"]
    if hour is None:
        return 0, 0, 0
    is_compact = not colon and len(hour) == 2 and match["seconds"] is not None
    if not match["gap"] and not (is_compact and match["dash"] == ""):
        return None
    if not (is_compact or (colon and (match["seconds"] or half))):
        return 0, 0, 0
    number = int(hour)
    if half and number <= 12:
        number = number % 12 + 12 * (half in "pP")
    return number, int(match["minute"]), int(match["seconds"] or 0)


def title_in(base: str) -> str:
    """Return the words of a base name as a title; empty when the name was made by a camera."""
    if _CAMERA_NAME.match(base) or not _WORD.search(base):
        return ""
    words = re.sub(r"[-_.+\s]+", " ", _DATE_TIME.sub(" ", base)).split()
    return " ".join(word if any(map(str.isupper, word)) else word.capitalize() for word in words)[:200]
