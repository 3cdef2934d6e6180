"""Workers that are killed under load cost the requests in progress, and those that are replaced cost none."""

import http.client
import itertools
import json
import os
import re
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from photosvc.core.clock import SYSTEM_CLOCK
from tests.app.oauth.oauth_client import GRANT, basic, open_oauth_api
from tests.helpers.clock import until
from tests.helpers.programs.server import serve

OWN = ["--config", "python:photosvc.serving", "--graceful-timeout", "20"]
CLIENTS, KILLS, SECONDS = 6, 10, 0.6


@pytest.fixture
def served(tmp_path, new_database):
    """The parts of an address, credentials of a client, and the process id of the master."""
    settings = {"PHOTOSVC_DATABASE_URI": new_database(), "PHOTOSVC_BASE_URL": "https://photos.example.org"}
    with open_oauth_api(tmp_path, settings=settings) as oauth:
        oauth.library.clock.present = SYSTEM_CLOCK()  # as the workers have it
        client = oauth.register(limit=-1)
        with serve(oauth.library.instance, workers=2, threads=4, options=OWN, environ=settings) as address:
            log = (oauth.library.instance / "gunicorn.log").read_text()
            yield urlsplit(address), client, int(re.search(r"Listening at: \S+ \((\d+)\)", log)[1])


def call(address, method, path, body=None, **headers):
    """The status and body of a request on a connection of its own; 0 if it was cut."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def token(address, client):
    form = {"Authorization": basic(*client), "Content-Type": "application/x-www-form-urlencoded"}
    return call(address, "POST", "/api/v1/oauth/token", urlencode(GRANT), **form)


def under_load(address, client, harm):
    """Statuses, and all tokens that were granted, while `harm` was done to the server."""
    ended, statuses, tokens = threading.Event(), Counter(), []

    def ask(_):
        seen = ""
        for turn in itertools.count():
            if ended.is_set():
                return
            if turn % 3 and seen:
                status, _body = call(address, "GET", "/api/v1/photos?count=10", **{"X-Auth-Token": seen})
            else:
                status, body = token(address, client)
                if status == 200:
                    seen = json.loads(body)["access_token"]
                    tokens.append(seen)
            statuses[status] += 1

    with ThreadPoolExecutor(CLIENTS) as pool:
        done = [pool.submit(ask, number) for number in range(CLIENTS)]
        try:
            harm()
        finally:
            ended.set()
        for one in done:
            one.result()
    return statuses, tokens


def workers_of(master):
    return [int(one) for one in Path(f"/proc/{master}/task/{master}/children").read_text().split()]


def test_workers_that_are_killed_cost_the_requests_in_progress_and_nothing_else(served):
    address, client, master = served

    def kill():
        for number in range(KILLS):
            time.sleep(SECONDS)
            if workers := workers_of(master):
                os.kill(workers[number % len(workers)], signal.SIGKILL)

    statuses, tokens = under_load(address, client, kill)
    assert set(statuses) <= {200, 0}
    assert statuses[200] > KILLS * CLIENTS
    assert statuses[0] <= KILLS * CLIENTS  # what one worker can have in progress, each time
    assert len(set(tokens)) == len(tokens)
    assert token(address, client)[0] == 200  # no lock is left
    for granted in tokens[-50:]:
        assert call(address, "GET", "/api/v1/photos?count=1", **{"X-Auth-Token": granted})[0] == 200


def test_workers_that_are_replaced_cost_no_request(served):
    address, client, master = served
    before = set(workers_of(master))

    def replace():
        for _ in range(3):
            time.sleep(1.5)
            os.kill(master, signal.SIGHUP)
        until(lambda: len(workers_of(master)) == 2 and not before & set(workers_of(master)))

    statuses, tokens = under_load(address, client, replace)
    assert set(statuses) == {200}
    assert len(set(tokens)) == len(tokens)
    assert not before & set(workers_of(master))
