"""Plain objects in place of mapped ones, for many rows: untracked by sessions, read or inserted by one statement."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from sqlalchemy import Insert, Table, func, insert, select, text
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.models.base import Base
from photosvc.models.statements import Prepared, among_parameter, as_parameter, prepare_statement, run_many

Row = TypeVar("Row", bound=Base)
#: The parameter of `select_plain`.
_VALUES: Final = "given"


def plain(mapped: type[Row], **values: object) -> Row:
    """Return an object with the columns, defaults and properties of a mapped class, and these further attributes."""
    one = plain_class(mapped)()
    vars(one).update(values)
    return one


def insert_plain(session: Session, mapped: type[Row], rows: Iterable[Row]) -> None:
    """Insert plain objects by one statement."""
    names, read = _table(mapped).columns.keys(), _reader(mapped)
    given = [dict(zip(names, read(row), strict=True)) for row in rows]
    run_many(session.connection(), insert_of(mapped), given)


@cache
def insert_of(mapped: type[Base]) -> Insert:
    """Return the INSERT for `run_many` into the table of a mapped class."""
    return insert(_table(mapped))


def select_plain(
    session: Session, mapped: type[Row], key: str, values: Collection[int] | Collection[str], *, locked: bool = False
) -> list[Row]:
    """Return the rows whose column `key` has one of these values, in the order of their ids, as plain objects.

    Args:
        session: the session, whose unflushed changes are not seen.
        key: a column of integers or texts.
        values: texts without null characters.
        locked: on PostgreSQL, lock these rows against changes until the transaction ends; SQLite has one writer anyway.
    """
    if not values:
        return []
    connection = session.connection()
    dialect = connection.dialect
    read = _prepared(dialect, mapped, key, locked=locked and dialect.name == "postgresql")
    made, names = plain_class(mapped), _table(mapped).columns.keys()
    found: list[Row] = []
    for row in read.run(connection, {_VALUES: as_parameter(dialect.name, values)}):
        one = made()
        vars(one).update(zip(names, row, strict=True))
        found.append(one)
    return found


@lru_cache(256)
def _prepared(dialect: Dialect, mapped: type[Base], key: str, *, locked: bool) -> Prepared:
    table = _table(mapped)
    query = select(table).where(among_parameter(dialect.name, table.c[key], _VALUES)).order_by(table.c.id)
    return prepare_statement(query.with_for_update() if locked else query, dialect)


def next_ids(session: Session, mapped: type[Row], count: int) -> Iterator[int]:
    """Return ids for at least this number of new rows, as the database would give them in this write transaction."""
    table = _table(mapped)
    if session.get_bind().dialect.name != "postgresql":
        return itertools.count((session.scalar(select(func.max(table.c.id))) or 0) + 1)
    drawn = text("SELECT nextval(pg_get_serial_sequence(:name, 'id')) FROM generate_series(1, :count)")
    return iter(session.scalars(drawn, {"name": table.fullname, "count": count}).all())


def _table(mapped: type[Base]) -> Table:
    return cast("Table", mapped.__table__)


def plain_class(mapped: type[Row]) -> type[Row]:
    """Return the class of the plain objects that stand for this mapped class."""
    return cast("type[Row]", _plain_class(mapped))


@cache
def _plain_class(mapped: type[Base]) -> type[object]:
    defaults = {
        column.key: getattr(column.default, "arg", None) for column in _table(mapped).columns if not column.primary_key
    }
    properties = {name: value for name, value in vars(mapped).items() if isinstance(value, property)}
    return type(f"Plain{mapped.__name__}", (), defaults | properties)


@cache
def _reader(mapped: type[Base]) -> Callable[[object], tuple[Any, ...]]:
    return attrgetter(*_table(mapped).columns.keys())
