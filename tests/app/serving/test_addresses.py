"""Addresses in answers lead back to the service at any mount, and never to a host that a client names."""

import logging
from urllib.parse import quote, urljoin

import pytest
import requests
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.test import Client

from photosvc.extension import PhotoService
from photosvc.web.service import current_service
from tests.app.oauth.oauth_client import OAuthClients, check_oauth_error
from tests.helpers.clock import NOW, MovedClock
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import call_svc, copy_library, migrated_database, open_library

ISSUED = ("oauth-authorization-server", "openid-configuration", "oauth-protected-resource")
SENTENCE = "PHOTOSVC_BASE_URL is not set, and OAuth names the public address of the service: its operator must set it."
FORGED = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Prefix": "/evil"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("filled") / "instance")
    with library.session() as session:
        add_photos(session, 6, NOW)
    library.token()
    library.close()
    return library


@pytest.fixture
def copied_library(filled, tmp_path):
    library = copy_library(filled, tmp_path / "instance")
    library.tokens = dict(filled.tokens)
    yield library
    library.close()


@pytest.fixture
def nowhere(tmp_path):
    """OAuth at a service that knows no address."""
    oauth = OAuthClients(open_library(tmp_path / "nowhere", address=""))
    yield oauth
    oauth.library.close()


def followed(app, first, token):
    """The names of all files, read along the links from the page at this address."""
    names, address = [], first
    while address:
        answer = Client(app).get(address, headers={**FORGED, "X-Auth-Token": token})
        assert answer.status_code == 200, answer.text
        names += [record["FileName"] for record in answer.json]
        (link,) = requests.utils.parse_header_links(answer.headers.get("Link", "")) or [{"url": ""}]
        assert "evil" not in link["url"]
        address = link["url"] and urljoin(f"http://any.example{address}", link["url"]).removeprefix(
            "http://any.example"
        )
    return names


@pytest.mark.parametrize("mount", ["", "/gallery", "/a b/ü%41"])
def test_links_lead_to_the_next_page_wherever_a_server_mounts_the_app(copied_library, mount):
    mounts = {mount.encode().decode("latin-1"): copied_library.app}  # as WSGI has paths
    app = DispatcherMiddleware(Flask("other"), mounts) if mount else copied_library.app
    names = sorted(record["FileName"] for record in copied_library.find(count=100))
    assert sorted(followed(app, f"{quote(mount)}/api/v1/photos?count=2&q=", copied_library.token())) == names
    assert len(names) > 6


def test_links_and_the_description_hold_the_prefix_in_a_host_app(tmp_path, filled):
    host = Flask("host", instance_path=str(tmp_path))
    host.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{filled.instance}/photosvc.db"
    host.config["PHOTOSVC_SECRET_KEY"] = (filled.instance / "secret_key").read_text().strip()
    db = SQLAlchemy(host)
    PhotoService(host, db=db, url_prefix="/media", clock=MovedClock())
    app = DispatcherMiddleware(Flask("other"), {"/outer": ProxyFix(host.wsgi_app, x_prefix=0)})
    assert len(followed(app, "/outer/media/api/v1/photos?count=3", filled.token())) > 6
    described = Client(app).get("/outer/media/api/v1/openapi.json", headers=FORGED).json
    assert described["servers"] == [{"url": "/outer/media/api/v1"}]
    flows = described["components"]["securitySchemes"]["oauth2"]["flows"]
    assert flows["clientCredentials"]["tokenUrl"] == "/outer/media/api/v1/oauth/token"
    config = Client(app).get("/outer/media/api/v1/config", headers={"X-Auth-Token": filled.token()}).json
    assert (config["siteUrl"], config["apiUri"]) == ("/outer/media/", "/outer/media/api/v1")
    with host.app_context():
        db.engine.dispose()


def test_the_description_names_the_mount_of_the_request_and_not_a_former_one(copied_library):
    for mount in ("", "/one", "/two"):
        app = DispatcherMiddleware(Flask("other"), {mount: copied_library.app}) if mount else copied_library.app
        assert Client(app).get(f"{mount}/api/v1/openapi.json").json["servers"] == [{"url": f"{mount}/api/v1"}]


