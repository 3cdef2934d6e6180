"""Clients that sign assertions with a key instead of showing a secret (RFC 7523), and resources (RFC 8707)."""

import json
from datetime import timedelta

import pytest
from authlib.oauth2.rfc7523 import private_key_jwt_sign
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from tests.support.clients.oauth_client import GRANT, ISSUER, check_oauth_error

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
TOKEN_URL = f"{ISSUER}/api/v1/oauth/token"
RSA = RSAKey.generate_key(2048)
KEYS = {
    "ES256": ECKey.generate_key("P-256"),
    "ES384": ECKey.generate_key("P-384"),
    "PS256": RSA,
    "RS256": RSA,
}
KEY = KEYS["ES256"]


def public(*keys):
    return json.dumps({"keys": [key.as_dict(private=False) for key in keys]})


@pytest.fixture
def client(oauth):
    """The id of a client with the key `KEY`."""
    return oauth.register(public_keys=public(KEY)).client_id


def claims(oauth, client, **others):
    now = int(oauth.library.clock().timestamp())
    claims = {"iss": client, "sub": client, "aud": ISSUER, "iat": now, "exp": now + 60, "jti": "1", **others}
    return {name: value for name, value in claims.items() if value is not None}


def signed(claims, key=KEY, algorithm="ES256", **header):
    return jwt.encode({"alg": algorithm, **header}, claims, key, algorithms=[algorithm])


def ask(oauth, assertion, path="/token", **form):
    form = {**GRANT, "client_assertion_type": TYPE, "client_assertion": assertion, **form}
    return oauth.post(path, {name: value for name, value in form.items() if value is not None})


@pytest.mark.parametrize("algorithm", KEYS)
def test_a_client_gets_a_token_for_its_signature(oauth, algorithm):
    key = KEYS[algorithm]
    client = oauth.register(public_keys=public(KEYS["ES384"], key)).client_id
    answer = ask(oauth, signed(claims(oauth, client), key, algorithm))
    assert answer.status_code == 200, answer.text
    assert oauth.is_alive(answer.json["access_token"])


@pytest.mark.parametrize("audience", [ISSUER, TOKEN_URL, [ISSUER]])
def test_an_assertion_is_for_the_issuer_or_the_endpoint(oauth, client, audience):
    assert ask(oauth, signed(claims(oauth, client, aud=audience))).status_code == 200


def test_an_assertion_of_authlib_is_one(oauth, client):
    now = int(oauth.library.clock().timestamp())
    key = KEY.as_dict(private=True)
    times = {"issued_at": now, "expires_at": now + 3600}
    assertion = private_key_jwt_sign(key, client, TOKEN_URL, alg="ES256", **times)
    assert ask(oauth, assertion).status_code == 200


def test_an_assertion_is_accepted_once(oauth, client):
    other = oauth.register(public_keys=public(KEY)).client_id
    assertion = signed(claims(oauth, client, jti="same"))
    assert ask(oauth, assertion).status_code == 200
    check_oauth_error(ask(oauth, assertion), 401, "invalid_client")
    check_oauth_error(ask(oauth, signed(claims(oauth, client, jti="same", exp=None))), 401, "invalid_client")
    assert ask(oauth, signed(claims(oauth, other, jti="same"))).status_code == 200
    assert ask(oauth, signed(claims(oauth, client, jti="another"))).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "cother"},
        {"sub": "cother"},
        {"iss": None},
        {"sub": None},
        {"sub": 7},
        {"aud": None},
        {"aud": "https://other.example.org"},
        {"aud": [ISSUER, "https://other.example.org"]},
        {"aud": []},
        {"aud": {}},
        {"exp": None},
        {"exp": "soon"},
        {"exp": True},
        {"exp": 10**30},
        {"exp": 1},
        {"jti": None},
        {"jti": ""},
        {"jti": 7},
        {"jti": "a" * 257},
        {"nbf": 4_000_000_000},
        {"iat": 4_000_000_000},
    ],
    ids=str,
)
def test_an_assertion_with_a_wrong_claim_is_refused(oauth, client, wrong):
    check_oauth_error(ask(oauth, signed(claims(oauth, client, **wrong))), 401, "invalid_client")


def test_an_assertion_is_refused_from_its_end_on_and_when_it_lasts_too_long(oauth, client):
    clock = oauth.library.clock
    now = int(clock().timestamp())
    check_oauth_error(ask(oauth, signed(claims(oauth, client, exp=now))), 401, "invalid_client")
    check_oauth_error(ask(oauth, signed(claims(oauth, client, exp=now + 86_400))), 401, "invalid_client")
    assertion = signed(claims(oauth, client, exp=now + 1))
    clock.present += timedelta(seconds=0.5)
    assert ask(oauth, assertion).status_code == 200
    clock.present += timedelta(seconds=1)
    check_oauth_error(ask(oauth, assertion), 401, "invalid_client")


