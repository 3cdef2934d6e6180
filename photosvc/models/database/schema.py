"""The version of the schema of a database, compared with the one that the code needs."""

from sqlalchemy import Connection, text
from sqlalchemy.orm import Session

from photosvc.core.errors import SchemaError
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX

VERSION_TABLE = TABLE_PREFIX + "schema"


def is_ours(_item: object, name: str | None, kind: str, _reflected: object, _other: object) -> bool:
    """Filter for Alembic: excludes tables of a host app and those that SQLite creates for full-text search."""
    if kind != "table":
        return True
    return bool(name and name.startswith(TABLE_PREFIX) and not name.startswith(TABLE_PREFIX + "search_text"))


def schema_version(session: Session | Connection) -> str | None:
    """The revision of the database; None when it has no photosvc tables."""
    connection = session.connection() if isinstance(session, Session) else session
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    version: str | None = connection.execute(query).scalar()
    return version


def check_schema(session: Session | Connection) -> None:
    """Make sure that the schema is the one this code needs.

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
