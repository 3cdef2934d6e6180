"""While clients send only costly searches, others are answered, and no search goes on without a client."""

import http.client
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from tests.helpers.factories.slow_rows import slow_rows
from tests.helpers.programs.server import serve

SEARCH, OTHER = "/api/v1/photos?q=-iso:1-", "/api/v1/metrics"


@pytest.fixture(scope="module")
def slow_library(new_library):
    library = new_library(400)
    with slow_rows(library):
        yield library


@pytest.fixture(scope="module")
def served(slow_library):
    """The address of one process with eight threads."""
    with slow_library.app.app_context():
        uri = slow_library.app.extensions["photosvc"].settings.database_uri
    environ = {"PHOTOSVC_DATABASE_URI": uri, "PHOTOSVC_SEARCH_TIMEOUT": "6"}
    options = ["--config", "python:photosvc.serving"]
    slow_library.token(), slow_library.token(role="admin")
    with serve(slow_library.instance, workers=1, threads=8, options=options, environ=environ) as address:
        get(address, OTHER, slow_library.token())  # the first request of a process loads modules
        yield address


def get(address, path, token):
    """Status, body and seconds."""
    there = urlsplit(address)
    connection = http.client.HTTPConnection(there.hostname, there.port, timeout=30)
    began = time.monotonic()
    connection.request("GET", path, headers={"X-Auth-Token": token})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body, time.monotonic() - began


def test_beside_eight_costly_searches_of_one_account_everybody_is_answered(slow_library, served):
    token, other = slow_library.token(), slow_library.token(role="admin")
    with ThreadPoolExecutor(10) as pool:
        costly = [pool.submit(get, served, SEARCH, token) for _ in range(8)]
        began = time.monotonic()
        while sum(future.done() for future in costly) < 4 and time.monotonic() - began < 4:
            time.sleep(0.1)
        refused = [future.result() for future in costly if future.done()]
        assert len(refused) == 4
        assert {status for status, _, _ in refused} == {503}
        assert all("Too many costly searches" in body for _, body, _ in refused)
        for who in (token, other):
            status, _, seconds = get(served, OTHER, who)
            assert (status, seconds < 5) == (200, True)  # and not 8, which the costly ones take
        others = pool.submit(get, served, SEARCH, other)
        time.sleep(0.5)
        assert not others.done()
        found = [future.result() for future in [*costly, others]]
    assert all(status == 503 and seconds < 8 for status, _, seconds in found)
    assert get(served, OTHER, token)[0] == 200


def test_a_search_whose_client_has_gone_ends(slow_library, served):
    def gone():
        metrics = get(served, OTHER, slow_library.token())[1]
        return next(float(line.split()[-1]) for line in metrics.splitlines() if 'reason="client_gone"' in line)

    before, there = gone(), urlsplit(served)
    clients = [socket.create_connection((there.hostname, there.port)) for _ in range(3)]
    for client in clients:
        client.sendall(f"GET {SEARCH} HTTP/1.1\r\nHost: a\r\nX-Auth-Token: {slow_library.token()}\r\n\r\n".encode())
    time.sleep(0.5)
    for client in clients:
        client.close()
    began = time.monotonic()
    while gone() < before + 3:
        assert time.monotonic() - began < 20  # what goes on without a client ends for another reason
        time.sleep(0.1)
