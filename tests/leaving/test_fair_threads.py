"""Requests of one client that take long leave threads to all others, and its own wait for their turn."""

import http.client
import threading
import time
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import pytest

from tests.helpers.programs.server import serve

#: An app whose answers to /hold wait for a file, and that counts those in progress.
APP = """
import itertools, pathlib, threading, time

folder = pathlib.Path(__file__).parent
counter, held = threading.Lock(), 0

def app(environ, start_response):
    global held
    if environ["PATH_INFO"] == "/hold":
        with counter:
            held += 1
            (folder / "held").write_text(str(held))
        while not (folder / "release").exists():
            time.sleep(0.01)
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "holding.py").write_text(APP)
    options = ["--worker-class", "photosvc.serving.Worker"]
    with serve(tmp_path, workers=1, threads=8, options=options, target="holding:app") as address:
        try:
            yield urlsplit(address)
        finally:
            (tmp_path / "release").touch()


def ask(server, path, token):
    with closing(http.client.HTTPConnection(server.hostname, server.port, timeout=60)) as connection:
        connection.request("GET", path, headers={"X-Auth-Token": token})
        return connection.getresponse().read()


def wait_until(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it did not happen")


@pytest.mark.slow
def test_a_client_that_holds_its_threads_does_not_stop_others_and_gets_all_its_answers(server, tmp_path):
    answers = []
    with ExitStack() as stack:
        for _ in range(20):
            thread = threading.Thread(target=lambda: answers.append(ask(server, "/hold", "ann")))
            thread.start()
            stack.callback(thread.join)
        stack.callback((tmp_path / "release").touch)
        wait_until(lambda: (tmp_path / "held").exists() and (tmp_path / "held").read_text() == "5")
        assert [ask(server, "/", "bob") for _ in range(20)] == [b"ok"] * 20
        assert (tmp_path / "held").read_text() == "5"  # half of eight threads, and one
        assert not answers
    assert answers == [b"ok"] * 20
