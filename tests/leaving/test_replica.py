"""Searches from a real streaming replica of PostgreSQL: never older than the primary, and none fails with it."""

import json
import logging
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import event, make_url

from photosvc.core.errors import SettingError
from photosvc.models import replica as replicas
from photosvc.models.replica import Replica, Standing, moment
from photosvc.web.current import current_service
from tests.helpers import shared
from tests.helpers.library import ADDRESS, call_svc, open_library
from tests.helpers.pictures import jpeg
from tests.helpers.programs.server import serve

#: Every address whose searches are read from the replica.
READS = [
    "/photos",
    "/photos?q=lake&merged=true&total=true",
    "/photos/facets?by=year",
    "/suggest?q=la",
    "/photos/view",
    "/geo",
    "/photos/timeline",
    "/photos/timeline/0000-00",
    "/photos/timeline/0000-00/photos",
    "/photos/sequence",
    "/photos/clusters",
]


@pytest.fixture(scope="module")
def replica(postgres_server):
    """A replica of the server of these tests."""
    from tests.helpers.programs.replica import StreamingReplica

    with shared.new_folder() as folder:
        started = StreamingReplica(postgres_server.format("postgres"), Path(folder))
        yield started
        started.close()


@pytest.fixture
def library(new_postgres, replica, tmp_path):
    """A library with one photo whose searches are read from the replica; `asked` is whom each search asked."""
    address = new_postgres()
    settings = {
        "PHOTOSVC_DATABASE_URI": address,
        "PHOTOSVC_READ_DATABASE_URI": make_url(replica.address)
        .set(database=make_url(address).database)
        .render_as_string(hide_password=False),
    }
    opened = open_library(tmp_path / "instance", settings=settings)
    opened.put("lake.jpg", jpeg(64, 48))
    opened.index()
    opened.find()  # the first request gives the database its service key
    with opened.app.app_context():
        ours = current_service().replica
    replica.catch_up()
    yield opened
    ours.close()
    opened.close()


@pytest.fixture
def asked(library, monkeypatch):
    """A list with True for each search that was read from the replica, and False for each other one."""
    with library.app.app_context():
        replica = current_service().replica
    answers, really = [], replica.open

    def note(needed):
        answers.append((opened := really(needed)) is not None)
        return opened

    monkeypatch.setattr(replica, "open", note)
    return answers


pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", READS)
def test_a_search_is_read_from_the_replica_that_has_all_changes(library, asked, path):
    route, _, query = path.partition("?")
    from_replica = library.get(query, path=f"/api/v1{route}")
    assert from_replica.status_code == 200, from_replica.text
    assert asked == [True]
    with library.app.app_context():
        current_service().replica = None
    from_primary = library.get(query, path=f"/api/v1{route}")
    assert (from_replica.data, from_replica.headers.get("ETag")) == (
        from_primary.data,
        from_primary.headers.get("ETag"),
    )


def test_a_change_is_found_at_once_while_the_replica_is_behind(library, asked, replica):
    (record,) = library.find()
    assert asked == [True]
    with replica.behind():
        library.call("PUT", f"/photos/{record['UID']}", json={"Title": "Stars"})
        asked.clear()
        assert [one["Title"] for one in library.find(q="title:stars")] == ["Stars"]
        assert asked == [False]
        assert library.call("GET", "/readyz")["replica"] == "behind"
    asked.clear()
    assert [one["Title"] for one in library.find(q="title:stars")] == ["Stars"]
    assert asked == [True]
    assert library.call("GET", "/readyz")["replica"] == "in step"


def test_an_unchanged_library_is_read_from_a_replica_that_is_behind_by_other_things(library, asked, replica):
    with replica.behind():
        library.token("photos")  # a credential is no change of the library
        assert len(library.find(token=library.token("photos"))) == 1
        assert asked == [True]


def test_a_replica_that_is_lost_fails_no_request_and_comes_back(library, asked, replica, caplog, monkeypatch):
    monkeypatch.setattr(replicas, "REST", 0.5)
    assert len(library.find()) == 1
    for _ in range(2):
        caplog.clear()
        replica.stop()
        try:
            assert [len(library.find()) for _ in range(20)] == [1] * 20
            assert library.call("GET", "/readyz")["replica"] == "away"
            assert "photosvc_replica_available 0.0" in library.call("GET", "/metrics")
        finally:
            replica.start()
        lines = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
        assert len(lines) == 1, lines
        assert lines[0].startswith("the replica failed, searches are read from the primary: ")
        time.sleep(0.6)
        asked.clear()
        assert len(library.find()) == 1
        assert asked == [True]
    metrics = library.call("GET", "/metrics")
    assert "photosvc_replica_available 1.0" in metrics
    assert "photosvc_replica_behind_bytes " in metrics


def test_a_replica_that_stops_answering_is_left_alone(library, asked, replica, caplog, monkeypatch):
    monkeypatch.setattr(replicas, "REST", 600)
    with replica.silent():
        assert [len(library.find()) for _ in range(3)] == [1] * 3
        assert asked == [False] * 3 or asked == [True, False, False]  # noticed by the first question, or by the search
    lines = [one.getMessage() for one in caplog.records if "the replica failed" in one.getMessage()]
    assert len(lines) == 1, lines


