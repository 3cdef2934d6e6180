"""The migrations make the tables of the models, on both databases, and leave everything else alone."""

import re
import shutil
from pathlib import Path

import pytest
from sqlalchemy import Text, create_engine, inspect, text
from sqlalchemy.orm import Session

from photosvc.core.errors import SchemaError
from photosvc.models import SCHEMA_VERSION, TABLE_PREFIX, Album, Base, migrations, schema
from photosvc.models.engine import configure_engine
from tests.helpers.clock import NOW

LATER = f"{int(SCHEMA_VERSION) + 1:04}"


@pytest.fixture
def engine(empty_database):
    engine = create_engine(empty_database())
    configure_engine(engine)
    yield engine
    engine.dispose()


def own_tables(engine):
    return {name for name in inspect(engine).get_table_names() if name.startswith(TABLE_PREFIX)}


def stored(engine):
    """The names of all things of photosvc in a database: tables, indexes, sequences, views, triggers, functions."""
    query = "SELECT name FROM sqlite_master WHERE lower(name) LIKE '%photosvc%'"
    if engine.dialect.name == "postgresql":
        query = (
            "SELECT relname FROM pg_class WHERE relname LIKE '%photosvc%' UNION ALL "
            "SELECT typname FROM pg_type WHERE typname LIKE '%photosvc%' UNION ALL "
            "SELECT proname FROM pg_proc WHERE proname LIKE '%photosvc%'"
        )
    with engine.connect() as connection:
        return list(connection.scalars(text(query)))


def test_tables_go_up_down_and_up_again_and_fit_the_models(engine):
    assert schema.head() == SCHEMA_VERSION
    assert schema.upgrade(engine) == (None, SCHEMA_VERSION)
    assert schema.differences(engine) == []
    assert {table.name for table in Base.metadata.sorted_tables} <= own_tables(engine)
    assert schema.upgrade(engine) == (SCHEMA_VERSION, SCHEMA_VERSION)
    schema.drop(engine)
    assert own_tables(engine) == set()
    assert stored(engine) == []
    assert schema.upgrade(engine)[1] == SCHEMA_VERSION
    assert schema.differences(engine) == []
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE photosvc_albums DROP COLUMN description"))
    (missing,) = schema.differences(engine)
    assert "description" in missing


def test_postgresql_compares_all_texts_by_code_point_as_sqlite_does(new_postgres):
    """By the rules of a language, blanks and hyphens count less than letters: ranges and pages would differ."""
    engine = create_engine(new_postgres())
    collations = """
        SELECT table_name || '.' || column_name, collation_name FROM information_schema.columns
        WHERE table_name LIKE 'photosvc\\_%' AND data_type = 'text'
    """
    columns = [column for table in Base.metadata.sorted_tables for column in table.columns]
    with engine.connect() as connection:
        found = dict(connection.execute(text(collations)).all())
    assert found == {str(column): "C" for column in columns if isinstance(column.type, Text)}
    engine.dispose()


def test_tables_of_a_host_are_left_alone(engine):
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER PRIMARY KEY, nick TEXT)"))
        connection.execute(text("CREATE TABLE photos (id INTEGER PRIMARY KEY, users_id INTEGER REFERENCES users (id))"))
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO users VALUES (1, 'host')"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('the host''s')"))
    schema.upgrade(engine)
    assert schema.differences(engine) == []
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE photosvc_hosts (id INTEGER PRIMARY KEY)"))
        connection.execute(text("CREATE VIEW seen AS SELECT title FROM photosvc_albums"))
    with pytest.raises(SchemaError, match="Nothing is removed, as the app depends on the tables: view seen"):
        schema.drop(engine)
    with engine.begin() as connection:
        assert {table.name for table in Base.metadata.sorted_tables} <= set(schema.stored_tables(connection))
        connection.execute(text("DROP VIEW seen"))
    schema.drop(engine)
    assert own_tables(engine) == {"photosvc_hosts"}
    with engine.connect() as connection:
        assert connection.execute(text("SELECT id, nick FROM users")).all() == [(1, "host")]
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "the host's"
    assert {"users", "photos", "alembic_version"} <= set(inspect(engine).get_table_names())


def test_ids_that_grant_rights_are_never_reused_on_sqlite(new_sqlite):
    engine = create_engine(new_sqlite())
    query = text("SELECT sql FROM sqlite_master WHERE name = :name")
    with engine.connect() as connection:
        for table in ("users", "clients", "credentials"):
            assert "AUTOINCREMENT" in connection.execute(query, {"name": TABLE_PREFIX + table}).scalar_one(), table
    engine.dispose()


def test_a_later_migration_is_applied_and_its_database_is_newer_for_versions_without_it(engine, tmp_path, monkeypatch):
    schema.upgrade(engine)
    folder = tmp_path / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, folder)
    (folder / f"versions/{LATER}_notes.py").write_text(
        "import sqlalchemy as sa\n"
        "from alembic import op\n"
        f"revision, down_revision, branch_labels, depends_on = '{LATER}', '{SCHEMA_VERSION}', None, None\n"
        "def upgrade():\n"
        "    op.add_column('photosvc_albums', sa.Column('note', sa.Text(), nullable=False, server_default='none'))\n"
        "def downgrade():\n"
        "    op.drop_column('photosvc_albums', 'note')\n"
    )
    with Session(engine) as session:
        session.add(Album(uid="a" * 16, title="Some", created_at=NOW, updated_at=NOW))
        session.commit()
    with monkeypatch.context() as patch:
        patch.setattr(schema, "_MIGRATIONS", folder)
        assert schema.upgrade(engine) == (SCHEMA_VERSION, LATER)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT title, note FROM photosvc_albums")).all() == [("Some", "none")]
    with pytest.raises(SchemaError, match=f"schema {LATER}, newer than this photosvc \\({SCHEMA_VERSION}\\)"):
        schema.upgrade(engine)


def test_an_unknown_schema_is_left_alone(engine):
    schema.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE photosvc_schema SET version_num = '0000'"))
    with pytest.raises(SchemaError, match=re.escape(schema.WAY_OUT)):
        schema.upgrade(engine)
    with engine.connect() as connection:
        assert schema.schema_version(connection) == "0000"
