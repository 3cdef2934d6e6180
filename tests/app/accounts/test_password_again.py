"""Administrators send their password again before they change accounts, once an hour (OWASP ASVS 7.5.3, RFC 9470)."""

import pytest

from photosvc.auth import accounts, second_factor
from tests.helpers.api_client import HASH, PASSWORD, check_error
from tests.unit.auth.operations import by_command

NEW = "new horse battery"


@pytest.fixture
def admin(api):
    return api.session_of("ann")


def changes(api):
    """Each change of an account that only administrators can make."""
    alice = api.user_path()
    return {
        "add": ("POST", "/users", {"Name": "bob", "Password": NEW}),
        "change": ("PUT", alice, {"DisplayName": "A."}),
        "password": ("PUT", f"{alice}/password", {"new": NEW}),
        "passcode": ("DELETE", f"{alice}/passcode", None),
        "remove": ("DELETE", alice, None),
    }


def confirm(api, token, password=PASSWORD):
    return api.call("POST", "/session/confirm", token, json={"password": password})


def test_an_hour_after_the_log_in_each_change_is_refused_until_the_password_is_sent(api):
    for name, (method, path, body) in changes(api).items():
        admin = api.session_of("ann")
        api.clock.move(hours=1, seconds=1)
        answer = api.call(method, path, admin, json=body)
        assert answer.status_code == 403, name
        assert [detail["field"] for detail in check_error(answer, 403)["details"]] == ["password"], name
        challenge = answer.headers["WWW-Authenticate"]
        assert 'error="insufficient_user_authentication", max_age="3600"' in challenge, name
        assert confirm(api, admin).json == {"code": 200, "message": "Password confirmed.", "confirmed_for": 3600}
        assert api.call(method, path, admin, json=body).status_code in {200, 201}, name


def test_reading_and_ending_stolen_credentials_never_need_the_password(api, admin):
    alice, app = api.session_of(), api.app_password()
    api.clock.move(hours=2)
    assert api.call("GET", "/users", admin).status_code == 200
    assert api.call("GET", api.user_path(), admin).status_code == 200
    (found,) = api.call("GET", api.user_path(rest="/app-passwords"), admin).json
    assert api.call("DELETE", api.user_path(rest=f"/app-passwords/{found['id']}"), admin).status_code == 200
    assert api.call("DELETE", api.user_path(rest="/sessions"), admin).status_code == 200
    assert [api.is_alive(token) for token in (alice, app)] == [False, False]


def test_a_wrong_password_confirms_nothing_names_the_field_and_is_slowed_down(api, admin):
    api.clock.move(hours=2)
    for _ in range(10):
        body = check_error(confirm(api, admin, "wrong horse"), 400)
        assert [detail["field"] for detail in body["details"]] == ["password"]
    answer = confirm(api, admin)
    check_error(answer, 429)
    assert int(answer.headers["Retry-After"]) == 60
    check_error(api.call("PUT", api.user_path(), admin, json={}), 403)
    assert api.is_alive(admin)


def test_a_confirmation_without_a_password_is_malformed(api, admin):
    for body in ({}, {"password": None}, {"password": 7}, {"password": ""}, []):
        answer = api.call("POST", "/session/confirm", admin, json=body)
        assert answer.status_code == 400, body


def test_one_sessions_confirmation_is_not_anothers(api, admin):
    other = api.session_of("ann")
    api.clock.move(hours=2)
    confirm(api, other)
    check_error(api.call("PUT", api.user_path(), admin, json={}), 403)
    assert api.call("PUT", api.user_path(), other, json={}).status_code == 200


ALICE = "/users/{}"
CHANGES = {
    "password": ("PUT", ALICE + "/password", {"old": PASSWORD, "new": "new horse battery"}, "old"),
    "start": ("POST", ALICE + "/passcode", {"password": PASSWORD}, "password"),
    "disable": ("POST", ALICE + "/passcode/disable", {"password": PASSWORD}, "password"),
    "app password": ("POST", ALICE + "/app-passwords", {"name": "x", "scope": "*", "password": PASSWORD}, "password"),
    "confirm": ("POST", "/session/confirm", {"password": PASSWORD}, "password"),
}


def test_nothing_is_changed_by_a_password_that_is_not_valid_any_more(api, monkeypatch):
    verify = second_factor.verify_password
    for change, (method, path, body, field) in CHANGES.items():
        own = api.session_of()

        def meanwhile(password, stored):
            with api.library.session() as session:
                accounts.set_password(by_command(session, api.clock()), "alice", HASH)
            return verify(password, stored)

        with monkeypatch.context() as patch:
            patch.setattr(second_factor, "verify_password", meanwhile)
            answer = api.call(method, path.format(api.uids["alice"]), own, json=body)
        assert answer.status_code == 400, change
        assert [detail["field"] for detail in check_error(answer, 400)["details"]] == [field], change
        assert api.log_in().status_code == 200, change
        assert api.svc("auth", "ls", "app_password", "--json").stdout == "[]\n", change
