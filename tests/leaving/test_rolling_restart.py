"""The end of a server by TERM: each request over a connection that it has accepted is answered."""

import http.client
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.helpers.library import SURROUNDINGS, open_library
from tests.helpers.programs.ports import free_port, wait_for

CLIENTS = 8
APP = ("photosvc.app:create_app()",)


def post(netloc, outcomes):
    """Sign in over a new connection each time until no connection is taken any more."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        connection = http.client.HTTPConnection(netloc, timeout=60)
        try:
            connection.connect()
        except ConnectionError:  # a proxy then asks another server
            outcomes.append("refused")
            return
        try:
            connection.request("POST", "/api/v1/session", b'{"username":', {"Content-Type": "application/json"})
            outcomes.append(connection.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            outcomes.append(f"lost: {error!r}")
        finally:
            connection.close()


@pytest.mark.parametrize("turn", range(3))
def test_a_server_that_ends_loses_no_request_of_a_connection_that_it_took(tmp_path, turn):
    library = open_library(tmp_path / "instance")
    library.close()
    outcomes = []
    port = free_port()
    options = ["--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "4", "--no-control-socket"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *options, "--worker-class", "photosvc.serving.Worker", *APP],
        env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance)},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        clients = [threading.Thread(target=post, args=(f"127.0.0.1:{port}", outcomes)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(2 + turn / 7)
        process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert outcomes.count("refused") == CLIENTS
    assert {one for one in outcomes if one != "refused"} == {400}
    assert len(outcomes) > 3 * CLIENTS
