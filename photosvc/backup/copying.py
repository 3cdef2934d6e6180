"""The copy of a library into a database of another kind: table by table, compared row by row, and resumable.

The rows of a transaction are stored together with how far the copy is, so that a copy that is killed goes on there. As
long as it is not finished, the target has a version that no process takes for its own.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    MetaData,
    Table,
    Text,
    create_engine,
    delete,
    event,
    func,
    insert,
    literal,
    select,
    text,
    tuple_,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from photosvc.backup.archive import sqlite_file
from photosvc.core.errors import PhotosvcError
from photosvc.models import SCHEMA_VERSION, TABLE_PREFIX, Base, Camera, Cell, Lens, Place, schema
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
#: Rows of a transaction, which are in memory at one time.
_ROWS: Final = 2000
#: How far the copy is, in the target until it is finished: the key, number and digest of the rows of each table so far.
_PROGRESS: Final = Table(
    TABLE_PREFIX + "copy",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("last", Text, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("digest", Text, nullable=False),
)


class _Done(NamedTuple):
    """The rows of a table that the target has."""

    last: tuple[Any, ...] | None = None
    """The key of the last one."""
    rows: int = 0
    digest: int = 0
    """The sum of the digests of all rows, because databases sort texts differently."""

    def plus(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> "_Done":
        """Return what it is after further rows."""
        last = tuple(rows[-1][column.key] for column in table.primary_key)
        return _Done(last, self.rows + len(rows), self.digest + sum(map(_digest, rows)))

    def fits(self, other: "_Done") -> bool:
        """Return whether both are the same rows."""
        return (self.rows, self.digest) == (other.rows, other.digest)


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

    A copy that was killed goes on where it was. Tables that have changed in the source since then are copied again.

    Args:
        source: a database with the schema of this version.
        target: a database without photosvc tables, with those of a new library, or with an unfinished copy.
        report: gets a line for each table that has any rows, and about tables that are copied again.

    Raises:
        PhotosvcError: the target is not empty, or its rows are not those of the source afterwards: then it is emptied.
        SchemaError: the target has another encoding than UTF-8.
    """
    unfinished = _require_other(source, target)
    if not unfinished:
        schema.upgrade(target)
    with write_session(source) as reading:
        copy = _Copy(_only_read(reading), target, report)
        if unfinished:
            report("going on with the copy that was not finished")
        else:
            copy.begin()
        total = sum(map(copy.complete, Base.metadata.sorted_tables))
        copy.end()
    return total


def _require_other(source: Engine, target: Engine) -> bool:
    """Check both databases, and return whether the target has an unfinished copy."""
    file = sqlite_file(target.url) if target.dialect.name == "sqlite" else None
    if target.dialect.name == "sqlite" and file is None:
        raise PhotosvcError("the target is no file: a database in memory ends with this command")
    if file and not Path(str(target.url.database)).is_absolute():  # services look for it in their instance folder
        raise PhotosvcError("the target needs its whole path, as in sqlite:////folder/photosvc.db")
    if source.url == target.url or (file and _is_same(file, sqlite_file(source.url))):
        raise PhotosvcError("the target is the database of the service itself")
    with target.connect() as connection:
        version = schema.schema_version(connection)
    if version is not None and version.startswith(schema.UNFINISHED):
        if version != schema.UNFINISHED + SCHEMA_VERSION:
            raise PhotosvcError("the target has the unfinished copy of another version: give an empty database")
        return True
    if version not in {None, SCHEMA_VERSION}:
        raise PhotosvcError(f"the target has tables at schema {version} already: give an empty database")
    return False


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


