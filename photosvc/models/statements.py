"""Statements for both databases, compiled once and passed directly to the driver, and conditions that allow this.

SQLAlchemy takes ten times as long to build a frequent query and wrap its rows as SQLite takes to answer it. A condition
on many values has the same text for any number of values, so that it is compiled once as well. Errors of the driver are
raised as errors of SQLAlchemy.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from typing import Any, Final, TypeVar, cast

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    Float,
    Insert,
    Table,
    Text,
    Update,
    and_,
    any_,
    bindparam,
    column,
    false,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op

from photosvc.models.base import Base, Numbered

Row = Sequence[Any]
Processor = Callable[[Any], Any]
Column = ColumnElement[Any] | InstrumentedAttribute[Any]
_Value = TypeVar("_Value")
#: The most values of one statement.
_PORTION: Final = 500
#: Options of a statement that changes rows without updating the loaded objects of the session.
UNLOADED: Final = {"synchronize_session": False}
_LAST_CHARACTER: Final = chr(0x10FFFF)
#: Code points from and up to which no text has characters.
_FIRST_SURROGATE: Final = 0xD800
_AFTER_SURROGATES: Final = 0xE000
_SIGN: Final[custom_op[Any]] = custom_op("+")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement in the parameter style of the driver, with the names of its values and the conversions of columns."""

    text: str
    names: tuple[str, ...] | None
    """None if the driver takes values by name."""
    constants: dict[str, Any]
    processors: tuple[tuple[int, Processor], ...]
    """The number and the conversion of each column whose values the driver returns in another type."""

    def run(self, connection: Connection, values: dict[str, Any]) -> Sequence[Row]:
        """Run the statement and return all rows.

        Raises:
            DBAPIError: the database failed; the same subclasses as SQLAlchemy raises.
        """
        rows = run_text(connection, self.text, self._given(values))
        return [self._processed(row) for row in rows] if self.processors else rows

    def chunks(self, connection: Connection, values: dict[str, Any], size: int) -> Iterator[Sequence[Row]]:
        """Run the statement and yield its rows, at most `size` at a time."""
        with _cursor(connection, self.text) as cursor:
            cursor.execute(self.text, self._given(values))
            while rows := cursor.fetchmany(size):
                yield [self._processed(row) for row in rows] if self.processors else rows

    def _given(self, values: dict[str, Any]) -> Any:  # noqa: ANN401 - what the driver takes
        values = self.constants | values
        return values if self.names is None else tuple([values[name] for name in self.names])

    def _processed(self, row: Row) -> Row:
        values = list(row)
        for number, process in self.processors:
            if values[number] is not None:
                values[number] = process(values[number])
        return values


def prepare_statement(statement: Any, dialect: Dialect) -> Prepared:  # noqa: ANN401
    """Compile a SELECT for this dialect; its bind parameters have names, and values of types that the driver takes."""
    compiled = statement.compile(dialect=dialect)
    names = tuple(compiled.positiontup) if compiled.positional else None
    conversions = (
        (number, column.type.dialect_impl(dialect).result_processor(dialect, None))
        for number, column in enumerate(statement.selected_columns)
        if not isinstance(column.type, Float)  # the drivers return floats as such
    )
    # Cached, because the same few values recur: the times of a credential.
    processors = tuple(
        (number, lru_cache(256)(processor)) for number, processor in conversions if processor is not None
    )
    return Prepared(compiled.string, names, compiled.params, processors)


def run_text(connection: Connection, text: str, values: Any) -> Sequence[Row]:  # noqa: ANN401 - what the driver takes
    """Run a statement written for the driver in the connection's transaction, and return its rows, if it has any."""
    with _cursor(connection, text) as cursor:
        cursor.execute(text, values)
        return cursor.fetchall() if cursor.description else ()


def read_tuples(connection: Connection, query: Any, size: int) -> Iterator[Sequence[Row]]:  # noqa: ANN401
    """Yield the rows of a SELECT as the driver returns them, at most `size` at a time."""
    with connection.execute(query) as result:
        cursor: Any = result.cursor
        try:
            while chunk := cursor.fetchmany(size):
                yield chunk
        except connection.dialect.loaded_dbapi.Error as error:
            raise _refused(error, connection, cursor, str(query)) from error


def run_many(connection: Connection, statement: Insert | Update, rows: Sequence[Mapping[str, Any]]) -> None:
    """Run an INSERT or UPDATE for each of these rows, which all have the same names of parameters or columns."""
    if rows:
        connection.execute(statement, rows)


def number_new(session: Session, mapped: type[Numbered], new: Collection[Numbered]) -> None:
    """Give new objects of this class the ids that the database would give them in this write transaction.

    One statement then inserts all of them; else SQLite would insert each by a statement of its own to learn its id.
    """
    table: Any = mapped.__table__
    if not new:
        return
    ids: Iterable[int]
    if session.get_bind().dialect.name == "postgresql":
        numbers = func.generate_series(1, len(new)).alias()
        drawn = select(func.nextval(func.pg_get_serial_sequence(table.fullname, "id"))).select_from(numbers)
        ids = session.connection().execute(drawn).scalars()
    else:
        ids = count((session.connection().scalar(select(func.max(table.c.id))) or 0) + 1)
    for row, number in zip(new, ids, strict=False):
        row.assign({"id": number})


