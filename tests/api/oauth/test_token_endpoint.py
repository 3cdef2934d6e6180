"""POST /oauth/token: what is granted, and every way to be refused."""

import base64
import statistics
import time

import pytest

from photosvc.auth.oauth.clients import Changes, change_client, remove_client
from photosvc.core import ids
from tests.clock import NOW
from tests.factories.accounts import add_user
from tests.oauth_client import GRANT, Pair, basic, check_oauth_error, open_oauth_api


@pytest.fixture(scope="module")
def oauth(tmp_path_factory):
    with open_oauth_api(tmp_path_factory.mktemp("oauth")) as oauth:
        yield oauth


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


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
def test_the_basic_scheme_may_be_in_any_case(oauth, client, scheme):
    answer = oauth.post("/token", GRANT, authorization=basic(*client).replace("Basic", scheme))
    assert answer.status_code == 200


def test_the_secret_may_come_in_the_body(oauth, client):
    assert oauth.post("/token", {**GRANT, **client.form}).status_code == 200


def test_basic_values_are_form_decoded(oauth, client):
    encoded = "".join(f"%{ord(letter):02x}" for letter in client.secret)
    pair = f"{client.client_id}:{encoded}".encode()
    answer = oauth.post("/token", GRANT, authorization="Basic " + base64.b64encode(pair).decode())
    assert answer.status_code == 200


def test_the_same_client_id_may_be_named_in_the_body_too(oauth, client):
    assert oauth.ask(client, client_id=client.client_id).status_code == 200
    assert oauth.ask(client, client_id=client.client_id, client_secret="").status_code == 200
    check_oauth_error(oauth.ask(client, client_id=unknown().client_id), 400, "invalid_request")


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
    told = oauth.post("/introspect", {"token": token}, client)
    assert told.json["scope"] == granted
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


def test_two_ways_to_authenticate_at_once_are_refused(oauth, client):
    form = {**GRANT, **client.form}
    check_oauth_error(oauth.post("/token", form, client), 400, "invalid_request")
    check_oauth_error(oauth.post("/token", form, authorization="Bearer x"), 400, "invalid_request")


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


@pytest.mark.parametrize(
    "body", [b"grant_type=client_credentials&scope=%ff", b"grant_type=client_credentials\xff", b"&" * 60 + b"a=1&" * 60]
)
def test_a_body_that_is_no_form_in_utf_8_is_a_bad_request(oauth, client, body):
    check_oauth_error(oauth.post("/token", body, client), 400, "invalid_request")


def test_a_body_too_long_is_refused_unread(oauth, client):
    body = "grant_type=client_credentials&x=" + "x" * 70_000
    check_oauth_error(oauth.post("/token", body, client), 413, "invalid_request")


def test_get_is_not_allowed(oauth):
    for path in ("/token", "/revoke", "/introspect"):
        answer = oauth.library.app.test_client().get("/api/v1/oauth" + path)
        assert (answer.status_code, set(answer.allow)) == (405, {"OPTIONS", "POST"})


def test_placeholders_say_so_in_the_form_of_the_rfc(oauth):
    for path in ("/authorize", "/userinfo"):
        for method in ("GET", "POST"):
            answer = oauth.library.app.test_client().open("/api/v1/oauth" + path, method=method)
            check_oauth_error(answer, 501, "not_implemented")


SECRET = "0" * 32
BAD = [
    "Basic ",
    "Basic",
    "Basic \t ",
    "Basic !!!!",
    "Basic " + base64.b64encode(b"\xff\xfe:\xff").decode(),
    "Basic " + base64.b64encode(b"no colon").decode(),
    "Basic " + base64.b64encode(b":").decode(),
    "Basic " + base64.b64encode(b"c:").decode(),
    "Basic " + base64.b64encode(b":secret").decode(),
    "Basic " + base64.b64encode(b"%ff:%ff").decode(),
    "Basic " + base64.b64encode(b"%c3%28:x").decode(),
    "Basic " + base64.b64encode("ünknown:sécret".encode()).decode(),
    "Basic " + base64.b64encode(b"c\x00:x\x00").decode(),
    "Basic " + base64.b64encode(b"a" * 5000 + b":" + b"b" * 50_000).decode(),
    "Basic a b",
    "Basic é",
    "Bearer 0123",
    "Digest username=x",
    "x",
]


