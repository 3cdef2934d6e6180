"""Texts, dates and coordinates as cameras, editors and sidecars write them, made safe to store and to show."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.text import BLANKS, clean_lines
from photosvc.records import limits

# Zero-width and bidi marks, overrides and isolates (with them a text can imitate another one), BOM, lone surrogates.
# ZWNJ and ZWJ are kept: Persian, Indic scripts and emoji need them.
_INVISIBLE = re.compile(r"[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
_SEPARATORS = re.compile(r"[,;]")


def clean(value: str | bytes, limit: int = limits.LINE) -> str:
    """Return one line of NFC text without control, bidi or surrogate characters, at most `limit` characters long.

    Bytes are decoded as UTF-8, or else as Latin-1, which old cameras write. Everything after a NUL is dropped.
    """
    return _clipped(BLANKS.sub(" ", _visible(value, limit)), limit) if value else ""  # most fields are empty


def clean_text(value: str | bytes, limit: int = limits.TEXT) -> str:
    """Return a clean text with its line breaks, otherwise like `clean`: for fields in which people write sentences."""
    return _clipped(clean_lines(_visible(value, limit)), limit) if value else ""


def _visible(value: str | bytes, limit: int) -> str:
    # UTF-8 needs at most four bytes a character; the rest leaves room for blanks and invisible characters.
    value = value[: limit * 16]
    return _INVISIBLE.sub("", decoded(value) if isinstance(value, bytes) else value.partition("\0")[0])


def _clipped(text: str, limit: int) -> str:
    return unicodedata.normalize("NFC", text).strip()[:limit].rstrip()


def keywords(values: Iterable[str | bytes], *, split: bool = False) -> tuple[str, ...]:
    """Return the first `limits.KEYWORDS` clean keywords in their order; words that differ only in case count as one.

    Args:
        split: split each value at commas and semicolons.
    """
    words: dict[str, str] = {}
    for value in values:
        whole = clean(value, limits.TEXT if split else limits.KEYWORD)
        for part in _SEPARATORS.split(whole) if split else (whole,):
            if word := clean(part, limits.KEYWORD):
                words.setdefault(word.casefold(), word)
            if len(words) == limits.KEYWORDS:
                return tuple(words.values())
    return tuple(words.values())


def decoded(value: bytes) -> str:
    """Return the text before the first NUL, read as UTF-8 or else as Latin-1."""
    value = value.partition(b"\0")[0]
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        # An invalid byte near the end of UTF-8 text is a truncated character; after ASCII alone, more likely Latin-1.
        if error.start >= len(value) - 3 and not value[: error.start].isascii():
            return value.decode(errors="ignore")
        return value.decode("latin-1")


#: The year of the oldest photograph.
FIRST_YEAR: Final = 1826

_DATE = re.compile(
    r"\s*(\d{4})[:\-/.]?(\d{2})[:\-/.]?(\d{2})"
    r"(?:[T :]\s?(\d{2})[:.]?(\d{2})(?:[:.]?(\d{2})(?:[.,](\d{1,9}))?)?)?"
    r"\s*(Z|[+-]\d{2}:?\d{2}|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?)?\s*",
    re.ASCII,
)
# `Z`, `+05:30`, `-0700`; `GMT+2` and `GMT+5:30` of visionOS.
_OFFSET = re.compile(
    r"\s*(?:(Z|UTC|GMT)|(?:([+-])(\d{2}):?(\d{2})|(?:UTC|GMT)([+-])(\d{1,2})(?::?(\d{2}))?))\s*", re.ASCII
)


def parse_date(text: str, *, subseconds: str = "") -> tuple[datetime | None, int | None]:
    """Return naive wall time, and its offset in minutes east of UTC; None for an offset that is not written.

    The text is in the notation of Exif (`2020:01:31 12:00:00`, of some old cameras with a colon before the time), XMP
    (ISO 8601, the time may be missing) or IPTC (`20200131 120000+0100`). An impossible or implausible date (year 0000,
    9999, before 1826, after next year) gives (None, None).
    """
    match = _DATE.fullmatch(text[:64])
    if match is None:
        return None, None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    digits = (match[7] or subseconds.strip())[:6]
    fraction = int(digits.ljust(6, "0")) if digits.isascii() and digits.isdigit() else 0
    # Second 60, a leap second or an error, becomes 59.
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), fraction)  # noqa: DTZ001 - wall time
    except ValueError:
        return None, None
    return (moment, parse_offset(match[8] or "")) if is_plausible(moment) else (None, None)


def parse_offset(text: str) -> int | None:
    """Return the minutes east of UTC of `+05:30`, `GMT-7` or `Z`; None for anything else or beyond 15 hours."""
    match = _OFFSET.fullmatch(text[:16])
    if match is None:
        return None
    if match[1]:
        return 0
    sign, hours, rest = match[2] or match[5], int(match[3] or match[6]), int(match[4] or match[7] or 0)
    minutes = hours * 60 + rest
    if minutes > 15 * 60 or rest > 59:
        return None
    return -minutes if sign == "-" else minutes


def is_plausible(moment: datetime) -> bool:
    """Return whether the year lies between the first photograph and next year."""
    return FIRST_YEAR <= moment.year <= SYSTEM_CLOCK().year + 1


def utc_of(local: datetime, offset: int) -> datetime:
    """Return the aware UTC time of a wall time at an offset in minutes; beyond the years 1 to 9999, the wall time."""
    try:
        return local.replace(tzinfo=timezone(timedelta(minutes=offset))).astimezone(UTC)
    except OverflowError:
        return local.replace(tzinfo=UTC)


#: The letters of the hemispheres, the negative one last.
LATITUDE: Final = "NS"
LONGITUDE: Final = "EW"
_PART: Final = r"(\d{1,12}(?:\.\d{1,40})?(?:/\d{1,9})?)"
_MARKS: Final = r"(?:[°º'′’\"″”\s]|deg)*"
# `55.75`, `-55,45.04`, `39,6,54N` of XMP, `48 deg 51' 23.81" N` of ExifTool, `55/1,45/1,5/2`, `N 48° 51.5'`
_DEGREES: Final = re.compile(
    rf"\s*([NSEW]?)\s*([+-]?){_PART}(?:(?:[°º,\s]|deg)+{_PART}(?:['′’,\s]+{_PART})?)?{_MARKS}([NSEW]?)\s*",
    re.ASCII | re.IGNORECASE,
)
#: Signs between the parts of a coordinate, beside which a comma can only begin decimals.
_PARTED: Final = re.compile(r"[°º'′’\"″”]|deg|\d\s+\d", re.ASCII | re.IGNORECASE)
_COMMA: Final = re.compile(r"(?<=\d),(?=\d)", re.ASCII)
#: Minutes and seconds have two digits at most.
_DECIMAL_COMMA: Final = re.compile(r"(?<=\d),(?=\d{3})", re.ASCII)


def parse_degrees(text: str, side: str, axis: str) -> float | None:
    """Return the decimal degrees of a coordinate in any common notation, also with decimal commas; None for others.

    Args:
        text: the coordinate, with or without its hemisphere.
        side: the hemisphere, a letter or word, if it is written apart; a hemisphere in the text comes first.
        axis: `LATITUDE` or `LONGITUDE`.
    """
    text = text[:128]
    if "." not in text and "/" not in text:
        text = (_COMMA if _PARTED.search(text) else _DECIMAL_COMMA).sub(".", text)
    match = _DEGREES.fullmatch(text)
    if match is None:
        return None
    before, sign, *numbers, after = match.groups()
    letter = (after or before).upper()
    if letter and letter not in axis:
        return None
    parts = (number.partition("/") for number in numbers if number)
    values = [float(above) / int(below or 1) if int(below or 1) else None for above, _, below in parts]
    return decimal_degrees(values, "-" if sign == "-" else letter or side, axis)


def decimal_degrees(parts: Sequence[float | None], side: str, axis: str) -> float | None:
    """Return decimal degrees from degrees, minutes and seconds; minutes and seconds may be missing.

    Args:
        side: the hemisphere, a letter or word, or a minus sign.
        axis: `LATITUDE` or `LONGITUDE`.
    """
    if not parts or parts[0] is None:
        return None
    # Some writers store the seconds as 0/0.
    degrees, minutes, seconds = (*(part or 0.0 for part in parts[:3]), 0.0, 0.0)[:3]
    if min(degrees, minutes, seconds) < 0 or minutes > 60 or seconds > 60:
        return None
    value = degrees + minutes / 60 + seconds / 3600
    return -value if side[:1].upper() in (axis[1], "-") else value
