"""Conditions on the columns of search rows."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, and_, not_, true

from photosvc.models import FILTER_COLUMNS, SearchRow
from photosvc.models.search.values import microseconds
from photosvc.query.operands import Days, Operand, Pattern, Range, Since
from photosvc.search.reading.conditions.context import Column, Context

Condition = ColumnElement[bool]

#: No text that begins alike comes behind it.
LAST = chr(0x10FFFF)

_ESCAPE = "\\"
_SPECIAL = str.maketrans({character: _ESCAPE + character for character in "\\%_"})


def column_named(name: str) -> Column:
    """The column of search rows that a filter's column is."""
    column: Column = getattr(SearchRow, FILTER_COLUMNS.get(name, name))
    return column


def compare(name: str, item: Operand | str, context: Context) -> Condition:
    """Whether the column holds what `item` asks for."""
    column = context.column(column_named(name))
    match item:
        case bool():
            return and_(column) if item else not_(column)
        case Pattern():
            return and_(begins(column, item), fits(column, item)) if context.bare else fits(column, item)
        case Range(low, high):
            return _between(column, low, high)
        case Days(start, end):
            known = column >= (day_number(start) if start else 1)  # 0 is an unknown day
            return and_(known, column < day_number(end)) if end else known
        case _:
            return column == item


def split_exact(items: Iterable[Operand]) -> tuple[list[Any], list[Operand]]:
    """Values that must be equal, and what has to be compared otherwise."""
    exact: list[Any] = []
    rest: list[Operand] = []
    for item in items:
        match item:
            case Pattern((text,)):
                exact.append(text)
            case int() if not isinstance(item, bool):
                exact.append(item)
            case _:
                rest.append(item)
    return exact, rest


def one_of(name: str, values: list[Any], context: Context) -> Condition:
    """Whether the column holds one of these."""
    column = context.column(column_named(name))
    return column == values[0] if len(values) == 1 else column.in_(values)


def since(name: str, value: Since, context: Context) -> Condition:
    """From a moment on. What never happened (0) did not happen since."""
    column = context.column(column_named(name))
    return and_(column >= microseconds(value.moment), column != 0)


def fits(column: Column, pattern: Pattern) -> Condition:
    """Whether the whole of a folded text fits; `Pattern.matches` says the same in Python."""
    if len(pattern.pieces) == 1:
        return column == pattern.pieces[0]
    return column.like("%".join(piece.translate(_SPECIAL) for piece in pattern.pieces), escape=_ESCAPE)


def day_number(day: date) -> int:
    """The day as `taken_day` has it: yyyymmdd."""
    return day.year * 10_000 + day.month * 100 + day.day


def begins(column: Column, pattern: Pattern) -> Condition:
    """What an index can tell of a pattern: how the text begins."""
    first = pattern.pieces[0]
    return and_(column >= first, column <= first + LAST) if len(pattern.pieces) > 1 and first else true()


def _between(column: Column, low: float | None, high: float | None) -> Condition:
    if low is not None and low == high:
        return column == low
    parts = []
    if low is not None:
        parts.append(column >= low)
    if high is not None:
        parts.append(column <= high)
    return and_(true(), *parts)
