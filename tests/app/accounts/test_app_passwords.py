"""App passwords over HTTP: made by their owner, shown once, never wider than the credential that makes them."""

import pytest

from photosvc.auth import credentials
from photosvc.core import ids
from photosvc.core.accounts import MAX_CREDENTIAL_LIFETIME
from tests.helpers.api_client import PASSWORD, check_error

FRAME = {"name": "frame", "scope": "photos", "password": PASSWORD}


@pytest.fixture
def own(api):
    return api.session_of()


@pytest.fixture
def path(api):
    return api.user_path(rest="/app-passwords")


def test_an_app_password_is_shown_in_the_answer_that_makes_it_and_never_again(api, own, path):
    answer = api.call("POST", path, own, json=FRAME)
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    secret = answer.json["secret"]
    assert ids.is_app_password(secret)
    record = {key: value for key, value in answer.json.items() if key != "secret"}
    assert record == {
        "id": record["id"],
        "name": "frame",
        "kind": "app_password",
        "scope": "photos",
        "created_at": "2026-03-01T12:00:00Z",
        "expires_at": "2027-03-01T12:00:00Z",
        "last_used_at": None,
        "last_ip": "",
        "user_agent": "",
    }
    listed = api.call("GET", path, own)
    assert listed.json == [record]
    assert secret not in listed.text
    use = api.call(
        "GET", "/photos", secret, address="198.51.100.4", headers={"User-Agent": "Frame/1.0 \x7f" + "x" * 999}
    )
    assert use.status_code == 200
    (listed,) = api.call("GET", path, own).json
    assert (listed["last_used_at"], listed["last_ip"]) == ("2026-03-01T12:00:00Z", "198.51.100.4")
    assert listed["user_agent"] == "Frame/1.0 " + "x" * 244


def test_an_account_has_a_limited_number_of_them(api, own, path, monkeypatch):
    monkeypatch.setattr(credentials, "MOST_APP_PASSWORDS", 3)
    short = {**FRAME, "expires": 60}
    made = [api.call("POST", path, own, json=body).json["id"] for body in (FRAME, FRAME, short)]
    refused = check_error(api.call("POST", path, own, json=FRAME), 409)
    assert refused["error"].startswith("The account has the most app passwords allowed: revoke one")
    assert len(api.call("GET", path, own).json) == 3
    others = api.session_of("ann")
    assert api.call("POST", api.user_path("ann", "/app-passwords"), others, json=FRAME).status_code == 201
    assert api.call("DELETE", f"{path}/{made[0]}", own).status_code == 200
    assert api.call("POST", path, own, json=FRAME).status_code == 201
    assert api.call("POST", path, own, json=FRAME).status_code == 409
    api.clock.move(seconds=61)  # one has expired
    assert api.call("POST", path, own, json=FRAME).status_code == 201
    assert api.app_password("alice")  # by the command line, as many as its operator wants


def test_it_lives_for_the_requested_time(api, own, path):
    for expires, ends in ((-1, None), (1, "2026-03-01T12:00:01Z"), (3600, "2026-03-01T13:00:00Z")):
        assert api.call("POST", path, own, json={**FRAME, "expires": expires}).json["expires_at"] == ends, expires


def test_a_bad_value_makes_none_and_is_named(api, own, path):
    bad = {
        "name": ("", " ", "a\nb", "a\0", "\u202e", "x" * 161, None),
        "scope": ("", "phots", "photos:maybe", "x " * 600),
        "expires": (0, -2, MAX_CREDENTIAL_LIFETIME + 1, 10**30, 1.5, None),
        "password": ("wrong horse", ""),
    }
    for field, value in ((field, value) for field, values in bad.items() for value in values):
        answer = api.call("POST", path, own, json={**FRAME, field: value})
        assert answer.status_code == 400, (field, value)
        assert [detail["field"] for detail in check_error(answer, 400)["details"]] == [field], value
    assert api.call("GET", path, own).json == []


def test_no_credential_widens_itself_by_any_method(api, own, path):
    made = api.call("POST", path, own, json=FRAME).json
    for method in ("PUT", "PATCH", "POST"):
        check_error(api.call(method, f"{path}/{made['id']}", made["secret"], json={"scope": "*"}), 405)
    assert api.call("GET", path, own).json[0]["scope"] == "photos"


def test_an_administrator_lists_and_revokes_the_app_passwords_of_others_but_makes_none(api, own, path):
    made = api.call("POST", path, own, json=FRAME).json
    admin = api.session_of("ann")
    assert [found["id"] for found in api.call("GET", path, admin).json] == [made["id"]]
    check_error(api.call("POST", path, admin, json=FRAME), 403)
    assert api.call("DELETE", f"{path}/{made['id']}", admin).status_code == 200
    assert not api.is_alive(made["secret"])


def test_a_revoked_app_password_is_refused_at_once_and_gone_for_good(api, own, path):
    made = api.call("POST", path, own, json=FRAME).json
    place = f"{path}/{made['id']}"
    assert api.is_alive(made["secret"])
    preview = api.call("GET", "/photos", made["secret"]).headers["X-Preview-Token"]
    picture = f"/t/{'0' * 40}/{preview}/fit_720"
    check_error(api.call("GET", picture), 404)
    assert api.call("DELETE", place, own).json == {"code": 200, "message": "App password revoked."}
    check_error(api.call("GET", "/photos", made["secret"]), 401)
    check_error(api.call("GET", picture), 403)
    check_error(api.log_in(password=made["secret"]), 401)
    check_error(api.call("DELETE", place, own), 404)


def test_only_app_passwords_of_this_account_are_revoked_here(api, own, path):
    strangers, token, login = api.app_password("ann"), api.access_token(), api.session_of()
    for secret in (strangers, token, login, "sess00000000", "%00", "x" * 3000):
        check_error(api.call("DELETE", f"{path}/{secret}", own), 404)
    assert [api.is_alive(secret) for secret in (strangers, token, login)] == [True] * 3
    assert api.call("GET", path, own).json == []
