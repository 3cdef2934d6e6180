"""The session cookie: what it is like, and the truth table of what counts (own pages alone, by every door)."""

from itertools import product

import pytest

from photosvc.web.parts import PAGES, PARTS
from tests.app.pages.browser import OWN, TYPED, Browser
from tests.helpers.api_client import ApiClient, check_error
from tests.helpers.library import open_library

#: Requests by cookie: kind, Sec-Fetch-Site, Origin, X-Photosvc -> what happens.
OTHER_PORT, NOBODY, OTHER = "http://localhost:8443", "null", "https://example.com"
SITES = (None, "same-origin", "same-site", "cross-site", "none", "other, other")
ORIGINS = (None, "http://localhost", OTHER_PORT, NOBODY, OTHER)
MARKS = (None, "1", "0")


def headers_of(site, origin, mark=None, **more):
    found = {"Sec-Fetch-Site": site, "Origin": origin, "X-Photosvc": mark, **more}
    return {name: value for name, value in found.items() if value is not None}


def is_own(site, origin):
    return site == "same-origin" or (site is None and origin == "http://localhost")


@pytest.fixture(scope="module")
def signed_in(tmp_path_factory):
    from tests.helpers.api_client import open_api

    with open_api(tmp_path_factory.mktemp("cookie")) as api:
        browser = Browser(api)
        assert browser.sign_in().status_code == 303
        yield browser


def test_a_change_at_the_api_is_taken_from_own_scripts_only(signed_in):
    for site, origin, mark in product(SITES, ORIGINS, MARKS):
        headers = headers_of(site, origin, mark)
        answer = signed_in.open("/api/v1/session/confirm", method="POST", headers=headers, json={"password": "wrong"})
        if is_own(site, origin) and mark == "1":
            assert answer.status_code in {400, 429}, (headers, answer.text)  # the wrong password
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin", headers
        else:
            assert answer.status_code == 403, (headers, answer.text)
            refused = check_error(answer, 403)["error"]
            assert refused.startswith("Another site or program sent this request"), headers


def test_a_form_is_taken_from_own_pages_only(signed_in):
    for site, origin, form in product(SITES, ORIGINS, ({}, {"half": "x"})):
        headers = headers_of(site, origin)
        answer = signed_in.send("/sign-in", form, headers=headers)
        told = "Another site or program sent this request" in answer.text
        assert (answer.status_code in {403, 429}, told) == (True, not is_own(site, origin)), (headers, answer.text)


def test_reading_the_api_takes_the_marked_requests_of_own_scripts(signed_in):
    for site, mark in product(SITES, MARKS):
        headers = headers_of(site, None, mark)
        answer = signed_in.open("/api/v1/session", headers=headers)
        if site in {None, "same-origin"} and mark == "1":
            assert answer.status_code == 200, headers
            assert "Cookie" in answer.headers["Vary"], headers
        else:
            assert answer.status_code == 401, headers
            check_error(answer, 401)


def test_a_page_opens_by_any_link(signed_in):
    for site in SITES:
        answer = signed_in.open("/", headers=headers_of(site, None, **{"Sec-Fetch-Dest": "document"}))
        assert answer.status_code == 200, site
        assert 'name="q"' in answer.text, site


def test_no_other_origin_embeds_or_fetches_a_page(signed_in):
    for site, dest in product(SITES, ("iframe", "image", "embed", "empty", "object")):
        answer = signed_in.open("/", headers=headers_of(site, None, **{"Sec-Fetch-Dest": dest}))
        assert answer.status_code == (200 if site in {None, "same-origin", "none"} else 403), (site, dest)


def test_originals_open_by_links_of_own_pages_and_typed_addresses(signed_in):
    for site, dest in product(SITES, ("image", "video", "document")):
        answer = signed_in.open(f"/api/v1/dl/{'0' * 40}", headers=headers_of(site, None, **{"Sec-Fetch-Dest": dest}))
        assert answer.status_code == (404 if site in {None, "same-origin", "none"} else 403), (site, dest)


def test_a_header_credential_counts_instead_of_the_cookie(signed_in):
    token = signed_in.api.session_of("vera")
    answer = signed_in.open("/api/v1/session", headers={"X-Auth-Token": token, "Sec-Fetch-Site": "cross-site"})
    assert answer.json["user"]["Name"] == "vera"
    answer = signed_in.open(
        "/api/v1/session/confirm",
        method="POST",
        headers={"X-Auth-Token": token, "Origin": OTHER},
        json={"password": "correct horse"},
    )
    assert answer.status_code == 200
    assert "Cross-Origin-Resource-Policy" not in answer.headers


