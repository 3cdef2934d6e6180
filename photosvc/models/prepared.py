"""Statements that are compiled once and handed straight to the driver: for what every request runs.

Putting a statement together and dressing its rows takes SQLAlchemy ten times as long as SQLite takes to answer it.
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
    """SQL as the driver takes it, the names of its values in their order, and how its columns become Python values."""

    text: str
    names: tuple[str, ...] | None
    """None where the driver takes values by name."""
    constants: dict[str, Any]
    processors: tuple[tuple[int, Processor], ...]
    """Of those columns whose values the driver does not give as they should be: their number and what to do."""

    def run(self, connection: Connection, values: dict[str, Any]) -> Sequence[Row]:
        """All rows.

        Raises:
            DBAPIError: as SQLAlchemy raises them.

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
    """The SELECT for this dialect; its bind parameters are named, and values are whole numbers, texts or times."""
    compiled = statement.compile(dialect=dialect)
    names = tuple(compiled.positiontup) if compiled.positional else None
    found = (
        (number, column.type.dialect_impl(dialect).result_processor(dialect, None))
        for number, column in enumerate(statement.selected_columns)
    )
    # The same few values come again and again: the times of a credential.
    processors = tuple((number, lru_cache(256)(processor)) for number, processor in found if processor is not None)
    return Prepared(compiled.string, names, compiled.params, processors)


def run_text(connection: Connection, text: str, values: Any) -> Sequence[Row]:  # noqa: ANN401 - as the driver takes them
    """All rows of a query in the driver's own SQL, in the connection's transaction.

    Raises:
        DBAPIError: as SQLAlchemy raises them.

    """
    base = connection.dialect.loaded_dbapi.Error
    cursor = connection.connection.cursor()
    try:
        cursor.execute(text, values)
        return cursor.fetchall()
    except base as error:
        lost = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
        if lost:  # and so are most likely all others
            connection.invalidate(error)
            connection.engine.dispose()
        raised: Any = DBAPIError.instance(
            text, None, error, base, dialect=connection.dialect, connection_invalidated=lost
        )
        raise raised from error
    finally:
        cursor.close()
