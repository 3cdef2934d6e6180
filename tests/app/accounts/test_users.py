"""Accounts and their passwords over HTTP."""

import pytest

from tests.helpers.api_client import PASSWORD, check_error

NEW = "new horse battery"


@pytest.fixture
def admin(api):
    return api.session_of("ann")


def test_accounts_are_listed_by_name_and_never_with_a_password(api, admin):
    answer = api.call("GET", "/users", admin)
    assert [(user["Name"], user["Role"]) for user in answer.json] == [
        ("alice", "user"),
        ("ann", "admin"),
        ("vera", "viewer"),
    ]
    assert "argon2" not in answer.text
    assert all("assword" not in key for user in answer.json for key in user)


def test_an_added_account_logs_in_with_its_password(api, admin):
    body = {"Name": " Bob ", "Password": NEW, "Role": "viewer", "DisplayName": "Böb", "Email": "b@example.org"}
    answer = api.call("POST", "/users", admin, json=body)
    assert answer.status_code == 201
    user = answer.json
    assert (user["Name"], user["Role"], user["DisplayName"], user["Email"]) == ("bob", "viewer", "Böb", "b@example.org")
    assert (user["CanLogin"], user["LoginAt"]) == (True, "0001-01-01T00:00:00Z")
    assert api.call("GET", f"/users/{user['UID']}", admin).json == user
    assert api.log_in("bob", NEW).json["user"]["UID"] == user["UID"]


def test_an_account_with_a_bad_value_is_not_added_and_the_value_named(api, admin):
    for change, status, field in (
        ({"Name": "a:b"}, 400, "name"),
        ({"Name": "alice"}, 409, "name"),
        ({"Name": 7}, 400, "Name"),
        ({"Password": "bob"}, 400, "password"),
        ({"Password": "Password123"}, 400, "password"),
        ({"Role": "root"}, 400, "role"),
        ({"DisplayName": "a\0b"}, 400, "display_name"),
        ({"Email": "x" * 256}, 400, "email"),
    ):
        answer = api.call("POST", "/users", admin, json={"Name": "bob", "Password": NEW, **change})
        assert answer.status_code == status, change
        assert [detail["field"] for detail in check_error(answer, status)["details"]] == [field], change
    assert len(api.call("GET", "/users", admin).json) == 3


def test_every_missing_value_is_named(api, admin):
    body = check_error(api.call("POST", "/users", admin, json={}), 400)
    assert [detail["field"] for detail in body["details"]] == ["Name", "Password"]


def test_a_change_touches_the_named_values_and_a_whole_record_may_be_sent_back(api, admin):
    path = api.user_path()
    api.clock.move(seconds=5)
    before = api.call("GET", path, admin).json
    changed = api.call("PUT", path, admin, json={"DisplayName": "Alice A."}).json
    assert changed == {**before, "DisplayName": "Alice A.", "UpdatedAt": "2026-03-01T12:00:05Z"}
    assert api.call("PUT", path, admin, json={**changed, "UID": "u", "Name": "x", "SuperAdmin": True}).json == changed


def test_a_change_to_a_bad_value_is_refused(api, admin):
    for change in (*({"Disabled": value} for value in ("maybe", None, [], 2)), {"Role": "root"}, {"Email": "x" * 256}):
        answer = api.call("PUT", api.user_path(), admin, json=change)
        assert answer.status_code == 400, change


def test_an_unknown_account_is_404_for_administrators(api, admin):
    for uid in ("unobody0000000000", "%00", "%ff", "a b", "x" * 2000, "..", "%2e%2e"):
        for method, body in (("GET", None), ("PUT", {"Role": "user"}), ("DELETE", None)):
            answer = api.call(method, f"/users/{uid}", admin, json=body)
            assert answer.status_code == 404, (method, uid[:80])
            check_error(answer, 404)


def test_a_disabled_account_is_refused_at_once_and_its_app_passwords_sleep(api, admin):
    login, app = api.session_of(), api.app_password()
    child = api.session_of(password=app)
    path = api.user_path()
    assert api.call("PUT", path, admin, json={"Disabled": True}).json["CanLogin"] is False
    assert [api.is_alive(token) for token in (login, app, child)] == [False] * 3
    check_error(api.log_in(), 401)
    check_error(api.log_in(password=app), 401)
    assert api.call("PUT", path, admin, json={"Disabled": False}).status_code == 200
    assert [api.is_alive(token) for token in (login, app)] == [False, True]
    assert api.log_in().status_code == 200


def test_a_new_role_holds_from_the_next_request_on(api, admin):
    vera = api.session_of("vera")
    check_error(api.call("GET", "/users", vera), 403)
    assert api.call("PUT", api.user_path("vera"), admin, json={"Role": "admin"}).status_code == 200
    assert api.call("GET", "/users", vera).status_code == 200


def test_a_removed_account_and_all_of_its_credentials_are_gone(api, admin):
    tokens = [api.session_of(), api.app_password(), api.app_password(scope="webdav")]
    assert api.call("DELETE", api.user_path(), admin).status_code == 200
    assert [api.is_alive(token) for token in tokens] == [False] * 3
    check_error(api.log_in(), 401)
    check_error(api.call("DELETE", api.user_path(), admin), 404)


