"""Public keys of clients: which sets are stored, and which are refused with a reason."""

import json

import pytest
from joserfc.jwk import ECKey, RSAKey

from photosvc.auth.client_assertions import check_public_keys, parse_keys
from photosvc.core.errors import InvalidValueError

RSA = RSAKey.generate_key(2048)
KEYS = [RSA, ECKey.generate_key("P-256"), ECKey.generate_key("P-384")]
PUBLIC = [key.as_dict(private=False) for key in KEYS]


@pytest.mark.parametrize("key", PUBLIC, ids=["RSA", "P-256", "P-384"])
def test_one_key_is_stored_as_a_set(key):
    stored = check_public_keys(json.dumps(key))
    assert json.loads(stored) == {"keys": [key]}
    assert [found.as_dict(private=False) for found in parse_keys(stored)] == [key]


def test_a_set_has_one_to_ten_keys_and_nothing_else_is_kept():
    text = json.dumps({"keys": PUBLIC[1:] * 5, "owner": "me"})
    assert json.loads(check_public_keys(text)) == {"keys": PUBLIC[1:] * 5}
    with pytest.raises(InvalidValueError, match="a set of 1 to 10"):
        check_public_keys(json.dumps({"keys": PUBLIC[1:] * 5 + PUBLIC[1:2]}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json", "expected a JSON Web Key"),
        ("[]", "expected a JSON Web Key"),
        ('{"keys": []}', "expected a JSON Web Key"),
        ('{"keys": {}}', "expected a JSON Web Key"),
        ('{"keys": [7]}', "a key cannot be read"),
        ("{}", "a key cannot be read"),
        ('{"kty": ["RSA"]}', "a key cannot be read"),
        ('{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}', "a key cannot be read"),
        ('{"kty": "oct", "k": "YWFh"}', "private or symmetric"),
        (json.dumps(RSA.as_dict(private=True)), "private or symmetric"),
        (json.dumps({"keys": [PUBLIC[1], KEYS[2].as_dict(private=True)]}), "private or symmetric"),
        ('{"kty": "RSA", "e": "AQAB", "n": "' + "_" * 170 + 'w"}', "RSA of 2048 bits or more"),
        (json.dumps(ECKey.generate_key("secp256k1").as_dict(private=False)), "P-256 or P-384"),
        ('{"kty": "RSA", "n": "' + "A" * 20_000 + '"}', "in at most 16384 bytes"),
    ],
    ids=lambda text: text[:6],  # keys are others in each process
)
def test_what_is_no_set_of_fit_public_keys_is_refused_with_its_reason(text, message):
    with pytest.raises(InvalidValueError, match=message) as caught:
        check_public_keys(text)
    assert caught.value.field == "public_keys"
