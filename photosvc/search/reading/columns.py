"""Conditions on columns of search rows (values, patterns, ranges and areas), and the context that they depend on."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

import orjson
import s2cell
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    and_,
    case,
    cast,
    extract,
    func,
    literal,
    not_,
    or_,
    select,
    true,
)

from photosvc.core.geo import Box, bounding_boxes, cell_range, chord, unit_vector
from photosvc.models import FILTER_COLUMNS, File, Photo, SearchRow
from photosvc.models.search_values import LAST_RANK, day_number, microseconds
from photosvc.models.statements import Column, begins, unindexed
from photosvc.query.nodes import Circle, Days, Operand, Pattern, PlusCode, Range, S2Cell, Since

Condition = ColumnElement[bool]
Area = Circle | S2Cell | Box | PlusCode
_METRES = 1000.0
_ESCAPE = "\\"
_SPECIAL = str.maketrans({character: _ESCAPE + character for character in "\\%_"})


@dataclass(frozen=True, slots=True)
class Context:
    """The database and the rights of one search."""

    on_postgresql: bool
    """True if the database plans by its own statistics and has `tsvector`."""
    sees_private: bool
    opened: tuple[str, ...] = ()
    """The switches by which the query asks for rows that are otherwise left out (`compile.opened_switches`)."""
    may_use_index: bool = False
    """True if SQLite may look up the compared columns in their own indexes."""
    words_as_sets: bool = False
    """True if words are looked up once in the full-text index, not in each row's text, because every row is read."""

    def column(self, column: Column) -> Column:
        """Return the column as conditions compare it."""
        return column if self.may_use_index else _without_index(column)


@lru_cache(256)  # making it takes a third of the time of a comparison, and there are few columns
def _without_index(column: Column) -> Column:
    return unindexed(column)


def column_named(name: str) -> Column:
    """Return the column of search rows that `FilterSpec.columns` calls `name`, or what is computed for a row."""
    match name:
        case "weekday":
            return _weekday()
        case "hour":
            hour = func.coalesce(extract("hour", Photo.taken_at_local), -1)
            known = case((Photo.year > 0, hour), else_=-1)
            return select(known).where(Photo.id == SearchRow.photo_id).correlate(SearchRow).scalar_subquery()
    column: Column = getattr(SearchRow, FILTER_COLUMNS.get(name, name))
    return column


