"""Numbers, ranges of numbers, days and ranges of days in filter values.

Each function raises ValueError if the text has none of its forms, or if no number, day or moment fits.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from photosvc.query.nodes import Days, Range, Since

_INTEGER = r"\d{1,9}"
_DECIMAL = r"(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})"
_TOLERANCE = 0.01
_DAY = r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?"
_TIME = r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+ -]\d\d:?\d\d)?)?"
_ONE = re.compile(rf"({_DAY}){_TIME}", re.ASCII | re.IGNORECASE)
_TWO = re.compile(rf"(?:({_DAY})|\*)?(?:-|\.\.)(?:({_DAY})|\*)?", re.ASCII)
_COMPARED = re.compile(r"(?P<sign>[<>]=?)\s*(?P<bound>.*)")


def _compile(end: str) -> re.Pattern[str]:
    two = rf"(?:(?P<low>{end})|\*)?(?:-|\.\.)(?:(?P<high>{end})|\*)?"
    return re.compile(rf"(?P<one>{end})|{two}|(?P<sign>[<>]=?)\s*(?P<bound>{end})", re.ASCII)


#: In an unsigned form, `-5` is the range up to 5; in a signed one it is minus five, and `*-5` is the range.
_UNSIGNED, _SIGNED, _DECIMALS, _SIZES = map(_compile, (_INTEGER, f"-?{_INTEGER}", _DECIMAL, r"\d{1,15}"))
#: A number of bytes with its unit.
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([kmgt]?)(i?)(b?)(?![\w.])", re.ASCII | re.IGNORECASE)
_MOST_BYTES = 10**15
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
ENGLISH_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
                  "november", "december")  # fmt: skip
#: The numbers of the months by their names, and by beginnings of at least three letters.
MONTHS = {name[:end]: str(number) for number, name in enumerate(ENGLISH_MONTHS, 1) for end in range(3, len(name) + 1)}
ENGLISH_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
#: The numbers of the days of the week, from 1 for Monday, by their names and by beginnings of at least three letters.
WEEKDAYS = {
    name[:end]: str(number) for number, name in enumerate(ENGLISH_WEEKDAYS, 1) for end in range(3, len(name) + 1)
}


def read_range(text: str, least: float | None = None) -> Range:
    """Read a range: `a`, `a-b`, `a..b`, `a-`, `-b`, `*-b` or `>=a`; the two ends may come in either order.

    A range never contains numbers below `least`, which mean an unknown value; a single number may be so low.
    """
    return _read(text, _UNSIGNED, int, least)


def _read(
    text: str, form: re.Pattern[str], number: type[int] | type[float], least: float | None, tolerance: float = 0
) -> Range:
    """Read a range in this form. With a tolerance, `a`, `>=a` and `<=a` include the neighbours of `a`."""
    match = form.fullmatch(text)
    if match is None or text.strip("*") in {"-", ".."}:
        raise ValueError(text)
    if match["one"]:
        around = _around(number(match["one"]), tolerance)
        return Range(max(around.low or 0, least or 0), around.high) if around.low != around.high else around
    if match["sign"]:
        around = _around(number(match["bound"]), tolerance)
        low, high = _beyond(around, match["sign"], 1e-6 if tolerance else 1)
    else:
        low = number(match["low"]) if match["low"] else None
        high = number(match["high"]) if match["high"] else None
    if low is not None and low == high:
        return Range(low, high)
    if low is not None and high is not None and low > high:
        low, high = high, low
    if least is not None:
        low = least if low is None else max(low, least)
    if low is not None and high is not None and low > high:
        raise ValueError(text)
    return Range(low, high)


def _around(number: float, tolerance: float) -> Range:
    if not (tolerance and number):
        return Range(number, number)
    return Range(max(round(number - tolerance, 9), 0.0), round(number + tolerance, 9))


def _beyond(around: Range, sign: str, step: float) -> tuple[float | None, float | None]:
    """Return the low and high end of a comparison with these numbers."""
    low, high = around.low or 0, around.high or 0
    match sign:
        case ">":
            return round(high + step, 9), None
        case ">=":
            return low, None
        case "<":
            return None, round(low - step, 9)
        case _:
            return None, high


def read_signed(text: str) -> tuple[Range, ...]:
    """Read a number or a range, which may be negative; no range contains 0, which means an unknown value."""
    whole = _read(text, _SIGNED, int, None)
    low, high = whole.low, whole.high
    if low == high or (low is not None and low > 0) or (high is not None and high < 0):
        return (whole,)
    below = (Range(low, -1),) if low is None or low < 0 else ()
    above = (Range(1, high),) if high is None or high > 0 else ()
    return below + above


def read_bytes(text: str, least: float | None) -> Range:
    """Read a number of bytes or a range, with units of 1000 (`kb`, `mb`, `gb`) or of 1024 (`kib`…).

    A single number with a unit includes all numbers that round to it: `5mb` is 4.5 up to 5.5 million bytes.
    """
    single = _SIZE.fullmatch(text)
    if single and (single[2] or single[4]):
        size, unit = _bytes(single), _unit(single)
        if size >= _MOST_BYTES:
            raise ValueError(text)
        half = int(unit / 10 ** len(single[1].partition(".")[2])) // 2
        return Range(max(size - half, 0), size + max(half - 1, 0))
    return _read(_SIZE.sub(lambda size: str(_bytes(size)), text), _SIZES, int, least)


def _bytes(size: re.Match[str]) -> int:
    return int(Decimal(size[1]) * _unit(size))


def _unit(size: re.Match[str]) -> int:
    return int((1024 if size[3] else 1000) ** _POWERS[size[2].lower()])


def read_calendar(text: str, least: float | None) -> Range | None:
    """Read a year, month or day of the month, or a range; 0 gives None, and -1 is an unknown one."""
    if text in {"-1", "-1--1"}:
        return Range(-1, -1)
    numbers = read_range(text, least)
    return None if numbers == Range(0, 0) else numbers


def read_month(text: str, least: float | None) -> Range | None:
    """Read a month by its number or English name, or a range of months."""
    return read_calendar(_numbered(text, MONTHS), least)


def read_weekday(text: str, least: float | None) -> Range:
    """Read a day of the week by its number or English name, or a range of them."""
    return read_range(_numbered(text, WEEKDAYS), least)


def _numbered(text: str, numbers: Mapping[str, str]) -> str:
    return re.sub(r"[a-z]{3,9}", lambda name: numbers.get(name[0], name[0]), text.lower())


def read_least(text: str, least: float | None) -> Range | None:
    """Read a range; a single number is its lower end, and 0 gives None."""
    if not text.isdecimal():
        return read_range(text, least)
    low = read_range(text).low
    return Range(low, None) if low else None


def read_chroma(text: str, least: float | None) -> Range | None:
    """Read a range; 1 to 9 is an upper limit that excludes grey pictures, 10 and up a lower limit, and 0 gives None."""
    if not text.isdecimal():
        return read_range(text, least)
    limit = read_range(text).low or 0
    if limit > 9:
        return Range(limit + 1, None)
    return Range(1, limit) if limit else None


def read_decimal(text: str, least: float | None) -> Range:
    """Read a range of decimal numbers; a single number has a tolerance of 0.01."""
    return _read(text, _DECIMALS, float, least, _TOLERANCE)


def read_days(text: str) -> Days:
    """Read `2023`, `2023-05`, `2023-05-01`, a range of these, or a moment, whose time is ignored.

    `>2023` means the days after that year; `>=2023` includes the year.
    """
    if match := _ONE.fullmatch(text):
        return _period(match[1])
    if compared := _COMPARED.fullmatch(text):
        period = _read_one(compared["bound"])
        match compared["sign"]:
            case ">" if period.end:
                return Days(period.end, None)
            case ">=":
                return Days(period.start, None)
            case "<":
                return Days(None, period.start)
            case "<=" if period.end:
                return Days(None, period.end)
        raise ValueError(text)
    two = _TWO.fullmatch(text)
    if two is None or two.groups() == (None, None):
        raise ValueError(text)
    first, last = (_period(day) if day else None for day in two.groups())
    if first and last and first.start and last.start and first.start > last.start:
        first, last = last, first
    return Days(first.start if first else None, last.end if last else None)


def read_before(text: str) -> Days | None:
    """Return all days up to the end of a day, month or year; None, for no limit, at the end of the calendar."""
    end = _read_one(text).end
    return Days(None, end) if end else None


def read_after(text: str) -> Days:
    """Return all days from the beginning of a day, month or year."""
    return Days(_read_one(text).start, None)


def read_since(text: str) -> Since:
    """Read an RFC 3339 moment, or the first moment of a day, month or year; in UTC unless it has an offset.

    A blank before the offset counts as `+`, because decoding a query string turns an unescaped `+` into a blank. `>=`
    changes nothing; `>` means the first moment after the moment or period.
    """
    if compared := _COMPARED.fullmatch(text):
        bound, sign = compared["bound"], compared["sign"]
        if sign == ">=":
            return _read_moment(bound)
        if sign == ">":
            return _behind(bound)
        raise ValueError(text)
    return _read_moment(text)


def _behind(text: str) -> Since:
    """Return the first moment after a moment or period."""
    match = _ONE.fullmatch(text)
    try:
        if match is None or match[1] != text:
            return Since(_read_moment(text).moment + timedelta(microseconds=1))
        end = _period(text).end
    except OverflowError as error:
        raise ValueError(text) from error
    if end is None:
        raise ValueError(text)
    return Since(datetime(end.year, end.month, end.day, tzinfo=UTC))


def _read_moment(text: str) -> Since:
    match = _ONE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if match[1] == text:
        return Since(datetime(*_first(text), tzinfo=UTC))
    text = re.sub(r"(:\d\d(?:\.\d+)?) (?=\d\d:?\d\d\Z)", r"\1+", text)
    moment = datetime.fromisoformat(text.upper())
    try:
        return Since(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    except OverflowError as error:
        raise ValueError(text) from error


def _read_one(text: str) -> Days:
    match = _ONE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return _period(match[1])


def _period(text: str) -> Days:
    year, month, day = _first(text)
    start = date(year, month, day)
    try:
        match text.count("-"):
            case 0:
                return Days(start, date(year + 1, 1, 1))
            case 1:
                return Days(start, date(year + month // 12, month % 12 + 1, 1))
            case _:
                return Days(start, start + timedelta(days=1))
    except (OverflowError, ValueError):  # the last day of the calendar has no next day
        return Days(start, None)


def _first(text: str) -> tuple[int, int, int]:
    """Return year, month and day of the first day of a day, month or year."""
    year, month, day = [*map(int, text.split("-")), 1, 1][:3]
    return year, month, day
