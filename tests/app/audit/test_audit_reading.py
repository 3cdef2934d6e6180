"""`GET /audit` and `svc audit`: the newest entries, for administrators only."""

import csv
import io
import json

import pytest

from tests.app.audit.audit_rows import rows
from tests.helpers.api_client import check_error


@pytest.fixture
def filled(api):
    """A library with log-ins of alice and vera, an hour apart, and a change of vera by a command."""
    api.session_of("alice")
    api.clock.move(hours=1)
    api.session_of("vera")
    assert api.svc("users", "mod", "vera", "--role", "user").returncode == 0
    return api


def read(api, query="", token=None):
    answer = api.call("GET", f"/audit{query}", token or api.session_of("ann"))
    assert answer.status_code == 200, answer.text
    return answer.json


def test_an_administrator_reads_the_newest_entries_first(filled):
    own, changed, vera, alice = read(filled)
    assert [entry["event"] for entry in (own, changed, vera, alice)] == ["login", "user.changed", "login", "login"]
    assert alice == {
        "id": 1,
        "at": "2026-03-01T12:00:00Z",
        "event": "login",
        "times": 1,
        "actor_kind": "user",
        "actor": "alice",
        "actor_uid": filled.uids["alice"],
        "credential": alice["target"],
        "address": "192.0.2.7",
        "subject": "",
        "subject_uid": "",
        "target": alice["target"],
        "detail": "login session",
        "request_id": alice["request_id"],
    }
    assert (changed["actor"], changed["actor_kind"], changed["address"]) == ("command line", "command line", "")


def test_pages_follow_each_other_by_the_last_id(filled):
    token = filled.session_of("ann")
    whole = read(filled, "", token)
    first = read(filled, "?count=2", token)
    assert first + read(filled, f"?count=9&before={first[-1]['id']}", token) == whole


def test_entries_are_found_by_time_and_account(filled):
    everybody, token = ["alice", "vera", "command line", "ann"], filled.session_of("ann")
    for query, found in {
        "since=30m": everybody[1:],
        "since=2026-03-01T12:00:00Z": everybody,
        "since=2026-03-01T15:00:00%2B02:00": everybody[1:],
        "since=2026-03-02": [],
        "since=999999w": everybody,
        "until=2026-02-28": [],
        "until=2026-03-01": everybody,
        "until=2026-03-01T12:30:00Z": ["alice"],
        "since=30m&until=2026-03-01T12:30:00Z": [],
        "event=login": ["alice", "vera", "ann"],
        "event=user.changed": ["command line"],
        "event=CHANGES": ["command line"],
        "event=refusals,accesses%20user.changed": everybody,
        "event=login&user=vera": ["vera"],
        "event=": everybody,
        "user=vera": ["vera", "command line"],
        "user=VERA": ["vera", "command line"],
        f"user={filled.uids['vera']}": ["vera", "command line"],
        "user=nobody": [],
        "user=%00": [],
        "user=command%20line": [],
        "user=": everybody,
    }.items():
        assert [entry["actor"] for entry in read(filled, f"?{query}", token)][::-1] == found, query


def test_entries_outlive_the_account_that_they_are_about(filled):
    assert filled.svc("users", "rm", "vera", "--yes").returncode == 0
    assert [entry["event"] for entry in read(filled, "?user=vera")] == ["user.removed", "user.changed", "login"]


def test_a_parameter_that_is_not_valid_is_named(api):
    token = api.session_of("ann")
    for query in (
        *("count=0", "count=1001", "count=x", "before=0", "since=soon", "since=2026-02-30", "until=x"),
        *("event=logon", "event=login,login.refused,x"),
    ):
        answer = api.call("GET", f"/audit?{query}", token)
        assert answer.status_code == 400, query
        assert check_error(answer, 400)["details"][0]["field"] == query.partition("=")[0], query


def test_a_client_cannot_pass_for_an_account_by_its_name(api):
    made = json.loads(api.svc("clients", "add", "-n", "alice", "-s", "photos", "--json").stdout)
    assert read(api, "?user=alice") == []
    assert [entry["subject"] for entry in read(api, f"?user={made['client_id']}")] == ["alice"]


def test_svc_audit_lists_the_same_entries_as_the_route(filled):
    done = filled.svc("audit", "--json")
    assert json.loads(done.stdout) == [
        {key: entry[key] for key in json.loads(done.stdout)[0]} for entry in read(filled)[1:]
    ]
    assert [entry["event"] for entry in json.loads(filled.svc("audit", "--json", "--count", "1").stdout)] == ["login"]
    found = json.loads(filled.svc("audit", "-j", "--since", "30m", "--user", "vera").stdout)
    assert [entry["event"] for entry in found] == ["user.changed", "login"]


def test_svc_audit_as_a_table_and_for_spreadsheets(filled):
    table = filled.svc("audit").stdout
    assert "Account or Client" in table
    logged = [line.split()[1] for line in table.splitlines() if line.strip().startswith("2026")]
    assert logged == ["user.changed", "login", "login"]
    found = list(csv.DictReader(io.StringIO(filled.svc("audit", "--csv").stdout)))
    assert [entry["actor"] for entry in found] == ["command line", "vera", "alice"]


def test_svc_audit_names_an_option_that_is_not_valid(api):
    done = api.svc("audit", "--since", "soon")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--since must be a time ago as 90m" in done.stderr


def test_hostile_names_programs_and_addresses_forge_no_line_and_reach_no_terminal(api, caplog):
    caplog.set_level("INFO", "photosvc.security")
    evil = 'x" event=login actor="ann'
    own = api.session_of("alice")
    body = {"name": evil, "scope": "photos", "password": "correct horse"}
    assert api.call("POST", api.user_path(rest="/app-passwords"), own, json=body).status_code == 201
    hostile = {"X-Request-ID": "a\x1b[31m", "User-Agent": "\x1b]0;owned\x07\u202e"}
    api.call("GET", "/photos", "garbage", address="192.0.2.1\n2026 forged \x1b[2J", headers=hostile)
    for text in (*caplog.messages, api.svc("audit").stdout, api.svc("audit", "--csv").stdout):
        assert all(character.isprintable() for character in text.replace("\n", "")), text
    assert [message.count("\n") for message in caplog.messages] == [0, 0, 0]
    assert sum(message.startswith("event=login ") for message in caplog.messages) == 1
    assert rows(api.library)[-1].address == "unknown"
    assert 'detail="app password \'x\\" event=login actor=\\"ann\', scope photos"' in caplog.messages[1]