def test_webdav_does_not_know_the_cookie(signed_in):
    for headers in (OWN, {"X-Photosvc": "1", **OWN}):
        assert signed_in.open("/originals/", headers=headers).status_code == 401


def test_over_http_the_cookie_has_no_prefix_and_is_not_secure(browser):
    answer = browser.sign_in(stay="1")
    (cookie,) = answer.headers.getlist("Set-Cookie")
    name, _, rest = cookie.partition("=")
    assert len(name) == len("photosvc-123456")
    assert name.startswith("photosvc-")
    assert rest.partition(";")[2] == " Expires=" + rest.partition("Expires=")[2]
    assert rest.endswith("; HttpOnly; Path=/; SameSite=Strict")
    assert "Max-Age=1209600" in rest
    assert "Secure" not in rest


def test_over_https_it_is_a_host_cookie(browser):
    browser.base = "https://localhost"
    (cookie,) = browser.sign_in().headers.getlist("Set-Cookie")
    assert cookie.startswith("__Host-photosvc-")
    assert cookie.endswith("; Secure; HttpOnly; Path=/; SameSite=Strict")
    assert "Max-Age" not in cookie  # ends with the browser
    assert browser.open("/").status_code == 200


def test_behind_tls_that_forwards_no_scheme_the_public_address_decides(tmp_path):
    from tests.helpers.api_client import database_with_users

    library = open_library(
        tmp_path, settings={"PHOTOSVC_BASE_URL": "https://photos.example"}, database=database_with_users()
    )
    browser = Browser(ApiClient(library), "http://photos.example")
    form = {"name": "alice", "password": "correct horse"}
    (cookie,) = browser.send("/sign-in", form, headers={"Origin": "https://photos.example"}).headers.getlist(
        "Set-Cookie"
    )
    assert cookie.startswith("__Host-photosvc-")
    # From the home network, without TLS: browsers would drop a secure cookie.
    browser.base = "http://192.168.1.20"
    (cookie,) = browser.send("/sign-in", form, headers={"Origin": browser.base}).headers.getlist("Set-Cookie")
    assert cookie.startswith("photosvc-")
    library.close()


def test_ports_belong_to_the_origin(browser):
    browser.base = "http://nas.local:8080"
    for origin, status in (("http://nas.local:8080", 303), ("http://nas.local", 403), ("http://nas.local:5000", 403)):
        form = {"name": "alice", "password": "correct horse"}
        assert browser.send("/sign-in", form, headers={"Origin": origin}).status_code == status, origin


def test_what_is_no_access_token_in_the_cookie_is_not_looked_up(browser, api):
    name = next(iter(_signed_in_name(browser)))
    for value in ("", "x", api.app_password(), "0" * 47, "0" * 49, "%00", "é"):
        browser.client.set_cookie(name, value, domain="localhost")
        assert browser.open("/", headers=OWN).status_code == 303


def _signed_in_name(browser):
    browser.sign_in()
    names = list(browser.cookies)
    browser.client._cookies.clear()
    return names


def test_pages_that_are_not_mounted_take_no_cookie(tmp_path):
    from tests.helpers.api_client import database_with_users

    library = open_library(tmp_path / "a", database=database_with_users())
    browser = Browser(ApiClient(library))
    browser.sign_in()
    cookies = dict(browser.cookies)
    without = open_library(tmp_path / "a", upgrade=False, parts=PARTS.keys() - {PAGES})
    other = Browser(ApiClient(without))
    for name, value in cookies.items():
        other.client.set_cookie(name, value, domain="localhost")
    assert other.open("/").status_code == 404
    assert other.open("/api/v1/session", headers={"X-Photosvc": "1", **OWN}).status_code == 401
    assert browser.open("/api/v1/session", headers={"X-Photosvc": "1", **OWN}).status_code == 200
    without.close()
    library.close()


def test_an_unknown_session_leads_to_the_sign_in_page_and_the_cookie_is_forgotten(alice):
    (name,) = alice.cookies
    alice.client.set_cookie(name, "0" * 48, domain="localhost")
    answer = alice.open("/?q=lake", headers=TYPED)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?next=/?q%3Dlake")
    assert answer.headers["Set-Cookie"].startswith(f"{name}=; ")
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
