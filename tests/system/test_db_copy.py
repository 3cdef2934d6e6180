"""`svc db copy`: a library goes from SQLite to PostgreSQL and back, with every row, and works there as before."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy import create_engine, delete, func, select, text

from photosvc.models import Base, Camera, Client, schema
from photosvc.models.engine import configure_engine, engine_options
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.library import call_svc, open_library


@pytest.fixture
def other_database(new_library, tmp_path, request):
    """A function that gives the address of an empty database of the other kind than that of the library."""

    def make(library):
        if library.app.config["SQLALCHEMY_DATABASE_URI"].startswith("sqlite"):
            return request.getfixturevalue("empty_postgres")()
        return f"sqlite:///{tmp_path / 'other.db'}"

    return make


@pytest.fixture
def full(new_library):
    """A library with photos of all kinds, albums, an account, a token and an OAuth2 client."""
    library = new_library()
    with library.session() as session:
        fill_varied_library(session, photos=30)
    for command in (
        ["clients", "add", "--name", "prometheus", "--scope", "metrics"],
        ["auth", "add", "--name", "frame", "--scope", "photos"],
    ):
        assert svc(library, *command).returncode == 0
    return library


def svc(library, *arguments):
    environ = {"PHOTOSVC_DATABASE_URI": library.app.config["SQLALCHEMY_DATABASE_URI"]}
    return call_svc(*arguments, instance=library.instance, environ=environ)


def rows(address):
    """Table -> its rows, sorted."""
    engine = create_engine(address, **engine_options(address))
    with engine.connect() as connection:
        found = {
            table.name: sorted(map(repr, connection.execute(select(table)))) for table in Base.metadata.sorted_tables
        }
    engine.dispose()
    return found


def migrated(address):
    """The engine of a database with the tables of a new library."""
    engine = create_engine(address, **engine_options(address))
    configure_engine(engine)
    schema.upgrade(engine)
    return engine


def moved(library, address):
    """The same instance on another database."""
    return open_library(library.instance, settings={"PHOTOSVC_DATABASE_URI": address}, upgrade=False)


def test_a_wrong_target_is_named_and_not_the_database_of_the_library(tmp_path):
    library = open_library(tmp_path / "instance")
    library.close()
    (tmp_path / "text.db").write_text("no database")
    (tmp_path / "link.db").symlink_to(library.instance / "photosvc.db")
    refusals = {
        f"sqlite:///{tmp_path}/text.db": "the target cannot be used: it is damaged or no database",
        f"sqlite:///{tmp_path}": "the target cannot be used: unable to open database file",
        "postgresql+psycopg://127.0.0.1:1/none": "the target cannot be used: connection failed: ",
        f"sqlite:///{tmp_path}/link.db": "the target is the database of the service itself",
        "sqlite://": "the target is no file: a database in memory ends with this command",
        "sqlite:///file:/x.db?uri=true": "the target is no file",
        "sqlite:///copy.db": "the target needs its whole path, as in sqlite:////folder/photosvc.db",
    }
    for address, sentence in refusals.items():
        done = call_svc("db", "copy", address, instance=library.instance)
        assert (done.returncode, done.stderr[: len("Error: " + sentence)]) == (1, f"Error: {sentence}")


def test_every_row_arrives_and_searches_answer_as_before(full, other_database):
    token, address = full.token(), other_database(full)
    queries = ["", "q=lake", "q=camera:canon", "order=oldest&count=7", "q=-lake&merged=true", "s="]
    before = [full.get(query, token=token).get_json() for query in queries]
    done = svc(full, "db", "copy", address)
    assert done.returncode == 0, done.stderr
    source = rows(full.app.config["SQLALCHEMY_DATABASE_URI"])
    assert rows(address) == source
    assert f"Copied and compared {sum(map(len, source.values()))} rows." in done.stderr
    assert "  photosvc_photos: 30\n" in done.stderr
    library = moved(full, address)
    assert [library.get(query, token=token).get_json() for query in queries] == before
    with library.app.app_context():
        assert svc(library, "db", "check").returncode == 0
    library.close()


def test_a_library_that_went_there_and_back_is_the_same(full, other_database, tmp_path, empty_postgres):
    there = other_database(full)
    assert svc(full, "db", "copy", there).returncode == 0
    library = moved(full, there)
    back = empty_postgres() if there.startswith("sqlite") else f"sqlite:///{tmp_path / 'back.db'}"
    assert svc(library, "db", "copy", back).returncode == 0
    assert rows(back) == rows(there)
    library.close()


def test_numbers_of_deleted_rows_are_not_given_again(full, other_database):
    with full.session() as session:
        last = session.scalar(select(func.max(Client.id)))
        session.execute(delete(Client).where(Client.id == last))
        session.commit()
    address = other_database(full)
    assert svc(full, "db", "copy", address).returncode == 0
    library = moved(full, address)
    assert svc(library, "clients", "add", "--name", "next", "--scope", "photos").returncode == 0
    with library.session() as session:
        assert session.scalar(select(func.max(Client.id))) == last + 1
        session.add(Camera(make="New", model="One"))
        session.commit()
        assert session.scalar(select(func.max(Camera.id))) == len(session.scalars(select(Camera.id)).all())
    library.close()


def test_a_target_with_rows_is_refused_and_stays_as_it_is(full, other_database):
    address = other_database(full)
    engine = migrated(address)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO photosvc_disks (folder) VALUES ('there')"))
    engine.dispose()
    before = rows(address)
    done = svc(full, "db", "copy", address)
    assert (done.returncode, done.stderr) == (
        1,
        "Error: the target has rows in photosvc_disks already: give an empty database\n",
    )
    assert rows(address) == before


def test_a_target_of_another_version_is_refused_before_it_is_migrated(full, other_database):
    address = other_database(full)
    engine = migrated(address)
    with engine.begin() as connection:
        connection.execute(text("UPDATE photosvc_schema SET version_num = '0000'"))
    done = svc(full, "db", "copy", address)
    assert done.stderr == "Error: the target has tables at schema 0000 already: give an empty database\n"
    with engine.connect() as connection:
        assert schema.schema_version(connection) == "0000"
    engine.dispose()


def test_the_database_itself_and_what_is_none_are_refused(full):
    own = full.app.config["SQLALCHEMY_DATABASE_URI"]
    assert svc(full, "db", "copy", own).stderr == "Error: the target is the database of the service itself\n"
    done = svc(full, "db", "copy", "mysql://host/photos")
    assert (done.returncode, "expected an address such as" in done.stderr) == (2, True)


#: Statements by which a database stores another name of a client than it is given.
DAMAGING = {
    "sqlite": [
        (
            "CREATE TRIGGER damage AFTER INSERT ON photosvc_clients BEGIN "
            "UPDATE photosvc_clients SET name = 'changed' WHERE id = NEW.id; END"
        )
    ],
    "postgresql": [
        (
            "CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN NEW.name = 'changed'; RETURN NEW; END $$"
        ),
        "CREATE TRIGGER damage BEFORE INSERT ON photosvc_clients FOR EACH ROW EXECUTE FUNCTION damage()",
    ],
}


def test_a_row_that_arrives_changed_undoes_the_whole_copy(full, other_database):
    address = other_database(full)
    engine = migrated(address)
    with engine.begin() as connection:
        for statement in DAMAGING[engine.dialect.name]:
            connection.execute(text(statement))
    done = svc(full, "db", "copy", address)
    message = "Error: the rows of photosvc_clients are not those of the source; nothing was copied\n"
    assert (done.returncode, done.stderr.endswith(message)) == (1, True)
    assert rows(address)["photosvc_clients"] == []
    with engine.begin() as connection:
        connection.execute(text(f"DROP TRIGGER damage{' ON photosvc_clients' * (engine.dialect.name != 'sqlite')}"))
    engine.dispose()
    assert svc(full, "db", "copy", address).returncode == 0


def test_the_source_is_only_read_during_a_copy_and_a_copy_that_is_killed_leaves_nothing(tmp_path):
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        fill_varied_library(session, photos=300)
    library.close()
    target = tmp_path / "target.db"
    environ = {**os.environ, "PHOTOSVC_INSTANCE": str(library.instance)}
    command = [sys.executable, "-c", "from photosvc.main import main; main()", "db", "copy", f"sqlite:///{target}"]
    process = subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "photosvc_photos:" in line:
            process.send_signal(signal.SIGSTOP)
            break
    with closing(sqlite3.connect(library.instance / "photosvc.db", timeout=0.1)) as other:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("UPDATE photosvc_photos SET title = 'lost'")
        assert other.execute("SELECT count(*) FROM photosvc_photos").fetchone() == (300,)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    with closing(sqlite3.connect(target)) as half:
        assert half.execute("SELECT count(*) FROM photosvc_photos").fetchone() == (0,)
    assert call_svc("db", "copy", f"sqlite:///{target}", instance=library.instance).returncode == 0
    with closing(sqlite3.connect(target)) as whole:
        assert whole.execute("SELECT count(*) FROM photosvc_photos").fetchone() == (300,)