@pytest.mark.parametrize("authorization", BAD)
def test_a_malformed_authorization_header_is_an_invalid_client(oauth, authorization):
    check_oauth_error(oauth.post("/token", GRANT, authorization=authorization), 401, "invalid_client")


@pytest.mark.parametrize("secret", ["wrong", "sécret", "\u0130", "\x00", "a" * 20_000, "%ff", "' OR 1=1 --", "null"])
@pytest.mark.parametrize("place", ["header", "body"])
def test_a_wrong_secret_is_an_invalid_client_whatever_it_is_made_of(oauth, client, secret, place):
    for number, client_id in enumerate((client.client_id, unknown().client_id, "ünknown\x00", secret)):
        pair = Pair(client_id, secret)
        address = f"203.0.113.{number}"
        if place == "header":
            answer = oauth.post("/token", GRANT, pair, address=address)
        else:
            answer = oauth.post("/token", {**GRANT, **pair.form}, address=address)
        check_oauth_error(answer, 401, "invalid_client")


@pytest.mark.parametrize("form", [{}, {"client_id": "c" + "0" * 15}, {"client_secret": "x"}, {"client_id": ""}])
def test_a_client_that_shows_half_of_its_credentials_or_none_is_told_how(oauth, form):
    check_oauth_error(oauth.post("/token", {**GRANT, **form}), 401, "invalid_client")


def test_unknown_disabled_removed_and_wrong_cannot_be_told_apart(oauth):
    disabled, resting, removed, right = (oauth.register() for _ in range(4))
    with oauth.library.session() as session:
        sponsor = add_user(session, "sponsor", disabled=True)
        change_client(session, disabled.client_id, NOW, Changes(enabled=False))
        change_client(session, resting.client_id, NOW, Changes(user=sponsor))
        remove_client(session, removed.client_id)
    pairs = [unknown(), disabled, resting, removed, Pair(right.client_id, SECRET), Pair("é", "é")]
    for place in ("header", "body"):
        answers = {
            (answer.status_code, answer.text, str(answer.headers))
            for answer in (
                oauth.post("/token", GRANT, pair) if place == "header" else oauth.post("/token", {**GRANT, **pair.form})
                for pair in pairs
            )
        }
        assert len(answers) == 1


def test_a_refused_try_counts_against_nothing(oauth):
    client = oauth.register(limit=1)
    token = oauth.token(client)
    oauth.ask(client, scope="users")
    oauth.post("/token", {}, client)
    oauth.post("/token", GRANT, Pair(client.client_id, SECRET))
    assert oauth.is_alive(token)


def test_wrong_secrets_slow_down_their_address_and_nobody_else(tmp_path):
    with open_oauth_api(tmp_path) as oauth:
        client = oauth.register()
        wrong = Pair(client.client_id, SECRET)
        statuses = [oauth.post("/token", GRANT, wrong, address="2001:db8::1").status_code for _ in range(61)]
        assert statuses == [401] * 60 + [429]
        answer = oauth.post("/token", GRANT, wrong, address="2001:db8::2")
        check_oauth_error(answer, 429, "temporarily_unavailable")
        assert answer.headers["Retry-After"] == "10"
        assert oauth.post("/token", GRANT, wrong, address="192.0.2.9").status_code == 401
        assert oauth.post("/token", GRANT, client, address="2001:db8::1").status_code == 200
        oauth.library.clock.move(seconds=10)
        assert oauth.post("/token", GRANT, wrong, address="2001:db8::1").status_code == 401


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


@pytest.mark.slow
def test_an_unknown_client_is_refused_as_fast_as_a_wrong_secret(oauth, client):
    """500 interleaved pairs: the medians differ by less than 5 % or 1 ms."""
    pairs = {"unknown": unknown(), "wrong": Pair(client.client_id, SECRET)}
    taken = {name: [] for name in pairs}
    for number in range(500):
        for name, pair in pairs.items():
            begin = time.perf_counter()
            answer = oauth.post("/token", GRANT, pair, address=f"10.{number // 250}.{number % 250}.1")
            taken[name].append(time.perf_counter() - begin)
            assert answer.status_code == 401
    medians = [statistics.median(times) for times in taken.values()]
    difference = abs(medians[0] - medians[1])
    assert difference < 0.001 or difference < 0.05 * min(medians)
