"""Commands that take something away, and streams that are not there."""

import json
import subprocess

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.programs.forks import SURROUNDINGS, launcher
from tests.system.terminal import type_at


@pytest.fixture
def api(tmp_path):
    with open_api(tmp_path) as api:
        api.app_password()
        yield api


def dump(api):
    """Everything in the database, but failed attempts, and which service key the first process found."""
    import sqlite3

    with sqlite3.connect(api.library.instance / "photosvc.db") as database:
        left_out = ("photosvc_throttle", "'service_key'")
        found = "\n".join(line for line in database.iterdump() if not any(part in line for part in left_out))
    database.close()
    return found


def dangerous(api):
    identifier = json.loads(api.svc("auth", "ls", "--json").stdout)[0]["id"]
    return [["users", "rm", "alice"], ["users", "reset"], ["auth", "rm", identifier], ["auth", "reset"]]


def in_shell(api, line):
    environ = {
        **SURROUNDINGS,
        "PHOTOSVC_INSTANCE": str(api.library.instance),
        "SVC": str(launcher(api.library.instance)),
    }
    return subprocess.run(["bash", "-c", line], env=environ, capture_output=True, text=True, timeout=60, check=False)


def test_without_a_terminal_and_yes_nothing_is_taken_away(api):
    before = dump(api)
    for arguments in dangerous(api):
        for answer in ("", "y\n"):  # a pipe cannot answer questions
            done = api.svc(*arguments, stdin=answer)
            assert (done.returncode, done.stdout) == (2, ""), arguments
            assert "pass --yes" in done.stderr
    assert in_shell(api, "echo y | $SVC users reset").returncode == 2
    assert dump(api) == before


def test_a_no_ends_with_0_and_changes_nothing(api, monkeypatch):
    before = dump(api)
    code, out, err, _ = type_at(api.library.instance, ["users", "rm", "alice"], [("[y/N]", "n\n")])
    assert (code, out) == (0, ""), err
    assert err.endswith("Nothing was changed.\n")
    monkeypatch.setattr("photosvc.cli.terminal.has_terminal", lambda: True)
    for arguments in dangerous(api):
        done = api.svc(*arguments, stdin="n\n")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert done.stderr.endswith("Nothing was changed.\n")
    assert dump(api) == before


def test_no_command_takes_a_password_as_an_argument(api):
    for command in (["users", "add"], ["users", "mod"], ["passwd"], ["auth", "add"]):
        words = api.svc(*command, "--help").stdout.split()
        assert "--password" not in words
        assert ("--password-stdin" in words) == (command in (["users", "add"], ["passwd"]))
