"""`svc auth`: app passwords and access tokens."""

import json
import re

import pytest

from photosvc.core import ids
from tests.helpers.api_client import open_api
from tests.system.terminal import type_at


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("auth")) as api:
        yield api


@pytest.fixture
def auth(api):
    return lambda *arguments: api.svc("auth", *arguments)


def secret_of(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["secret"]


def test_with_a_user_name_it_is_an_app_password_and_without_one_an_access_token(api, auth):
    app = secret_of(auth("add", "-n", "frame", "-s", "*", "alice", "--json"))
    token = secret_of(auth("add", "--name", "frame", "--scope", "photos albums", "--json"))
    assert (ids.is_app_password(app), ids.is_access_token(token)) == (True, True)
    assert api.call("GET", "/session", app).json["user"]["Name"] == "alice"
    assert api.call("GET", "/photos", token).status_code == 200


@pytest.mark.parametrize("name", ["=1+1", "+1+1", "-1+1", "@SUM(1)", "=HYPERLINK(1)"])
def test_a_name_is_no_formula_in_a_table_for_spreadsheets(auth, name):
    secret_of(auth("add", "--name", name, "--scope", "photos", "--json"))
    assert f"'{name}" in auth("ls", "--csv").stdout
    assert name in [row["name"] for row in json.loads(auth("ls", "--json").stdout)]


def test_the_table_has_the_secret_and_its_scope(auth):
    done = auth("add", "-n", "frame", "-s", "webdav photos", "alice")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in lines if re.fullmatch(r"App Password +(\w{6}-){3}\w{6}", line)]
    assert [line for line in lines if re.fullmatch("Authorization Scope +photos webdav", line)]
    assert done.stderr == "Keep the secret now: it is not shown again.\n"


@pytest.mark.parametrize(
    ("expires", "seconds"), [([], 31_536_000), (["-e", "60"], 60), (["--expires", "-1"], None), (["-e-1"], None)]
)
def test_it_lives_a_year_by_default(auth, expires, seconds):
    from datetime import datetime

    identifier = json.loads(auth("add", "-n", "x", "-s", "photos", *expires, "--json").stdout)["id"]
    record = json.loads(auth("show", identifier, "--json").stdout)
    if seconds is None:
        assert record["expires_at"] is None
    else:
        ends, begins = (datetime.fromisoformat(record[name]) for name in ("expires_at", "created_at"))
        assert (ends - begins).total_seconds() == seconds


def test_missing_values_are_prompted_for(api):
    code, out, err, shown = type_at(
        api.library.instance,
        ["auth", "add", "--csv"],
        [("Client name", "frame\n"), ("Authorization scopes", "photos\n")],
    )
    assert code == 0, err
    assert re.search(r"^Access Token,[0-9a-f]{48}\r?\nAuthorization Scope,photos", out, re.MULTILINE), out
    assert not re.search("[0-9a-f]{48}", err + shown)


def test_listing_and_showing_never_tell_a_secret_and_come_in_every_format(auth):
    secret = secret_of(auth("add", "-n", "listed", "-s", "photos", "vera", "--json"))
    record = json.loads(auth("ls", "listed", "--json").stdout)[0]
    assert (record["kind"], record["name"], record["user"], record["scope"]) == (
        "app_password",
        "listed",
        "vera",
        "photos",
    )
    for arguments in (["ls"], ["ls", "vera"], ["show", record["id"]], ["show", secret]):
        for option in ("--json", "--csv", "-j", "-c"):
            done = auth(*arguments, option)
            assert done.returncode == 0, done.stderr
            assert secret not in done.stdout + done.stderr
            assert ids.digest(secret) not in done.stdout
            assert record["id"] in done.stdout


def test_a_revoked_credential_is_gone_and_so_are_its_sessions(api, auth):
    record = json.loads(auth("add", "-n", "x", "-s", "*", "alice", "--json").stdout)
    child = api.session_of(password=record["secret"])
    done = auth("rm", record["id"], "--yes")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{record['id']} is revoked.\n")
    assert [api.is_alive(token) for token in (record["secret"], child)] == [False, False]
    assert auth("rm", record["id"], "-y").returncode == 3
    assert auth("show", record["id"]).returncode == 3


def test_reset_revokes_everything_and_keeps_the_accounts(api, auth):
    secrets = [api.app_password(), api.access_token(), api.session_of("ann")]
    assert auth("reset", "--yes").returncode == 0
    assert [api.is_alive(secret) for secret in secrets] == [False] * 3
    assert json.loads(auth("ls", "--json").stdout) == []
    assert api.log_in().status_code == 200


def test_an_unknown_user_gets_no_app_password(auth):
    done = auth("add", "-n", "x", "-s", "photos", "nobody")
    assert (done.returncode, done.stdout) == (3, "")
