"""Requests that wait to write occupy a few threads only: everybody else is answered meanwhile."""

import http.client
import sqlite3
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from photosvc.core.errors import PhotosvcError
from photosvc.dav import dav_request
from photosvc.models import Photo, engine
from photosvc.models.engine import write_session
from photosvc.serving.arrival import MOST_HEAD
from photosvc.web.current import BATCHES, SELECTIONS, SELECTIONS_EACH, WAITING, WAITING_EACH
from photosvc.web.transactions import Writers
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library
from tests.helpers.programs.server import serve


def test_an_owner_and_all_owners_have_a_share_of_the_writing_threads():
    writers = Writers(threads=16)
    taken = [writers.take("ann") for _ in range(7)]
    assert [bool(free) for free in taken] == [True] * 6 + [False]
    taken += [writers.take("bob") for _ in range(3)]
    assert [bool(free) for free in taken[7:]] == [True, True, False]
    taken[0]()
    assert writers.take("ann") is not None
    for free in taken[1:]:
        if free is not None:
            free()
    assert [bool(writers.take("bob")) for _ in range(7)] == [True] * 6 + [False]


def test_those_who_sign_in_have_places_that_no_account_takes():
    writers = Writers(threads=16)
    for owner in (*["ann"] * 6, *["bob"] * 2):
        assert writers.take(owner) is not None
    assert [bool(writers.take("")) for _ in range(3)] == [True, True, False]


def test_a_write_waits_while_places_change_hands_and_is_refused_when_none_does():
    writers = Writers(threads=8)
    others = [writers.take("ann") for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:

        def write(_number):
            if (free := writers.take("ann", wait=True)) is None:
                return False
            time.sleep(0.1)
            free()
            return True

        assert list(pool.map(write, range(4))) == [True] * 4  # together they take longer than a place may stand still
    assert None not in others
    held = writers.take("ann")
    assert held is not None
    began = time.monotonic()
    while time.monotonic() < began + 0.3:
        writers.take("bob")()
    began = time.monotonic()
    assert writers.take("ann", wait=True) is None  # others' places are of no use
    assert time.monotonic() - began < 0.2  # and not 0.25, for which a place may stand still
    began, bob = time.monotonic(), writers.take("bob")
    assert writers.take("cid", wait=True) is None
    assert 0.2 < time.monotonic() - began < 5
    bob()
    assert writers.take("cid", wait=True) is not None


@pytest.mark.parametrize(("threads", "total", "each"), [(1, 1, 1), (4, 2, 1), (8, 4, 3), (64, 32, 24)])
def test_half_of_the_threads_write_at_most(threads, total, each):
    writers = Writers(threads)
    assert sum(writers.take("ann") is not None for _ in range(threads)) == each
    assert sum(writers.take(f"user {number}") is not None for number in range(threads)) == total - each


def test_a_write_without_a_place_is_refused_and_an_optional_one_left_out(library):
    with library.app.app_context():
        service = library.app.extensions["photosvc"]
        service.writers.let_write(2)
        held = [service.writers.take(""), service.writers.take("")]
        with pytest.raises(PhotosvcError) as error, service.writing():
            pytest.fail("it must not begin")
        assert (error.value.status, error.value.retry_after) == (503, 2)
        assert not service.write_if_free(lambda _session: pytest.fail("it must be left out"))
        held[0]()
        with service.writing():
            assert service.writers.take("") is None
        assert service.writers.take("") is not None


def test_the_guide_names_the_places():
    guide = (Path(__file__).parents[2] / "docs/operations.md").read_text()
    assert (
        "| 8 in all, 6 of one account, and 2 more that sign in or ask for a token; each waits for 15 seconds |" in guide
    )
    writers = Writers(16)
    assert sum(writers.take("ann") is not None for _ in range(16)) == 6
    assert sum(writers.take(f"user {number}") is not None for number in range(16)) == 2
    assert sum(writers.take("") is not None for _ in range(16)) == 2
    assert f"{WAITING} in all, {WAITING_EACH} of one account; each for {dav_request.PATIENCE:.0f} seconds" in guide
    assert f"{SELECTIONS} in all, {SELECTIONS_EACH} of an account on all workers" in guide
    assert f"1 of an account on all workers, {BATCHES} of a worker" in guide
    assert f"at most {MOST_HEAD >> 10} KiB" in guide


@pytest.mark.parametrize(("threads", "each"), [(4, 1), (16, 6)])
def test_reads_of_others_go_on_while_forty_requests_wait_for_the_write_lock(tmp_path, threads, each):
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        add_photos(session, 30, library.clock())
        uid = session.query(Photo.uid).first()[0]
    writers = [library.token("*", role=role) for role in ("admin", "user")]
    reader = library.token("photos", role="viewer")
    options = ["--worker-class", "photosvc.serving.Worker"]
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
    assert set(statuses) == {(200, None), (503, "2")}
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
