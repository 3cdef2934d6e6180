"""The schema of a database: its version, its migrations, and the deletion of rows along its foreign keys.

The rows that belong to a row by the foreign keys of the models are deleted with it, because the SQLite of a host may
neither cascade nor refuse orphans. Only `search.rows` writes and deletes search rows.

Only this module imports Alembic, and only when it migrates or compares a database, because Alembic loads slowly.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Column, Connection, Engine, Table, delete, inspect, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from photosvc import __version__
from photosvc.core.errors import SchemaError
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX
from photosvc.models.engine import BUSY_TIMEOUT
from photosvc.models.statements import among, run_text

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

#: What to do with a database of another line of versions.
WAY_OUT: Final = (
    "go on with the photosvc that made it, or begin anew: move the database away, or remove the library from it by "
    "`svc db drop`, then run `svc db upgrade` and `svc index` (the originals stay; edits, albums and accounts are lost)"
)
VERSION_TABLE = TABLE_PREFIX + "schema"
#: The view that the full-text index of SQLite indexes.
_WORDS: Final = TABLE_PREFIX + "search_text_terms"
#: The most dependent things of a host app that an error names.
_MOST_NAMED: Final = 5
_MIGRATIONS = Path(__file__).with_name("migrations")


def require_tables(engine: Engine) -> None:
    """Raise `SchemaError` if the tables of the present revision are those of an older build."""
    if found := differences(engine):
        msg = f"The tables are of an older build of schema {SCHEMA_VERSION} ({len(found)} differences): {WAY_OUT}."
        raise SchemaError(msg)


def is_ours(_item: object, name: str | None, kind: str, _reflected: object, _other: object) -> bool:
    """Return whether Alembic compares an object: not the tables of a host app and of the full-text search of SQLite."""
    if kind != "table":
        return True
    return bool(name and name.startswith(TABLE_PREFIX) and not name.startswith(TABLE_PREFIX + "search_text"))


def check_encoding(connection: Connection) -> None:
    """Raise `SchemaError` unless the database stores every character of Unicode, as SQLite always does."""
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.execute(text("SHOW server_encoding")).scalar()
    if encoding != "UTF8":
        name = connection.engine.url.database
        msg = (
            f"The database {name} has the encoding {encoding}, in which names of files cannot be stored: make one with "
            f"createdb --encoding=UTF8 --template=template0 {name}"
        )
        raise SchemaError(msg)


def schema_version(session: Session | Connection) -> str | None:
    """Return the revision of the database; None if it has no photosvc tables."""
    connection = session.connection() if isinstance(session, Session) else session
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    version: str | None = connection.execute(query).scalar()
    return version


def check_schema(session: Session | Connection) -> None:
    """Raise `SchemaError`, which names the command to run, unless this code may use the schema of the database."""
    version = schema_version(session)
    if version == SCHEMA_VERSION:
        return
    if version is None:
        msg = "The database has no photosvc tables yet: run `svc db upgrade`."
    elif version > SCHEMA_VERSION:
        msg = (
            f"The database is at schema {version}, newer than this photosvc ({SCHEMA_VERSION}): upgrade photosvc. "
            f"If it is of a build before 0.2, {WAY_OUT}."
        )
    else:
        msg = f"The database is at schema {version}, this photosvc needs {SCHEMA_VERSION}: run `svc db upgrade`."
    raise SchemaError(msg)


def delete_cascading(session: Session, table: Any, ids: Collection[int]) -> None:  # noqa: ANN401 - of any model
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
    """Return the columns that refer to the id of a table, each with True if its rows belong to rows of the table."""
    from photosvc.models import Base  # with all tables

    tables = Base.metadata.sorted_tables
    referring = (other for other in tables if not other.name.startswith(TABLE_PREFIX + "search_"))
    keys = (key for other in referring for key in other.foreign_keys if key.column.table is table and key.ondelete)
    return tuple((key.parent, key.ondelete == "CASCADE") for key in keys)


def migration_context(connection: Connection) -> "MigrationContext":
    """Return the context in which Alembic compares a database with the models."""
    from alembic.migration import MigrationContext

    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "include_object": is_ours})


def _config(connection: Connection | None = None) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def head() -> str:
    """Return the newest revision of the package."""
    return str(_scripts().get_current_head())


def _scripts() -> "ScriptDirectory":
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(_config())


def upgrade(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Migrate up to `revision` in one transaction; return the revisions before and after.

    Raises:
        SchemaError: the database is at a revision that this version does not have, or has another encoding than UTF-8.
    """
    from alembic.runtime.environment import EnvironmentContext

    scripts = _scripts()
    known = {script.revision for script in scripts.walk_revisions()}  # loaded before others wait for the transaction
    with engine.connect().execution_options(photosvc_writes=True) as connection, connection.begin():
        check_encoding(connection)
        before = schema_version(connection)
        if before is not None and before not in known:
            if before > SCHEMA_VERSION:
                check_schema(connection)
            msg = f"The database is at schema {before}, from which photosvc {__version__} cannot upgrade: {WAY_OUT}."
            raise SchemaError(msg)
        # As the command of Alembic does, which would load all migrations once more.
        steps = scripts._upgrade_revs  # noqa: SLF001
        config = _config(connection)
        with EnvironmentContext(config, scripts, fn=lambda now, _: steps(revision, now), destination_rev=revision):
            scripts.run_env()
        return before, schema_version(connection)


