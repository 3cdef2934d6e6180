"""Backups of a PostgreSQL database are made by PostgreSQL's own programs; here are the commands to run."""

import shlex

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.engine import URL

from photosvc.auth.service_key import stored_fingerprint
from photosvc.backup.errors import NothingToBackUpError
from photosvc.backup.snapshot import State
from photosvc.models import Photo, User
from photosvc.models.database.schema import schema_version

_FILE = "photosvc.dump"


def dump_command(url: URL) -> str:
    """The command that dumps the database. Its password is left out: pg_dump asks for it, or finds it in ~/.pgpass."""
    return f"pg_dump --format=custom --no-owner --file={_FILE} --dbname={_address(url)}"


def restore_command(url: URL) -> str:
    """The command that fills an empty database from the dump."""
    return f"pg_restore --no-owner --exit-on-error --single-transaction --dbname={_address(url)} {_FILE}"


def state_of(engine: Engine) -> State:
    """What the database says about itself.

    Raises:
        NothingToBackUpError: it has no photosvc tables.

    """
    with engine.connect() as connection:
        schema = schema_version(connection)
        if schema is None:
            msg = "The database has no photosvc tables yet."
            raise NothingToBackUpError(msg)
        return State(schema, _count(connection, Photo), _count(connection, User), stored_fingerprint(connection))


def _count(connection: Connection, model: type[Photo | User]) -> int:
    found: int = connection.scalar(select(func.count()).select_from(model)) or 0
    return found


def _address(url: URL) -> str:
    # libpq knows no names of drivers; `URL.set` takes None for no change
    open_url = url.difference_update_query(["password"])._replace(drivername="postgresql", password=None)
    return shlex.quote(open_url.render_as_string(hide_password=False))
