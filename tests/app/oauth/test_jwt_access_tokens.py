"""JWT access tokens: readable by others, and here no better than opaque ones."""

import base64
import json

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

from photosvc.auth.clients import change
from photosvc.core import ids
from photosvc.core.accounts import JWT, OPAQUE
from photosvc.web.service import current_service
from tests.app.oauth.oauth_client import ISSUER, open_oauth_api
from tests.helpers.clock import NOW
from tests.unit.auth.operations import by_command


@pytest.fixture(scope="module")
def client(oauth):
    return oauth.register("photos metrics", token_format=JWT, limit=-1, lifetime=600)


@pytest.fixture(scope="module")
def published(oauth):
    return KeySet.import_key_set(oauth.library.app.test_client().get("/.well-known/jwks.json").json)


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_is_in_the_form_of_rfc_9068(oauth, client, published):
    answer = oauth.ask(client, scope="photos")
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


def test_another_service_verifies_tokens_for_its_own_audience(tmp_path):
    other = "https://printer.example"
    with open_oauth_api(tmp_path, settings={"PHOTOSVC_TOKEN_AUDIENCE": other}) as oauth:
        client, opaque = oauth.register(token_format=JWT), oauth.register()
        token = oauth.ask(client, resource=other).json["access_token"]
        keys = KeySet.import_key_set(oauth.library.app.test_client().get("/.well-known/jwks.json").json)
        checks = jwt.JWTClaimsRegistry(lambda: int(NOW.timestamp()), aud={"value": other}, iss={"value": ISSUER})
        checks.validate(jwt.decode(token, keys, algorithms=["RS256"]).claims)
        shown = [
            oauth.post("/introspect", {"token": one}, by).json["aud"]
            for one, by in ((token, client), (oauth.token(opaque), opaque))
        ]
        assert shown == [other, ISSUER]
        assert oauth.ask(client, resource="https://elsewhere.example").json["error"] == "invalid_target"


def test_each_token_is_another_one(oauth, client):
    assert len({oauth.token(client) for _ in range(5)}) == 5


def test_it_is_shown_like_any_other_and_reaches_no_further_than_its_scope(oauth, client):
    assert oauth.search(oauth.token(client)).status_code == 200
    assert oauth.search(oauth.token(client, scope="metrics")).status_code == 403


def test_a_client_changes_its_format_and_keeps_its_tokens(oauth):
    client = oauth.register(token_format=JWT)
    token = oauth.token(client)
    with oauth.library.session() as session:
        change(by_command(session), client.client_id, {"token_format": OPAQUE})
    assert ids.is_access_token(oauth.token(client))
    assert oauth.is_alive(token)


def test_after_a_rotation_old_and_new_tokens_are_good(oauth, client):
    old = oauth.token(client)
    with oauth.library.app.app_context():
        fresh = current_service().signing_keys.rotate()
    new = oauth.token(client)
    keys = KeySet.import_key_set(oauth.library.app.test_client().get("/.well-known/jwks.json").json)
    assert [jwt.decode(token, keys, algorithms=["RS256"]).claims["sub"] for token in (old, new)] == [client[0]] * 2
    assert jwt.decode(new, keys, algorithms=["RS256"]).header["kid"] == fresh.kid
    assert oauth.is_alive(old)
    assert oauth.is_alive(new)


def forgeries(token, key):
    """Name -> a token that is almost `token`."""
    header, payload, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    header_claims = json.loads(base64.urlsafe_b64decode(header + "=="))
    foreign = RSAKey.generate_key(2048)
    secret = OctKey.import_key(json.dumps(key.public()).encode())

    def signed(claims, key=foreign, alg="RS256", **more):
        return jwt.encode({**header_claims, "alg": alg, **more}, claims, key, algorithms=[alg])

    return {
        "alg none": f"{encoded({**header_claims, 'alg': 'none'})}.{payload}.",
        "alg none with the old signature": f"{encoded({**header_claims, 'alg': 'none'})}.{payload}.{signature}",
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


def test_a_jwt_that_differs_from_ours_is_refused(oauth, client):
    token = oauth.token(client)
    with oauth.library.app.app_context():
        key = current_service().signing_keys.current()
    for number, (name, forged) in enumerate(forgeries(token, key).items()):
        answer = oauth.library.app.test_client().get(
            "/api/v1/photos",
            headers={"Authorization": f"Bearer {forged}"},
            environ_base={"REMOTE_ADDR": f"203.0.113.{number}"},
        )
        assert answer.status_code == 401, name
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert oauth.is_alive(token)
