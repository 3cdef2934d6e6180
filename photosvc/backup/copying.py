"""The copy of a library into a database of another kind: all tables, in one transaction, compared row by row."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Column, Connection, Engine, Table, create_engine, delete, func, insert, select, text
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.models import SCHEMA_VERSION, Base, Camera, Cell, Lens, Place, schema
from photosvc.models.engine import configure_engine, engine_options, limit_lock_waits, many_pages, write_session

#: Models that have rows in a new database, those that refer to others first.
_SEEDED: Final = (Cell, Place, Lens, Camera)
#: Rows that are in memory at one time.
_ROWS: Final = 500


class CopyError(PhotosvcError):
    """The library cannot be copied."""


@contextmanager
def target_engine(address: str) -> Iterator[Engine]:
    """Open an engine of a database that no app has."""
    engine = create_engine(address, **engine_options(address))
    configure_engine(engine)
    try:
        yield engine
    finally:
        engine.dispose()


def copy_library(source: Engine, target: Engine, report: Callable[[str, int], object]) -> int:
    """Copy all rows of the library, and return their number; other processes can only read the source meanwhile.

    The target gets its tables first, and then all rows or none.

    Args:
        source: a database with the schema of this version.
        target: a database without photosvc tables, or with those of a new library.
        report: gets the name and number of rows of each table that has any.

    Raises:
        CopyError: the target is not empty, or its rows are not those of the source afterwards.
        SchemaError: the target has another encoding than UTF-8.
    """
    _require_other(source, target)
    schema.upgrade(target)
    tables = Base.metadata.sorted_tables
    total = 0
    with write_session(source) as reading, write_session(target) as writing, many_pages(writing):
        given, taken = _only_read(reading, tables), writing.connection()
        _require_empty(taken, tables)
        for model in _SEEDED:
            taken.execute(delete(model))
        for table in tables:
            count = _copy(given, taken, table)
            if count:
                report(table.name, count)
            total += count
        _continue_numbers(given, taken, tables)
    return total


def _require_other(source: Engine, target: Engine) -> None:
    if source.url == target.url:
        raise CopyError("the target is the database of the service itself")
    with target.connect() as connection:
        version = schema.schema_version(connection)
    if version not in {None, SCHEMA_VERSION}:
        raise CopyError(f"the target has tables at schema {version} already: give an empty database")


def _only_read(session: Session, tables: Sequence[Table]) -> Connection:
    """Let other processes only read the tables until the transaction ends; on SQLite, its write lock does so."""
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        limit_lock_waits(session)
        names = ", ".join(table.name for table in tables)
        connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))
    return connection


def _require_empty(target: Connection, tables: Sequence[Table]) -> None:
    seeded = {model.__tablename__ for model in _SEEDED}
    for table in tables:
        if table.name not in seeded and target.execute(select(table).limit(1)).first() is not None:
            raise CopyError(f"the target has rows in {table.name} already: give an empty database")


def _copy(source: Connection, target: Connection, table: Table) -> int:
    """Copy the rows of a table in the order of their keys, in which rows follow those that they refer to.

    Raises:
        CopyError: the target has other rows than the source afterwards.
    """
    count = copied = total = 0
    for rows in _read(source, table):
        target.execute(insert(table), rows)
        count, total = count + len(rows), total + sum(map(_digest, rows))
    for rows in _read(target, table):
        count, total = count - len(rows), total - sum(map(_digest, rows))
        copied += len(rows)
    if count or total:
        raise CopyError(f"the rows of {table.name} are not those of the source; nothing was copied")
    return copied


def _read(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    query = select(table).order_by(*table.primary_key)
    with connection.execute(query, execution_options={"yield_per": _ROWS}) as result:
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]


def _digest(row: Mapping[str, Any]) -> int:
    """Return a number for the values of a row; sums of it are compared, because databases sort texts differently."""
    return int.from_bytes(hashlib.sha256(repr(list(row.values())).encode(errors="surrogatepass")).digest())


def _continue_numbers(source: Connection, target: Connection, tables: Sequence[Table]) -> None:
    """Let new rows of the target get numbers above all that the source has given, also to rows that are deleted."""
    for table in tables:
        column = table.autoincrement_column
        if column is None:
            continue
        last = max(_last_number(source, column), target.scalar(select(func.max(column))) or 0)
        values = {"name": table.name, "last": last}
        if target.dialect.name == "postgresql":
            if last and (sequence := _sequence(target, column)):
                target.execute(text("SELECT setval(CAST(:name AS regclass), :last)"), {**values, "name": sequence})
        elif _counts(table):
            target.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
            target.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), values)


def _last_number(connection: Connection, column: Column[Any]) -> int:
    if connection.dialect.name == "postgresql":
        sequence = _sequence(connection, column)
        last = text("SELECT pg_sequence_last_value(CAST(:name AS regclass))")
        return (connection.scalar(last, {"name": sequence}) if sequence else 0) or 0
    if not _counts(column.table):
        return 0
    return (
        connection.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": column.table.name}) or 0
    )


def _sequence(connection: Connection, column: Column[Any]) -> str | None:
    values = {"table": column.table.name, "column": column.name}
    name: str | None = connection.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), values)
    return name


def _counts(table: Any) -> bool:  # noqa: ANN401 - of a column, which may be one of a subquery for the type checker
    """Return whether SQLite never gives the number of a deleted row again."""
    return bool(table.dialect_options["sqlite"]["autoincrement"])
