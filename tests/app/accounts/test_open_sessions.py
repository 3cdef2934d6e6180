"""Login sessions that an owner sees and ends (OWASP ASVS 7.5.2)."""

import pytest

from photosvc.core import ids
from tests.helpers.api_client import PASSWORD, check_error


@pytest.fixture
def path(api):
    return api.user_path(rest="/sessions")


def listed(api, path, token):
    answer = api.call("GET", path, token)
    assert answer.status_code == 200, answer.text
    return answer.json


def id_of(api, path, token):
    """The id of a session as its owner finds it."""
    (found,) = [one["id"] for one in listed(api, path, token) if one["current"]]
    return found


def picture(api, token):
    """The address of a thumbnail that is not there, as a page with this token links to it."""
    return f"/t/{'0' * 40}/{api.call('GET', '/session', token).json['config']['previewToken']}/fit_720"


def test_an_owner_sees_when_from_where_and_how_each_session_was_opened(api, path):
    browser = api.call(
        "POST",
        "/session",
        json={"username": "alice", "password": PASSWORD},
        address="198.51.100.4",
        headers={"User-Agent": "Browser/1.0 \x7f" + "x" * 999},
    ).json["access_token"]
    other = api.session_of()
    assert "Browser/1.0 " + "x" * 242 in [one["user_agent"] for one in listed(api, path, other)]
    assert api.call("DELETE", "/session", other).status_code == 200
    api.clock.move(minutes=5)
    answer = api.call("GET", path, browser, address="198.51.100.9", headers={"User-Agent": "Browser/1.1"})
    (found,) = answer.json
    assert found == {
        "id": found["id"],
        "current": True,
        "method": "password",
        "app_password": "",
        "created_at": "2026-03-01T12:00:00Z",
        "expires_at": "2026-03-15T12:00:00Z",
        "last_used_at": "2026-03-01T12:05:00Z",
        "last_ip": "198.51.100.9",
        "user_agent": "Browser/1.1",
    }
    assert browser not in answer.text
    assert ids.digest(browser) not in answer.text


def test_sessions_of_app_passwords_and_of_second_factors_say_so(api, path):
    app = api.app_password(scope="photos sessions")
    api.session_of(password=app)
    own = api.session_of()
    found = {(one["method"], one["app_password"], one["current"]) for one in listed(api, path, own)}
    assert found == {("password", "", True), ("app_password", "frame", False)}


def test_an_owner_ends_one_session_at_once_with_its_links_and_no_other(api, path):
    own, other, third = api.session_of(), api.session_of(), api.session_of()
    uid = id_of(api, path, other)
    link = picture(api, other)
    check_error(api.call("GET", link), 404)
    assert api.call("DELETE", f"{path}/{uid}", own).json == {"code": 200, "message": "Login session ended."}
    assert [api.is_alive(token) for token in (own, other, third)] == [True, False, True]
    check_error(api.call("GET", link), 403)
    check_error(api.call("DELETE", f"{path}/{uid}", own), 404)
    assert len(listed(api, path, own)) == 2


def test_the_most_recently_used_comes_first(api, path):
    older = api.session_of()
    api.clock.move(hours=1)
    own = api.session_of()
    assert [one["current"] for one in listed(api, path, own)] == [True, False]
    api.clock.move(hours=1)
    assert api.is_alive(older)
    api.clock.move(hours=-1)
    assert [one["current"] for one in listed(api, path, own)] == [False, True]


def test_ending_all_other_sessions_keeps_this_session_and_the_app_passwords(api, path):
    own, other, app = api.session_of(), api.session_of(), api.app_password()
    child, strangers = api.session_of(password=app), api.session_of("vera")
    answer = api.call("DELETE", path, own)
    assert answer.json == {"code": 200, "message": "Login sessions ended.", "ended": 2}
    tokens = (own, other, child, app, strangers)
    assert [api.is_alive(token) for token in tokens] == [True, False, False, True, True]


def test_an_administrator_sees_and_ends_the_sessions_of_others(api, path):
    admin, first, second = api.session_of("ann"), api.session_of(), api.session_of()
    found = listed(api, path, admin)
    assert [one["current"] for one in found] == [False, False]
    assert api.call("DELETE", f"{path}/{found[0]['id']}", admin).status_code == 200
    assert sorted([api.is_alive(first), api.is_alive(second)]) == [False, True]
    assert api.call("DELETE", path, admin).json["ended"] == 1
    assert [api.is_alive(token) for token in (first, second, admin)] == [False, False, True]


def test_only_ids_of_this_accounts_sessions_are_ended_by_path(api, path):
    own, other, app = api.session_of(), api.session_of(), api.app_password()
    app_id = api.call("GET", api.user_path(rest="/app-passwords"), own).json[0]["id"]
    strangers = api.session_of("vera")
    theirs = id_of(api, api.user_path("vera", "/sessions"), strangers)
    for text in (other, ids.digest(other), app_id, theirs, "sess00000000", "%00", "%ff", "x" * 3000, "é"):
        check_error(api.call("DELETE", f"{path}/{text}", own), 404)
    assert [api.is_alive(token) for token in (own, other, app, strangers)] == [True] * 4


def test_the_command_line_lists_and_ends_them(api, path):
    own, other, app = api.session_of(), api.session_of(), api.app_password()
    uid = id_of(api, path, other)
    shown = api.svc("users", "sessions", "alice", "--json")
    assert shown.returncode == 0
    assert own not in shown.stdout
    assert uid in shown.stdout
    assert api.svc("auth", "rm", uid, "--yes").returncode == 0
    assert [api.is_alive(token) for token in (own, other)] == [True, False]
    refused = api.svc("users", "logout", "alice")
    assert (refused.returncode, api.is_alive(own)) == (2, True)
    done = api.svc("users", "logout", "alice", "--yes")
    assert (done.returncode, done.stderr) == (0, "1 login session ended.\n")
    assert [api.is_alive(token) for token in (own, app)] == [False, True]
    for command in (["sessions", "nobody"], ["logout", "nobody", "--yes"]):
        assert api.svc("users", *command).returncode == 3
