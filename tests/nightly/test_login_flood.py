"""Many log-ins at once leave the processors and threads of the service to other requests."""

import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from photosvc.models import User
from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.cheap import REAL_HASHER
from tests.helpers.programs.server import serve


@pytest.fixture(scope="module", params=[(2, 8), (1, 4)], ids=lambda size: f"{size[0]} workers of {size[1]} threads")
def served(request, tmp_path_factory):
    workers, threads = request.param
    with open_api(tmp_path_factory.mktemp("flood")) as api:
        api.clock.present = api.clock.present.now(api.clock.present.tzinfo)
        options = ["--config", "python:photosvc.serving"]
        with api.library.session() as session:  # at the cost that passwords have outside of tests
            session.query(User).update({"password_hash": REAL_HASHER.hash(PASSWORD)})
        instance, environ = api.library.instance, {"PHOTOSVC_PROXIES": "1", "PHOTOSVC_BASE_URL": "http://localhost"}
        with serve(instance, workers=workers, threads=threads, options=options, environ=environ) as address:
            yield api, urlsplit(address)


def ask(address, method, path, headers, body=None):
    """Status, `Retry-After` and seconds of a request."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    began = time.monotonic()
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("Retry-After"), time.monotonic() - began


def test_no_route_is_slower_than_half_a_second_behind_64_wrong_log_ins(served, capsys):
    api, address = served
    token, app = api.library.token("photos"), api.app_password()

    def guess(number):
        body = json.dumps({"username": "alice", "password": "wrong horse"})
        return ask(
            address, "POST", "/api/v1/session", {"X-Forwarded-For": f"198.51.{number // 200}.{number % 200}"}, body
        )

    def log_in(_):
        body = json.dumps({"username": "alice", "password": app})
        return ask(address, "POST", "/api/v1/session", {"X-Forwarded-For": "192.0.2.7"}, body)

    def page(path):
        return ask(address, "GET", path, {"X-Auth-Token": token})

    paths = ["/api/v1/photos?count=10", "/api/v1/status", "/.well-known/oauth-authorization-server"]
    alone = max([page(path)[-1] for path in paths * 5][len(paths) :])  # what other programs of the machine add
    with ThreadPoolExecutor(72) as pool:
        wrong = [pool.submit(guess, number) for number in range(64)]
        right = [pool.submit(log_in, number) for number in range(8)]
        pages = [page(path) for path in paths * 10]
        wrong, right = ([one.result() for one in answers] for answers in (wrong, right))
    slowest = [max(seconds for *_, seconds in answers) for answers in (pages, wrong, right)]
    with capsys.disabled():
        print(f"\nslowest: page {slowest[0]:.3f} s, wrong log-in {slowest[1]:.3f} s, app password {slowest[2]:.3f} s")  # noqa: T201
    assert {status for status, *_ in pages} == {200}
    assert {status for status, *_ in right} == {200}
    assert {(status, wait is None) for status, wait, _ in wrong} <= {(401, True), (429, False), (503, False)}
    assert slowest[0] < 0.5 + 3 * alone


def test_a_right_password_gets_in_among_wrong_ones(served):
    _, address = served
    body = json.dumps({"username": "vera", "password": PASSWORD})
    assert ask(address, "POST", "/api/v1/session", {}, body)[0] == 200
