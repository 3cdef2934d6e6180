"""Flask-Migrate beside the tables of photosvc."""

from contextlib import chdir

import pytest
from sqlalchemy import create_engine, inspect

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
