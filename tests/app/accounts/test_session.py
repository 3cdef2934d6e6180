"""Logging in, reading and ending the own login session over HTTP."""

import json
from itertools import product

from sqlalchemy import select

from photosvc.core import ids
from photosvc.models import ThrottleBucket
from tests.helpers.api_client import HASH, PASSWORD, check_error, in_chunks, open_api
from tests.helpers.factories.accounts import add_client, add_user
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import RESOURCE

KEYS = {
    "status", "id", "session_id", "access_token", "token_type", "expires_in", "provider", "scope", "user", "config",
}  # fmt: skip
BODY = json.dumps({"username": "alice", "password": PASSWORD}).encode()


def test_a_log_in_answers_all_that_known_clients_read(api):
    sent = {"username": " Alice ", "password": PASSWORD, "code": None, "token": "x", "email": "y", "extra": [1]}
    assert api.call("POST", "/sessions", json=sent).json.keys() == KEYS
    answer = api.call("POST", "/session", json=sent)
    assert answer.status_code == 200
    assert answer.content_type == "application/json; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.json
    assert set(body) == KEYS
    token = body["access_token"]
    assert ids.is_access_token(token)
    assert answer.headers["X-Session-ID"] == answer.headers["X-Auth-Token"] == body["id"] == token
    assert body["session_id"] == ids.digest(token)
    assert (body["status"], body["token_type"], body["provider"], body["scope"]) == ("success", "Bearer", "local", "*")
    assert body["expires_in"] == 1_209_600
    assert body["user"].pop("ID") > 0
    assert body["user"] == {
        "UID": api.uids["alice"],
        "Name": "alice",
        "DisplayName": "",
        "Email": "",
        "Role": "user",
        "SuperAdmin": False,
        "CanLogin": True,
        "Disabled": False,
        "WebDAV": True,
        "TwoFactor": False,
        "LoginAt": "2026-03-01T12:00:00Z",
        "CreatedAt": "2026-03-01T12:00:00Z",
        "UpdatedAt": "2026-03-01T12:00:00Z",
        "Settings": {},
        "Details": {},
    }
    config = body["config"]
    assert config == api.call("GET", "/config", body["access_token"]).json
    assert (config["public"], config["years"]) == (False, [])
    assert config["previewToken"].startswith("sess")
    assert config["downloadToken"].startswith("sess")


#: What browsers send when a page of another origin makes them send a request.
FOREIGN = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:8080"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    {"Sec-Fetch-Site": "new-kind"},
    {"Origin": "http://evil.example"},
    {"Origin": "http://localhost:8080"},
    {"Origin": "https://localhost"},
    {"Origin": "null"},
    {"Origin": ""},
]


def test_pages_of_other_origins_can_neither_log_in_nor_use_up_attempts_of_others(api):
    wrong = {"username": "alice", "password": "wrong", "client_id": "cs5cpu17n6gj2qo5", "client_secret": "0" * 32}
    form = {"data": {**wrong, "token": "0" * 48, "grant_type": "client_credentials"}}
    text = {"data": json.dumps(wrong), "content_type": "text/plain"}
    paths = ("/session", "/sessions", "/oauth/token", "/oauth/revoke", "/oauth/introspect")
    for path, headers in product(paths, FOREIGN):
        answer = api.call("POST", path, headers=headers, **(text if "session" in path else form))
        assert answer.status_code == 403, (path, headers)
        assert "Another site or program sent this request" in answer.text
        assert (answer.json["error"] == "access_denied") is ("oauth" in path)
    with api.library.session() as session:
        assert session.scalars(select(ThrottleBucket.key)).all() == []


def test_programs_and_own_pages_log_in(api):
    for headers in (
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": "none"},  # no page, but a person or an extension of the browser
        {"Sec-Fetch-Site": "none", "Origin": "moz-extension://8c5e"},
        {"Origin": "http://localhost"},
        {"Origin": "http://LOCALHOST"},
    ):
        assert api.call("POST", "/session", headers=headers, data=BODY).status_code == 200, headers


def test_a_page_of_another_origin_that_may_send_headers_acts_with_its_token(api):
    token = api.session_of()
    for headers in FOREIGN:
        answer = api.call("POST", "/albums", token, headers=headers, json={"Title": "A"})
        assert answer.status_code == 200, answer.text