@contextmanager
def _cursor(connection: Connection, text: str) -> Iterator[Any]:
    """Open a cursor of the driver, and raise its errors as errors of SQLAlchemy."""
    cursor = connection.connection.cursor()
    try:
        yield cursor
    except connection.dialect.loaded_dbapi.Error as error:
        raise _refused(error, connection, cursor, text) from error
    finally:
        cursor.close()


def _refused(error: Exception, connection: Connection, cursor: Any, text: str) -> Exception:  # noqa: ANN401
    """Return an error of the driver as an error of SQLAlchemy."""
    lost = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)  # type: ignore[arg-type]
    if lost:  # most likely, all connections of the pool are lost
        connection.invalidate(error)
        connection.engine.dispose()
    base = connection.dialect.loaded_dbapi.Error
    refused: Exception = DBAPIError.instance(
        text, None, error, base, dialect=connection.dialect, connection_invalidated=lost
    )
    return refused


def among(session: Session, key: Any, values: Collection[int] | Collection[str]) -> ColumnElement[bool]:  # noqa: ANN401
    """Return `key IN values`, as one parameter, for a column of integers or texts without null characters."""
    if session.get_bind().dialect.name == "postgresql":
        if not values:  # the type of an empty array is unknown
            return false()
        kind = Text if isinstance(next(iter(values)), str) else BigInteger
        condition: ColumnElement[bool] = key == any_(bindparam(None, list(values), type_=ARRAY(kind)))
        return condition
    listed = func.json_each(bindparam(None, orjson.dumps(list(values)).decode(), type_=Text))
    is_listed: ColumnElement[bool] = key.in_(select(column("value")).select_from(listed))
    return is_listed


def in_portions(values: Sequence[_Value], most: int = _PORTION) -> Iterator[Sequence[_Value]]:
    """Return an iterator over the values in their order, at most `most` at a time."""
    return (values[start : start + most] for start in range(0, len(values), most))


def insert_into(table: Any, session: Session) -> Any:  # noqa: ANN401 - either dialect's own insert
    """Return the INSERT of the session's SQL dialect, which supports ON CONFLICT."""
    return insert_for(table, session.get_bind().dialect.name)


def insert_for(table: Any, dialect: str) -> Any:  # noqa: ANN401 - either dialect's own insert
    """Return the INSERT of this SQL dialect, which supports ON CONFLICT."""
    if dialect == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def begins(column: Column, prefix: str) -> ColumnElement[bool]:
    """Return the condition that a text begins with this prefix.

    It is a range, for which both databases use an index; LIKE would ignore case on SQLite.
    """
    end = after_prefix(prefix)
    return column >= prefix if end is None else and_(column >= prefix, column < end)


def after_prefix(prefix: str) -> str | None:
    """Return the text that follows all texts with this prefix in the order of code points; None if there is none."""
    before = prefix.rstrip(_LAST_CHARACTER)
    if not before:
        return None
    following = ord(before[-1]) + 1
    return before[:-1] + chr(_AFTER_SURROGATES if following == _FIRST_SURROGATE else following)


def is_below(name: Column, folder: str) -> ColumnElement[bool]:
    """Return the condition that a path lies below this folder; the root is the empty text."""
    return begins(name, f"{folder}/" if folder else "")


class _Unindexed(UnaryExpression[Any]):
    inherit_cache = True


@compiles(_Unindexed)
def _with_sign(element: _Unindexed, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    return "+" + compiler.process(element.element, **options)


@compiles(_Unindexed, "postgresql")
def _without_sign(element: _Unindexed, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    return compiler.process(element.element, **options)


def unindexed(column: Column) -> ColumnElement[Any]:
    """Return the column's value in a form for which SQLite uses no index.

    SQLite does not know the frequency of a value. It would look up and sort a million rows of one colour, although
    every tenth row of the order matches, or read all files of the only root to find a few hashes. A unary `+` takes the
    column out of its choice of index. PostgreSQL has statistics and chooses by itself.
    """
    return _Unindexed(column, operator=_SIGN, type_=column.type)  # type: ignore[arg-type]


class Updates:
    """New values of rows, written by one prepared statement for each set of columns."""

    def __init__(self) -> None:
        self._rows: defaultdict[tuple[Any, str, tuple[str, ...]], list[dict[str, Any]]] = defaultdict(list)

    def add(self, mapped: type[Base], key: str, row_id: int, values: Mapping[str, Any]) -> None:
        """Add new values, of the types of the columns, for the rows whose column `key` is `row_id`."""
        if values:
            named = {f"new_{name}": value for name, value in values.items()}
            self._rows[mapped, key, tuple(values)].append({"row": row_id, **named})

    def run(self, connection: Connection) -> None:
        """Write all values and forget them."""
        for (mapped, key, names), rows in self._rows.items():
            run_many(connection, _statement(mapped, key, names), rows)
        self._rows.clear()


def changed_values(names: Sequence[str], new: Sequence[Any], old: Sequence[Any]) -> dict[str, Any]:
    """Return the new values that differ from the old ones, by the names of their columns."""
    if new == old:
        return {}
    return {name: value for name, value, before in zip(names, new, old, strict=True) if value != before}


@lru_cache(maxsize=256)
def _statement(mapped: type[Base], key: str, names: tuple[str, ...]) -> Update:
    table: Any = mapped.__table__
    statement = update(table).where(table.c[key] == bindparam("row"))
    return statement.values({name: bindparam(f"new_{name}") for name in names})


@cache
def insert_of(mapped: type[Base]) -> Insert:
    """Return the INSERT for `run_many` into the table of a mapped class."""
    return insert(cast("Table", mapped.__table__))
