"""Credentials that are broken in every way are refused cleanly, at every route."""

import random
import socket
from urllib.parse import urlsplit

import pytest

from photosvc.core import ids
from photosvc.pages import BLUEPRINT as PAGES
from photosvc.web.contract import ACTION, PUBLIC
from tests.helpers.api_client import check_error, open_api
from tests.helpers.programs.server import serve

HEADERS = ("HTTP_AUTHORIZATION", "HTTP_X_AUTH_TOKEN", "HTTP_X_SESSION_ID")
#: Of each route. What does not reach the database needs no second run.
MUTATIONS = {"sqlite": 3, "postgresql": 1}


@pytest.fixture(scope="module", params=list(MUTATIONS))
def database(request):
    return request.param


@pytest.fixture(scope="module")
def api(request, database, tmp_path_factory):
    settings = {}
    if database == "postgresql":
        settings["PHOTOSVC_DATABASE_URI"] = request.getfixturevalue("new_postgres")()
    with open_api(tmp_path_factory.mktemp("malformed"), settings=settings) as api:
        yield api


def rules(api):
    """Method and path of every route -> its view; `tests/dav` tests the log-ins of WebDAV, which are others."""
    app = api.library.app
    return {
        (method, rule.rule.removeprefix("/api/v1")): app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"OPTIONS", "HEAD"}
        if not rule.rule.startswith("/originals") and not rule.endpoint.startswith(PAGES)
    }


def mutations(draw, token):
    """Values that no valid credential has."""
    cut = draw.randrange(len(token))
    other = chr(draw.choice([0, 1, 9, 10, 13, 32, 44, 58, 127, 128, 160, 255]))
    junk = "".join(chr(draw.randrange(256)) for _ in range(draw.randrange(1, 60)))
    return [
        token[:cut],
        token + token,
        token[:cut] + other + token[cut + 1 :],
        token[:cut] + "\0" + token[cut:],
        "\0",
        "\xff\xfe" + token,
        token.upper() if not token.isupper() else token.lower(),
        token[::-1],
        "x" * 100_000,
        token * 2000,
        f"{token},{token}",
        f"{token}, Bearer {token}",
        f"{token};q=1",
        f'"{token}"',
        f"Bearer {token}",
        f"token={token}",
        junk,
        "é" * 48,
        "Ä" * 27,
        "%00" * 16,
        "' OR 1=1 --",
        "../../etc/passwd",
        "{}",
        "null",
        "undefined",
        "0" * 48,
        "aaaaaa-aaaaaa-aaaaaa-aaaaaa",
        ids.new_client_secret(),
    ]


def shown(draw, value):
    """The value in one of the headers, or in two."""
    header = draw.choice(HEADERS)
    schemes = (
        "Bearer ",
        "bearer\t",
        "Bearer",
        "Basic ",
        "Digest ",
        "Token ",
        "Bearer Bearer ",
        "\xa0Bearer ",
        "Bearer \xa0",
    )
    environ = {header: (draw.choice(schemes) if header == HEADERS[0] else "") + value}
    if draw.random() < 0.2:
        environ[draw.choice(HEADERS)] = value + "x"
    return environ


@pytest.mark.parametrize(
    "times",
    [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(14, marks=[pytest.mark.slow, pytest.mark.long])],
)
def test_a_broken_credential_at_every_route_is_refused_in_the_one_error_shape(api, database, times):
    draw = random.Random(20260300 + times)
    tokens = [api.access_token(), api.app_password("ann"), api.session_of("ann")]
    views = rules(api)
    assert len(views) > 90
    for method, rule in sorted(views):
        view = views[method, rule]
        path = rule.replace("<user_uid>", api.uids["ann"])
        path = path.replace("<credential>", "sess00000000").replace("<session_id>", "x").replace("<int:job_id>", "1")
        values = [value for token in tokens for value in mutations(draw, token)]
        for value in draw.sample(values, MUTATIONS[database] * times):
            api.clock.move(minutes=1)
            answer = api.call(method, path, environ_overrides=shown(draw, value))
            if "/<token>" in rule and getattr(view, ACTION) == "photos.preview":  # a link token: no header is looked at
                check_error(answer, 403)
                continue
            if getattr(view, ACTION) == PUBLIC:
                assert answer.status_code in {200, 400, 401, 501}
                continue
            assert answer.status_code in {400, 401}, (method, path, value[:80], answer.text)
            check_error(answer, answer.status_code)
            if answer.status_code == 401:
                assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="photosvc"')
    assert [api.is_alive(token) for token in tokens[:2]] == [True, True]


