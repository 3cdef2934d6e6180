"""A new service key: workers of a running server, and runs that are killed."""

import json
import os
import signal
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pyotp
import pytest

from photosvc.auth import service_key
from tests.app.cli.accounts import test_key_replacement as everyday
from tests.app.cli.accounts.test_key_replacement import PICTURE, enrol, preview
from tests.helpers.api_client import PASSWORD, check_error
from tests.helpers.library import call_svc, svc
from tests.helpers.programs.server import serve

own_key = everyday.own_key


def ask(base, path, body=None, token=None):
    headers = {"Content-Type": "application/json", **({"X-Auth-Token": token} if token else {})}
    request = Request(f"{base}/api/v1{path}", None if body is None else json.dumps(body).encode(), headers)
    try:
        with urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


def test_every_worker_of_a_running_server_takes_the_new_key_with_its_next_request(own_key):
    api = own_key
    with serve(api.library.instance, workers=2) as base:
        user = {"username": "alice", "password": PASSWORD}
        _, login = ask(base, "/session", user)
        own, old = login["access_token"], login["config"]["previewToken"]
        path = api.user_path(rest="/passcode")
        secret = ask(base, path, {"password": PASSWORD}, own)[1]["secret"]
        totp = pyotp.TOTP(secret)
        status, made = ask(base, f"{path}/confirm", {"code": totp.now()}, own)
        assert status == 200, made
        assert {ask(base, PICTURE.format(old))[0] for _ in range(4)} == {404}
        assert svc("keys", "rotate", "--service", instance=api.library.instance).returncode == 0
        assert {ask(base, PICTURE.format(old))[0] for _ in range(8)} == {403}
        for code in made["recovery_codes"][:3]:
            assert ask(base, "/session", {**user, "code": code})[0] == 200
        assert {ask(base, "/photos?count=1", token=own)[0] for _ in range(4)} == {200}


def killed(instance, step, *, after):
    """Run the command in a fork that kills itself at a step."""
    process = os.fork()
    if process == 0:
        try:
            inner = getattr(service_key, step)

            def stop(*arguments, **options):
                found = inner(*arguments, **options) if after else None
                os.kill(os.getpid(), signal.SIGKILL)
                return found

            setattr(service_key, step, stop)
            call_svc("keys", "rotate", "--service", instance=instance)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.parametrize(("step", "after"), [("add_key", False), ("add_key", True), ("encrypt_again", True)])
def test_a_run_that_is_killed_leaves_a_library_that_works_and_another_run_finishes_it(own_key, step, after):
    api = own_key
    own, totp, codes = enrol(api)
    old, key = preview(api, own), api.library.instance / "secret_key"
    before = key.read_text()
    api.library.close()
    assert killed(api.library.instance, step, after=after) == -signal.SIGKILL
    assert api.log_in(code=totp.at(api.clock())).status_code == 200
    assert api.log_in(code=codes[0]).status_code == 200
    assert (key.read_text() == before) == (not after)
    if not after:
        check_error(api.call("GET", PICTURE.format(old)), 404)
    assert api.svc("keys", "rotate", "--service").returncode == 0
    assert len(key.read_text().split()) == 2
    assert not Path(f"{key}.next").exists()
    check_error(api.call("GET", PICTURE.format(old)), 403)
    api.clock.move(minutes=5)
    assert api.log_in(code=totp.at(api.clock())).status_code == 200
    assert api.log_in(code=codes[1]).status_code == 200
