"""JWT access tokens: readable by others, and here no better than opaque ones."""

import base64
import json

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

from photosvc.auth.oauth.clients import JWT, OPAQUE, Changes, change_client
from photosvc.core import ids
from photosvc.web.current import current_service
from tests.library import NOW
from tests.oauth_client import ISSUER, open_desk


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with open_desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture(scope="module")
def client(desk):
    return desk.register("photos metrics", token_format=JWT, limit=-1, lifetime=600)


@pytest.fixture(scope="module")
def published(desk):
    return KeySet.import_key_set(desk.library.app.test_client().get("/.well-known/jwks.json").json)


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_is_in_the_form_of_rfc_9068(desk, client, published):
    answer = desk.ask(client, scope="photos")
    assert (answer.json["expires_in"], answer.json["scope"]) == (600, "photos")
    token = jwt.decode(answer.json["access_token"], published, algorithms=["RS256"])
    assert token.header == {"typ": "at+jwt", "alg": "RS256", "kid": published.keys[0].kid}
    assert len(token.claims.pop("jti")) == 22
    assert token.claims == {
        "iss": ISSUER,
        "aud": ISSUER,
        "sub": client.client_id,
        "client_id": client.client_id,
        "scope": "photos",
        "iat": int(NOW.timestamp()),
        "exp": int(NOW.timestamp()) + 600,
    }


def test_each_token_is_another_one(desk, client):
    assert len({desk.token(client) for _ in range(5)}) == 5


@pytest.mark.parametrize("header", ["X-Auth-Token", "X-Session-ID", "Authorization"])
def test_it_is_shown_like_any_other(desk, client, header):
    token = desk.token(client)
    value = f"Bearer {token}" if header == "Authorization" else token
    answer = desk.library.app.test_client().get("/api/v1/photos", headers={header: value})
    assert answer.status_code == 200


def test_it_reaches_no_further_than_its_scope(desk, client):
    assert desk.search(desk.token(client, scope="metrics")).status_code == 403


def test_it_is_verified_with_one_indexed_read(desk, client):
    token = desk.token(client)
    assert desk.is_alive(token)
    statements = []
    with desk.library.app.app_context():
        raw = current_service().reader.connection.driver_connection
        raw.set_trace_callback(statements.append)  # the pool hands the same connection to the next request
    answer = desk.library.app.test_client().get("/api/v1/session", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403
    (read,) = [text for text in statements if "SELECT" in text]
    with desk.library.session() as session:
        plan = session.connection().exec_driver_sql("EXPLAIN QUERY PLAN " + read).all()
    assert "SCAN" not in str(plan)
    assert "USING INDEX" in str(plan)


def test_it_is_capped(desk):
    client = desk.register(token_format=JWT, limit=2)
    tokens = [desk.token(client) for _ in range(3)]
    assert [desk.is_alive(token) for token in tokens] == [False, True, True]


def test_it_is_revoked_on_the_next_request(desk, client):
    token = desk.token(client)
    assert desk.post("/revoke", {"token": token}, client).status_code == 200
    assert desk.search(token).status_code == 401
    assert desk.post("/introspect", {"token": token}, client).json == {"active": False}


def test_it_expires_by_the_services_clock(tmp_path):
    with open_desk(tmp_path) as desk:
        client = desk.register(token_format=JWT, lifetime=60)
        token = desk.token(client)
        desk.library.clock.move(seconds=59)
        assert desk.is_alive(token)
        desk.library.clock.move(seconds=1)
        assert not desk.is_alive(token)


def test_a_client_changes_its_format_and_keeps_its_tokens(desk):
    client = desk.register(token_format=JWT)
    token = desk.token(client)
    with desk.library.session() as session:
        change_client(session, client.client_id, NOW, Changes(token_format=OPAQUE))
    assert ids.is_access_token(desk.token(client))
    assert desk.is_alive(token)


def test_after_a_rotation_old_and_new_tokens_are_good(desk, client):
    old = desk.token(client)
    with desk.library.app.app_context():
        fresh = current_service().signing_keys.rotate()
    new = desk.token(client)
    keys = KeySet.import_key_set(desk.library.app.test_client().get("/.well-known/jwks.json").json)
    assert [jwt.decode(token, keys, algorithms=["RS256"]).claims["sub"] for token in (old, new)] == [client[0]] * 2
    assert jwt.decode(new, keys, algorithms=["RS256"]).header["kid"] == fresh.kid
    assert desk.is_alive(old)
    assert desk.is_alive(new)


def forgeries(token, key):
    """Name -> a token that is almost `token`."""
    header, payload, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    told = json.loads(base64.urlsafe_b64decode(header + "=="))
    foreign = RSAKey.generate_key(2048)
    secret = OctKey.import_key(json.dumps(key.public()).encode())

    def signed(claims, key=foreign, alg="RS256", **more):
        return jwt.encode({**told, "alg": alg, **more}, claims, key, algorithms=[alg])

    return {
        "alg none": f"{encoded({**told, 'alg': 'none'})}.{payload}.",
        "alg none with the old signature": f"{encoded({**told, 'alg': 'none'})}.{payload}.{signature}",
        "another key": signed(claims),
        "another key in its header": signed(claims, jwk=foreign.as_dict(private=False)),
        "the public key as a secret": signed(claims, secret, "HS256"),
        "no signature": f"{header}.{payload}.",
        "another signature": f"{header}.{payload}.{signature[::-1]}",
        "a wider scope": f"{header}.{encoded({**claims, 'scope': '*'})}.{signature}",
        "our key, never issued": key.sign({**claims, "jti": "other"}, kind="at+jwt"),
        "our key, another audience": key.sign({**claims, "aud": "https://other.example"}, kind="at+jwt"),
        "our key, another issuer": key.sign({**claims, "iss": "https://other.example"}, kind="at+jwt"),
        "our key, another type": key.sign(claims, kind="JWT"),
        "our key, over": key.sign({**claims, "exp": claims["iat"] - 1}, kind="at+jwt"),
        "padding": token + "=",
        "an equal last character": token[:-1] + chr(ord(token[-1]) ^ 1),
        "five parts": f"{header}.{payload}.{signature}.a.b",
        "a line break": token[:40] + "\\n" + token[40:],
        "far too long": token + "A" * 9000,
        "its digest": ids.digest(token),
    }


def test_whatever_is_not_word_for_word_ours_is_refused(desk, client):
    token = desk.token(client)
    with desk.library.app.app_context():
        key = current_service().signing_keys.current()
    for number, (name, forged) in enumerate(forgeries(token, key).items()):
        answer = desk.library.app.test_client().get(
            "/api/v1/photos",
            headers={"Authorization": f"Bearer {forged}"},
            environ_base={"REMOTE_ADDR": f"203.0.113.{number}"},
        )
        assert answer.status_code == 401, name
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert desk.is_alive(token)


def test_the_metadata_is_no_access_token(desk):
    found = desk.library.app.test_client().get("/.well-known/oauth-authorization-server").json
    assert desk.search(found["signed_metadata"]).status_code == 401
