"""Checks of monitors: whether the process lives, and whether it can answer requests, tested at each check."""

import pytest
from sqlalchemy import text

from photosvc.models import schema
from photosvc.web.service import current_service
from tests.helpers.api_client import check_error
from tests.helpers.library import DATABASE, call_svc, copy_library, open_library
from tests.helpers.programs.ports import free_port

READY = ("/readyz", "/status")


def ask(library, path):
    return library.app.test_client().get(f"/api/v1{path}")


def words(library):
    return [ask(library, path).json["status"] for path in ("/healthz", *READY)]


def test_a_service_lives_is_ready_and_operational(library):
    assert words(library) == ["alive", "ready", "operational"]
    assert ask(library, "/healthz").json["version"]


@pytest.mark.parametrize("path", READY)
def test_an_old_schema_is_reported_also_when_it_fitted_before(library, path):
    assert ask(library, path).status_code == 200
    with library.app.app_context():
        schema.drop(current_service().engine())
    assert "run `svc db upgrade`" in check_error(ask(library, path), 503)["error"]
    assert ask(library, "/healthz").status_code == 200


def test_a_request_that_fails_by_another_schema_says_so(library):
    client, headers = library.app.test_client(), {"X-Auth-Token": library.token()}
    assert client.get("/api/v1/labels", headers=headers).status_code == 200
    with library.session() as session:
        session.execute(text("ALTER TABLE photosvc_keywords RENAME TO photosvc_gone"))
    assert client.get("/api/v1/labels?count=1", headers=headers).status_code == 503
    with library.session() as session:
        session.execute(text("UPDATE photosvc_schema SET version_num = '0000'"))
    error = check_error(client.get("/api/v1/labels?count=2", headers=headers), 503)["error"]
    assert "at schema 0000" in error


@pytest.mark.parametrize("path", READY)
def test_a_missing_or_damaged_database_is_reported(library, path):
    assert ask(library, path).status_code == 200
    library.close()
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (library.instance / name).unlink(missing_ok=True)
    check_error(ask(library, path), 503)
    library.close()
    (library.instance / DATABASE).write_bytes(b"no database" * 1000)
    check_error(ask(library, path), 503)
    assert ask(library, "/healthz").json["status"] == "alive"


def test_a_service_without_tables_lives_and_is_not_ready(tmp_path):
    library = open_library(tmp_path / "instance", upgrade=False)
    assert ask(library, "/healthz").status_code == 200
    check_error(ask(library, "/readyz"), 503)
    library.close()


def with_another_key(library, folder):
    """The library as a machine has it that was given the database without the key."""
    ask(library, "/status")
    library.close()
    other = copy_library(library, folder)
    other.close()
    (other.instance / "secret_key").write_text("x" * 64)
    return open_library(other.instance, upgrade=False)


def test_with_another_service_key_every_request_is_refused_and_nothing_is_changed(library, tmp_path):
    token = library.token()
    other = with_another_key(library, tmp_path / "other")
    for path in (*READY, "/photos"):
        answer = other.app.test_client().get(f"/api/v1{path}", headers={"X-Auth-Token": token})
        assert "put the right one into the file secret_key" in check_error(answer, 503)["error"]
    assert ask(other, "/healthz").status_code == 200
    other.close()


def test_with_another_service_key_commands_stop_with_a_sentence(library, tmp_path):
    other = with_another_key(library, tmp_path / "other")
    done = call_svc("users", "ls", instance=other.instance)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: The database belongs to another service key than this process has: put ")
    assert call_svc("keys", "rotate", "--service", instance=other.instance).returncode == 1
    given = call_svc("keys", "rotate", "--service", "--old-key-is-lost", "--yes", instance=other.instance)
    assert given.returncode == 0, given.stderr
    assert call_svc("users", "ls", instance=other.instance).returncode == 0
    other.close()


def test_a_database_gets_its_key_with_its_tables(tmp_path):
    assert call_svc("db", "upgrade", instance=tmp_path).returncode == 0
    (tmp_path / "secret_key").write_text("x" * 64)
    assert "another service key" in call_svc("db", "upgrade", instance=tmp_path).stderr


@pytest.mark.parametrize("path", ["/photos", "/readyz"])
def test_an_outage_of_the_database_is_one_line_of_the_log_for_all_requests(tmp_path, caplog, path):
    address = f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/photosvc"
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": address}, upgrade=False)
    client = library.app.test_client()

    def lines():
        statuses = {client.get(f"/api/v1{path}", headers={"X-Auth-Token": "0" * 48}).status_code for _ in range(20)}
        assert statuses == {503}
        found = [record.getMessage() for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]
        caplog.clear()
        return found

    (line,) = lines()
    assert line.startswith("database: connection failed: ")
    assert lines() == []
    library.close()


def test_each_outage_has_a_line_of_the_log_when_it_begins_and_one_when_it_ends(library, caplog):
    def away(seconds):
        """The lines of an outage in which two requests failed."""
        library.close()
        database, kept = library.instance / DATABASE, library.instance / "kept.db"
        database.rename(kept)
        database.mkdir()  # no file that could be opened
        assert {ask(library, path).status_code for path in READY} == {503}
        library.clock.move(seconds=seconds)
        database.rmdir()
        kept.rename(database)
        assert [ask(library, path).status_code for path in READY] == [200, 200]
        return caplog.messages

    library.index()
    assert ask(library, "/readyz").status_code == 200
    expected = [
        "database: unable to open database file",
        "the database answers again after 6 s (2 requests failed)",
        "database: unable to open database file",
        "the database answers again after 30 s (2 requests failed)",
    ]
    assert away(6) == expected[:2]
    assert away(30) == expected
