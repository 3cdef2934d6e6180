"""What is revoked is refused by every worker from the next request on (OWASP ASVS 7.4)."""

import http.client
import json
import threading
from itertools import count
from urllib.parse import urlsplit

import pytest

from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.clock import until
from tests.helpers.library import svc
from tests.helpers.programs.server import serve

NEW = "new horse battery"
THREADS, REQUESTS = 3, 40
ADDRESSES = count()
#: Numbers of the events of a test in their order.
ORDER = count()


class Hammer(threading.Thread):
    """Sends the same request over and over and records its place in the order of events, its status and its worker."""

    def __init__(self, base, token):
        super().__init__(daemon=True)
        self.base, self.token, self.seen, self.done = base, token, [], threading.Event()

    def run(self):
        while not self.done.is_set():
            begun = next(ORDER)
            status, headers, _ = send(self.base, "GET", "/photos?count=1", self.token)
            self.seen.append((begun, status, headers["X-Worker"]))


def seen_after(hammers, ended):
    """The statuses and workers of the requests that began after this event."""
    return [(status, worker) for hammer in hammers for begun, status, worker in hammer.seen if begun > ended]


def send(base, method, path, token=None, body=None):
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=20)
    # Every request from an address of its own: what is counted here is refusals, not failures.
    number = next(ADDRESSES)
    headers = {
        "Content-Type": "application/json",
        "X-Forwarded-For": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
    }
    if token:
        headers["X-Auth-Token"] = token
    connection.request(method, "/api/v1" + path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, answer.headers, json.loads(text)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with (
        open_api(tmp_path_factory.mktemp("served")) as api,
        serve(api.library.instance, environ={"PHOTOSVC_PROXIES": "1"}) as base,
    ):
        yield api, base


def log_in(base, name, password=PASSWORD):
    status, _, body = send(base, "POST", "/session", body={"username": name, "password": password})
    assert status == 200, body
    return body["access_token"]


def new_account(base, admin, name):
    status, _, body = send(base, "POST", "/users", admin, {"Name": name, "Password": PASSWORD})
    assert status == 201, body
    return body["UID"]


def app_password(base, login, uid):
    body = {"name": "frame", "scope": "*", "password": PASSWORD}
    status, _, made = send(base, "POST", f"/users/{uid}/app-passwords", login, body)
    assert status == 201, made
    return made


def revoke(base, api, admin, uid, own, made):
    return send(base, "DELETE", f"/users/{uid}/app-passwords/{made['id']}", own)


def revoke_on_the_command_line(base, api, admin, uid, own, made):
    done = svc("auth", "rm", made["id"], "--yes", instance=api.library.instance)
    return (200 if done.returncode == 0 else 500), None, done.stderr


def disable(base, api, admin, uid, own, made):
    return send(base, "PUT", f"/users/{uid}", admin, {"Disabled": True})


def remove(base, api, admin, uid, own, made):
    return send(base, "DELETE", f"/users/{uid}", admin)


def change_password(base, api, admin, uid, own, made):
    return send(base, "PUT", f"/users/{uid}/password", own, {"old": PASSWORD, "new": NEW})


def log_out(base, api, admin, uid, own, made):
    return send(base, "DELETE", "/session", own)


CASES = [
    (revoke, "app password"),
    (revoke_on_the_command_line, "app password"),
    (revoke, "session of the app password"),
    (disable, "app password"),
    (disable, "other session"),
    (remove, "app password"),
    (remove, "other session"),
    (change_password, "other session"),
    (log_out, "own session"),
]


@pytest.mark.parametrize(("end", "kind"), CASES)
def test_from_the_next_request_on_every_worker_refuses(served, end, kind):
    api, base = served
    admin = log_in(base, "ann")
    name = f"{end.__name__}-{kind}".replace(" ", "-").replace("_", "-")
    uid = new_account(base, admin, name)
    own = log_in(base, name)
    made = app_password(base, own, uid)
    token = {
        "app password": made["secret"],
        "session of the app password": log_in(base, name, made["secret"]),
        "own session": own,
        "other session": log_in(base, name),
    }[kind]
    hammers = [Hammer(base, token) for _ in range(THREADS)]
    for hammer in hammers:
        hammer.start()
    until(lambda: len({worker for hammer in hammers for _, _, worker in hammer.seen}) == 2)
    status, _, body = end(base, api, admin, uid, own, made)
    ended = next(ORDER)
    assert status == 200, body
    until(lambda: len(later := seen_after(hammers, ended)) >= REQUESTS and len({worker for _, worker in later}) == 2)
    for hammer in hammers:
        hammer.done.set()
    for hammer in hammers:
        hammer.join(60)
    assert 200 in {status for hammer in hammers for begun, status, _ in hammer.seen if begun <= ended}
    assert {status for status, _ in seen_after(hammers, ended)} == {401}


def test_a_new_password_keeps_app_passwords_and_the_own_session_on_every_worker(served):
    api, base = served
    admin = log_in(base, "ann")
    uid = new_account(base, admin, "keeper")
    own = log_in(base, "keeper")
    made = app_password(base, own, uid)
    assert change_password(base, api, admin, uid, own, made)[0] == 200
    answers = [send(base, "GET", "/photos", token) for _ in range(20) for token in (own, made["secret"])]
    assert {status for status, _, _ in answers} == {200}
    assert len({headers["X-Worker"] for _, headers, _ in answers}) == 2
