"""The well-known documents are true at every address that serves them."""

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from photosvc.auth.discovery import well_known_url
from photosvc.extension import PhotoService
from photosvc.models import schema
from photosvc.web.service import current_service
from tests.app.oauth.oauth_client import GRANT, ISSUER, open_oauth_api

SERVER, OPENID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
RESOURCE, JWKS = "/.well-known/oauth-protected-resource", "/.well-known/jwks.json"
ALL = (SERVER, OPENID, RESOURCE, JWKS)
WITH_PATH = "https://example.org/my/photos"


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    with open_oauth_api(tmp_path_factory.mktemp("nested"), settings={"PHOTOSVC_BASE_URL": WITH_PATH}) as oauth:
        yield oauth


def get(oauth, path, **options):
    return oauth.library.app.test_client().get(path, **options)


def document(oauth, path, **options):
    answer = get(oauth, path, **options)
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    return answer.json


def endpoints(found):
    return {name: value for name, value in found.items() if name.endswith(("_endpoint", "_uri"))}


@pytest.mark.parametrize("path", [SERVER, OPENID])
def test_each_document_names_the_issuer_of_the_settings_and_addresses_that_answer(oauth, path):
    forged = {
        "Host": "evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "ftp",
        "Forwarded": "host=evil.example",
    }
    plain = document(oauth, path)
    assert plain["issuer"] == ISSUER
    assert document(oauth, path, headers=forged) == plain
    assert document(oauth, path, base_url="http://evil.example:81/") == plain
    for name, url in endpoints(plain).items():
        assert url.startswith(ISSUER + "/"), url
        assert get(oauth, url.removeprefix(ISSUER)).status_code == (200 if name == "jwks_uri" else 405), url
        if name.endswith("_endpoint"):
            answer = oauth.post(url.removeprefix(ISSUER + "/api/v1/oauth"), {"token": "x"})
            assert answer.status_code in {200, 400, 401}, url


@pytest.mark.parametrize("path", [SERVER, OPENID])
def test_nothing_is_published_that_does_not_work(oauth, path):
    found = document(oauth, path)
    for absent in ("authorization", "userinfo", "registration", "end_session", "device_authorization"):
        assert f"{absent}_endpoint" not in found
    assert found["response_types_supported"] == ["none"]
    assert found["grant_types_supported"] == ["client_credentials"]
    assert "id_token_signing_alg_values_supported" not in found
    assert "code_challenge_methods_supported" not in found
    if path == OPENID:  # it would suppose the opposite of the first
        assert found["request_uri_parameter_supported"] is False
        assert found["subject_types_supported"] == ["public"]
    assert all(value not in ("", [], None) for value in found.values())


def test_each_published_method_of_authentication_works(oauth):
    found = document(oauth, SERVER)
    client = oauth.register(limit=-1)
    ways = {"client_secret_basic": ({}, client), "client_secret_post": (client.form, None), "none": ({}, None)}
    for endpoint, form in (("token", GRANT), ("revocation", {"token": "x"}), ("introspection", {"token": "x"})):
        path = found[f"{endpoint}_endpoint"].removeprefix(ISSUER + "/api/v1/oauth")
        for way, (more, shown) in ways.items():
            listed = way in found[f"{endpoint}_endpoint_auth_methods_supported"]
            assert (oauth.post(path, {**form, **more}, shown).status_code == 200) == listed, (endpoint, way)


def test_only_the_public_half_of_keys_is_published(oauth):
    keys = document(oauth, JWKS)["keys"]
    assert [set(key) for key in keys] == [{"kty", "n", "e", "kid", "use", "alg"}]
    assert {(key["kty"], key["use"], key["alg"]) for key in keys} == {("RSA", "sig", "RS256")}
    with oauth.library.app.app_context():
        stored = current_service().signing_keys.current().key.as_dict(private=True)
    for path in ALL:
        text = get(oauth, path).text
        assert not [name for name in ("d", "p", "q", "dp", "dq", "qi") if stored[name] in text]


