"""A host's own migrations, made by the real Flask-Migrate and Alembic, leave the tables of photosvc alone."""

from contextlib import chdir

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, inspect

from photosvc.migrations import include_name
from tests.helpers.library import migrated_database
from tests.helpers.programs.forks import SURROUNDINGS, run

HOST = """
from flask import Flask
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from photosvc import PhotoService
from photosvc.migrations import include_name

app = Flask(__name__, instance_path={folder!r})
app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite:///{folder}/host.db"
db = SQLAlchemy(app)

class Note(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    text = db.Column(db.Text)
    {more}

{mounts}
"""
MOUNTS = {
    "photosvc first": "PhotoService(app, db=db, url_prefix='/media')\nMigrate(app, db, include_name=include_name)",
    "Flask-Migrate first": "Migrate(app, db, include_name=include_name)\nPhotoService(app, db=db, url_prefix='/media')",
    "without the helper": "PhotoService(app, db=db, url_prefix='/media')\nMigrate(app, db)",
}


class Host:
    """An app in a folder, with the tables of photosvc in its database, and the real command `flask`."""

    def __init__(self, folder, mounts):
        self.folder, self.mounts = folder, mounts
        (folder / "host.db").write_bytes(migrated_database(of_a_host=True))
        self.write()

    def write(self, more=""):
        source = HOST.format(folder=str(self.folder), more=more, mounts=MOUNTS[self.mounts])
        (self.folder / "app.py").write_text(source)

    def flask(self, *arguments):
        with chdir(self.folder):
            return run("--app", "app.py", *arguments, program="flask", environ=SURROUNDINGS, timeout=300)

    def written(self):
        return "".join(path.read_text() for path in (self.folder / "migrations/versions").glob("*.py"))

    def tables(self):
        engine = create_engine(f"sqlite:///{self.folder}/host.db")
        names = set(inspect(engine).get_table_names())
        engine.dispose()
        return names


@pytest.fixture
def _flask_migrate():
    pytest.importorskip("flask_migrate", reason="needs the extra `test`")


@pytest.mark.slow
@pytest.mark.usefixtures("_flask_migrate")
@pytest.mark.parametrize("mounts", ["photosvc first", "Flask-Migrate first"])
def test_flask_migrate_adds_the_tables_of_the_host_and_drops_none_of_ours(tmp_path, mounts):
    host = Host(tmp_path, mounts)
    before = host.tables()
    for arguments in (("init",), ("migrate", "-m", "notes"), ("upgrade",)):
        done = host.flask("db", *arguments)
        assert done.returncode == 0, done.stderr
    assert "create_table('note'" in host.written()
    assert "photosvc" not in host.written()
    host.write("more = db.Column(db.Text)")
    for arguments in (("migrate", "-m", "more"), ("upgrade",), ("downgrade",), ("upgrade",)):
        done = host.flask("db", *arguments)
        assert done.returncode == 0, done.stderr
    assert "photosvc" not in host.written()
    assert host.tables() == before | {"note", "alembic_version"}
    assert host.flask("svc", "db", "check").returncode == 0
    assert "No new upgrade operations detected" in host.flask("db", "check").stdout


@pytest.mark.slow
@pytest.mark.usefixtures("_flask_migrate")
def test_without_the_helper_flask_migrate_stops_with_a_sentence_instead_of_dropping_a_library(tmp_path):
    host = Host(tmp_path, "without the helper")
    assert host.flask("db", "init").returncode == 0
    done = host.flask("db", "migrate", "-m", "notes")
    assert done.returncode == 1
    assert "this migration would drop" in done.stderr
    assert "Migrate(app, db, include_name=include_name)" in done.stderr
    assert "Traceback" not in done.stderr
    assert host.written() == ""


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
