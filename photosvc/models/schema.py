"""The schema of a database: its version, migrations, repair, and the deletion of rows along its foreign keys.

Some migrations were corrected after databases had been made with them, so the revision alone does not say which tables,
columns and indexes such a database has. After the last migration it is compared with the models, and missing ones are
added. Nothing that holds data is removed.

Rows are deleted together with the rows that belong to them, because a host's SQLite may neither cascade nor refuse
orphans. The foreign keys of the models say which rows belong to a row, so a new table needs no further code. Search
rows are left to `search.rows`, which writes and deletes them.

Only this module imports Alembic, which loads slowly.
"""

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata, produce_migrations
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations, ops
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Connection, DefaultClause, Engine, Table, Text, delete, literal, select, text, update
from sqlalchemy.orm import Session

from photosvc.core.errors import SchemaError
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX, Base
from photosvc.models.statements import among

VERSION_TABLE = TABLE_PREFIX + "schema"
_MIGRATIONS = Path(__file__).with_name("migrations")


def is_ours(_item: object, name: str | None, kind: str, _reflected: object, _other: object) -> bool:
    """Exclude, for Alembic, the tables of a host app and those that SQLite creates for full-text search."""
    if kind != "table":
        return True
    return bool(name and name.startswith(TABLE_PREFIX) and not name.startswith(TABLE_PREFIX + "search_text"))


def schema_version(session: Session | Connection) -> str | None:
    """Return the revision of the database; None if it has no photosvc tables."""
    connection = session.connection() if isinstance(session, Session) else session
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    version: str | None = connection.execute(query).scalar()
    return version


def check_schema(session: Session | Connection) -> None:
    """Raise SchemaError unless the schema is the one that this code needs.

    Raises:
        SchemaError: the schema is missing, older or newer; the message names the command to run.

    """
    version = schema_version(session)
    if version == SCHEMA_VERSION:
        return
    if version is None:
        msg = "The database has no photosvc tables yet: run `svc db upgrade`."
    elif version > SCHEMA_VERSION:
        msg = f"The database is at schema {version}, newer than this photosvc ({SCHEMA_VERSION}): upgrade photosvc."
    else:
        msg = f"The database is at schema {version}, this photosvc needs {SCHEMA_VERSION}: run `svc db upgrade`."
    raise SchemaError(msg)


def delete_rows(session: Session, table: Any, ids: Collection[int]) -> None:  # noqa: ANN401 - of any model
    """Delete the rows with these ids, and the rows that belong to them."""
    delete_owned(session, table, ids)
    session.connection().execute(delete(table).where(among(session, table.c.id, ids)))


def delete_owned(session: Session, table: Any, ids: Collection[int]) -> None:  # noqa: ANN401 - of any model
    """Delete the rows that belong to the rows with these ids; in rows that only refer to them, clear the reference."""
    connection = session.connection()
    for column, is_owner in _references(table):
        refers = among(session, column, ids)
        if not is_owner:
            connection.execute(update(column.table).where(refers).values({column: None}))
            continue
        if _references(column.table) and (inner := connection.scalars(select(column.table.c.id).where(refers)).all()):
            delete_owned(session, column.table, inner)
        connection.execute(delete(column.table).where(refers))


@cache
def _references(table: Table) -> tuple[tuple[Column[Any], bool], ...]:
    """Return the columns that refer to the id of a table, with True if their rows belong to its rows."""
    return tuple(_find_references(table))


def _find_references(table: Table) -> Iterator[tuple[Column[Any], bool]]:
    for other in Base.metadata.sorted_tables:
        if not other.name.startswith(TABLE_PREFIX + "search_"):
            for key in other.foreign_keys:
                if key.column.table is table and key.ondelete is not None:
                    yield key.parent, key.ondelete == "CASCADE"


def context_of(connection: Connection) -> MigrationContext:
    """Return the context in which Alembic compares a database with the models."""
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "include_object": is_ours})


def mend(connection: Connection) -> int:
    """Add missing tables, columns and indexes in the transaction of the connection; return the number of steps."""
    context = context_of(connection)
    found = produce_migrations(context, Base.metadata).upgrade_ops
    operations = Operations(context)
    steps = [] if found is None else sorted(_steps(found.ops), key=_rank)
    for step in steps:
        if isinstance(step, ops.AddColumnOp):
            _give_default(step.column)
        operations.invoke(step)
    return len(steps)


def _steps(found: list[Any]) -> Iterator[Any]:
    """Yield the steps that add something, and those that drop our indexes to replace them."""
    for step in found:
        if isinstance(step, ops.ModifyTableOps):
            yield from _steps(step.ops)
        elif isinstance(step, ops.DropIndexOp):
            if str(step.index_name).startswith(f"ix_{TABLE_PREFIX}"):  # others are not ours
                yield step
        elif isinstance(step, ops.CreateTableOp | ops.AddColumnOp | ops.CreateIndexOp):
            yield step


def _rank(step: Any) -> int:  # noqa: ANN401 - Alembic's operations
    """Return the sort key of a step: tables and columns, then the dropping of former indexes, then new indexes."""
    kinds = (ops.CreateTableOp, ops.AddColumnOp, ops.DropIndexOp, ops.CreateIndexOp)
    return next(number for number, kind in enumerate(kinds) if isinstance(step, kind))


def _give_default(column: Any) -> None:  # noqa: ANN401 - a column of any type
    """Give existing rows a value in a new column: the default of new rows, else the empty value of its type."""
    if column.nullable or column.server_default is not None:
        return
    given = getattr(column.default, "arg", None)
    if given is None or callable(given):
        given = "" if isinstance(column.type, Text) else 0
    value = int(given) if isinstance(given, bool) else given
    compiled = literal(value).compile(compile_kwargs={"literal_binds": True})
    column.server_default = DefaultClause(text(str(compiled)))


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def head() -> str:
    """Return the newest revision of the package."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def upgrade(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Migrate up to `revision` in one transaction; return the revisions before and after.

    An existing database then also gets the tables, columns and indexes that early versions of migrations left out.
    """
    with engine.connect().execution_options(photosvc_writes=True) as connection, connection.begin():
        before = schema_version(connection)
        command.upgrade(_config(connection), revision)
        if before is not None and revision == "head":
            mend(connection)
        after = schema_version(connection)
    return before, after


def downgrade(engine: Engine, revision: str) -> None:
    """Migrate down to `revision` (`base` removes every table)."""
    with engine.connect().execution_options(photosvc_writes=True) as connection, connection.begin():
        command.downgrade(_config(connection), revision)


def differences(engine: Engine) -> list[str]:
    """Return the differences between the database and the models; empty if they agree."""
    with engine.connect() as connection:
        return [str(difference) for difference in compare_metadata(context_of(connection), Base.metadata)]
