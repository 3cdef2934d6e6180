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


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        ("photos", "photos"),
        ("photos read", "photos read"),
        ("read photos", "photos read"),
        ("metrics albums photos", "albums metrics photos"),
        ("photos photos", "photos"),
        ("", "albums metrics photos"),
    ],
)
def test_the_scope_is_what_was_asked_for_and_the_answer_says_so(oauth, client, asked, granted):
    answer = oauth.ask(client, scope=asked)
    assert answer.json["scope"] == granted
    token = answer.json["access_token"]
    introspected = oauth.post("/introspect", {"token": token}, client)
    assert introspected.json["scope"] == granted
    assert oauth.search(token).status_code == (200 if "photos" in granted else 403)


@pytest.mark.parametrize(
    "scope",
    ["*", "photos users", "read", "nonsense", "Photos", "photos:true", "photos:maybe", " ", "photos photos:false",
     "photos\talbums", "photos  albums", "é", "x" * 2000, "photos\x00"],
)  # fmt: skip
def test_a_scope_that_is_wider_unknown_or_not_in_its_plain_form_is_refused_whole(oauth, client, scope):
    check_oauth_error(oauth.ask(client, scope=scope), 400, "invalid_scope")


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


@pytest.mark.parametrize(
    "grant", ["password", "refresh_token", "authorization_code", "implicit", "session", 'é"\\', "Client_Credentials",
              "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange",
              "urn:ietf:params:oauth:grant-type:device_code"],
)  # fmt: skip
def test_other_grants_are_not_supported(oauth, client, grant):
    form = {**GRANT, "grant_type": grant, "username": "alice", "password": "x", "refresh_token": "x", "code": "x"}
    check_oauth_error(oauth.post("/token", form, client), 400, "unsupported_grant_type")


@pytest.mark.parametrize("form", [{}, {"grant_type": ""}, {"scope": "photos"}])
def test_a_grant_must_be_named(oauth, client, form):
    check_oauth_error(oauth.post("/token", form, client), 400, "invalid_request")


@pytest.mark.parametrize("repeated", ["grant_type=client_credentials", "scope=photos", "scope=", "other=1"])
def test_no_parameter_comes_twice(oauth, client, repeated):
    body = f"grant_type=client_credentials&scope=photos&other=1&{repeated}"
    check_oauth_error(oauth.post("/token", body, client), 400, "invalid_request")


@pytest.mark.parametrize("name", ["grant_type", "scope", "client_id", "client_secret"])
def test_nothing_is_taken_from_the_query_string(oauth, client, name):
    values = {**GRANT, "scope": "photos", **client.form}
    form = {key: value for key, value in values.items() if key != name}
    answer = oauth.post("/token", form, query_string={name: values[name]})
    check_oauth_error(answer, 400, "invalid_request")


def test_other_query_parameters_do_not_matter(oauth, client):
    assert oauth.post("/token", GRANT, client, query_string={"tenant": "1"}).status_code == 200


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "", "multipart/form-data; boundary=x"])
def test_only_forms_are_read(oauth, client, content_type):
    body = '{"grant_type": "client_credentials"}' if "json" in content_type else "grant_type=client_credentials"
    answer = oauth.post("/token", body, client, content_type=content_type)
    check_oauth_error(answer, 400, "invalid_request")


def test_a_charset_on_the_content_type_is_fine(oauth, client):
    kind = "application/x-www-form-urlencoded; charset=UTF-8"
    assert oauth.post("/token", GRANT, client, content_type=kind).status_code == 200


@pytest.mark.parametrize("body", [b"grant_type=client_credentials&scope=%ff", b"grant_type=client_credentials\xff"])
def test_a_body_that_is_no_form_in_utf_8_is_a_bad_request(oauth, client, body):
    check_oauth_error(oauth.post("/token", body, client), 400, "invalid_request")


@pytest.mark.parametrize("fields", [b"a=1&" * 50, b"".join(b"a%d=1&" % number for number in range(50))])
def test_more_than_fifty_fields_are_named_as_such(oauth, client, fields):
    answer = oauth.post("/token", fields + b"grant_type=client_credentials", client)
    check_oauth_error(answer, 400, "invalid_request")
    assert answer.json["error_description"] == "The form has more than 50 fields"


def test_an_unknown_path_below_oauth_is_answered_in_the_form_of_oauth(oauth):
    answer = oauth.library.app.test_client().get("/api/v1/oauth/none")
    assert (answer.status_code, answer.json["error"]) == (404, "invalid_request")


def test_a_body_too_long_is_refused_unread(oauth, client):
    body = "grant_type=client_credentials&x=" + "x" * 70_000
    check_oauth_error(oauth.post("/token", body, client), 413, "invalid_request")


def test_a_body_in_chunks_that_is_too_long_is_not_taken_for_its_beginning(oauth, client):
    fields = b"grant_type=client_credentials&x="
    for length, status in ((65_536, 200), (65_537, 413)):
        sent = in_chunks(fields.ljust(length, b"x"))
        assert oauth.post("/token", {}, client, **sent).status_code == status


def test_get_is_not_allowed(oauth):
    for path in ("/token", "/revoke", "/introspect"):
        answer = oauth.library.app.test_client().get("/api/v1/oauth" + path)
        assert (answer.status_code, set(answer.allow)) == (405, {"OPTIONS", "POST"})
        assert answer.json == {
            "error": "invalid_request",
            "error_description": "The method is not allowed for the requested URL.",
        }


def test_placeholders_say_so_in_the_form_of_the_rfc(oauth):
    for path in ("/authorize", "/userinfo"):
        for method in ("GET", "POST"):
            answer = oauth.library.app.test_client().open("/api/v1/oauth" + path, method=method)
            check_oauth_error(answer, 501, "not_implemented")


def test_neither_secret_nor_token_is_in_the_database(oauth):
    client = oauth.register()
    token = oauth.token(client)
    with oauth.library.app.app_context():
        path = oauth.library.instance / "photosvc.db"
    stored = b"".join(file.read_bytes() for file in path.parent.glob("photosvc.db*"))
    assert client.client_id.encode() in stored
    assert client.secret.encode() not in stored
    assert token.encode() not in stored
    assert ids.digest(token).encode() in stored


def test_a_database_without_tables_is_unavailable_in_the_form_of_the_rfc(tmp_path):
    with open_oauth_api(tmp_path, upgrade=False) as oauth:
        answer = oauth.post("/token", GRANT, unknown())
        check_oauth_error(answer, 503, "temporarily_unavailable")
