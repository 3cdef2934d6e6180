"""Days, moments and ranges of days in filter values."""

import re
from datetime import UTC, date, datetime, timedelta

from photosvc.query.nodes import Days, Since

_DAY = r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?"
_TIME = r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+ -]\d\d:?\d\d)?)?"
_ONE = re.compile(rf"({_DAY}){_TIME}", re.ASCII | re.IGNORECASE)
_TWO = re.compile(rf"(?:({_DAY})|\*)?(?:-|\.\.)(?:({_DAY})|\*)?", re.ASCII)
_COMPARED = re.compile(r"(?P<sign>[<>]=?)\s*(?P<bound>.*)")


def read_days(text: str) -> Days:
    """Read `2023`, `2023-05`, `2023-05-01`, a range of these, or a moment, whose time is ignored.

    `>2023` means the days after that year; `>=2023` includes the year.

    Raises:
        ValueError: the text is none of these, or there is no such day.
    """
    if one := _ONE.fullmatch(text):
        return _period(one[1])
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
    """Return all days up to the end of a day, month or year; None, for no limit, at the end of the calendar.

    Raises:
        ValueError: the text is none of these, or there is no such day.
    """
    end = _read_one(text).end
    return Days(None, end) if end else None


def read_after(text: str) -> Days:
    """Return all days from the beginning of a day, month or year.

    Raises:
        ValueError: the text is none of these, or there is no such day.
    """
    return Days(_read_one(text).start, None)


def read_since(text: str) -> Since:
    """Read an RFC 3339 moment, or the first moment of a day, month or year; in UTC unless it has an offset.

    A blank before the offset counts as `+`, because decoding a query string turns an unescaped `+` into a blank. `>=`
    changes nothing; `>` means the first moment after the moment or period.

    Raises:
        ValueError: the text is neither, or there is no such moment.
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
    one = _ONE.fullmatch(text)
    try:
        if one is None or one[1] != text:
            return Since(_read_moment(text).moment + timedelta(microseconds=1))
        end = _period(text).end
    except OverflowError as error:
        raise ValueError(text) from error
    if end is None:
        raise ValueError(text)
    return Since(datetime(end.year, end.month, end.day, tzinfo=UTC))


def _read_moment(text: str) -> Since:
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
    """Return year, month and day of the first day of a day, month or year."""
    year, month, day = [*map(int, text.split("-")), 1, 1][:3]
    return year, month, day
