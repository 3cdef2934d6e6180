"""Credentials that are broken in every way are refused cleanly, at every route."""

import random
from itertools import product

import pytest

from photosvc.core import ids
from photosvc.pages import BLUEPRINT as PAGES
from photosvc.web.contract import ACTION, PUBLIC
from tests.helpers.api_client import check_error, open_api

HEADERS = ("HTTP_AUTHORIZATION", "HTTP_X_AUTH_TOKEN", "HTTP_X_SESSION_ID")


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("malformed")) as api:
        yield api


def rules(api):
    """Method and path of every route -> its view; `tests/app/dav` tests the log-ins of WebDAV, which are others."""
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
    # fmt: off
    return [
        token[:cut], token + token, token[:cut] + other + token[cut + 1 :], token[:cut] + "\0" + token[cut:], "\0",
        token.upper() if not token.isupper() else token.lower(), token[::-1], token * 2000, "\xff\xfe" + token,
        f"{token},{token}", f"{token}, Bearer {token}", f"{token};q=1", f'"{token}"', f"Bearer {token}",
        f"token={token}", junk, "x" * 100_000, "é" * 48, "Ä" * 27, "%00" * 16, "' OR 1=1 --", "../../etc/passwd", "{}",
        "null", "undefined", "0" * 48, "aaaaaa-aaaaaa-aaaaaa-aaaaaa", ids.new_client_secret(),
    ]
    # fmt: on


def shown(draw, value):
    """The value in one of the headers, or in two."""
    header = draw.choice(HEADERS)
    schemes = ["Bearer ", "bearer\t", "Bearer", "Basic ", "Digest ", "Token ", "Bearer Bearer ", "\xa0Bearer "]
    environ = {header: (draw.choice(schemes) if header == HEADERS[0] else "") + value}
    if draw.random() < 0.2:
        environ[draw.choice(HEADERS)] = value + "x"
    return environ


def test_broken_credentials_at_every_route_are_refused_in_the_one_error_shape(api):
    """Three of them at each route; at one route all of them in every header."""
    draw = random.Random(20260300)
    tokens = [api.access_token(), api.app_password("ann"), api.session_of("ann")]
    views = rules(api)
    assert len(views) > 90
    for method, rule in sorted(views):
        view = views[method, rule]
        path = rule.replace("<user_uid>", api.uids["ann"])
        path = path.replace("<credential>", "sess00000000").replace("<session_id>", "x").replace("<int:job_id>", "1")
        values = [value for token in tokens for value in mutations(draw, token)]
        everywhere = (method, rule) == ("GET", "/photos")
        shows = [shown(draw, value) for value in draw.sample(values, len(values) if everywhere else 3)]
        for environ in shows:
            api.clock.move(minutes=1)
            answer = api.call(method, path, environ_overrides=environ)
            case = method, path, [value[:80] for value in environ.values()], answer.text
            if "/<token>" in rule and getattr(view, ACTION) == "photos.preview":  # a link token: no header is looked at
                assert answer.status_code == 403, case
            elif getattr(view, ACTION) == PUBLIC:
                assert answer.status_code in {200, 400, 401, 501}, case
                continue
            else:
                assert answer.status_code in {400, 401}, case
            check_error(answer, answer.status_code)
            if answer.status_code == 401:
                assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="photosvc"'), case
    assert [api.is_alive(token) for token in tokens[:2]] == [True, True]


#: Tried on PostgreSQL too, which stores no NUL: `tests/databases/test_auth_postgres.py`.
BROKEN_NAMES = ["%00", "%ff%fe", "%ed%a0%80", "a" * 5000, "%0d%0aX-Header:1", "%F0%9F%93%B7", "'--"]
BROKEN_TEXTS = ["\0", "a\0b", "\U0010ffff", "x" * 20_000, "alice\n", "\u202e", "' OR 1=1 --"]
OF_ACCOUNTS = (
    *(
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("PUT", "/password"),
        ("GET", "/app-passwords"),
        ("DELETE", "/passcode"),
    ),
    *(("DELETE", "/passcode"), ("DELETE", "/app-passwords/sess00000000")),
)


def test_broken_names_in_paths_and_broken_texts_of_log_ins_are_no_accounts(api):
    check_broken_texts(api)


def check_broken_texts(api):
    api.clock.move(seconds=3600)
    admin = api.session_of("ann")
    for name in BROKEN_NAMES:
        requests = [(method, f"/users/{name}{rest}", 404) for method, rest in OF_ACCOUNTS]
        requests += [("GET", f"/session/{name}", 403), ("DELETE", api.user_path("ann", f"/app-passwords/{name}"), 404)]
        for method, path, status in requests:
            answer = api.call(method, path, admin, json={"new": "new horse battery"} if method == "PUT" else None)
            assert answer.status_code == status, (method, path[:80], answer.text)
            check_error(answer, status)
    for field, value in product(("username", "password", "code"), BROKEN_TEXTS):
        api.clock.move(seconds=3600)
        answer = api.call("POST", "/session", json={"username": "alice", "password": "wrong horse", field: value})
        assert answer.status_code == 401, (field, value[:80], answer.text)
        check_error(answer, 401)


def test_bodies_of_another_form_are_400(api):
    # `test_uploads.py` tests the bodies of uploads, which are larger forms; `activate` reads no body.
    routes = [
        (method, rule.replace("<user_uid>", api.uids["ann"]))
        for method, rule in sorted(rules(api))
        if method in {"POST", "PUT"} and "/users" in rule and "/upload/" not in rule and not rule.endswith("/activate")
    ]
    bodies = (b"", b"[]", b"1", b'"x"', b"{", b"\xff", b'{"a":' * 2000, b'{"Name":{"a":1},"new":[],"code":{}}')
    admin = api.session_of("ann")
    for (method, path), data in product(routes, (*bodies, b" " * 70_000)):
        api.clock.move(seconds=60)
        answer = api.call(method, path, admin, data=data, content_type="application/json")
        if answer.status_code == 200:  # a change of nothing is fine
            assert (method, data) == ("PUT", b"") or b"Name" in data, (method, path, data[:40])
            continue
        status = 413 if len(data) == 70_000 else 400
        assert answer.status_code == status, (method, path, data[:40], answer.text)
        check_error(answer, status)
