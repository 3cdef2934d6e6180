"""The service as it runs: gunicorn with two workers, asked over a socket."""

import http.client
import json
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from tests.helpers.library import SURROUNDINGS, open_library
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.ports import free_port, wait_for
from tests.helpers.programs.server import serve

HEADERS = ("Content-Type", "X-Count", "X-Limit", "X-Offset", "X-Download-Token", "X-Preview-Token")


@pytest.fixture
def server(tmp_path):
    library = open_library(tmp_path / "instance")
    library.put("2020/a.jpg", jpeg(exif=exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})))
    library.put("2021/b.jpg", jpeg(80, 48))
    library.index()
    port = free_port()
    arguments = ["--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "2", "photosvc.app:create_app()"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *arguments],
        cwd=tmp_path,
        env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(port)
        yield library, process, port
    finally:
        process.kill()
        process.communicate()


def test_two_workers_answer_with_the_specs_headers_and_stop_on_a_signal(server):
    library, process, port = server
    # The tests' clock is not gunicorn's: its token has to be one of the real present.
    from datetime import UTC, datetime

    library.clock.present = datetime.now(UTC)
    token = library.token("photos")
    for _ in range(10):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/api/v1/photos?count=2&order=name", headers={"X-Auth-Token": token})
        answer = connection.getresponse()
        body = json.loads(answer.read())
        assert answer.status == 200
        names = [name for name, _ in answer.getheaders()]
        assert set(HEADERS) <= set(names)  # the case on the wire
        found = tuple(answer.getheader(name) for name in HEADERS[:4])
        assert found == ("application/json; charset=utf-8", "2", "2", "0")
        assert [record["FileName"] for record in body] == ["2020/a.jpg", "2021/b.jpg"]
        connection.close()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/api/v1/photos")
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("WWW-Authenticate")) == (401, 'Bearer realm="photosvc"')
    assert json.loads(answer.read())["code"] == 401
    connection.request("HEAD", "/api/v1/photos", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    assert (answer.status, answer.read(), answer.getheader("X-Count")) == (200, b"", "2")
    connection.close()
    process.send_signal(signal.SIGTERM)
    log = process.communicate(timeout=20)[1]
    assert process.returncode == 0
    assert log.count("Booting worker with pid") == 2
    assert "Traceback" not in log
    assert token not in log


def test_no_header_of_a_client_says_where_the_service_is(tmp_path):
    library = open_library(tmp_path / "instance")
    options = ["--config", "python:photosvc.serving"]
    with serve(library.instance, workers=1, threads=2, options=options) as address:
        for path, status in (("/api/v1/status", 200), ("/here/api/v1/status", 404)):
            connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
            connection.request("GET", path, headers={"SCRIPT_NAME": "/here"})
            assert connection.getresponse().status == status, path
            connection.close()