def test_a_wrong_signature_is_refused(oauth, client):
    good = signed(claims(oauth, client))
    head, body, signature = good.split(".")
    none = signed(claims(oauth, client), OctKey.import_key(public(KEY)), "HS256")
    for bad in (
        signed(claims(oauth, client), ECKey.generate_key("P-256")),
        none,
        f"{head}.{body}.",
        f"{head}.{body}.{signature[:-4]}AAAA",
        "eyJhbGciOiJub25lIn0." + body + ".",
        f"{head}.{body}",
        "a.b.c",
        "...",
        "a" * 9000,
        "é.é.é",
    ):
        check_oauth_error(ask(oauth, bad), 401, "invalid_client")
    assert ask(oauth, good).status_code == 200


def test_a_client_with_a_key_has_no_secret_and_one_with_a_secret_no_key(oauth):
    keyed, plain = oauth.register(public_keys=public(KEY)), oauth.register()
    check_oauth_error(oauth.ask(keyed), 401, "invalid_client")
    check_oauth_error(ask(oauth, signed(claims(oauth, plain.client_id))), 401, "invalid_client")


def test_one_way_to_authenticate_at_a_time(oauth, client):
    plain = oauth.register()
    assertion = signed(claims(oauth, client))
    for form in ({"client_secret": "x"}, {"client_assertion_type": "other"}, {"client_assertion_type": None}):
        check_oauth_error(ask(oauth, assertion, **form), 400, "invalid_request")
    check_oauth_error(ask(oauth, None), 400, "invalid_request")
    form = {**GRANT, "client_assertion_type": TYPE, "client_assertion": assertion}
    check_oauth_error(oauth.post("/token", form, plain), 400, "invalid_request")
    check_oauth_error(ask(oauth, assertion, client_id=plain.client_id), 401, "invalid_client")
    assert ask(oauth, assertion, client_id=client).status_code == 200


def test_a_client_with_a_key_revokes_and_introspects_its_tokens(oauth, client):
    token = ask(oauth, signed(claims(oauth, client))).json["access_token"]
    looked = ask(oauth, signed(claims(oauth, client, jti="2")), "/introspect", token=token)
    assert looked.json["active"]
    assert ask(oauth, signed(claims(oauth, client, jti="3")), "/revoke", token=token).status_code == 200
    assert not oauth.is_alive(token)


def test_wrong_assertions_are_limited_by_address_and_right_ones_are_not(oauth, client):
    bad = signed(claims(oauth, client), ECKey.generate_key("P-256"))
    form = {**GRANT, "client_assertion_type": TYPE, "client_assertion": bad}
    statuses = [oauth.post("/token", form, address="198.51.100.9").status_code for _ in range(62)]
    assert statuses == [401] * 60 + [429] * 2
    form["client_assertion"] = signed(claims(oauth, client))
    assert oauth.post("/token", form, address="198.51.100.9").status_code == 200


def test_the_metadata_name_the_method_and_its_algorithms(oauth):
    document = oauth.library.app.test_client().get("/.well-known/oauth-authorization-server").json
    for endpoint in ("token", "revocation", "introspection"):
        assert "private_key_jwt" in document[f"{endpoint}_endpoint_auth_methods_supported"]
        assert document[f"{endpoint}_endpoint_auth_signing_alg_values_supported"] == [*KEYS]


@pytest.mark.parametrize("resource", [ISSUER, f"{ISSUER}/", f"{ISSUER}/api/v1/photos"])
def test_a_token_for_this_service_may_be_asked_for_by_its_address(oauth, resource):
    client = oauth.register(token_format="jwt")
    token = oauth.token(client, resource=resource)
    assert oauth.is_alive(token)


@pytest.mark.parametrize(
    "resource", ["https://other.example.org", ISSUER + ".evil.example", f"{ISSUER}/#a", "photos", "//", ISSUER.upper()]
)
def test_a_token_for_another_resource_is_refused_by_its_own_name(oauth, resource):
    check_oauth_error(oauth.ask(oauth.register(), resource=resource), 400, "invalid_target")


def test_several_resources_may_be_named(oauth):
    client = oauth.register()
    here, there = f"resource={ISSUER}", "resource=https://other.example.org"
    body = "grant_type=client_credentials"
    assert oauth.post("/token", f"{body}&{here}&{here}/api", client).status_code == 200
    check_oauth_error(oauth.post("/token", f"{body}&{here}&{there}", client), 400, "invalid_target")
