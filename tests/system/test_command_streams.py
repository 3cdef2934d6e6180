"""Commands with a terminal, a shell and closed streams."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from photosvc.auth.grants import authenticate
from tests.app.cli import test_destructive_commands as everyday
from tests.app.cli.test_destructive_commands import dump, in_shell
from tests.helpers.library import svc
from tests.helpers.programs.terminal import type_at

api = everyday.api

CTRL_C = "\x03"


def test_enter_alone_is_a_no(api):
    before = dump(api)
    assert type_at(api.library.instance, ["users", "reset"], [("[y/N]", "\n")])[0] == 0
    assert dump(api) == before


def test_a_yes_at_the_terminal_takes_away(api):
    code, _, err, _ = type_at(api.library.instance, ["users", "rm", "alice"], [("[y/N]", "y\n")])
    assert code == 0
    assert err.endswith(" The account alice is removed.\n")
    assert api.svc("users", "show", "alice").returncode == 3


@pytest.mark.parametrize(
    ("arguments", "prompt"),
    [
        (["users", "reset"], "[y/N]"),
        (["users", "add", "bob"], "Password"),
        (["passwd", "alice"], "Password"),
        (["auth", "add", "-s", "photos"], "Client name"),
    ],
)
def test_ctrl_c_in_a_question_changes_nothing(api, arguments, prompt):
    before = dump(api)
    code, out, err, _ = type_at(api.library.instance, arguments, [(prompt, CTRL_C)])
    assert (code, out) == (1, "")
    assert "Aborted!" in err
    assert "Traceback" not in err
    assert dump(api) == before


@pytest.mark.parametrize("command", ["users rm alice", "users reset", "passwd alice", "users add bob", "auth add"])
def test_a_closed_standard_input_is_no_terminal(api, command):
    before = dump(api)
    done = in_shell(api, f"$SVC {command} <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert dump(api) == before


def test_a_closed_standard_input_holds_no_password(api):
    before = dump(api)
    assert in_shell(api, "$SVC passwd alice --password-stdin <&-").returncode == 2
    assert dump(api) == before


@pytest.mark.parametrize("format_", ["", "--json"])
@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_a_secret_that_cannot_be_shown_is_not_kept(api, format_, output):
    before = api.svc("auth", "ls", "--json").stdout
    done = in_shell(api, f"$SVC auth add -n x -s photos {format_} {output}")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    done = in_shell(api, f"$SVC clients add -n x -s photos {format_} {output}")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert api.svc("auth", "ls", "--json").stdout == before
    assert json.loads(api.svc("clients", "ls", "--json").stdout) == []


@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_a_new_secret_that_cannot_be_shown_leaves_the_old_one(api, output):
    made = json.loads(api.svc("clients", "add", "-n", "x", "-s", "photos", "--json").stdout)
    done = in_shell(api, f"$SVC clients mod {made['client_id']} --regenerate --json {output}")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    with api.library.session() as session:
        assert authenticate(session.connection(), made["client_id"], made["client_secret"]).name == "x"


@pytest.mark.parametrize("command", ["users ls", "users show alice --json"])
def test_a_list_without_standard_output_fails_in_one_sentence(api, command):
    done = in_shell(api, f"$SVC {command} >&-")
    assert (done.returncode, done.stderr) == (1, "Error: There is no standard output to print on.\n")


def test_who_has_read_enough_stops_a_list_quietly(api):
    done = in_shell(api, "$SVC show scopes --csv | head -1")
    assert (done.stdout, "Traceback" in done.stderr) == ("Scope,Description,In use\n", False)


def test_many_at_once_make_what_they_promise_and_no_name_twice(api):
    instance = api.library.instance

    def add(number):
        return svc("auth", "add", "-n", f"frame{number}", "-s", "photos", "--json", instance=instance)

    def add_user(number):
        return in_shell(api, "echo correct horse | $SVC users add bob --password-stdin --json")

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(add, range(4)))
        users = list(pool.map(add_user, range(4)))
    assert [done.returncode for done in made] == [0] * 4
    secrets = {json.loads(done.stdout)["secret"] for done in made}
    assert len(secrets) == 4
    assert all(api.is_alive(secret) for secret in secrets)
    assert sorted(done.returncode for done in users) == [0, 1, 1, 1]
    assert {done.stderr for done in users if done.returncode} == {"Error: A user of this name exists already.\n"}
