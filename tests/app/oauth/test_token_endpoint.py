"""POST /oauth/token: granted scopes, the authentication of clients, and every refusal (RFC 6749)."""

import base64

import pytest

from photosvc.auth.clients import change, remove
from photosvc.core import ids
from tests.app.oauth.oauth_client import GRANT, Pair, basic, check_oauth_error, open_oauth_api
from tests.helpers.api_client import in_chunks
from tests.helpers.factories.accounts import add_user
from tests.unit.auth.operations import by_command


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


def test_the_requested_scope_is_granted_and_in_the_answer(oauth, client):
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


def test_bodies_other_than_a_form_of_single_parameters_are_bad_requests(oauth, client):
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


def test_a_client_shows_its_secret_in_a_header_or_in_the_body(oauth, client):
    encoded = "".join(f"%{ord(letter):02x}" for letter in client.secret)
    pair = base64.b64encode(f"{client.client_id}:{encoded}".encode()).decode()
    schemes = [basic(*client).replace("Basic", scheme) for scheme in ("Basic", "basic", "BASIC")]
    for authorization in (*schemes, f"Basic {pair}"):  # form-decoded
        assert oauth.post("/token", GRANT, authorization=authorization).status_code == 200, authorization
    assert oauth.post("/token", {**GRANT, **client.form}).status_code == 200


def test_the_same_client_id_may_be_named_in_the_body_too(oauth, client):
    assert oauth.ask(client, client_id=client.client_id).status_code == 200
    assert oauth.ask(client, client_id=client.client_id, client_secret="").status_code == 200
    check_oauth_error(oauth.ask(client, client_id=unknown().client_id), 400, "invalid_request")


def test_two_ways_to_authenticate_at_once_are_refused(oauth, client):
    form = {**GRANT, **client.form}
    check_oauth_error(oauth.post("/token", form, client), 400, "invalid_request")
    check_oauth_error(oauth.post("/token", form, authorization="Bearer x"), 400, "invalid_request")


SECRET = "0" * 32
#: User and password of Basic headers that are none.
BAD_PAIRS = (
    *("\udcff\udcfe:\udcff", "no colon", ":", "c:", ":secret", "%ff:%ff", "%c3%28:x", "ünknown:sécret", "c\x00:x\x00"),
    "a" * 5000 + ":" + "b" * 50_000,
)
BAD = [
    *("Basic ", "Basic", "Basic \t ", "Basic !!!!", "Basic a b", "Basic é", "Bearer 0123", "Digest username=x", "x"),
    *("Basic " + base64.b64encode(pair.encode("utf-8", "surrogateescape")).decode() for pair in BAD_PAIRS),
]


def test_a_malformed_authorization_header_is_an_invalid_client(oauth):
    for number, authorization in enumerate(BAD):
        answer = oauth.post("/token", GRANT, authorization=authorization, address=f"203.0.113.{number}")
        assert answer.status_code == 401, authorization[:80]
        check_oauth_error(answer, 401, "invalid_client")


def test_any_wrong_secret_is_an_invalid_client(oauth, client):
    number = 0
    for secret in ("wrong", "sécret", "\u0130", "\x00", "a" * 20_000, "%ff", "' OR 1=1 --", "null"):
        for client_id in (client.client_id, unknown().client_id, "ünknown\x00", secret):
            pair, number = Pair(client_id, secret), number + 1
            for form, shown in ((GRANT, pair), ({**GRANT, **pair.form}, None)):
                answer = oauth.post("/token", form, shown, address=f"203.0.112.{number}")
                assert answer.status_code == 401, (client_id, secret[:80], bool(shown))
                check_oauth_error(answer, 401, "invalid_client")


def test_a_client_that_shows_half_of_its_credentials_or_none_is_challenged(oauth):
    for form in ({}, {"client_id": "c" + "0" * 15}, {"client_secret": "x"}, {"client_id": ""}):
        check_oauth_error(oauth.post("/token", {**GRANT, **form}), 401, "invalid_client")


def test_unknown_disabled_removed_and_wrong_are_answered_alike(oauth):
    disabled, resting, removed, right = (oauth.register() for _ in range(4))
    with oauth.library.session() as session:
        sponsor = add_user(session, "sponsor", disabled=True)
        change(by_command(session), disabled.client_id, {"enabled": False})
        change(by_command(session), resting.client_id, {"user": sponsor})
        remove(by_command(session), removed.client_id)
    pairs = [unknown(), disabled, resting, removed, Pair(right.client_id, SECRET), Pair("é", "é")]
    answers = set()
    for pair in pairs:
        for form, shown in ((GRANT, pair), ({**GRANT, **pair.form}, None)):
            answer = oauth.post("/token", form, shown)
            headers = [f"{name}: {value}" for name, value in answer.headers if name.lower() != "x-request-id"]
            answers.add((answer.status_code, answer.text, *headers))
    assert len(answers) == 1


def test_a_refused_try_counts_against_nothing(oauth):
    client = oauth.register(limit=1)
    token = oauth.token(client)
    oauth.ask(client, scope="users")
    oauth.post("/token", {}, client)
    oauth.post("/token", GRANT, Pair(client.client_id, SECRET))
    assert oauth.is_alive(token)


def test_wrong_secrets_slow_down_their_address_and_no_other(tmp_path):
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


def test_an_unknown_client_is_refused_by_the_same_statements_as_a_wrong_secret(oauth, client):
    refusals = []
    oauth.post("/token", GRANT, unknown(), address="10.0.9.1")  # The first request of a process looks at the schema.
    for number, pair in enumerate((unknown(), Pair(client.client_id, SECRET))):
        with oauth.library.statements() as statements:
            answer = oauth.post("/token", GRANT, pair, address=f"10.0.{number}.1")
        refusals.append((answer.status_code, answer.text, statements))
    assert refusals[0] == refusals[1]
    assert (refusals[0][0], len(refusals[0][2]) > 1) == (401, True)
