"""Numbers, days, moments and ranges of them in filter values."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

from photosvc.query.operands import Days, Range, Since

_INTEGER = r"\d{1,9}"
_DECIMAL = r"(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})"
_TOLERANCE = 0.01

_DAY = r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?"
_TIME = r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+ -]\d\d:?\d\d)?)?"
_ONE = re.compile(rf"({_DAY}){_TIME}", re.ASCII | re.IGNORECASE)
_TWO = re.compile(rf"(?:({_DAY})|\*)?-(?:({_DAY})|\*)?", re.ASCII)


def _compile(number: str, sign: str) -> re.Pattern[str]:
    end = sign + number
    return re.compile(rf"(?P<one>{end})|(?:(?P<low>{end})|\*)?-(?:(?P<high>{end})|\*)?", re.ASCII)


#: Without a sign `-5` is the range up to 5; with one it is minus five, and `*-5` the range.
_RANGES = {
    (int, False): _compile(_INTEGER, ""),
    (int, True): _compile(_INTEGER, "-?"),
    (float, False): _compile(_DECIMAL, ""),
}


def read_range(
    text: str, least: float | None = None, *, number: type[int] | type[float] = int, signed: bool = False
) -> Range:
    """The range that `a`, `a-b`, `a-`, `-b` or `*-b` means; the ends may come in either order.

    A range without lower end begins at `least`: lower numbers mean «unknown».

    Raises:
        ValueError: it is none of these.

    """
    match = _RANGES[number, signed].fullmatch(text)
    if match is None or text in {"-", "*-", "-*", "*-*"}:
        raise ValueError(text)
    if match["one"]:
        return Range(number(match["one"]), number(match["one"]))
    low = number(match["low"]) if match["low"] else least
    high = number(match["high"]) if match["high"] else None
    if match["low"] and low is not None and high is not None and low > high:
        low, high = high, low
    return Range(low, high)


def read_calendar(text: str, least: float | None) -> Range | None:
    """A year, month or day of the month: 0 is not set, -1 the unknown one, else a range.

    Raises:
        ValueError: it is no range.

    """
    if text in {"-1", "-1--1"}:
        return Range(-1, -1)
    found = read_range(text, least)
    return None if found == Range(0, 0) else found


def read_least(text: str, least: float | None) -> Range | None:
    """A lone number is the lower end, 0 not set.

    Raises:
        ValueError: it is no range.

    """
    if not text.isdecimal():
        return read_range(text, least)
    found = read_range(text)
    return Range(found.low, None) if found.low else None


def read_chroma(text: str, least: float | None) -> Range | None:
    """From 1 to 9 an upper limit that leaves out grey pictures, above a lower limit, 0 not set.

    Raises:
        ValueError: it is no range.

    """
    if not text.isdecimal():
        return read_range(text, least)
    limit = read_range(text).low or 0
    if limit > 9:
        return Range(limit + 1, None)
    return Range(1, limit) if limit else None


def read_decimal(text: str, least: float | None) -> Range:
    """A range of numbers with a point; a lone number takes its neighbours 0.01 away in.

    Raises:
        ValueError: it is no range.

    """
    found = read_range(text, least, number=float)
    if "-" in text or found.low is None:
        return found
    return Range(max(round(found.low - _TOLERANCE, 9), 0.0), round(found.low + _TOLERANCE, 9))


read_signed = partial(read_range, signed=True)


def write_range(value: Range) -> str:
    """The text from which the readers of this module make the same range."""
    low = "*" if value.low is None else write_number(value.low)
    high = "*" if value.high is None else write_number(value.high)
    return f"{low}-{high}"


def write_number(value: float) -> str:
    """The number without exponent, and without a point if it is whole."""
    return str(value) if isinstance(value, int) else format(Decimal(repr(value)), "f").removesuffix(".0")


def read_days(text: str) -> Days:
    """The days of `2023`, `2023-05`, `2023-05-01`, of a range of these, or of a moment: its time is left out.

    Raises:
        ValueError: it is none of these, or there is no such day.

    """
    if one := _ONE.fullmatch(text):
        return _period(one[1])
    two = _TWO.fullmatch(text)
    if two is None or two.groups() == (None, None):
        raise ValueError(text)
    first, last = (_period(day) if day else None for day in two.groups())
    if first and last and first.start and last.start and first.start > last.start:
        first, last = last, first
    return Days(first.start if first else None, last.end if last else None)


def read_before(text: str) -> Days | None:
    """All days up to the last of one day, month or year; None at the end of the calendar: no limit.

    Raises:
        ValueError: it is none of these, or there is no such day.

    """
    end = _read_one(text).end
    return Days(None, end) if end else None


def read_after(text: str) -> Days:
    """All days from the first of one day, month or year on.

    Raises:
        ValueError: it is none of these, or there is no such day.

    """
    return Days(_read_one(text).start, None)


def read_since(text: str) -> Since:
    """A moment as RFC 3339 writes it, or the first moment of a day, month or year; UTC unless it says otherwise.

    A blank before the offset counts as `+`: decoding a query string turns an unescaped `+` into a blank.

    Raises:
        ValueError: it is neither, or there is no such moment.

    """
    one = _ONE.fullmatch(text)
    if one is None:
        raise ValueError(text)
    if one[1] == text:
        return Since(datetime(*_first(text), tzinfo=UTC))
    text = re.sub(r"(:\d\d(?:\.\d+)?) (?=\d\d:?\d\d\Z)", r"\1+", text)
    moment = datetime.fromisoformat(text.upper())
    try:
        return Since(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    except OverflowError as error:
        raise ValueError(text) from error


def write_days(value: Days) -> str:
    """The text from which `read_days` makes the same days."""
    start = "*" if value.start is None else value.start.isoformat()
    end = "*" if value.end is None else (value.end - timedelta(days=1)).isoformat()
    return f"{start}-{end}"


def _read_one(text: str) -> Days:
    one = _ONE.fullmatch(text)
    if one is None:
        raise ValueError(text)
    return _period(one[1])


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
    """Year, month and day with which a day, month or year begins."""
    year, month, day = [*map(int, text.split("-")), 1, 1][:3]
    return year, month, day
