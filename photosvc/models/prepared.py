"""Statements that are compiled once and passed directly to the driver: for queries that every request runs.

SQLAlchemy needs ten times as long to build such a statement and wrap its rows as SQLite needs to answer it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection
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
    """Compile a SELECT for this dialect. Its bind parameters are named; their values are integers, texts or times."""
    compiled = statement.compile(dialect=dialect)
    names = tuple(compiled.positiontup) if compiled.positional else None
    found = (
        (number, column.type.dialect_impl(dialect).result_processor(dialect, None))
        for number, column in enumerate(statement.selected_columns)
    )
    # Cached, because the same few values recur: the times of a credential.
    processors = tuple((number, lru_cache(256)(processor)) for number, processor in found if processor is not None)
    return Prepared(compiled.string, names, compiled.params, processors)


def run_text(connection: Connection, text: str, values: Any) -> Sequence[Row]:  # noqa: ANN401 - whatever the driver takes
    """All rows of a query written for the driver, in the connection's transaction.

    Raises:
        DBAPIError: the database failed; the same subclasses as SQLAlchemy raises.

    """
    base = connection.dialect.loaded_dbapi.Error
    cursor = connection.connection.cursor()
    try:
        cursor.execute(text, values)
        return cursor.fetchall()
    except base as error:
        lost = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
        if lost:  # then most likely all connections of the pool are lost
            connection.invalidate(error)
            connection.engine.dispose()
        raised: Any = DBAPIError.instance(
            text, None, error, base, dialect=connection.dialect, connection_invalidated=lost
        )
        raise raised from error
    finally:
        cursor.close()