def _weekday() -> ColumnElement[int]:
    """Return the day of the week of a row, from 1 for Monday (Zeller's congruence); -1 if the day is unknown."""
    months = SearchRow.year * 12 + SearchRow.month - 3  # a year that begins in March
    year, month = months // 12, months % 12 + 3
    day = (SearchRow.day + (13 * (month + 1)) // 5 + year + year // 4 - year // 100 + year // 400 + 5) % 7 + 1
    return case((SearchRow.taken_day > 0, day), else_=-1)


def compare(name: str, item: Operand | str, context: Context) -> Condition:
    """Return the condition that the column has the value, or fits the pattern or range, that `item` is."""
    column = context.column(column_named(name))
    match item:
        case bool():
            if name == "is_primary" and not context.on_postgresql:  # more indexes have the key than the column
                column = SearchRow.newest_key.bitwise_and(LAST_RANK) == LAST_RANK
            return and_(column) if item else not_(column)
        case Pattern((first, _, *_)) if first and context.may_use_index:
            return and_(begins(column, first), fits(column, item))
        case Pattern():
            return fits(column, item)
        case Range(low, high):
            return _between(column, low, high)
        case Days():
            return in_days(column, item)
        case _:
            return column == item


def select_ids(ids: Sequence[int], context: Context) -> Any:  # noqa: ANN401 - the select types of SQLAlchemy differ
    """Return the SELECT of these numbers, which are one value of the statement, however many."""
    if context.on_postgresql:
        return select(
            func.unnest(cast(literal(list(ids), ARRAY(BigInteger)), ARRAY(BigInteger)))
        )  # also if there are none
    return select(func.json_each(orjson.dumps(ids).decode()).table_valued("value").c.value)


def split_exact(items: Iterable[Operand]) -> tuple[list[Any], list[Operand]]:
    """Return the values that a column must equal, and the operands that need another comparison."""
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
    """Return the condition that the column has one of these values."""
    column = context.column(column_named(name))
    return column == values[0] if len(values) == 1 else column.in_(values)


def since(name: str, value: Since, context: Context) -> Condition:
    """Return the condition that the column holds this moment or a later one; 0 means that it never happened."""
    column, moment = context.column(column_named(name)), microseconds(value.moment)
    happened = and_(column >= moment, column != 0)
    # The index of changes contains when a photo was added, which is its first change.
    return and_(happened, context.column(SearchRow.updated_at) >= moment) if name == "created_at" else happened


def identified(name: str, values: Collection[str]) -> Condition:
    """Return the condition that `photo_uid`, `file_uid` or `hash` has one of these values.

    The tables of the library have indexes of them, which search rows would have to repeat.
    """
    if name == "photo_uid":
        return SearchRow.photo_id.in_(select(Photo.id).where(Photo.uid.in_(values)))
    column = {"file_uid": File.uid, "hash": File.hash}[name]
    return SearchRow.file_id.in_(select(File.id).where(column.in_(values)))


def fits(column: Column, pattern: Pattern) -> Condition:
    """Return the condition that a whole folded text fits the pattern, by the same rule as `Pattern.matches`."""
    if len(pattern.pieces) == 1:
        return column == pattern.pieces[0]
    return column.like("%".join(piece.translate(_SPECIAL) for piece in pattern.pieces), escape=_ESCAPE)


def in_days(column: Column, days: Days) -> Condition:
    """Return the condition that a day number is one of these days; an unknown day is none of them."""
    known: Condition = column >= (_day_number(days.start) if days.start else 1)  # 0 means unknown
    return and_(known, column < _day_number(days.end)) if days.end else known


def _day_number(day: date) -> int:
    return day_number(day.year, day.month, day.day)


def _between(column: Column, low: float | None, high: float | None) -> Condition:
    if low is not None and low == high:
        return column == low
    parts = []
    if low is not None:
        parts.append(column >= low)
    if high is not None:
        parts.append(column <= high)
    return and_(true(), *parts)


def inside(area: Area, context: Context) -> Condition:
    """Return the condition that a photo lies in the area; a photo without a position lies in none."""
    match area:
        case Circle(lat, lng, km):
            return _within(lat, lng, km or 0.0, context)
        case S2Cell(token, None):
            low, high = cell_range(token)
            cell = context.column(SearchRow.cell_id)
            return and_(cell >= f"s2:{low}", cell <= f"s2:{high}")
        case S2Cell(token, km):
            lat, lng = s2cell.token_to_lat_lon(token)
            return _within(lat, lng, km or 0.0, context)
        case PlusCode(_, box, None):
            return _box(box, context)
        case PlusCode(_, box, km):
            return _within((box.north + box.south) / 2, (box.east + box.west) / 2, km or 0.0, context)
        case Box():
            return _box(area, context)


def _within(lat: float, lng: float, km: float, context: Context) -> Condition:
    radius = km * _METRES
    boxes = [_box(box, context) for box in bounding_boxes(lat, lng, radius)]
    x, y, z = unit_vector(lat, lng)
    # Compares squares of chords: this needs only products and sums, which every database has, and loses no digits for
    # near points.
    dx, dy, dz = SearchRow.x - x, SearchRow.y - y, SearchRow.z - z
    return and_(or_(*boxes), dx * dx + dy * dy + dz * dz <= chord(radius) ** 2)


def _box(box: Box, context: Context) -> Condition:
    return in_box(box, context.column(SearchRow.lat), context.column(SearchRow.lng))


def in_box(box: Box, lat: Column, lng: Column) -> Condition:
    """Return the condition that a position in these columns lies in the box, which may cross 180 degrees."""
    tall = lat.between(box.south, box.north)
    if box.west <= box.east:
        return and_(tall, lng.between(box.west, box.east))
    return and_(tall, or_(lng >= box.west, lng <= box.east))
