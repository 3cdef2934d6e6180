"""Refusals are recorded and counted for a minute, and never with a typed or shown text."""

import json
import sqlite3

from photosvc.core import ids
from tests.app.audit.audit_rows import rows
from tests.app.oauth.oauth_client import basic
from tests.helpers.api_client import PASSWORD, check_error
from tests.helpers.library import DATABASE


def refusals(library):
    """Refusals as (event, whom they concern, detail, times)."""
    return [(row.event, row.subject, row.detail, row.times) for row in rows(library) if row.part == "refusals"]


def test_a_wrong_password_names_the_account_and_the_address(api):
    assert api.log_in("Alice", "wrong").status_code == 401
    (row,) = rows(api.library)
    assert (row.event, row.actor, row.address) == ("login.refused", "", "192.0.2.7")
    assert (row.subject, row.subject_uid, row.detail) == ("alice", api.uids["alice"], "")


def test_an_unknown_name_is_not_logged_because_it_may_be_a_password(api, caplog):
    for name in ("my secret passphrase", "hunter2", "", "x" * 5000, "a\nb", "a\x00b"):
        assert api.log_in(name, "alice").status_code == 401, name
    assert {entry[1:3] for entry in refusals(api.library)} == {("", "")}
    assert "passphrase" not in caplog.text
    assert "hunter2" not in caplog.text


def test_why_a_log_in_was_refused_although_the_password_is_right(api):
    token, client = api.access_token(), json.loads(api.svc("clients", "add", "-n", "c", "-s", "*", "--json").stdout)
    assert api.log_in("alice", token).status_code == 403
    assert api.log_in("alice", client["client_secret"]).status_code == 403
    assert api.log_in("alice", api.app_password(scope="photos")).status_code == 403
    assert refusals(api.library) == [
        ("login.refused", "alice", "secret of a client", 2),
        ("login.refused", "alice", "app password without the scope sessions", 1),
    ]


def test_equal_refusals_of_a_minute_are_one_entry_and_one_line(api, caplog):
    token = api.access_token("photos")
    for _ in range(5):
        check_error(api.call("GET", "/albums", token), 403)
    check_error(api.call("GET", "/labels", token), 403)
    check_error(api.call("GET", "/albums", api.access_token("photos")), 403)
    api.clock.move(seconds=60)
    check_error(api.call("GET", "/albums", token), 403)
    counted = [("access.refused", "", "albums.search", times) for times in (6, 1)]
    assert refusals(api.library) == [
        counted[0],
        ("access.refused", "", "labels.search", 1),
        counted[1],
    ]
    assert len(caplog.messages) == 3
    api.clock.move(seconds=61)
    check_error(api.call("GET", "/albums", token), 403)
    assert refusals(api.library)[3:] == [counted[1]]


def test_a_throttled_account_is_logged_unless_several_were_tried(api):
    for name in ("alice", "vera"):
        for _ in range(11 if name == "alice" else 1):
            api.log_in(name, "wrong")
    found = refusals(api.library)
    assert found == [("login.refused", "alice", "", 1)] * 10 + [("throttled", "", "login", 2)]


def test_wrong_tokens_are_logged_and_missing_ones_are_not(api):
    check_error(api.call("GET", "/photos"), 401)
    check_error(api.call("GET", "/photos", "garbage"), 401)
    short = api.access_token(lifetime=1)
    api.clock.move(seconds=2)
    check_error(api.call("GET", "/photos", short), 401)
    assert refusals(api.library) == [("token.refused", "", "", 1), ("token.refused", "", "expired", 1)]


def test_a_wrong_password_of_a_logged_in_user_is_logged_with_the_session(api):
    own = api.session_of("alice")
    body = {"name": "frame", "scope": "*", "password": "wrong"}
    check_error(api.call("POST", api.user_path(rest="/app-passwords"), own, json=body), 400)
    _login, refused = rows(api.library)
    assert (refused.event, refused.actor, refused.detail) == ("password.refused", "alice", "password")
    assert refused.credential.startswith("sess")


def test_clients_with_wrong_secrets_are_logged_with_their_name_if_they_exist(api):
    made = json.loads(api.svc("clients", "add", "-n", "robot", "-s", "photos", "--json").stdout)["client_id"]
    for client_id in (made, "cunknown00000000", "my secret"):
        header = {"Authorization": basic(client_id, "wrong")}
        answer = api.call("POST", "/oauth/token", data={"grant_type": "client_credentials"}, headers=header)
        assert answer.status_code == 401
    assert [(event, subject) for event, subject, _, _ in refusals(api.library)] == [
        ("client.refused", "robot"),
        ("client.refused", ""),
        ("client.refused", ""),
    ]


def test_links_with_wrong_tokens_are_logged_without_the_tokens(api, caplog):
    token = ids.new_access_token()
    for path in (f"/t/{'0' * 40}/{token}/fit_720", f"/dl/{'0' * 40}?t={token}"):
        check_error(api.call("GET", path), 403)
    logged = [(event, detail.partition(".")[0]) for event, _, detail, _ in refusals(api.library)]
    assert logged == [("access.refused", "photos")] * 2
    assert token not in caplog.text


def test_a_network_that_floods_adds_few_entries_a_minute(api):
    for number in range(65):
        address = f"2001:db8::{number:x}"
        if number < 12:
            api.log_in(f"user{number}", PASSWORD, address=address)
        api.call("GET", "/photos", f"garbage{number}", address=address)
    found = [(row.event, row.detail, row.address, row.times) for row in rows(api.library)]
    network = "2001:db8::/64"
    assert found[:2] == [("login.refused", "", network, 1), ("token.refused", "", network, 60)]
    assert found[-2:] == [("throttled", "login", network, 2), ("throttled", "photos.search", network, 5)]
    assert len(found) == 13


def test_a_refusal_is_only_logged_while_others_write(api, caplog):
    writer = sqlite3.connect(api.library.instance / DATABASE, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    check_error(api.call("GET", "/photos", "garbage"), 401)
    writer.rollback()
    writer.close()
    assert rows(api.library) == []
    assert any(message.startswith("event=token.refused ") for message in caplog.messages)
