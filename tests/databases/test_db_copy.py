"""`svc db copy`: a library goes from SQLite to PostgreSQL and back, with every row, and works there as before."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from sqlalchemy import create_engine, delete, func, select, text

from photosvc.models import SCHEMA_VERSION, Album, Base, Camera, Client, Photo, schema
from photosvc.models.engine import configure_engine, engine_options
from tests.helpers.factories.varied_library import fill_varied_library
from tests.helpers.library import SURROUNDINGS, call_svc, open_library


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_library_that_went_there_and_back_is_the_same(full, other_database, tmp_path, empty_postgres):
    there = other_database(full)
    assert svc(full, "db", "copy", there).returncode == 0
    library = moved(full, there)
    back = empty_postgres() if there.startswith("sqlite") else f"sqlite:///{tmp_path / 'back.db'}"
    assert svc(library, "db", "copy", back).returncode == 0
    assert rows(back) == rows(there)
    library.close()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_target_with_rows_is_refused_and_stays_as_it_is(full, other_database):
    address = other_database(full)
    engine = create_engine(address, **engine_options(address))
    configure_engine(engine)
    schema.upgrade(engine)
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


@pytest.mark.slow
def test_a_target_of_another_version_is_refused_before_it_is_migrated(full, other_database):
    address = other_database(full)
    engine = create_engine(address, **engine_options(address))
    configure_engine(engine)
    schema.upgrade(engine)
    with engine.begin() as connection:
        schema.set_version(connection, "0000")
    done = svc(full, "db", "copy", address)
    assert done.stderr == "Error: the target has tables at schema 0000 already: give an empty database\n"
    with engine.connect() as connection:
        assert schema.schema_version(connection) == "0000"
    engine.dispose()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_row_that_arrives_changed_undoes_the_whole_copy(full, other_database):
    address = other_database(full)
    engine = create_engine(address, **engine_options(address))
    configure_engine(engine)
    schema.upgrade(engine)
    with engine.begin() as connection:
        for statement in DAMAGING[engine.dialect.name]:
            connection.execute(text(statement))
    done = svc(full, "db", "copy", address)
    message = "Error: the rows of photosvc_clients are not those of the source; nothing was copied\n"
    assert (done.returncode, done.stderr.endswith(message)) == (1, True)
    assert not any(rows(address).values())
    with engine.begin() as connection:
        connection.execute(text(f"DROP TRIGGER damage{' ON photosvc_clients' * (engine.dialect.name != 'sqlite')}"))
    engine.dispose()
    assert svc(full, "db", "copy", address).returncode == 0


@pytest.mark.slow
def test_the_source_is_only_read_during_a_copy_and_a_copy_that_is_killed_goes_on(tmp_path):
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        fill_varied_library(session, photos=3000)
    library.close()
    target = tmp_path / "target.db"
    environ = {**os.environ, "PHOTOSVC_INSTANCE": str(library.instance)}
    command = [sys.executable, "-c", "from photosvc.main import main; main()", "db", "copy", f"sqlite:///{target}"]
    process = subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "photosvc_photos:" in line:
            break
    with sqlite3.connect(library.instance / "photosvc.db", timeout=0.1) as other:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("UPDATE photosvc_photos SET title = 'lost'")
        assert other.execute("SELECT count(*) FROM photosvc_photos").fetchone() == (3000,)
    other.close()
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stderr.close()
    time.sleep(0.1)
    with sqlite3.connect(target) as half:
        assert half.execute("SELECT count(*) FROM photosvc_photos").fetchone() == (3000,)
    half.close()
    done = call_svc("db", "copy", f"sqlite:///{target}", instance=library.instance)
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "  going on with the copy that was not finished")
    with sqlite3.connect(target) as whole:
        assert whole.execute("SELECT count(*) FROM photosvc_photos").fetchone() == (3000,)
        assert whole.execute("SELECT version_num FROM photosvc_schema").fetchone() == (SCHEMA_VERSION,)
        assert whole.execute("SELECT count(*) FROM sqlite_master WHERE name = 'photosvc_copy'").fetchone() == (0,)
    whole.close()


#: A copy with small transactions, whose process kills itself when the target is about to commit the n-th one.
KILLED = """
import os, signal, sys
from contextlib import contextmanager
from sqlalchemy import event
from photosvc.backup import copying
from photosvc.main import main

