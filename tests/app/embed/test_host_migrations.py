"""A host's own migrations, made by the real Flask-Migrate and Alembic, leave the tables of photosvc alone."""

import pytest
from alembic import command
from alembic.config import Config

from photosvc.migrations import include_name
from tests.helpers.library import migrated_database

ENV = """
from alembic import context
from sqlalchemy import Column, Integer, MetaData, Table, create_engine
import photosvc.migrations
photosvc.migrations.watch_alembic()
metadata = MetaData()
Table("note", metadata, Column("id", Integer, primary_key=True))
with create_engine({address!r}).connect() as connection:
    context.configure(connection=connection, target_metadata=metadata{option})
    with context.begin_transaction():
        context.run_migrations()
"""


@pytest.fixture
def alembic(tmp_path):
    """A function that lets Alembic compare a host's models with a database that has photosvc's tables."""
    address = f"sqlite:///{tmp_path}/host.db"
    (tmp_path / "host.db").write_bytes(migrated_database(of_a_host=True))

    def compare(option):
        folder = tmp_path / "alembic"
        (folder / "versions").mkdir(parents=True)
        (folder / "env.py").write_text(ENV.format(address=address, option=option))
        template = "revision = ${repr(up_revision)}\ndown_revision = None\n\ndef upgrade():\n    ${upgrades}\n"
        (folder / "script.py.mako").write_text(template)
        config = Config()
        config.set_main_option("script_location", str(folder))
        command.revision(config, autogenerate=True)
        return "".join(path.read_text() for path in (folder / "versions").glob("*.py"))

    return compare


def test_the_helper_works_in_the_env_of_alembic(alembic):
    written = alembic(", include_name=photosvc.migrations.include_name")
    assert "create_table('note'" in written
    assert "photosvc" not in written


def test_alembic_without_the_helper_stops_too(alembic):
    from alembic.util import CommandError

    with pytest.raises(CommandError, match=r"would drop \d+ tables of photosvc, from photosvc_album_photos to"):
        alembic("")


@pytest.mark.parametrize(
    ("name", "kind", "included"),
    [
        ("photosvc_photos", "table", False),
        ("photosvc_schema", "table", False),
        ("photosvc_search_text_data", "table", False),
        ("photos", "table", True),
        ("my_photosvc_table", "table", True),
        ("photosvc_note", "column", True),
        (None, "schema", True),
        ("public", "schema", True),
    ],
)
def test_the_helper_excludes_exactly_the_tables_of_photosvc(name, kind, included):
    assert include_name(name, kind, {"schema_name": None}) is included
