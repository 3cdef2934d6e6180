"""POST /oauth/token: what is granted, and every way to be refused."""

import pytest

from photosvc.core import ids
from tests.helpers.api_client import in_chunks
from tests.helpers.clients.oauth_client import GRANT, Pair, check_oauth_error, open_oauth_api


@pytest.fixture(scope="module")
def client(oauth):
    return oauth.register("photos albums metrics", limit=-1)


def unknown():
    return Pair("c" + "0" * 15, ids.new_client_secret())


def test_a_client_gets_a_token_that_works(oauth, client):
    answer = oauth.ask(client)
    assert answer.status_code == 200
    assert answer.content_type == "application/json"
    assert (answer.headers["Cache-Control"], answer.headers["Pragma"]) == ("no-store", "no-cache")
    token = answer.json["access_token"]
    assert ids.is_access_token(token)
    assert answer.json == {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": 86400,
        "scope": "albums metrics photos",
    }
    assert oauth.search(token).status_code == 200


def test_the_scope_is_what_was_asked_for_and_the_answer_says_so(oauth, client):
    for asked, granted in (
        ("photos", "photos"),
        ("photos read", "photos read"),
        ("read photos", "photos read"),
        ("metrics albums photos", "albums metrics photos"),
        ("photos photos", "photos"),
        ("", "albums metrics photos"),
    ):
        answer = oauth.ask(client, scope=asked)
        assert answer.json["scope"] == granted, asked
        introspected = oauth.post("/introspect", {"token": answer.json["access_token"]}, client)
        assert introspected.json["scope"] == granted, asked


def test_a_scope_that_is_wider_unknown_or_not_in_its_plain_form_is_refused_whole(oauth, client):
    for scope in (
        *("*", "photos users", "read", "nonsense", "Photos", "photos:true", "photos:maybe", " "),
        *("photos photos:false", "photos\talbums", "photos  albums", "é", "x" * 2000, "photos\x00"),
    ):
        answer = oauth.ask(client, scope=scope)
        assert answer.status_code == 400, scope[:80]
        check_oauth_error(answer, 400, "invalid_scope")


def test_a_client_for_everything_can_ask_for_a_part(oauth):
    client = oauth.register("*")
    assert oauth.ask(client).json["scope"] == "*"
    assert oauth.ask(client, scope="read").json["scope"] == "read"
    token = oauth.token(client, scope="albums")
    assert oauth.search(token).status_code == 403


def test_a_token_lives_as_long_as_its_client_says_and_not_a_second_more(tmp_path):
    with open_oauth_api(tmp_path) as oauth:
        client = oauth.register(lifetime=60)
        assert oauth.ask(client).json["expires_in"] == 60
        token = oauth.token(client)
        oauth.library.clock.move(seconds=59)
        assert oauth.is_alive(token)
        oauth.library.clock.move(seconds=1)
        assert not oauth.is_alive(token)
        oauth.library.clock.move(seconds=-30)
        assert not oauth.is_alive(token)


def test_other_grants_are_not_supported(oauth, client):
    urn = "urn:ietf:params:oauth:grant-type:"
    for grant in (
        *("password", "refresh_token", "authorization_code", "implicit", "session", 'é"\\', "Client_Credentials"),
        *(f"{urn}jwt-bearer", f"{urn}token-exchange", f"{urn}device_code"),
    ):
        form = {**GRANT, "grant_type": grant, "username": "alice", "password": "x", "refresh_token": "x", "code": "x"}
        answer = oauth.post("/token", form, client)
        assert answer.status_code == 400, grant
        check_oauth_error(answer, 400, "unsupported_grant_type")


def test_what_is_no_form_of_single_parameters_is_a_bad_request(oauth, client):
    named, whole = "grant_type=client_credentials", {**GRANT, "scope": "photos", **client.form}
    for form, shown, options in (
        *((form, client, {}) for form in ({}, {"grant_type": ""}, {"scope": "photos"})),
        *(
            (f"{named}&scope=photos&other=1&{repeated}", client, {})
            for repeated in (named, "scope=photos", "scope=", "other=1")
        ),
        *(  # nothing is taken from the query string
            ({key: value for key, value in whole.items() if key != name}, None, {"query_string": {name: whole[name]}})
            for name in whole
        ),
        ('{"grant_type": "client_credentials"}', client, {"content_type": "application/json"}),
        *((named, client, {"content_type": kind}) for kind in ("text/plain", "", "multipart/form-data; boundary=x")),
        (f"{named}&scope=%ff", client, {}),
        (f"{named}\xff".encode("latin-1"), client, {}),
    ):
        answer = oauth.post("/token", form, shown, **options)
        assert answer.status_code == 400, (form, options)
        check_oauth_error(answer, 400, "invalid_request")


def test_other_query_parameters_and_a_charset_on_the_content_type_do_not_matter(oauth, client):
    kind = "application/x-www-form-urlencoded; charset=UTF-8"
    answer = oauth.post("/token", GRANT, client, query_string={"tenant": "1"}, content_type=kind)
    assert answer.status_code == 200


def test_more_than_fifty_fields_are_named_as_such(oauth, client):
    for fields in (b"a=1&" * 50, b"".join(b"a%d=1&" % number for number in range(50))):
        answer = oauth.post("/token", fields + b"grant_type=client_credentials", client)
        check_oauth_error(answer, 400, "invalid_request")
        assert answer.json["error_description"] == "The form has more than 50 fields"


def test_an_unknown_path_below_oauth_is_answered_in_the_form_of_oauth(oauth):
    answer = oauth.library.app.test_client().get("/api/v1/oauth/none")
    assert (answer.status_code, answer.json["error"]) == (404, "invalid_request")


def test_a_body_too_long_is_refused_and_in_chunks_not_taken_for_its_beginning(oauth, client):
    fields = b"grant_type=client_credentials&x="
    check_oauth_error(oauth.post("/token", fields + b"x" * 70_000, client), 413, "invalid_request")
    for length, status in ((65_536, 200), (65_537, 413)):
        sent = in_chunks(fields.ljust(length, b"x"))
        assert oauth.post("/token", {}, client, **sent).status_code == status, length


def test_get_is_not_allowed(oauth):
    for path in ("/token", "/revoke", "/introspect"):
        answer = oauth.library.app.test_client().get("/api/v1/oauth" + path)
        assert (answer.status_code, set(answer.allow)) == (405, {"OPTIONS", "POST"})
        assert answer.json == {
            "error": "invalid_request",
            "error_description": "The method is not allowed for the requested URL.",
        }


def test_a_database_without_tables_is_unavailable_in_the_form_of_the_rfc(tmp_path):
    with open_oauth_api(tmp_path, upgrade=False) as oauth:
        answer = oauth.post("/token", GRANT, unknown())
        check_oauth_error(answer, 503, "temporarily_unavailable")
