"""`svc keys rotate --service` beside running servers, and killed at each of its steps."""

import json
import os
from pathlib import Path

import pyotp
import pytest

from photosvc.auth import keys
from tests.helpers.api_client import PASSWORD, check_error, open_api
from tests.helpers.audit_rows import rows
from tests.helpers.library import call_svc

PICTURE = "/t/" + "0" * 40 + "/{}/fit_720"


@pytest.fixture
def own_key(tmp_path):
    """A client of a library whose service key is its file."""
    with open_api(tmp_path) as api:
        yield api


def enrol(api, name="alice"):
    own = api.session_of(name)
    path = api.user_path(name, "/passcode")
    secret = api.call("POST", path, own, json={"password": PASSWORD}).json["secret"]
    totp = pyotp.TOTP(secret)
    answer = api.call("POST", f"{path}/confirm", own, json={"code": totp.at(api.clock())})
    assert answer.status_code == 200, answer.text
    api.clock.move(minutes=5)
    return own, totp, answer.json["recovery_codes"]


def preview(api, token):
    return api.call("GET", "/session", token).json["config"]["previewToken"]


def rotate(api, *options, **given):
    return api.svc("keys", "rotate", "--service", *options, **given)


def test_links_end_and_everything_else_goes_on_in_a_running_app(own_key):
    api = own_key
    own, totp, codes = enrol(api)
    app, token, old = api.app_password(), api.access_token(), preview(api, own)
    check_error(api.call("GET", PICTURE.format(old)), 404)
    done = rotate(api, "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["accounts"], shown["lost"]) == (1, 0)
    assert (api.library.instance / "secret_key").read_text() not in done.stdout + done.stderr
    check_error(api.call("GET", PICTURE.format(old)), 403)
    check_error(api.call("GET", PICTURE.format(preview(api, own))), 404)
    assert [api.is_alive(secret) for secret in (own, app, token)] == [True] * 3
    assert api.log_in(code=totp.at(api.clock())).status_code == 200
    assert api.log_in(code=codes[0]).status_code == 200
    (entry,) = [row for row in rows(api.library) if row.event == "key.rotated"]
    assert (entry.actor, entry.target, entry.detail) == ("command line", shown["fingerprint"], "service key")


def test_the_old_key_goes_only_when_the_disk_has_what_the_new_one_encrypted(own_key, monkeypatch):
    api, done = own_key, []
    enrol(api)
    fsync, put_in_place = os.fsync, keys.put_in_place

    def flush(descriptor):
        done.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def put(settings):
        done.append("put in place")
        put_in_place(settings)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(keys, "put_in_place", put)
    assert rotate(api).returncode == 0
    assert done == ["secret_key.next", "instance", "photosvc.db-wal", "put in place", "instance"]


def test_a_key_that_is_a_setting_has_to_be_given_and_set_there(tmp_path):
    key, fresh = "k" * 32, "n" * 40
    with open_api(tmp_path, settings={"PHOTOSVC_SECRET_KEY": key}) as api:
        _, _, codes = enrol(api)
        refused = rotate(api)
        assert refused.returncode == 2
        assert "PHOTOSVC_SECRET_KEY is set (app): give the new key with --key-stdin" in refused.stderr
        assert rotate(api, "--key-stdin", stdin="short\n").returncode == 2
        assert api.log_in(code=codes[0]).status_code == 200
        done = rotate(api, "--key-stdin", stdin=fresh + "\n")
        assert (done.returncode, fresh in done.stdout + done.stderr) == (0, False)
        assert "Set PHOTOSVC_SECRET_KEY to the new key now" in done.stderr
        check_error(api.log_in(code=codes[1]), 401, code=33)
        vera = api.session_of("vera")
        body = {"password": PASSWORD}
        check_error(api.call("POST", api.user_path("vera", "/passcode"), vera, json=body), 503)
    environ = {"PHOTOSVC_SECRET_KEY": fresh}
    again = call_svc("keys", "rotate", "--service", instance=api.library.instance, environ=environ)
    assert "PHOTOSVC_SECRET_KEY is set (environment)" in again.stderr


def test_with_a_wrong_key_nothing_is_replaced_until_it_is_said_to_be_lost(own_key):
    api = own_key
    enrol(api)
    (api.library.instance / "secret_key").write_text("x" * 64)
    refused = call_svc("keys", "rotate", "--service", instance=api.library.instance)
    assert refused.returncode == 1
    assert "another service key" in refused.stderr
    lost = ("keys", "rotate", "--service", "--old-key-is-lost", "--json")
    unasked = call_svc(*lost, instance=api.library.instance)
    assert (unasked.returncode, unasked.stdout) == (2, "")
    assert "there is no terminal to confirm on; pass --yes" in unasked.stderr
    done = call_svc(*lost, "--yes", instance=api.library.instance)
    assert json.loads(done.stdout)["lost"] == 1
    assert "svc users mod NAME --disable-2fa" in done.stderr


@pytest.mark.parametrize("option", ["--key-stdin", "--old-key-is-lost"])
def test_its_options_are_refused_for_signing_keys(own_key, option):
    assert own_key.svc("keys", "rotate", option).returncode == 2
    assert json.loads(own_key.svc("keys", "ls", "--json").stdout) == []


def test_an_unwritable_folder_changes_nothing(own_key, monkeypatch):
    api = own_key
    _, totp, _ = enrol(api)

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied", "secret_key.next")

    monkeypatch.setattr(keys, "_write", refuse)
    done = rotate(api)
    assert (done.returncode, done.stderr) == (1, "Error: Permission denied: secret_key.next\n")
    assert api.log_in(code=totp.at(api.clock())).status_code == 200


def test_a_removed_key_file_stops_no_process_that_has_read_it(own_key):
    api = own_key
    own = api.session_of()
    old = preview(api, own)
    (api.library.instance / "secret_key").unlink()
    check_error(api.call("GET", PICTURE.format(old)), 404)
    (api.library.instance / "secret_key").write_text("cut off")
    check_error(api.call("GET", PICTURE.format(old)), 404)