def test_a_log_in_is_read_as_json_of_any_content_type_and_a_stale_token_is_ignored(api):
    for content_type in (
        None,
        "text/plain; charset=utf-8",
        "application/json",
        "application/json; charset=utf-8",
        "application/x-www-form-urlencoded",
        "no type at all",
    ):
        assert api.call("POST", "/session", data=BODY, content_type=content_type).status_code == 200, content_type
    for headers in (
        {"X-Session-ID": ""},
        {"X-Session-ID": "0" * 48},
        {"X-Auth-Token": "a" * 48, "X-Session-ID": "b" * 48},
        {"Authorization": "Bearer nonsense"},
    ):
        assert api.call("POST", "/session", data=BODY, headers=headers).status_code == 200, headers


def test_every_wrong_log_in_is_the_same_401(api):
    with api.library.session() as session:
        add_user(session, "gone", password_hash=HASH, disabled=True)
        add_user(session, "dave", password_hash="")
    for body in (
        {},
        {"username": "alice"},
        {"username": "alice", "password": ""},
        {"username": "alice", "password": "wrong horse"},
        {"username": "nobody", "password": PASSWORD},
        {"username": "a\0b", "password": "\0"},
        {"username": "x" * 30_000, "password": "y" * 30_000},
        {"username": "gone", "password": PASSWORD},
        {"username": "dave", "password": ""},
        {"username": "alice", "password": PASSWORD + "\0"},
        {"username": "alice", "password": PASSWORD.upper()},
    ):
        api.clock.move(minutes=1)
        answer = api.call("POST", "/session", json=body)
        case = str(body)[:80]
        assert answer.status_code == 401, case
        assert check_error(answer, 401) == {"code": 401, "error": "Invalid credentials."}, case
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="photosvc"' + RESOURCE, case
        assert "X-Session-ID" not in answer.headers, case


def test_a_log_in_that_is_not_a_json_object_of_texts_is_400(api):
    for data in (
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"username": 1, "password": "x"}',
        b'{"username": null, "password": "x"}',
        b'{"username": "alice", "password": ["x"]}',
        b'{"username": "alice", "password": "x", "code": 7}',
        b'{"username": "\\ud800", "password": "x"}',
        b"[" * 60_000,
        b'{"a":' * 10_000,
    ):
        answer = api.call("POST", "/session", data=data)
        assert answer.status_code == 400, data[:80]
        check_error(answer, 400)


def test_a_log_in_longer_than_64_kib_is_413_and_in_chunks_not_taken_for_its_beginning(api):
    check_error(api.call("POST", "/session", data=b" " * 65_537), 413)
    for length, status in ((65_536, 200), (65_537, 413)):
        assert api.call("POST", "/session", **in_chunks(BODY.ljust(length))).status_code == status, length


def test_an_app_password_as_password_gives_a_child_session_with_its_scope_that_never_outlives_it(api):
    app = api.app_password(scope="photos sessions", lifetime=100)
    api.clock.move(seconds=40)
    body = api.log_in(password=app).json
    assert (body["provider"], body["scope"], body["expires_in"]) == ("application", "photos sessions", 60)
    child = body["access_token"]
    api.clock.move(seconds=59)
    assert api.is_alive(child)
    api.clock.move(seconds=1)
    assert not api.is_alive(child)


def test_an_app_password_for_webdav_alone_opens_no_session(api):
    answer = api.log_in(password=api.app_password(scope="webdav"))
    check_error(answer, 403)
    assert 'error="insufficient_scope", scope="sessions write"' in answer.headers["WWW-Authenticate"]


def test_client_tokens_and_client_secrets_cannot_log_in(api):
    secret = ids.new_client_secret()
    with api.library.session() as session:
        client_id = add_client(session, name="other", secret=secret).uid
    for name, password in [("alice", api.access_token()), ("ann", api.client_token()), (client_id, secret)]:
        body = check_error(api.log_in(name, password), 403)
        assert body["error"] == "Clients and their tokens cannot log in: use the token directly."


