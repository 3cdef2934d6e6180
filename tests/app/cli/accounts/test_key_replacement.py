"""`svc keys rotate --service` beside running servers, and killed at each of its steps."""

import json
import os

import pyotp
import pytest

from photosvc.settings import load_settings
from photosvc.web.service import EXTENSION
from tests.app.audit.audit_rows import rows
from tests.helpers.api_client import PASSWORD, check_error, open_api
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
    fresh, *_ = (api.library.instance / "secret_key").read_text().split()
    assert fresh not in done.stdout + done.stderr
    check_error(api.call("GET", PICTURE.format(old)), 403)
    check_error(api.call("GET", PICTURE.format(preview(api, own))), 404)
    assert [api.is_alive(secret) for secret in (own, app, token)] == [True] * 3
    assert api.log_in(code=totp.at(api.clock())).status_code == 200
    assert api.log_in(code=codes[0]).status_code == 200
    (entry,) = [row for row in rows(api.library) if row.event == "key.rotated"]
    assert (entry.actor, entry.target, entry.detail) == ("command line", shown["fingerprint"], "service key")


def test_a_key_that_is_a_setting_is_replaced_by_one_before_it_there(tmp_path):
    key, fresh = "k" * 32, "n" * 40
    with open_api(tmp_path, settings={"PHOTOSVC_SECRET_KEY": key}) as api:
        _, totp, codes = enrol(api)
        refused = rotate(api)
        assert refused.returncode == 2
        assert "PHOTOSVC_SECRET_KEY is set (app): put a new key and a space before the present one" in refused.stderr
        both = {"PHOTOSVC_SECRET_KEY": f"{fresh} {key}"}
        done = call_svc("keys", "rotate", "--service", "--json", instance=api.library.instance, environ=both)
        assert json.loads(done.stdout)["accounts"] == 1
        assert fresh not in done.stdout + done.stderr
        again = call_svc("keys", "rotate", "--service", instance=api.library.instance, environ=both)
        assert (again.returncode, "PHOTOSVC_SECRET_KEY is set (environment)" in again.stderr) == (2, True)
        check_error(api.log_in(code=totp.at(api.clock())), 401, code=33)  # without the new key
        vera = api.session_of("vera")
        body = {"password": PASSWORD}
        check_error(api.call("POST", api.user_path("vera", "/passcode"), vera, json=body), 503)
        api.library.app.extensions[EXTENSION].settings = load_settings(api.library.instance, environ=both)
        api.clock.move(minutes=5)
        assert api.log_in(code=totp.at(api.clock())).status_code == 200
        assert api.log_in(code=codes[0]).status_code == 200


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


def test_its_option_is_refused_for_signing_keys(own_key):
    assert own_key.svc("keys", "rotate", "--old-key-is-lost").returncode == 2
    assert json.loads(own_key.svc("keys", "ls", "--json").stdout) == []


def test_an_unwritable_folder_changes_nothing(own_key, monkeypatch):
    api = own_key
    _, totp, _ = enrol(api)

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied", "secret_key.next")

    monkeypatch.setattr(os, "open", refuse)
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
