"""`svc clients` and `svc keys`: exit codes, what is printed, what is changed."""

import json
import re

import pytest
from click.testing import CliRunner

from photosvc.cli import svc as command
from tests.app.oauth.oauth_client import Pair, open_oauth_api
from tests.helpers.factories.accounts import add_user


@pytest.fixture(scope="module")
def oauth(tmp_path_factory):
    with open_oauth_api(tmp_path_factory.mktemp("oauth")) as oauth:
        with oauth.library.session() as session:
            add_user(session)
        yield oauth


@pytest.fixture
def run(oauth, monkeypatch):
    """Run a command in this process; `answers` are typed on a terminal."""

    def run(*arguments, answers=None):
        monkeypatch.setattr("photosvc.cli.terminal.has_terminal", lambda: answers is not None)
        return CliRunner().invoke(command, arguments, obj=lambda: oauth.library.app, input=answers)

    return run


def added(run, *more):
    done = run("clients", "add", "--name", "frame", "--scope", "photos", "--json", *more)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def shown(run, client_id):
    return json.loads(run("clients", "show", client_id, "--json").stdout)


def test_a_new_client_is_printed_with_its_secret_once(run, oauth):
    done = run("clients", "add", "-n", "frame", "-s", "photos", "--json")
    record = json.loads(done.stdout)
    assert re.fullmatch(r"c[0-9a-z]{15}", record["client_id"])
    assert re.fullmatch(r"[0-9A-Za-z]{32}", record["client_secret"])
    assert done.stdout.count(record["client_secret"]) == 1
    assert done.stderr == "Keep the secret now: it is not shown again.\n"
    kept = {key: record[key] for key in ("name", "user", "role", "scope", "expires", "tokens", "token_format")}
    assert kept == {"name": "frame", "user": "", "role": "client", "scope": "photos", "expires": 86400, "tokens": 10,
                    "token_format": "opaque"}  # fmt: skip
    assert "client_secret" not in shown(run, record["client_id"])
    pair = Pair(record["client_id"], record["client_secret"])
    assert oauth.ask(pair).status_code == 200


def test_every_documented_flag_counts(run):
    record = added(run, "alice", "-r", "admin", "-e", "60", "-t", "-1", "--token-format", "jwt")
    assert (record["user"], record["role"], record["expires"], record["tokens"], record["token_format"]) == (
        "alice", "admin", 60, -1, "jwt"
    )  # fmt: skip


def test_missing_name_and_scope_are_prompted_for(run):
    done = run("clients", "add", "--json", answers="lamp\nalbums\n")
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert (record["name"], record["scope"]) == ("lamp", "albums")


def test_a_wrong_answer_repeats_the_question_and_enter_alone_grants_nothing(run):
    done = run("clients", "add", "--json", answers="\n \t\nlamp\n\nfotos\nphotos:false\nphotos\n")
    assert done.exit_code == 0
    assert (json.loads(done.stdout)["name"], json.loads(done.stdout)["scope"]) == ("lamp", "photos")
    assert done.stderr.count("Client name: ") == 3
    assert done.stderr.count("Authorization scopes, such as") == 4
    assert "the scope covers nothing" in done.stderr
    assert run("clients", "add", "-n", "x", answers="\n").exit_code == 1  # the input has ended


#: Arguments that make no sense, and exit codes.
REFUSED = [
    (["add", "-n", "x"], 2),
    (["add", "-s", "photos"], 2),
    (["add", "-n", "x", "-s", "fotos"], 2),
    (["add", "-n", "x", "-s", "photos", "-e", "0"], 2),
    (["add", "-n", "x", "-s", "photos", "-e", "1.5"], 2),
    (["add", "-n", "x", "-s", "photos", "-t", "0"], 2),
    (["add", "-n", "x", "-s", "photos", "-r", "user"], 2),
    (["add", "-n", "x", "-s", "photos", "--token-format", "paseto"], 2),
    (["add", "-n", "x", "-s", "photos", "nobody"], 3),
    (["add", "-n", "x", "-s", "photos", "--json", "--csv"], 2),
    (["show"], 2),
    (["show", "c000000000000000"], 3),
    (["mod", "c000000000000000"], 2),
    (["mod", "c000000000000000", "-n", "x"], 3),
    (["rm"], 2),
    (["rm", "c000000000000000"], 3),
    (["rm", "c000000000000000", "--yes"], 3),
    (["rm", "é\x00"], 3),
    (["nonsense"], 2),
]


def test_contradictory_options_change_nothing(run):
    added(run)
    before = run("clients", "ls", "--json", "--count", "1000").stdout
    for arguments, code in REFUSED:
        done = run("clients", *arguments)
        assert (done.exit_code, done.stdout) == (code, ""), arguments
    assert run("clients", "ls", "--json", "--count", "1000").stdout == before