@pytest.mark.parametrize(
    ("mount", "shown"),
    [
        ("//evil.example", "/evil.example"),
        ("/a>;rel=x,<b", "/a%3E;rel=x,%3Cb"),
        ("/a\r\nSet-Cookie: b", "/a%0D%0ASet-Cookie:%20b"),
        ("/a?b#c", "/a%3Fb%23c"),
    ],
)
def test_a_mount_of_any_name_is_a_path_on_the_same_server(copied_library, mount, shown):
    request = {"headers": {"X-Auth-Token": copied_library.token()}, "environ_overrides": {"SCRIPT_NAME": mount}}
    answer = Client(copied_library.app).get("/api/v1/photos?count=2", **request)
    assert answer.headers["Link"].startswith(f"<{shown}/api/v1/photos?count=2&cursor=")


def test_with_a_public_address_links_are_absolute(filled, tmp_path):
    address = "https://photos.example.org/p"
    library = copy_library(filled, tmp_path / "instance", settings={"PHOTOSVC_BASE_URL": address})
    library.tokens = dict(filled.tokens)
    assert library.get({"count": 1}).headers["Link"].startswith(f"<{address}/api/v1/photos?count=1&cursor=")
    assert library.get(path="/api/v1/openapi.json").json["servers"] == [{"url": f"{address}/api/v1"}]
    assert library.get(path="/api/v1/config").json["siteUrl"] == f"{address}/"
    library.close()


def test_where_svc_run_serves_is_the_issuer_of_the_metadata(copied_library):
    client = copied_library.app.test_client()
    for name in ISSUED[:2]:
        found = client.get(f"/.well-known/{name}", headers=FORGED).json
        assert found["issuer"] == "http://localhost:8080"
        assert found["token_endpoint"] == "http://localhost:8080/api/v1/oauth/token"


@pytest.mark.parametrize("name", ISSUED)
def test_metadata_without_an_issuer_are_refused_with_a_sentence(nowhere, name):
    answer = nowhere.library.app.test_client().get(f"/.well-known/{name}")
    assert answer.status_code == 503
    assert answer.json["error"] == SENTENCE
    assert answer.json["details"] == [{"field": "PHOTOSVC_BASE_URL", "message": SENTENCE}]


def test_routes_that_need_no_issuer_work_without_one(nowhere):
    client = nowhere.library.app.test_client()
    assert client.get("/.well-known/jwks.json").status_code == 200
    assert client.get("/api/v1/photos").headers["WWW-Authenticate"] == 'Bearer realm="photosvc"'
    pair = nowhere.register()
    token = nowhere.token(pair)
    assert nowhere.is_alive(token)
    described = nowhere.post("/introspect", {"token": token}, pair).json
    assert (described["active"], "iss" in described, "aud" in described) == (True, False, False)


def test_routes_that_name_the_issuer_are_refused_without_one(nowhere):
    jwt = nowhere.register(token_format="jwt")
    for answer in (
        nowhere.ask(jwt),
        nowhere.ask(nowhere.register(), resource="https://photos.example.org"),
    ):
        assert check_oauth_error(answer, 503, "temporarily_unavailable")["error_description"] == SENTENCE


@pytest.mark.parametrize(
    ("prefix", "parts", "times"), [("", None, 1), ("/media", None, 1), ("/media", ("search", "media"), 0)]
)
def test_a_host_reads_in_the_log_of_its_first_request_that_the_issuer_is_missing(
    tmp_path, caplog, prefix, parts, times
):
    app = Flask("host", instance_path=str(tmp_path))
    (tmp_path / "host.db").write_bytes(migrated_database(of_a_host=True))
    app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{tmp_path}/host.db"
    with caplog.at_level(logging.WARNING, logger="photosvc"):
        PhotoService(app, db=SQLAlchemy(app), url_prefix=prefix, parts=parts)
        assert app.test_cli_runner().invoke(args=["svc", "db", "current"]).exit_code == 0
        assert caplog.messages == []
        for _ in range(2):
            assert app.test_client().get(f"{prefix}/api/v1/photos").status_code == 401
    sentence = f"PHOTOSVC_BASE_URL is not set: the metadata at {prefix}/.well-known/ are answered 503"
    assert [line.startswith(sentence) for line in caplog.messages] == [True] * times
    assert all(f"such as https://photos.example.org{prefix}" in line for line in caplog.messages)
    for path in (f"{prefix}/.well-known/openid-configuration", f"/.well-known/openid-configuration{prefix}"):
        assert app.test_client().get(path).status_code == (503 if times else 404)
    with app.app_context():
        current_service().engine().dispose()


def test_commands_do_not_speak_of_it(copied_library):
    copied_library.close()
    assert call_svc("search", "--csv", "--count", "1", instance=copied_library.instance).stderr == ""
