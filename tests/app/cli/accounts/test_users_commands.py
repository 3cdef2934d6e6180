"""`svc users`: accounts."""

import json

import pytest

from tests.helpers.api_client import PASSWORD


@pytest.fixture
def users(api):
    return lambda *arguments, stdin="": api.svc("users", *arguments, stdin=stdin)


def names(users):
    return [user["Name"] for user in json.loads(users("ls", "--json").stdout)]


def test_an_account_is_added_with_the_password_on_standard_input(api, users):
    done = users("add", "bob", "-r", "viewer", "-d", "Böb", "--password-stdin", "--json", stdin=PASSWORD + "\nmore\n")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["Name"], record["Role"], record["DisplayName"], record["LoginAt"]) == ("bob", "viewer", "Böb", None)
    assert PASSWORD not in done.stdout + done.stderr
    assert api.log_in("bob").status_code == 200


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (["bob", "--password-stdin"], "", 2),
        (["bob", "--password-stdin"], "short\n", 2),
        (["bob", "--password-stdin"], "trustno1\n", 2),
        (["b:b", "--password-stdin"], PASSWORD, 2),
        (["bob", "-r", "root", "--password-stdin"], PASSWORD, 2),
        (["alice", "--password-stdin"], PASSWORD, 1),
        (["bob"], PASSWORD, 2),
        (["--password-stdin"], PASSWORD, 2),
        (["bob", "--password", PASSWORD], "", 2),
        (["bob", PASSWORD], "", 2),
    ],
)
def test_an_invalid_account_is_not_added(users, arguments, stdin, code):
    done = users("add", *arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (code, "")
    assert names(users) == ["alice", "ann", "vera"]


def test_accounts_are_listed_and_shown_in_every_format_without_secrets(api, users):
    for arguments in (["ls"], ["ls", "ali"], ["show", "alice"], ["show", api.uids["alice"]]):
        for option in ("--json", "--csv", "-j", "-c"):
            done = users(*arguments, option)
            assert done.returncode == 0, done.stderr
            assert api.uids["alice"] in done.stdout
            assert "argon2" not in done.stdout


def test_the_owner_of_the_machine_may_take_the_last_administrator_away(users):
    assert users("mod", "ann", "--role", "user").returncode == 0
    assert users("rm", "ann", "--yes").returncode == 0
    assert names(users) == ["alice", "vera"]


def test_two_factor_authentication_can_be_taken_off(api, users):
    import pyotp

    own = api.session_of()
    secret = api.call("POST", api.user_path(rest="/passcode"), own, json={"password": PASSWORD}).json["secret"]
    code = {"code": pyotp.TOTP(secret).at(api.clock())}
    assert api.call("POST", api.user_path(rest="/passcode/confirm"), own, json=code).status_code == 200
    assert api.log_in().json["code"] == 32
    assert users("mod", "alice", "--disable-2fa").returncode == 0
    assert api.log_in().status_code == 200


def test_removing_takes_the_credentials_along(api, users):
    app = api.app_password()
    assert users("rm", api.uids["alice"], "-y").returncode == 0
    assert not api.is_alive(app)
    assert users("rm", "alice", "-y").returncode == 3
    assert users("reset", "--yes").returncode == 0
    assert names(users) == []
