"""While clients send only costly searches, others are answered, and no search goes on without a client."""

import http.client
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from tests.app.search.limits.slow_rows import slow_rows
from tests.helpers.clock import until
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


def test_beside_eight_costly_searches_of_one_account_others_are_answered(slow_library, served):
    token, other = slow_library.token(), slow_library.token(role="admin")
    with ThreadPoolExecutor(10) as pool:
        costly = [pool.submit(get, served, SEARCH, token) for _ in range(8)]
        began = time.monotonic()
        while sum(future.done() for future in costly) < 4 and time.monotonic() - began < 4:
            time.sleep(0.1)
        refused = [future.result() for future in costly if future.done()]
        assert len(refused) == 4
        assert {status for status, _, _ in refused} == {429}  # an account has half of the threads
        assert all("You have too many such requests in progress" in body for _, body, _ in refused)
        status, _, seconds = get(served, OTHER, other)
        assert (status, seconds < 5) == (200, True)  # and not 8, which the costly ones take
        others = pool.submit(get, served, SEARCH, other)
        time.sleep(0.5)
        assert not others.done()
        found = [future.result() for future in [*costly, others]]
    assert sorted(status for status, _, _ in found) == [429] * 4 + [503] * 5
    assert all(seconds < 8 for _, _, seconds in found)
    assert get(served, OTHER, token)[0] == 200


def test_a_search_whose_client_has_gone_ends(slow_library, served):
    """All places of its account are free again while a search that began earlier still runs."""
    token, other, there = slow_library.token(), slow_library.token(role="admin"), urlsplit(served)
    with ThreadPoolExecutor(1) as pool:
        earlier = pool.submit(get, served, SEARCH, other)
        until(earlier.running)
        clients = [socket.create_connection((there.hostname, there.port)) for _ in range(4)]
        for client in clients:
            client.sendall(f"GET {SEARCH} HTTP/1.1\r\nHost: a\r\nX-Auth-Token: {token}\r\n\r\n".encode())
        until(lambda: get(served, OTHER, token)[0] == 429)
        for client in clients:
            client.close()
        until(lambda: get(served, OTHER, token)[0] == 200)
        assert not earlier.done()
        assert earlier.result()[0] == 503