@dataclass(frozen=True, slots=True)
class _Copy:
    """The copy of the tables from a source, which does not change meanwhile, into a target."""

    source: Connection
    target: Engine
    report: Callable[[str], object]

    def begin(self) -> None:
        """Mark the target, which must have the tables of a new library, as unfinished."""
        with write_session(self.target) as session:
            target = session.connection()
            _require_empty(target)
            _PROGRESS.create(target)
            self._clear(target, Base.metadata.sorted_tables)
            schema.set_version(target, schema.UNFINISHED + SCHEMA_VERSION)

    def complete(self, table: Table) -> int:
        """Copy the rows of a table that the target does not have, and return the number of all.

        Their order is that of their keys, in which rows follow those that they refer to.

        Raises:
            PhotosvcError: the target has other rows than the source afterwards.
        """
        done = self._done(table)
        if done.last is not None and not done.fits(_sum(_read(self.source, table, until=done.last), table)):
            self.report(f"{table.name} has changed meanwhile, and is copied again")
            with write_session(self.target) as session:
                self._clear(session.connection(), _depending(table))
            done = _Done()
        for rows in _read(self.source, table, after=done.last):
            done = done.plus(table, rows)
            with write_session(self.target) as session, many_pages(session):
                target = session.connection()
                target.execute(insert(table), rows)
                target.execute(delete(_PROGRESS).where(_PROGRESS.c.name == table.name))
                values = {"last": json.dumps(done.last), "rows": done.rows, "digest": str(done.digest)}
                target.execute(insert(_PROGRESS).values(name=table.name, **values))
        with self.target.connect() as connection:
            has_all = done.fits(_sum(_read(connection, table), table))
        if not has_all:
            with write_session(self.target) as session:
                self._clear(session.connection(), Base.metadata.sorted_tables)
            raise PhotosvcError(f"the rows of {table.name} are not those of the source; nothing was copied")
        if done.rows:
            self.report(f"{table.name}: {done.rows}")
        return done.rows

    def end(self) -> None:
        """Let new rows of the target get numbers of their own, and mark it as finished."""
        with write_session(self.target) as session:
            target = session.connection()
            _continue_numbers(self.source, target)
            _PROGRESS.drop(target)
            schema.set_version(target, SCHEMA_VERSION)

    def _done(self, table: Table) -> _Done:
        with self.target.connect() as connection:
            row = connection.execute(select(_PROGRESS).where(_PROGRESS.c.name == table.name)).one_or_none()
        return _Done() if row is None else _Done(tuple(json.loads(row.last)), row.rows, int(row.digest))

    def _clear(self, target: Connection, tables: Sequence[Table]) -> None:
        for table in reversed(tables):
            target.execute(delete(table))
            target.execute(delete(_PROGRESS).where(_PROGRESS.c.name == table.name))


def _require_empty(target: Connection) -> None:
    for table in Base.metadata.sorted_tables:
        rows = select(table).limit(1)
        if table.name not in _SEEDED and target.execute(rows).first() is not None:
            raise PhotosvcError(f"the target has rows in {table.name} already: give an empty database")


def _depending(table: Table) -> list[Table]:
    """Return the table and all that refer to it or to one of these, in their order."""
    found = [table]
    for other in Base.metadata.sorted_tables:
        if other not in found and any(key.column.table in found for key in other.foreign_keys):
            found.append(other)
    return found


def _read(
    connection: Connection, table: Table, *, after: Sequence[Any] | None = None, until: Sequence[Any] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Read the rows of a table in the order of their keys, all of them or those after or up to a key."""
    columns = list(table.primary_key)
    key = tuple_(*columns)

    def given(values: Sequence[Any]) -> Any:  # noqa: ANN401 - a tuple of SQL
        return tuple_(*(literal(value, column.type) for value, column in zip(values, columns, strict=True)))

    query = select(table).order_by(*columns)
    if after is not None:
        query = query.where(key > given(after))
    if until is not None:
        query = query.where(key <= given(until))
    with connection.execute(query, execution_options={"yield_per": _ROWS}) as result:
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]


def _sum(portions: Iterator[list[dict[str, Any]]], table: Table) -> _Done:
    done = _Done()
    for rows in portions:
        done = done.plus(table, rows)
    return done


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