def stored_tables(connection: Connection) -> list[str]:
    """Return the names of our tables in a database: first those that no other one refers to, last that of the version.

    A table of a host app is none of them, whatever its name.
    """
    from photosvc.models import Base  # with all tables
    from photosvc.models.search import WORD_INDEX

    stored = set(inspect(connection).get_table_names())
    known = (WORD_INDEX, *(table.name for table in reversed(Base.metadata.sorted_tables)), VERSION_TABLE)
    return [name for name in known if name in stored]


def drop(engine: Engine) -> None:
    """Remove our tables with their indexes, triggers, sequences and views, in one transaction.

    Raises:
        SchemaError: something of a host app depends on them; nothing is removed.
    """
    with engine.connect().execution_options(photosvc_writes=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            run_text(connection, f"SET LOCAL lock_timeout = {BUSY_TIMEOUT}", ())
            _drop_on_postgresql(connection, stored_tables(connection))
            return
        driver: Any = connection.connection.driver_connection
        if not driver.in_transaction:  # the engine of a host begins none for these statements
            run_text(connection, "BEGIN IMMEDIATE", ())
        names = stored_tables(connection)
        _refuse_dependents(connection, names)
        for statement in (*(f"DROP TABLE {name}" for name in names), f"DROP VIEW IF EXISTS {_WORDS}"):
            run_text(connection, statement, ())


def _drop_on_postgresql(connection: Connection, names: Collection[str]) -> None:
    try:
        run_text(connection, f"DROP TABLE {', '.join(names)}", ())
    except DBAPIError as error:
        reason: Any = error.orig
        if getattr(reason, "sqlstate", None) != "2BP01":  # dependent_objects_still_exist
            raise
        raise _depended_on((reason.diag.message_detail or "").splitlines()) from error


def _refuse_dependents(connection: Connection, names: Collection[str]) -> None:
    """Refuse if other tables, views or triggers of an SQLite database name one of our tables, as PostgreSQL does."""
    ours = re.compile(rf"\b({'|'.join(names)})\b", re.IGNORECASE)
    rows = run_text(connection, "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL", ())
    others = [f"{kind} {name}" for kind, name, table, sql in rows if table not in {*names, _WORDS} and ours.search(sql)]
    if others:
        raise _depended_on(others)


def _depended_on(others: Sequence[str]) -> SchemaError:
    listed = "; ".join(others[:_MOST_NAMED]) + ("; …" if len(others) > _MOST_NAMED else "")
    return SchemaError(f"Nothing is removed, as the app depends on the tables: {listed}. Remove that first.")


def differences(engine: Engine) -> list[str]:
    """Return the differences between the database and the models; empty if they agree."""
    from alembic.autogenerate import compare_metadata

    from photosvc.models import Base  # with all tables

    with engine.connect() as connection:
        return [str(difference) for difference in compare_metadata(migration_context(connection), Base.metadata)]
