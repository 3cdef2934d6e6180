"""Statements that are compiled once and passed directly to the driver: queries of every request, inserts of many rows.

SQLAlchemy needs ten times as long to build such a query and wrap its rows as SQLite needs to answer it, and twice as
long to convert the values of a row as SQLite needs to store it with all indexes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Boolean, Connection, Float
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError

Row = Sequence[Any]
Processor = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """SQL in the driver's parameter style, the names of its values in order, and conversions of its columns."""

    text: str
    names: tuple[str, ...] | None
    """None when the driver takes values by name."""
    constants: dict[str, Any]
    processors: tuple[tuple[int, Processor], ...]
    """For each column whose values the driver gives in another type: its number and the conversion."""

    def run(self, connection: Connection, values: dict[str, Any]) -> Sequence[Row]:
        """All rows.

        Raises:
            DBAPIError: the database failed; the same subclasses as SQLAlchemy raises.

        """
        values = self.constants | values
        given = values if self.names is None else tuple([values[name] for name in self.names])
        rows = run_text(connection, self.text, given)
        return [self._processed(row) for row in rows] if self.processors else rows

    def _processed(self, row: Row) -> Row:
        values = list(row)
        for number, process in self.processors:
            if values[number] is not None:
                values[number] = process(values[number])
        return values


def prepare_statement(statement: Any, dialect: Dialect) -> Prepared:  # noqa: ANN401
    """Compile a SELECT for this dialect. Its bind parameters are named, their values of types that the driver takes."""
    compiled = statement.compile(dialect=dialect)
    names = tuple(compiled.positiontup) if compiled.positional else None
    found = (
        (number, column.type.dialect_impl(dialect).result_processor(dialect, None))
        for number, column in enumerate(statement.selected_columns)
        if not isinstance(column.type, Float)  # the drivers give columns of floats as such
    )
    # Cached, because the same few values recur: the times of a credential.
    processors = tuple((number, lru_cache(256)(processor)) for number, processor in found if processor is not None)
    return Prepared(compiled.string, names, compiled.params, processors)


def run_text(connection: Connection, text: str, values: Any) -> Sequence[Row]:  # noqa: ANN401 - what the driver takes
    """All rows of a statement written for the driver, in the connection's transaction; none of one that gives no rows.

    Raises:
        DBAPIError: the database failed; the same subclasses as SQLAlchemy raises.

    """
    cursor = connection.connection.cursor()
    try:
        cursor.execute(text, values)
        return cursor.fetchall() if cursor.description else ()
    except connection.dialect.loaded_dbapi.Error as error:
        raise _refused(error, connection, cursor, text) from error
    finally:
        cursor.close()


def read_tuples(connection: Connection, query: Any, size: int) -> Iterator[Sequence[Row]]:  # noqa: ANN401
    """The rows of a SELECT as the driver gives them, at most `size` at a time.

    Raises:
        DBAPIError: the database failed; the same subclasses as SQLAlchemy raises.

    """
    with connection.execute(query) as result:
        cursor: Any = result.cursor
        try:
            while chunk := cursor.fetchmany(size):
                yield chunk
        except connection.dialect.loaded_dbapi.Error as error:
            raise _refused(error, connection, cursor, str(query)) from error


def run_many(connection: Connection, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:  # noqa: ANN401
    """Run an INSERT or UPDATE for each of these rows, in the connection's transaction.

    Args:
        connection: the connection.
        statement: kept for the lifetime of the process, as it is compiled once.
        rows: the values of its named bind parameters, of the types of the columns; for an INSERT without any `values`,
            those of the columns that it writes. All have the same names.

    Raises:
        DBAPIError: the database failed; the same subclasses as SQLAlchemy raises.

    """
    if not rows:
        return
    many = _prepare_many(statement, tuple(rows[0]), connection.dialect)
    with _cursor(connection, many.text) as cursor:
        cursor.executemany(many.text, many.values(rows))


def run_one(connection: Connection, statement: Any, values: Mapping[str, Any]) -> int:  # noqa: ANN401
    """As `run_many`, for one row of values; gives the number of rows that were written."""
    one = _prepare_many(statement, tuple(values), connection.dialect)
    with _cursor(connection, one.text) as cursor:
        cursor.execute(one.text, one.values([values])[0])
        written: int = cursor.rowcount
        return written


@contextmanager
def _cursor(connection: Connection, text: str) -> Iterator[Any]:
    """A cursor of the driver, whose errors become those of SQLAlchemy."""
    cursor = connection.connection.cursor()
    try:
        yield cursor
    except connection.dialect.loaded_dbapi.Error as error:
        raise _refused(error, connection, cursor, text) from error
    finally:
        cursor.close()


@dataclass(frozen=True, slots=True)
class _Many:
    text: str
    names: tuple[str, ...]
    is_positional: bool
    processors: tuple[tuple[int, Processor], ...]
    """For each value that the driver takes in another type: its number and the conversion."""

    constants: dict[str, Any]
    """The values that the statement contains."""

    def values(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        read = itemgetter(*self.names)
        if self.constants:
            rows = [{**self.constants, **row} for row in rows]
        values = [read(row) for row in rows] if len(self.names) > 1 else [(read(row),) for row in rows]
        if self.processors:
            values = [self._processed(row) for row in values]
        return values if self.is_positional else [dict(zip(self.names, row, strict=True)) for row in values]

    def _processed(self, row: Row) -> Row:
        values = list(row)
        for number, process in self.processors:
            values[number] = process(values[number])
        return values


@lru_cache(256)
def _prepare_many(statement: Any, columns: tuple[str, ...], dialect: Dialect) -> _Many:  # noqa: ANN401
    compiled = statement.compile(dialect=dialect, column_keys=list(columns))
    types = {name: parameter.type for parameter, name in compiled.bind_names.items()}
    names = tuple(compiled.positiontup or types)
    found = ((number, types[name]) for number, name in enumerate(names))
    # The drivers take booleans as they are; SQLAlchemy would check each value.
    converted = ((number, kind.dialect_impl(dialect)) for number, kind in found if not isinstance(kind, Boolean))
    processors = ((number, kind.bind_processor(dialect)) for number, kind in converted)
    used = tuple((number, processor) for number, processor in processors if processor is not None)
    constants = {name: value for name, value in compiled.params.items() if name not in columns}
    return _Many(compiled.string, names, compiled.positional, used, constants)


def _refused(error: Exception, connection: Connection, cursor: Any, text: str) -> Exception:  # noqa: ANN401
    """An error of the driver as SQLAlchemy's."""
    lost = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)  # type: ignore[arg-type]
    if lost:  # then most likely all connections of the pool are lost
        connection.invalidate(error)
        connection.engine.dispose()
    base = connection.dialect.loaded_dbapi.Error
    refused: Exception = DBAPIError.instance(
        text, None, error, base, dialect=connection.dialect, connection_invalidated=lost
    )
    return refused