def test_clients_are_listed_and_searched(run):
    record = added(run, "--name", "Prometheus", "alice")
    for search in ("prom", record["client_id"], "ali"):
        rows = json.loads(run("clients", "ls", search, "--json").stdout)
        assert record["client_id"] in [row["client_id"] for row in rows]
        assert all("client_secret" not in row for row in rows)
    assert run("clients", "ls", "nothing like it", "--json").stdout.strip() == "[]"
    assert run("clients", "ls", "--csv").stdout.startswith("Client ID,Name,User,Role,Scope,")


def test_every_setting_can_be_changed(run):
    client_id = added(run)["client_id"]
    done = run("clients", "mod", client_id, "-n", "lamp", "-r", "admin", "-s", "* users:false", "-e", "60", "-t", "-1",
               "--token-format", "jwt", "--user", "alice", "--disable", "--json")  # fmt: skip
    record = json.loads(done.stdout)
    assert "client_secret" not in record
    assert record == shown(run, client_id)
    del record["created_at"], record["updated_at"], record["client_id"]
    assert record == {"name": "lamp", "user": "alice", "role": "admin", "scope": "* users:false", "expires": 60,
                      "tokens": -1, "token_format": "jwt", "enabled": False}  # fmt: skip
    record = json.loads(run("clients", "mod", client_id, "--enable", "--user", "", "--json").stdout)
    assert (record["enabled"], record["user"], record["name"]) == (True, "", "lamp")


def test_a_new_secret_is_shown_once_and_the_old_one_is_over(run, oauth):
    record = added(run)
    old = Pair(record["client_id"], record["client_secret"])
    token = oauth.token(old)
    done = run("clients", "mod", old.client_id, "--regenerate", "--json")
    fresh = Pair(old.client_id, json.loads(done.stdout)["client_secret"])
    assert done.stderr == "Keep the secret now: it is not shown again.\n"
    assert fresh.secret != old.secret
    assert not oauth.is_alive(token)
    assert [oauth.ask(pair).status_code for pair in (old, fresh)] == [401, 200]


def test_removing_asks_first_and_the_second_time_there_is_nothing(run, oauth):
    record = added(run)
    client = Pair(record["client_id"], record["client_secret"])
    token = oauth.token(client)
    done = run("clients", "rm", client.client_id)
    assert (done.exit_code, oauth.is_alive(token)) == (2, True)
    assert "pass --yes" in done.stderr
    done = run("clients", "rm", client.client_id, answers="n\n")
    assert (done.exit_code, oauth.is_alive(token)) == (0, True)
    done = run("clients", "rm", client.client_id, answers="y\n")
    assert (done.exit_code, oauth.is_alive(token)) == (0, False)
    assert run("clients", "rm", client.client_id, "--yes").exit_code == 3


def test_resetting_takes_all_clients_and_leaves_other_credentials(run, oauth):
    added(run)
    added(run)  # so that there are several, whichever tests ran before
    other = oauth.library.token("photos")
    count = len(json.loads(run("clients", "ls", "--json", "--count", "1000").stdout))
    assert run("clients", "reset").exit_code == 2
    assert run("clients", "reset", answers="n\n").exit_code == 0
    assert len(json.loads(run("clients", "ls", "--json", "--count", "1000").stdout)) == count
    done = run("clients", "reset", "--yes")
    assert (done.exit_code, done.stderr) == (0, f"{count} clients removed.\n")
    assert run("clients", "ls", "--json").stdout.strip() == "[]"
    assert oauth.is_alive(other)


def test_keys_are_listed_and_rotated(run, oauth):
    kid = oauth.library.app.test_client().get("/.well-known/jwks.json").json["keys"][0]["kid"]
    (row,) = json.loads(run("keys", "ls", "--json").stdout)
    assert row == {"kid": kid, "algorithm": "RS256", "signs": True, "created_at": "2026-03-01T12:00:00Z",
                   "published_until": None}  # fmt: skip
    fresh = json.loads(run("keys", "rotate", "--json").stdout)
    assert (fresh["signs"], fresh["kid"] != kid) == (True, True)
    rows = json.loads(run("keys", "ls", "--json").stdout)
    assert [(row["kid"], row["published_until"]) for row in rows] == [
        (fresh["kid"], None), (kid, "2026-04-01T12:00:00Z")
    ]  # fmt: skip
    published = oauth.library.app.test_client().get("/.well-known/jwks.json").json["keys"]
    assert [key["kid"] for key in published] == [fresh["kid"], kid]