def test_reading_the_session_answers_in_the_shape_of_the_log_in(api):
    login = api.log_in().json
    token = login["access_token"]
    api.clock.move(seconds=100)
    for path, rest in product(("/session", "/sessions"), ("", f"/{login['session_id']}")):
        answer = api.call("GET", path + rest, token)
        assert answer.status_code == 200, path + rest
        changed = {"expires_in": 1_209_500, "config": {**login["config"]}}
        changed["config"]["downloadToken"] = answer.json["config"]["downloadToken"]
        assert answer.json == {**login, **changed}
        assert answer.headers["X-Session-ID"] == token


def test_a_get_with_a_json_header_and_no_body_is_fine(api):
    for path in ("/session", "/photos"):
        answer = api.call("GET", path, api.session_of(), content_type="application/json; charset=utf-8")
        assert answer.status_code == 200


def test_an_app_password_reads_its_own_session(api):
    app = api.app_password()
    body = api.call("GET", "/session", app).json
    assert set(body) == KEYS
    assert (body["provider"], body["access_token"], body["expires_in"]) == ("application", app, 0)


def test_logging_out_ends_this_session_at_once_and_no_other(api):
    other = api.session_of()
    for path in ("/session", "/session/{session_id}", "/session/{id}"):
        first = api.log_in().json
        answer = api.call("DELETE", path.format_map(first), first["access_token"])
        expected = {"code": 200, "status": "deleted", "session_id": first["session_id"]}
        assert (answer.status_code, answer.json) == (200, expected), path
        check_error(api.call("GET", "/session", first["access_token"]), 401)
        check_error(api.call("DELETE", "/session", first["access_token"]), 401)
        assert api.is_alive(other), path


def test_a_session_is_read_and_ended_by_its_own_token_only(api):
    mine, theirs = api.log_in("alice").json, api.log_in("ann").json
    for method in ("GET", "DELETE"):
        for name in (theirs["session_id"], theirs["access_token"], "0" * 64, "%00", "sess00000000"):
            check_error(api.call(method, f"/sessions/{name}", mine["access_token"]), 403)
    assert api.is_alive(theirs["access_token"])


def test_a_token_that_stays_valid_is_refused_in_the_address(api):
    token = api.session_of()
    answer = api.call("GET", f"/session/{token}", token)
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "session_id")
    assert api.is_alive(token)


def test_other_endpoints_want_their_json_declared(api):
    own = api.session_of("ann")
    routes = [("POST", "/users"), ("PUT", api.user_path()), ("PUT", api.user_path("ann", "/password"))]
    kinds = (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx")
    for (method, path), content_type in product(routes, kinds):
        answer = api.call(method, path, own, data=b"{}", content_type=content_type)
        assert answer.status_code == 400, (method, path, content_type)
        assert "Content-Type: application/json" in check_error(answer, 400)["error"]


def test_the_answer_has_the_years_of_photos_that_the_user_sees(api):
    with api.library.session() as session:
        add_photos(session, 3, api.clock())
        edit_photos(session, [1], year=1999, private=True)
        edit_photos(session, [2], year=1998, day=1, archived_at=api.clock())
    assert api.log_in("alice").json["config"]["years"] == [2020, 1999]
    assert api.log_in("vera").json["config"]["years"] == [2020]


def test_without_use_a_session_ends_after_seven_days_to_the_second(api):
    used, idle = api.session_of(), api.session_of()
    api.clock.move(days=7, seconds=-1)
    assert api.is_alive(used)
    api.clock.move(seconds=1)
    assert api.is_alive(used)
    check_error(api.call("GET", "/photos", idle), 401)


def test_in_use_a_session_ends_after_fourteen_days_to_the_second(api):
    token = api.session_of()
    for _ in range(13):
        api.clock.move(days=1)
        assert api.is_alive(token)
    api.clock.move(days=1, seconds=-1)
    assert api.call("GET", "/session", token).json["expires_in"] == 1
    api.clock.move(seconds=1)
    answer = api.call("GET", "/session", token)
    check_error(answer, 401)
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


def test_lifetimes_follow_the_settings(tmp_path):
    settings = {"PHOTOSVC_SESSION_MAX_AGE": 3600, "PHOTOSVC_SESSION_IDLE": 60}
    with open_api(tmp_path / "short", settings=settings) as api:
        body = api.log_in().json
        assert body["expires_in"] == 3600
        api.clock.move(seconds=59)
        assert api.is_alive(body["id"])
        api.clock.move(seconds=60)
        assert not api.is_alive(body["id"])