def test_a_search_that_the_replica_does_not_finish_is_repeated_on_the_primary(library, asked, replica, caplog):
    with library.app.app_context():
        engine = current_service().replica.engine()
    broken = []

    def end(connection, cursor, statement, *_):
        if "photosvc_search_rows" in statement and not broken:
            broken.append(statement)
            cursor.connection.close()

    event.listen(engine, "before_cursor_execute", end)
    assert len(library.find(q="name:lake")) == 1
    assert broken
    assert len([one for one in caplog.records if "the replica failed" in one.getMessage()]) == 1


def test_a_replica_that_stays_behind_is_one_line(library, replica, caplog, monkeypatch):
    monkeypatch.setattr(replicas, "LATE", 0.2)
    with replica.behind():
        library.call("PUT", f"/photos/{library.find()[0]['UID']}", json={"Title": "Stars"})
        for _ in range(4):
            assert len(library.find(q="title:stars")) == 1
            time.sleep(0.15)
    lines = [one.getMessage() for one in caplog.records if "replica" in one.getMessage()]
    assert len(lines) == 1, lines


def test_another_database_is_no_replica(library, new_postgres, caplog):
    with library.app.app_context():
        service = current_service()
        with service.reading() as connection:
            needed = moment(connection)
            for address, reason in (
                (str(service.engine().url.render_as_string(hide_password=False)), "no streaming replica"),
                (service.settings.read_database_uri, "another library"),
            ):
                other = Replica(address)
                asked = needed if reason.startswith("no") else needed._replace(key=1)
                assert other.open(asked) is None
                assert reason in caplog.records[-1].getMessage()
                other.close()
            assert service.replica.report(connection).standing is Standing.IN_STEP


def test_two_workers_show_each_change_at_once(library, replica, new_postgres):
    """Changes by one worker are found by the other one, with the replica far behind now and then."""
    environ = {
        name: getattr(library_settings(library), field)
        for name, field in (
            ("PHOTOSVC_DATABASE_URI", "database_uri"),
            ("PHOTOSVC_READ_DATABASE_URI", "read_database_uri"),
        )
    }
    token, uid = library.token(), library.find()[0]["UID"]

    def ask(method, path, body=None):
        headers = {"X-Auth-Token": token, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{url}/api/v1{path}", method=method, data=data, headers=headers), timeout=30) as answer:
            return json.load(answer), answer.headers["X-Worker"]

    workers = set()
    with serve(library.instance, workers=2, threads=4, environ=environ) as url:
        for number in range(30):
            _, writer = ask("PUT", f"/photos/{uid}", {"Title": f"Title {number}"})
            found, reader = ask("GET", "/photos?count=1")
            assert found[0]["Title"] == f"Title {number}"
            workers |= {writer, reader}
        with replica.behind():
            for number in range(10):
                ask("PUT", f"/photos/{uid}", {"Title": f"Late {number}"})
                assert ask("GET", "/photos?count=1")[0][0]["Title"] == f"Late {number}"
    assert len(workers) == 2
    told = call_svc("status", "--json", instance=library.instance, environ=environ)
    assert json.loads(told.stdout)["replica"] == "in step"


def library_settings(library):
    with library.app.app_context():
        return current_service().settings


def test_the_cluster_and_a_check_tell_of_the_replica(library, replica):
    settings = library_settings(library)
    environ = {
        "PHOTOSVC_DATABASE_URI": settings.database_uri,
        "PHOTOSVC_READ_DATABASE_URI": settings.read_database_uri,
    }
    found = library.call("GET", "/cluster")["database"]
    assert (found["role"], found["replica"], found["behind"] >= 0) == ("primary", "in step", True)
    checked = call_svc("check", instance=library.instance, environ=environ)
    assert (checked.returncode, checked.stdout.startswith("The replica is in step: ")) == (0, True)
    replica.stop()
    try:
        assert library.call("GET", "/cluster/health")["findings"] == [
            {
                "code": "replica_away",
                "name": "replica",
                "count": 1,
                "reason": "the replica of the database does not answer; the primary is asked instead",
            }
        ]
        assert library.call("GET", "/cluster")["database"]["behind"] is None
        checked = call_svc("check", "--json", instance=library.instance, environ=environ)
        record = json.loads(checked.stdout)
        assert (checked.returncode, record["replica"]) == (1, {"standing": "away", "behind": None})
        assert record["faults"] == {"replica_away": 1}
    finally:
        replica.start()


def test_sqlite_has_no_replica(tmp_path):
    with pytest.raises(SettingError, match="a library on SQLite has no replica"):
        open_library(
            tmp_path / "instance",
            settings={"PHOTOSVC_READ_DATABASE_URI": "postgresql://photosvc@localhost/photosvc"},
            address=ADDRESS,
        )
