"""Scripts of pages on other origins: the API answers them if the settings name their origin, and never by cookie."""

import pytest

from tests.app.pages.browser import OWN, Browser
from tests.helpers.api_client import PASSWORD, check_error, open_api

GALLERY, OTHER = "https://gallery.example.org", "https://other.example.org"


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    settings = {"PHOTOSVC_CORS_ORIGINS": f"http://localhost:5173 {GALLERY}"}
    with open_api(tmp_path_factory.mktemp("cors"), settings=settings) as api:
        yield api


def send(api, method, path, origin, token=None, **options):
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site", **options.pop("headers", {})}
    return api.call(method, path, token, headers=headers, **options)


def cors(answer):
    return {name: value for name, value in answer.headers if name.startswith("Access-Control-")}


def test_a_script_of_a_named_origin_reads_answers_errors_and_their_headers(api):
    token = api.library.token("*", role="user")
    shown = {"Access-Control-Allow-Origin": GALLERY, "Access-Control-Expose-Headers": "*"}
    found = send(api, "GET", "/photos", GALLERY, token)
    assert (found.status_code, cors(found)) == (200, shown)
    fresh = send(api, "GET", "/albums", GALLERY, token)
    unchanged = send(api, "GET", "/albums", GALLERY, token, headers={"If-None-Match": fresh.headers["ETag"]})
    assert (unchanged.status_code, cors(unchanged)) == (304, shown)
    refused = send(api, "GET", "/photos", GALLERY)
    assert (refused.status_code, cors(refused)) == (401, shown)
    metadata = send(api, "GET", "/.well-known/oauth-authorization-server", GALLERY)
    assert (metadata.status_code, cors(metadata)) == (200, shown)
    assert all("Origin" in answer.headers["Vary"] for answer in (found, fresh, unchanged, refused, metadata))


def test_a_browser_that_asks_first_learns_methods_and_headers(api):
    asked = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-auth-token,content-type"}
    answer = send(api, "OPTIONS", "/photos/pqbcf5j446s0futy", GALLERY, headers=asked)
    assert answer.status_code == 200
    found = cors(answer)
    assert set(found["Access-Control-Allow-Methods"].split(", ")) >= {"GET", "PUT"}
    allowed = found["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "x-auth-token", "content-type", "if-match"} <= set(allowed)
    assert "x-photosvc" not in allowed
    assert "Access-Control-Allow-Credentials" not in found


def test_other_origins_and_services_without_the_setting_get_no_such_header(api, tmp_path):
    token = api.library.token("*", role="user")
    for origin in (
        OTHER,
        GALLERY.upper(),
        f"{GALLERY}:8443",
        "http://gallery.example.org",
        "null",
        f"{GALLERY}.evil.org",
    ):
        for method in ("GET", "OPTIONS"):
            assert cors(send(api, method, "/photos", origin, token)) == {}, origin
    with open_api(tmp_path) as plain:
        answer = send(plain, "GET", "/photos", GALLERY, plain.library.token())
        assert (answer.status_code, cors(answer)) == (200, {})
        assert "Origin" not in answer.headers["Vary"]


def test_a_script_of_a_named_origin_logs_in_by_password_and_others_do_not(api):
    body = {"username": "alice", "password": PASSWORD}
    answer = send(api, "POST", "/session", GALLERY, json=body)
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers
    check_error(send(api, "POST", "/session", OTHER, json=body), 403)


def test_the_cookie_of_the_page_opens_nothing_for_a_named_origin(api):
    browser = Browser(api)
    assert browser.sign_in().status_code == 303
    assert browser.open("/api/v1/photos", headers={**OWN, "X-Photosvc": "1"}).status_code == 200
    headers = {"Origin": GALLERY, "Sec-Fetch-Site": "cross-site", "X-Photosvc": "1"}
    assert browser.open("/api/v1/photos", headers=headers).status_code == 401
    answer = browser.open("/api/v1/albums", headers=headers, method="POST", json={"Title": "x"})
    assert answer.status_code == 403
