"""Commands with a terminal, a shell and closed streams."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest

from photosvc.auth.grants import authenticate
from tests.app.cli import test_destructive_commands as everyday
from tests.app.cli.test_destructive_commands import dump, in_shell
from tests.helpers.library import svc
from tests.system.terminal import type_at

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


def test_a_closed_standard_input_is_no_terminal_and_holds_no_password(api):
    before = dump(api)
    commands = ("users rm alice", "users reset", "passwd alice", "users add bob", "auth add")
    for command in (*commands, "passwd alice --password-stdin"):
        done = in_shell(api, f"$SVC {command} <&-")
        assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False), command
        assert dump(api) == before, command


def test_a_secret_that_cannot_be_shown_is_not_kept(api):
    before = api.svc("auth", "ls", "--json").stdout
    for group, format_, output in product(("auth", "clients"), ("", "--json"), (">&-", ">/dev/full")):
        done = in_shell(api, f"$SVC {group} add -n x -s photos {format_} {output}")
        assert (done.returncode, "Traceback" in done.stderr) == (1, False), (group, format_, output)
        assert api.svc("auth", "ls", "--json").stdout == before, (group, format_, output)
        assert json.loads(api.svc("clients", "ls", "--json").stdout) == [], (group, format_, output)


def test_a_new_secret_that_cannot_be_shown_leaves_the_old_one(api):
    made = json.loads(api.svc("clients", "add", "-n", "x", "-s", "photos", "--json").stdout)
    for output in (">&-", ">/dev/full"):
        done = in_shell(api, f"$SVC clients mod {made['client_id']} --regenerate --json {output}")
        assert (done.returncode, "Traceback" in done.stderr) == (1, False), output
        with api.library.session() as session:
            assert authenticate(session.connection(), made["client_id"], made["client_secret"]).name == "x", output


def test_a_list_without_standard_output_fails_in_one_sentence(api):
    for command in ("users ls", "users show alice --json"):
        done = in_shell(api, f"$SVC {command} >&-")
        assert (done.returncode, done.stderr) == (1, "Error: There is no standard output to print on.\n"), command


def test_who_has_read_enough_stops_a_list_quietly(api):
    for command, printed in (("--csv | head -1", "Scope,Description,In use\n"), ("--json | true", "")):
        done = in_shell(api, f"$SVC show scopes {command}")
        assert (done.stdout, done.stderr) == (printed, ""), command


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
