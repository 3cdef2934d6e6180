"""Requests that wait to write occupy a few threads only: everybody else is answered meanwhile."""

import http.client
import sqlite3
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from photosvc.models import Photo, engine
from photosvc.models.engine import write_session
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library
from tests.helpers.programs.server import serve


@pytest.mark.parametrize(("threads", "each"), [(4, 1), (16, 6)])
def test_reads_of_others_go_on_while_forty_requests_wait_for_the_write_lock(tmp_path, threads, each):
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        add_photos(session, 30, library.clock())
        uid = session.query(Photo.uid).first()[0]
    writers = [library.token("*", role=role) for role in ("admin", "user")]
    reader = library.token("photos", role="viewer")
    options = ["--config", "python:photosvc.serving"]
    with serve(library.instance, workers=2, threads=threads, options=options) as served:
        address = urlsplit(served)

        def ask(method, path, token):
            connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
            began = time.monotonic()
            connection.request(method, path, headers={"X-Auth-Token": token})
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status, answer.headers.get("Retry-After"), time.monotonic() - began

        for _ in range(10):
            assert ask("GET", "/api/v1/photos?count=10", reader)[0] == 200
        with closing(sqlite3.connect(library.instance / "photosvc.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            started = threading.Barrier(41)

            def write(number):
                started.wait(60)
                return ask("POST", f"/api/v1/photos/{uid}/like", writers[number % 2])

            with ThreadPoolExecutor(40) as pool:
                writes = pool.map(write, range(40))
                started.wait(60)
                began, reads = time.monotonic(), []
                while time.monotonic() - began < 5:
                    reads.append(ask("GET", "/api/v1/photos?count=10", reader))
                other.execute("ROLLBACK")
                writes = list(writes)
    assert {status for status, _, _ in reads} == {200}
    assert sorted(seconds for _, _, seconds in reads)[len(reads) * 9 // 10] < 0.5
    assert max(seconds for _, _, seconds in reads) < 3
    statuses = Counter((status, retry) for status, retry, _ in writes)
    refused = (429, "1")  # beyond half of the threads of a worker, which one account has
    assert {(200, None), (503, "2")} == set(statuses) - {refused}
    assert each < statuses[200, None] <= 2 * 2 * each  # places of two accounts in each of two workers
    assert all(seconds < 3 for status, _, seconds in writes if status == 503)


def test_on_both_databases_a_request_waits_for_the_library_as_long_as_the_timeout_says(
    tmp_path, new_database, monkeypatch
):
    monkeypatch.setattr(engine, "BUSY_TIMEOUT", 200)
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.app.app_context():
        service = library.app.extensions["photosvc"]
        if service.engine().dialect.name == "sqlite":
            event.listen(service.engine(), "checkout", lambda driver, *_: driver.execute("PRAGMA busy_timeout=200"))
        with write_session(service.engine(), library=True):
            began = time.monotonic()
            with pytest.raises(OperationalError), service.writing(library=True):
                pytest.fail("another one changes the library")
            assert 0.2 <= time.monotonic() - began < 10
        with service.writing(library=True):
            pass
    library.close()
