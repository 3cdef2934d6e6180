"""The copy of a library into a database of another kind, table by table, compared row by row, in one transaction."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Table,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from photosvc.backup.archive import sqlite_file
from photosvc.core.errors import PhotosvcError
from photosvc.models import SCHEMA_VERSION, Base, Camera, Cell, Lens, Place, schema
from photosvc.models.engine import (
    configure_engine,
    engine_options,
    is_damaged,
    limit_lock_waits,
    many_pages,
    write_session,
)

#: Models that have rows in a new database.
_SEEDED: Final = frozenset(model.__tablename__ for model in (Cell, Place, Lens, Camera))
#: Rows in memory at one time.
_ROWS: Final = 2000


@contextmanager
def target_engine(address: str) -> Iterator[Engine]:
    """Open an engine of a database that no app has.

    Raises:
        PhotosvcError: it fails inside the block, which may use other databases as well.
    """
    engine = create_engine(address, **engine_options(address))
    configure_engine(engine)
    failures: list[BaseException | None] = []
    event.listen(engine, "handle_error", lambda context: failures.append(context.sqlalchemy_exception))
    try:
        yield engine
    except DBAPIError as error:
        if error not in failures:
            raise
        reason = "it is damaged or no database" if is_damaged(error) else str(error.orig).strip()
        raise PhotosvcError(f"the target cannot be used: {reason}") from error
    finally:
        engine.dispose()


def copy_library(source: Engine, target: Engine, report: Callable[[str], object]) -> int:
    """Copy all rows of the library, and return their number; other processes can only read the source meanwhile.

    They are copied in one transaction: a copy that is killed leaves an empty library.

    Args:
        source: a database with the schema of this version.
        target: a database without photosvc tables, or with those of a new library.
        report: gets a line for each table that has any rows.

    Raises:
        PhotosvcError: the target is not empty, or its rows are not those of the source afterwards.
        SchemaError: the target has another encoding than UTF-8.
    """
    _require_other(source, target)
    schema.upgrade(target)
    with write_session(source) as reading, write_session(target) as writing, many_pages(writing):
        given, taken = _only_read(reading), writing.connection()
        _require_empty(taken)
        for table in reversed(Base.metadata.sorted_tables):
            taken.execute(delete(table))
        total = sum(_copy(given, taken, table, report) for table in Base.metadata.sorted_tables)
        _continue_numbers(given, taken)
    return total


def _require_other(source: Engine, target: Engine) -> None:
    """Check that the target is another database, without tables or with those of this version."""
    file = sqlite_file(target.url) if target.dialect.name == "sqlite" else None
    if target.dialect.name == "sqlite" and file is None:
        raise PhotosvcError("the target is no file: a database in memory ends with this command")
    if file and not Path(str(target.url.database)).is_absolute():  # services look for it in their instance folder
        raise PhotosvcError("the target needs its whole path, as in sqlite:////folder/photosvc.db")
    if source.url == target.url or (file and _is_same(file, sqlite_file(source.url))):
        raise PhotosvcError("the target is the database of the service itself")
    with target.connect() as connection:
        version = schema.schema_version(connection)
    if version not in {None, SCHEMA_VERSION}:
        raise PhotosvcError(f"the target has tables at schema {version} already: give an empty database")


def _is_same(one: Path, other: Path | None) -> bool:
    with suppress(OSError):
        return other is not None and one.samefile(other)
    return False


def _only_read(session: Session) -> Connection:
    """Let other processes only read the tables until the transaction ends; on SQLite, its write lock does so."""
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        limit_lock_waits(session)
        names = ", ".join(table.name for table in Base.metadata.sorted_tables)
        connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))
    return connection


def _copy(source: Connection, target: Connection, table: Table, report: Callable[[str], object]) -> int:
    """Copy the rows of a table and compare them; return their number.

    Their order is that of their keys, in which rows follow those that they refer to.
    """
    for rows in _read(source, table):
        target.execute(insert(table), rows)
    copied = _sum(source, table)
    if _sum(target, table) != copied:
        raise PhotosvcError(f"the rows of {table.name} are not those of the source; nothing was copied")
    if copied[0]:
        report(f"{table.name}: {copied[0]}")
    return copied[0]


def _require_empty(target: Connection) -> None:
    for table in Base.metadata.sorted_tables:
        rows = select(table).limit(1)
        if table.name not in _SEEDED and target.execute(rows).first() is not None:
            raise PhotosvcError(f"the target has rows in {table.name} already: give an empty database")


def _read(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    """Read the rows of a table in the order of their keys."""
    query = select(table).order_by(*table.primary_key)
    with connection.execute(query, execution_options={"yield_per": _ROWS}) as result:
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]


def _sum(connection: Connection, table: Table) -> tuple[int, int]:
    """Return the number of rows and the sum of their digests, because databases sort texts differently."""
    digests = [_digest(row) for rows in _read(connection, table) for row in rows]
    return len(digests), sum(digests)


def _digest(row: Mapping[str, Any]) -> int:
    return int.from_bytes(hashlib.sha256(repr(list(row.values())).encode(errors="surrogatepass")).digest())


def _continue_numbers(source: Connection, target: Connection) -> None:
    """Let new rows of the target get numbers above all that the source has given, also to rows that are deleted."""
    for table in Base.metadata.sorted_tables:
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
    last = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
    return connection.scalar(last, {"name": column.table.name}) or 0


def _sequence(connection: Connection, column: Column[Any]) -> str | None:
    values = {"table": column.table.name, "column": column.name}
    name: str | None = connection.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), values)
    return name


def _counts(table: Any) -> bool:  # noqa: ANN401 - of a column, which may be one of a subquery for the type checker
    """Return whether SQLite never gives the number of a deleted row again."""
    return bool(table.dialect_options["sqlite"]["autoincrement"])