def test_the_key_is_made_once_and_is_the_services_own(tmp_path):
    with open_oauth_api(tmp_path) as oauth:
        first = document(oauth, JWKS)
        assert document(oauth, JWKS) == first
        assert not (oauth.library.instance / "signing_keys").exists()
    with open_oauth_api(tmp_path, upgrade=False) as again:
        assert document(again, JWKS) == first


def test_documents_are_cached_revalidated_and_only_read(oauth):
    for path in ALL:
        answer = get(oauth, path)
        assert answer.headers["Cache-Control"] == "public, max-age=300", path
        again = get(oauth, path, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b""), path
        assert get(oauth, path, headers={"If-None-Match": '"other"'}).status_code == 200, path
        assert get(oauth, path).data == answer.data, path
        written = oauth.library.app.test_client().post(path)
        assert (written.status_code, set(written.allow)) == (405, {"GET", "HEAD", "OPTIONS"}), path


def test_documents_without_a_key_need_no_tables_and_the_key_set_names_the_command(tmp_path):
    with open_oauth_api(tmp_path, upgrade=False) as oauth:
        assert {path: get(oauth, path).status_code for path in ALL} == {
            SERVER: 200,
            OPENID: 200,
            RESOURCE: 200,
            JWKS: 503,
        }
        assert "run `svc db upgrade`" in get(oauth, JWKS).json["error"]


def test_the_resource_names_the_issuer_of_its_tokens(oauth):
    found = document(oauth, RESOURCE)
    assert found == {
        "resource": ISSUER,
        "resource_name": "photosvc",
        "authorization_servers": [ISSUER],
        "scopes_supported": found["scopes_supported"],
        "bearer_methods_supported": ["header"],
    }


def test_the_challenge_leads_from_a_resource_to_a_token(nested):
    for headers in ({}, {"Authorization": f"Bearer {'0' * 48}"}):
        challenge = get(nested, "/api/v1/photos", headers=headers).headers["WWW-Authenticate"]
        url = challenge.partition('resource_metadata="')[2].partition('"')[0]
        assert url == "https://example.org/.well-known/oauth-protected-resource/my/photos"
    resource = document(nested, url.removeprefix("https://example.org"))
    server = well_known_url(resource["authorization_servers"][0], "oauth-authorization-server")
    found = document(nested, server.removeprefix("https://example.org"))
    assert found["token_endpoint"] == WITH_PATH + "/api/v1/oauth/token"
    assert found["protected_resources"] == [resource["resource"]]


def test_an_issuer_with_a_path_is_found_both_ways(nested):
    for path in (SERVER, OPENID, RESOURCE):
        assert document(nested, path) == document(nested, path + "/my/photos")
    assert document(nested, OPENID)["issuer"] == WITH_PATH
    assert get(nested, JWKS + "/my/photos").status_code == 404
    assert get(nested, SERVER + "/my").status_code == 404


def test_inside_another_app_documents_are_below_the_prefix_and_the_host(tmp_path):
    app = Flask("host", instance_path=str(tmp_path), static_folder=None)
    app.config.update(
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path / 'host.db'}",
        PHOTOSVC_BASE_URL="https://example.org/media",
        OAUTH2_SCOPES_SUPPORTED=["other"],
        OAUTH2_TOKEN_EXPIRES_IN={"client_credentials": 1},
    )
    db = SQLAlchemy(app)
    PhotoService(app, db=db, url_prefix="/media")
    with app.app_context():
        schema.upgrade(db.engine)
    client = app.test_client()
    for path in ("/media" + OPENID, "/media" + SERVER, SERVER + "/media", "/media" + JWKS):
        assert client.get(path).status_code == 200
    assert client.get(SERVER + "/media").json["issuer"] == "https://example.org/media"
    for path in (SERVER, OPENID, JWKS):
        assert client.get(path).status_code == 404
