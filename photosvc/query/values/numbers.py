"""Numbers and ranges of numbers in filter values."""

import re
from decimal import Decimal
from functools import partial

from photosvc.query.operands import Range

_INTEGER = r"\d{1,9}"
_DECIMAL = r"(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})"
_TOLERANCE = 0.01


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
