"""The ways in which a request shows its token, and the answers to errors of every kind (RFC 6750)."""

import sqlite3

from sqlalchemy.exc import OperationalError

from tests.helpers.api_client import check_error
from tests.helpers.library import RESOURCE


def test_a_token_is_found_in_each_of_three_headers(api):
    token = api.access_token("photos")
    for headers in (
        {"Authorization": "Bearer {}"},
        {"Authorization": "bearer {}"},
        {"Authorization": "BEARER   {}  "},
        {"X-Auth-Token": " {} "},
        {"X-Session-ID": "{}"},
        {"X-Auth-Token": "{}", "X-Session-ID": "{}", "Authorization": "Bearer {}"},
        {"X-Auth-Token": "{}", "X-Session-ID": ""},
        {"X-Auth-Token": "{}", "Authorization": "Basic Zm9vOmJhcg=="},
        {"X-Auth-Token": "{}", "Authorization": "Bearer"},
    ):
        shown = {name: value.format(token) for name, value in headers.items()}
        assert api.call("GET", "/photos", headers=shown).status_code == 200, headers


def test_two_different_tokens_are_400_even_when_both_are_valid(api):
    first, second = api.access_token(), api.access_token()
    for headers in (
        {"X-Auth-Token": first, "X-Session-ID": second},
        {"X-Session-ID": first, "Authorization": f"Bearer {second}"},
    ):
        answer = api.call("GET", "/photos", headers=headers)
        assert check_error(answer, 400)["error"] == "the request shows two different tokens; send one"
        challenge = answer.headers["WWW-Authenticate"]
        assert challenge.startswith('Bearer realm="photosvc", error="invalid_request", error_descr'), headers


def test_a_token_in_the_query_or_a_form_or_a_cookie_is_not_looked_at(api):
    token = api.access_token()
    for place in ("access_token", "token", "t", "auth_token", "X-Auth-Token"):
        for sent in ({}, {"data": {place: token}}, {"headers": {"Cookie": f"{place}={token}"}}):
            path = "/photos" if sent else f"/photos?{place}={token}"
            answer = api.call("GET", path, **sent)
            assert answer.status_code == 401, (place, sent)
            check_error(answer, 401)


def test_without_a_bearer_token_the_challenge_is_bare(api):
    for value in ("Basic Zm9vOmJhcg==", "Digest x", "Bearer", "Bearer ", "bearer\t", "Token abc", ""):
        answer = api.call("GET", "/photos", headers={"Authorization": value})
        check_error(answer, 401)
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="photosvc"' + RESOURCE, value


def test_the_challenge_for_a_bad_token_says_so_and_no_more(api):
    answers = [api.call("GET", "/photos", token) for token in ("x", "0" * 48, "aaaaaa-aaaaaa-aaaaaa-aaaaaa")]
    challenge = {answer.headers["WWW-Authenticate"] for answer in answers}
    sentence = "The access token is missing, expired or not valid."
    assert challenge == {f'Bearer realm="photosvc", error="invalid_token", error_description="{sentence}"{RESOURCE}'}
    assert len({answer.text for answer in answers}) == 1


def test_the_challenge_for_a_missing_scope_names_the_needed_scope(api):
    answer = api.call("GET", "/photos", api.access_token("metrics"))
    body = check_error(answer, 403)
    assert body["error"] == "Permission denied: this needs the scope photos read."
    challenge = answer.headers["WWW-Authenticate"]
    assert challenge == 'Bearer realm="photosvc", error="insufficient_scope", scope="photos read"' + RESOURCE


def test_routes_and_methods_that_do_not_exist_are_refused_in_the_same_shape(api):
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("GET", "/", 404),
        ("DELETE", "/photos", 405),
        ("PUT", "/session", 405),
    ):
        answer = api.call(method, path)
        check_error(answer, status)
        assert ("Allow" in answer.headers) == (status == 405), (method, path)


def test_every_answer_forbids_sniffing_framing_and_referrers(api):
    for path, token in [("/photos", api.access_token()), ("/photos", None), ("/status", None), ("/nothing", None)]:
        headers = api.call("GET", path, token).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Set-Cookie" not in headers


def test_a_database_that_is_locked_is_503_with_a_time_to_try_again(api, monkeypatch):
    def locked(*_arguments, **_options):
        raise OperationalError("SELECT secret", {}, sqlite3.OperationalError("database is locked"))

    monkeypatch.setattr("photosvc.search.reading.pages.KnownSearches.find", locked)
    answer = api.call("GET", "/photos", api.access_token())
    assert "secret" not in answer.text
    check_error(answer, 503)
    assert answer.headers["Retry-After"] == "5"
