"""How clients authenticate at POST /oauth/token, and how failures are answered (RFC 6749 section 2.3)."""

import base64

import pytest

from photosvc.auth.clients import change, remove
from photosvc.core import ids
from tests.helpers.clients.oauth_client import GRANT, Pair, basic, check_oauth_error, open_oauth_api
from tests.helpers.factories.accounts import add_user
from tests.helpers.operations import by_command


@pytest.fixture(scope="module")
def client(oauth):
    return oauth.register("photos albums metrics", limit=-1)


def unknown():
    return Pair("c" + "0" * 15, ids.new_client_secret())


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


def test_a_wrong_secret_is_an_invalid_client_whatever_it_is_made_of(oauth, client):
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
    for number, pair in enumerate((unknown(), Pair(client.client_id, SECRET))):
        with oauth.library.statements() as statements:
            answer = oauth.post("/token", GRANT, pair, address=f"10.0.{number}.1")
        refusals.append((answer.status_code, answer.text, statements))
    assert refusals[0] == refusals[1]
    assert (refusals[0][0], len(refusals[0][2]) > 1) == (401, True)