@pytest.mark.parametrize("name", ["%00", "%ff%fe", "%ed%a0%80", "a" * 5000, "%0d%0aX-Header:1", "%F0%9F%93%B7", "'--"])
def test_a_broken_name_in_a_path_is_no_account(api, name):
    api.clock.move(seconds=3600)
    admin = api.session_of("ann")
    for method, rest in [
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("PUT", "/password"),
        ("GET", "/app-passwords"),
        ("DELETE", "/passcode"),
        ("DELETE", "/app-passwords/sess00000000"),
    ]:
        body = {"new": "new horse battery"} if method == "PUT" else None
        check_error(api.call(method, f"/users/{name}{rest}", admin, json=body), 404)
    check_error(api.call("GET", f"/session/{name}", admin), 403)
    own = api.user_path("ann", f"/app-passwords/{name}")
    check_error(api.call("DELETE", own, admin), 404)


@pytest.mark.parametrize("field", ["username", "password", "code"])
@pytest.mark.parametrize("value", ["\0", "a\0b", "\U0010ffff", "x" * 20_000, "alice\n", "\u202e", "' OR 1=1 --"])
def test_broken_texts_log_no_one_in(api, field, value):
    api.clock.move(seconds=3600)
    body = {"username": "alice", "password": "wrong horse", field: value}
    check_error(api.call("POST", "/session", json=body), 401)


@pytest.mark.slow
def test_bodies_that_are_not_what_was_asked_for_are_400(api):
    # `test_uploads.py` tests the bodies of uploads, which are larger forms; `activate` reads no body.
    routes = [
        (method, rule)
        for method, rule in sorted(rules(api))
        if method in {"POST", "PUT"} and "/users" in rule and "/upload/" not in rule and not rule.endswith("/activate")
    ]
    for method, rule in routes:
        path = rule.replace("<user_uid>", api.uids["ann"])
        admin = api.session_of("ann")
        for data in (b"", b"[]", b"1", b'"x"', b"{", b"\xff", b'{"a":' * 2000, b'{"Name":{"a":1},"new":[],"code":{}}'):
            api.clock.move(seconds=400)  # for an hour after the log-in
            answer = api.call(method, path, admin, data=data, content_type="application/json")
            # A change of nothing is fine.
            assert answer.status_code == 400 or (method, data) == ("PUT", b"") or "Name" in data.decode("latin-1"), path
            if answer.status_code != 200:
                check_error(answer, 400)
        answer = api.call(method, path, admin, data=b" " * 70_000, content_type="application/json")
        check_error(answer, 413)


@pytest.mark.slow
def test_a_real_server_survives_raw_bytes_in_its_headers(tmp_path):
    with open_api(tmp_path) as api, serve(api.library.instance, workers=1) as base:
        token = api.access_token().encode()
        host, port = urlsplit(base).netloc.split(":")
        for line in [
            b"Authorization: Bearer \xff\xfe\x80",
            b"Authorization: Bearer " + token + b"\0",
            b"Authorization: Bearer " + token + b"\r\nAuthorization: Bearer " + b"0" * 48,
            b"X-Auth-Token: " + token + b"\r\nX-Auth-Token: " + token,
            b"X_Auth_Token: " + token,
            b"X-Auth-Token: " + b"x" * 100_000,
            b"X-Session-ID:",
            b"Authorization:",
            b"Authorization : Bearer " + token,
            b"X-Auth-Token: \xc3\xa9" * 1,
            b"Authorization: Bearer\x0b" + token,
        ]:
            status = raw_status(host, int(port), line)
            assert status in {400, 401, 403, 413, 431}, line[:60]
        assert raw_status(host, int(port), b"x-auth-token:" + token) == 200


def raw_status(host, port, line):
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.sendall(b"GET /api/v1/photos HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + line + b"\r\n\r\n")
        return int(connection.recv(1000).split(b" ")[1])
