"""Real OAuth2 clients against a real server: Authlib, requests-oauthlib, oauth4webapi, openid-client, curl."""

import base64
import itertools
import json
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.helpers.library import SURROUNDINGS, call_svc, open_library
from tests.helpers.programs.ports import free_port

NPM = Path(__file__).with_name("npm")


class Served(NamedTuple):
    """A server and two of its clients."""

    address: str
    opaque: tuple[str, str]
    jwt: tuple[str, str]

    @property
    def token_url(self):
        return f"{self.address}/api/v1/oauth/token"

    @property
    def photos_url(self):
        return f"{self.address}/api/v1/photos"


@contextmanager
def gunicorn(instance, port, address):
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "2",
               "--no-control-socket", "photosvc.app:create_app()"]  # fmt: skip
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(instance), "PHOTOSVC_BASE_URL": address}
    log = instance / "gunicorn.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/api/v1/status", timeout=20).close()
                break
            except OSError:
                assert server.poll() is None, log.read_text()
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    instance = open_library(tmp_path_factory.mktemp("served")).instance
    pairs = []
    for token_format in ("opaque", "jwt"):
        done = call_svc(
            "clients", "add", "-n", "client", "-s", "photos metrics", "--token-format", token_format, "--json",
            instance=instance,
        )  # fmt: skip
        record = json.loads(done.stdout)
        pairs.append((record["client_id"], record["client_secret"]))
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with gunicorn(instance, port, address):
        yield Served(address, *pairs)


@pytest.mark.parametrize("kind", ["opaque", "jwt"])
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_authlib_gets_narrows_uses_inspects_and_revokes_a_token(served, kind, method):
    pytest.importorskip("requests", reason="requests is not installed")
    from authlib.integrations.requests_client import OAuth2Session

    with OAuth2Session(*getattr(served, kind), token_endpoint_auth_method=method, scope="photos") as session:
        token = session.fetch_token(served.token_url, grant_type="client_credentials")
        assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 86400, "photos")
        assert session.get(served.photos_url).status_code == 200
        introspected = session.introspect_token(f"{served.address}/api/v1/oauth/introspect", token["access_token"])
        assert (introspected.status_code, introspected.json()["active"]) == (200, True)
        gone = session.revoke_token(f"{served.address}/api/v1/oauth/revoke", token["access_token"])
        assert gone.status_code == 200
        # On every worker, from the next request on.
        assert {session.get(served.photos_url).status_code for _ in range(8)} == {401}


def test_authlib_learns_what_is_wrong(served):
    pytest.importorskip("requests", reason="requests is not installed")
    from authlib.integrations.base_client import OAuthError
    from authlib.integrations.requests_client import OAuth2Session

    for pair, scope, error in (
        ((served.opaque[0], "wrong"), None, "invalid_client"),
        (served.opaque, "users", "invalid_scope"),
    ):
        with OAuth2Session(*pair, scope=scope) as session, pytest.raises(OAuthError, match=error):
            session.fetch_token(served.token_url, grant_type="client_credentials")


def test_requests_oauthlib_gets_exactly_the_scope_it_asked_for(served, monkeypatch):
    """It raises when the answer names another scope than it asked for."""
    requests_oauthlib = pytest.importorskip("requests_oauthlib", reason="requests-oauthlib is not installed")
    from oauthlib.oauth2 import BackendApplicationClient

    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    for name, secret in (served.opaque, served.jwt):
        ways = ({"include_client_id": True}, *({"client_id": name, "include_client_id": no} for no in (False, None)))
        scopes = (None, ["photos"], ["photos", "metrics"], ["metrics", "photos"])
        for way, scope in itertools.product(ways, scopes):
            with requests_oauthlib.OAuth2Session(client=BackendApplicationClient(name, scope=scope)) as session:
                token = session.fetch_token(served.token_url, client_secret=secret, **way)
                assert set(token["scope"]) == set(scope or ["photos", "metrics"]), (way, scope)
                assert (token["token_type"], token["expires_in"]) == ("Bearer", 86400), (way, scope)
                assert session.get(served.photos_url).status_code == 200, (way, scope)


def test_a_client_that_tries_basic_and_then_the_body_is_served_by_either(served):
    """As Go's oauth2 library does, which Prometheus uses."""
    form = b"grant_type=client_credentials"
    pair = base64.b64encode(":".join(served.opaque).encode()).decode()
    asked = urllib.request.Request(served.token_url, form, {"Authorization": f"Basic {pair}"})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        assert answer.status == 200
    body = form + f"&client_id={served.opaque[0]}&client_secret={served.opaque[1]}".encode()
    with urllib.request.urlopen(served.token_url, body, timeout=10) as answer:
        assert isinstance(json.load(answer)["expires_in"], int)


@pytest.mark.needs("curl")
def test_curl_gets_a_token(served):
    command = ["curl", "-sS", "-u", ":".join(served.opaque), "-d", "grant_type=client_credentials", served.token_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(done.stdout)["token_type"] == "Bearer"


def test_the_lock_file_names_no_registry():
    assert "resolved" not in (NPM / "package-lock.json").read_text()


@pytest.mark.needs("node", "npm")
def test_oauth4webapi_and_openid_client_find_nothing_wrong(served, tmp_path):
    folder = tmp_path / "npm"
    shutil.copytree(NPM, folder)
    installed = subprocess.run(
        ["npm", "ci", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    if installed.returncode:
        pytest.skip(f"npm ci failed: {installed.stderr.strip().splitlines()[-1:]}")
    command = ["node", "clients.js", served.address, *served.opaque, *served.jwt]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    address = served.address
    assert json.loads(done.stdout) == {
        "same": True,
        "basic": ["bearer", 86400, "photos"],
        "post": ["bearer", 86400, "metrics photos"],
        "search": 200,
        "wrongSecret": "WWWAuthenticateChallengeError 401 basic",
        "wideScope": "ResponseBodyError 400 invalid_scope",
        "badToken": "WWWAuthenticateChallengeError 401 bearer",
        "resource": [address],
        "jwt": [address, address, served.jwt[0], "photos"],
        "jwtSearch": 200,
        "signed": served.jwt[0],
        "openid": ["bearer", 86400, "photos"],
        "active": True,
        "fetched": 200,
        "inactive": False,
        "revoked": "WWWAuthenticateChallengeError 401 bearer",
    }