left, inner, copying._ROWS = int(sys.argv.pop(1)), copying.target_engine, 10

def count(_connection):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

@contextmanager
def counting(address):
    with inner(address) as engine:
        event.listen(engine, "commit", count)
        yield engine

copying.target_engine = counting
main()
"""


def copy_until(library, address, commits):
    """Copy until the commit with this number, at which the process kills itself."""
    environ = {
        **SURROUNDINGS,
        "PHOTOSVC_INSTANCE": str(library.instance),
        "PHOTOSVC_DATABASE_URI": library.app.config["SQLALCHEMY_DATABASE_URI"],
    }
    command = [sys.executable, "-c", KILLED, str(commits), "db", "copy", address]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=600, check=False)


def copied(address):
    """Rows of the target that a copy counts on."""
    engine = create_engine(address, **engine_options(address))
    with engine.connect() as connection:
        has_begun = engine.dialect.has_table(connection, "photosvc_copy")
        found = connection.scalar(text("SELECT sum(rows) FROM photosvc_copy")) if has_begun else 0
    engine.dispose()
    return int(found or 0)


@pytest.mark.slow
def test_a_copy_that_is_killed_again_and_again_loses_nothing_that_was_stored(full, other_database):
    address, before = other_database(full), 0
    for number in (1, 2, 30, 18):
        done = copy_until(full, address, number)
        assert done.returncode == -signal.SIGKILL, done.stderr
        now = copied(address)
        assert now >= before + (number - 1) * (before > 0)
        before = now
    assert before > 250
    source = rows(full.app.config["SQLALCHEMY_DATABASE_URI"])
    done = svc(full, "db", "copy", address)
    assert done.returncode == 0, done.stderr
    assert "copied again" not in done.stderr
    assert f"Copied and compared {sum(map(len, source.values()))} rows." in done.stderr
    assert rows(address) == source
    again = svc(full, "db", "copy", address)
    assert (again.returncode, "already: give an empty database" in again.stderr) == (1, True)


@pytest.mark.slow
def test_what_changes_in_the_source_between_two_runs_is_copied_again(full, other_database):
    address = other_database(full)
    assert copy_until(full, address, 45).returncode == -signal.SIGKILL
    with full.session() as session:
        photo = session.scalars(select(Photo).order_by(Photo.id).limit(1)).one()
        photo.title = "Changed meanwhile"
        session.delete(session.scalars(select(Album).order_by(Album.id).limit(1)).one())
        session.add(Camera(make="Last", model="One"))
    done = svc(full, "db", "copy", address)
    assert done.returncode == 0, done.stderr
    again = [line for line in done.stderr.splitlines() if line.endswith("has changed meanwhile, and is copied again")]
    assert [line.split()[0] for line in again] == ["photosvc_albums", "photosvc_photos"]
    assert rows(address) == rows(full.app.config["SQLALCHEMY_DATABASE_URI"])


@pytest.mark.slow
def test_no_process_serves_or_migrates_an_unfinished_copy(full, other_database):
    address = other_database(full)
    assert copy_until(full, address, 30).returncode == -signal.SIGKILL
    sentence = (
        "The database is the unfinished copy of another one: run the same `svc db copy` again, which finishes it."
    )
    half = moved(full, address)
    assert half.app.test_client().get("/api/v1/status").json["error"] == sentence
    half.close()
    for command in (["users", "ls"], ["db", "upgrade"]):
        done = call_svc(*command, instance=full.instance, environ={"PHOTOSVC_DATABASE_URI": address})
        assert (done.returncode, done.stderr) == (1, f"Error: {sentence}\n")


@pytest.mark.slow
def test_an_unfinished_copy_by_another_version_is_refused(full, other_database):
    address = other_database(full)
    assert copy_until(full, address, 3).returncode == -signal.SIGKILL
    engine = create_engine(address, **engine_options(address))
    with engine.begin() as connection:
        schema.set_version(connection, f"{schema.UNFINISHED}0000")
    engine.dispose()
    done = svc(full, "db", "copy", address)
    message = "Error: the target has the unfinished copy of another version: give an empty database\n"
    assert (done.returncode, done.stderr) == (1, message)
