"""App passwords over HTTP: made by their owner, shown once, never wider than who makes them (spec section 5.2)."""

import pytest

from photosvc.core import ids
from tests.api_client import PASSWORD, check_error, open_house

FRAME = {"name": "frame", "scope": "photos", "password": PASSWORD}


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path) as house:
        yield house


@pytest.fixture
def own(house):
    return house.session_of()


@pytest.fixture
def path(house):
    return house.user_path(rest="/app-passwords")


def test_an_app_password_is_shown_in_the_answer_that_makes_it_and_never_again(house, own, path):
    answer = house.call("POST", path, own, json=FRAME)
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
    }
    listed = house.call("GET", path, own)
    assert listed.json == [record]
    assert secret not in listed.text
    assert house.call("GET", "/photos", secret).status_code == 200
    assert house.call("GET", path, own).json[0]["last_used_at"] == "2026-03-01T12:00:00Z"


@pytest.mark.parametrize(("expires", "ends"), [(-1, None), (1, "2026-03-01T12:00:01Z"), (3600, "2026-03-01T13:00:00Z")])
def test_it_lives_as_long_as_was_asked_for(house, own, path, expires, ends):
    assert house.call("POST", path, own, json={**FRAME, "expires": expires}).json["expires_at"] == ends


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 161}, "name"),
        ({"name": None}, "name"),
        ({"scope": ""}, "scope"),
        ({"scope": "phots"}, "scope"),
        ({"scope": "photos:maybe"}, "scope"),
        ({"scope": "x " * 600}, "scope"),
        ({"expires": 0}, "expires"),
        ({"expires": -2}, "expires"),
        ({"expires": 10**30}, "expires"),
        ({"expires": 1.5}, "expires"),
        ({"expires": None}, "expires"),
        ({"password": "wrong horse"}, "password"),
        ({"password": ""}, "password"),
    ],
)
def test_a_bad_value_makes_none_and_is_named(house, own, path, change, field):
    body = check_error(house.call("POST", path, own, json={**FRAME, **change}), 400)
    assert [detail["field"] for detail in body["details"]] == [field]
    assert house.call("GET", path, own).json == []


def test_no_app_password_makes_lists_or_removes_one_whatever_its_scope(house, own, path):
    made = house.call("POST", path, own, json=FRAME).json
    for token in (house.app_password("alice"), house.app_password("ann"), house.access_token(), made["secret"]):
        check_error(house.call("POST", path, token, json={**FRAME, "scope": "*"}), 403)
        check_error(house.call("GET", path, token), 403)
        check_error(house.call("DELETE", f"{path}/{made['id']}", token), 403)


def test_a_session_made_from_an_app_password_is_worth_no_more_than_that(house, path):
    child = house.session_of(password=house.app_password())
    check_error(house.call("POST", path, child, json=FRAME), 403)
    check_error(
        house.call("PUT", house.user_path(rest="/password"), child, json={"old": PASSWORD, "new": "x" * 9}), 403
    )
    check_error(house.call("POST", house.user_path(rest="/passcode"), child, json={"password": PASSWORD}), 403)


def test_no_credential_widens_itself_by_any_method(house, own, path):
    made = house.call("POST", path, own, json=FRAME).json
    for method in ("PUT", "PATCH", "POST"):
        answer = house.call(method, f"{path}/{made['id']}", made["secret"], json={"scope": "*"})
        check_error(answer, 405)
    assert house.call("GET", path, own).json[0]["scope"] == "photos"


def test_an_administrator_lists_and_revokes_the_app_passwords_of_others_but_makes_none(house, own, path):
    made = house.call("POST", path, own, json=FRAME).json
    admin = house.session_of("ann")
    assert [found["id"] for found in house.call("GET", path, admin).json] == [made["id"]]
    check_error(house.call("POST", path, admin, json=FRAME), 403)
    assert house.call("DELETE", f"{path}/{made['id']}", admin).status_code == 200
    assert not house.is_alive(made["secret"])


def test_a_revoked_app_password_is_refused_at_once_and_gone_for_good(house, own, path):
    made = house.call("POST", path, own, json=FRAME).json
    place = f"{path}/{made['id']}"
    assert house.is_alive(made["secret"])
    assert house.call("DELETE", place, own).json == {"code": 200, "message": "App password revoked."}
    check_error(house.call("GET", "/photos", made["secret"]), 401)
    check_error(house.log_in(password=made["secret"]), 401)
    check_error(house.call("DELETE", place, own), 404)


def test_only_app_passwords_of_this_account_are_revoked_here(house, own, path):
    strangers, token, login = house.app_password("ann"), house.access_token(), house.session_of()
    for secret in (strangers, token, login, "sess00000000", "%00", "x" * 3000):
        check_error(house.call("DELETE", f"{path}/{secret}", own), 404)
    assert [house.is_alive(secret) for secret in (strangers, token, login)] == [True] * 3
    assert house.call("GET", path, own).json == []


def test_after_a_new_password_it_still_works(house, own, path):
    made = house.call("POST", path, own, json=FRAME).json
    change = {"old": PASSWORD, "new": "new horse battery"}
    assert house.call("PUT", house.user_path(rest="/password"), own, json=change).status_code == 200
    assert house.is_alive(made["secret"])
