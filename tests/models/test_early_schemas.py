"""Databases that early versions of migrations made, as they were committed: each goes up and works.

`early_schemas.zip` holds the tables of every committed version whose database is not what the present migrations make
at its revision; those of all others are made by these in `test_models_migrate.py`.
"""

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import MetaData, create_engine, text

from photosvc.models import SCHEMA_VERSION, schema
from photosvc.models.engine import configure_engine
from photosvc.web.current import current_service
from tests.models.test_models_migrate import required
from tests.support.library import DATABASE, open_library
from tests.support.pictures import jpeg

ARCHIVE = Path(__file__).with_name("early_schemas.zip")
with zipfile.ZipFile(ARCHIVE) as opened:
    SCHEMAS = {name.removesuffix(".sql"): opened.read(name).decode() for name in opened.namelist()}


def fill(engine):
    """A photo and an account in the tables of an old schema."""
    tables = MetaData()
    with engine.begin() as connection:
        tables.reflect(connection, only=["photosvc_photos", "photosvc_users"])
        for name in ("photosvc_photos", "photosvc_users"):
            table = tables.tables[name]
            connection.execute(table.insert().values(required(table) | {"id": 7, "uid": "kept"}))


#: The first and the last of them, every day; each takes half a second.
EVERYDAY = (min(SCHEMAS), max(SCHEMAS))


@pytest.mark.parametrize(
    "name", [name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.slow) for name in SCHEMAS]
)
def test_a_database_of_an_early_version_goes_up_keeps_its_rows_and_works(tmp_path, name):
    library = open_library(tmp_path, upgrade=False)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.executescript(SCHEMAS[name])
    with library.app.app_context():
        engine = current_service().engine()
        fill(engine)
        assert schema.upgrade(engine) == (name[:4], SCHEMA_VERSION)
        assert schema.differences(engine) == []
        with engine.connect() as connection:
            found = [
                connection.execute(text(f"SELECT uid FROM photosvc_{table} WHERE id = 7")).scalar()
                for table in ("photos", "users")
            ]
    assert found == ["kept", "kept"]
    library.put("a lake.jpg", jpeg())
    assert library.index().indexed == 1
    assert library.names(q="lake") == ["a lake.jpg"]
    library.close()


def test_what_is_missing_is_added_and_what_others_added_is_kept(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE photosvc_albums DROP COLUMN description"))
        connection.execute(text("DROP INDEX ix_photosvc_files_hash"))
        connection.execute(text("CREATE INDEX of_the_operator ON photosvc_files (size)"))
        connection.execute(text("CREATE TABLE of_the_host (id INTEGER PRIMARY KEY)"))
    assert schema.upgrade(engine) == (SCHEMA_VERSION, SCHEMA_VERSION)
    assert [found for found in schema.differences(engine) if "of_the_operator" not in found] == []
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM of_the_host")).scalar() == 0
    engine.dispose()