def test_the_last_administrator_stays(api, admin):
    for change in ({"Role": "user"}, {"Disabled": True}, None):
        method = "PUT" if change else "DELETE"
        body = check_error(api.call(method, api.user_path("ann"), admin, json=change), 409)
        assert body["error"].startswith("The last enabled administrator must remain"), change
    api.call("PUT", api.user_path(), admin, json={"Role": "admin"})
    assert api.call("PUT", api.user_path("ann"), admin, json={"Role": "user"}).status_code == 200


def test_a_new_password_needs_the_old_one_and_a_wrong_password_does_not_end_the_session(api):
    own, path = api.session_of(), api.user_path(rest="/password")
    for old in ({}, {"old": "wrong horse"}, {"old": ""}):
        body = check_error(api.call("PUT", path, own, json={**old, "new": NEW}), 400)
        assert [detail["field"] for detail in body["details"]] == ["old"]
    assert api.log_in().status_code == 200
    assert api.is_alive(own)


def test_a_new_password_ends_the_other_log_ins_at_once_and_keeps_this_one_and_app_passwords(api):
    own, other, app = api.session_of(), api.session_of(), api.app_password()
    child, strangers = api.session_of(password=app), api.session_of("ann")
    answer = api.call("PUT", api.user_path(rest="/password"), own, json={"old": PASSWORD, "new": NEW})
    assert (answer.status_code, answer.json) == (200, {"code": 200, "message": "Password changed."})
    tokens = (own, other, app, child, strangers)
    assert [api.is_alive(token) for token in tokens] == [True, False, True, True, True]
    check_error(api.log_in(), 401)
    assert api.log_in(password=NEW).status_code == 200


def test_a_new_password_must_be_fit(api):
    own, path = api.session_of(), api.user_path(rest="/password")
    for new in ("short", "alice", "x" * 129, "", "iloveyou", "QWERTYUIOP"):
        answer = api.call("PUT", path, own, json={"old": PASSWORD, "new": new})
        assert answer.status_code == 400, new
        assert [detail["field"] for detail in check_error(answer, 400)["details"]] == ["new"], new
    assert api.log_in().status_code == 200


def test_an_administrator_sets_the_password_of_others_but_must_know_their_own(api, admin):
    alice = api.session_of()
    assert api.call("PUT", api.user_path(rest="/password"), admin, json={"new": NEW}).status_code == 200
    assert (api.is_alive(alice), api.is_alive(admin)) == (False, True)
    assert api.log_in(password=NEW).status_code == 200
    check_error(api.call("PUT", api.user_path("ann", "/password"), admin, json={"new": NEW}), 400)


def test_users_see_and_change_their_own_account_and_no_other(api):
    for name, role in (("alice", "user"), ("vera", "viewer")):
        own, path = api.session_of(name), api.user_path(name)
        for segment in (api.uids[name], api.uids[name].upper(), name, f"%20{name.title()}"):
            assert api.call("GET", f"/users/{segment}", own).json["Name"] == name, segment
        for other in (api.user_path("ann"), "/users/ann", "/users/unobody0000000000", "/users/%00"):
            for method, body in (("GET", None), ("PUT", {"DisplayName": "x"})):
                answer = api.call(method, other, own, json=body)
                assert answer.status_code == 403, (name, method, other)
        for change in ({"Role": "admin"}, {"Disabled": True}, {"Role": "root"}):
            answer = api.call("PUT", path, own, json={"DisplayName": "changed", **change})
            assert answer.status_code == 403, (name, change)
            record = api.call("GET", path, own).json
            assert (record["Role"], record["Disabled"], record["DisplayName"]) == (role, False, ""), (name, change)


def test_users_change_their_own_displayed_name_and_address_at_any_time(api):
    tokens = {name: api.session_of(name) for name in ("alice", "vera", "ann")}
    api.clock.move(hours=2)
    for name, own in tokens.items():
        path = api.user_path(name)
        changed = {**api.call("GET", path, own).json, "DisplayName": "Ä. B.", "Email": "a@example.org"}
        answer = api.call("PUT", path, own, json=changed)
        assert (answer.status_code, answer.json) == (200, {**changed, "UpdatedAt": "2026-03-01T14:00:00Z"}), name
        check_error(api.call("PUT", path, own, json={"DisplayName": "a\0b"}), 400)


def test_an_administrators_own_role_needs_the_password_of_the_last_hour(api, admin):
    api.call("PUT", api.user_path(), admin, json={"Role": "admin"})
    api.clock.move(hours=2)
    check_error(api.call("PUT", api.user_path("ann"), admin, json={"Role": "viewer"}), 403)
    api.call("POST", "/session/confirm", admin, json={"password": PASSWORD})
    assert api.call("PUT", api.user_path("ann"), admin, json={"Role": "viewer"}).json["Role"] == "viewer"
