"""Migrate a database to the schema that the code expects. Only this module imports Alembic, which loads slowly."""

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from photosvc.models.base import Base
from photosvc.models.database.schema import schema_version
from photosvc.models.mending import context_of, mend

_MIGRATIONS = Path(__file__).with_name("migrations")


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def head() -> str:
    """The newest revision of the package."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def upgrade(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Migrate up to `revision` in one transaction; gives the revisions before and after.

    An existing database then has all that the models need, also if earlier versions of the migrations made it.
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
    """The differences between the database and the models; empty when they agree."""
    with engine.connect() as connection:
        return [str(difference) for difference in compare_metadata(context_of(connection), Base.metadata)]
