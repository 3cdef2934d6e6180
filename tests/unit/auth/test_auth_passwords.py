import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.auth import service_key
from photosvc.auth.passwords import check_password, hash_password, needs_rehash, verify_password
from photosvc.core.errors import InvalidValueError
from tests.helpers.examples import examples

pytestmark = pytest.mark.usefixtures("service_hasher")


def test_a_password_is_hashed_with_argon2id_at_the_recommended_cost():
    stored = hash_password("correct horse")
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert hash_password("correct horse") != stored
    assert not needs_rehash(stored)


def test_only_the_password_itself_is_right():
    stored = hash_password("correct horse")
    assert verify_password("correct horse", stored)
    for wrong in ("", "Correct horse", "correct horse ", "correct hors", "correct horse\0", "\ud800", "a" * 10**6):
        assert not verify_password(wrong, stored)


def test_a_hash_that_is_missing_or_damaged_fits_no_password():
    for stored in ("", "x", "$argon2id$", "$argon2id$v=19$m=19456,t=2,p=1$abc$def", "$2b$12$abc", "\0"):
        assert not verify_password("nobody's password", stored), stored


def test_a_password_is_the_same_however_its_letters_are_composed():
    assert verify_password("cafe\u0301 creme", hash_password("caf\u00e9 creme"))


@pytest.mark.parametrize("length", [8, 128])
def test_the_shortest_and_the_longest_password_work(length):
    password = check_password("é" * length)
    assert verify_password(password, hash_password(password))
    assert not verify_password(password + "x", hash_password(password))


@pytest.mark.parametrize("password", ["", "1234567", "a" * 129, "a" * 10**6])
def test_a_password_too_short_or_too_long_is_refused(password):
    with pytest.raises(InvalidValueError) as caught:
        check_password(password)
    assert caught.value.message == "a password has 8 to 128 characters"


def test_the_user_name_is_no_password():
    with pytest.raises(InvalidValueError):
        check_password(" Alice.Smith", user_name="alice.smith")
    check_password("alice.smith1", user_name="alice.smith")


def test_keys_for_two_purposes_or_services_differ():
    made = {service_key.derive_key(secret * 32, purpose) for secret in "ab" for purpose in ("one", "two")}
    assert len(made) == 4
    assert {len(key) for key in made} == {32}


@examples(50)
@given(st.text(max_size=80), st.text(max_size=80))
def test_a_signature_is_of_its_message_and_key_only(message, other):
    key = service_key.derive_key("k" * 32, "one")
    signature = service_key.sign(key, message)
    assert len(signature) == 22
    assert service_key.is_signed(key, message, signature)
    assert service_key.is_signed(key, other, signature) is (message == other)
    assert not service_key.is_signed(service_key.derive_key("k" * 32, "two"), message, signature)
    assert not service_key.is_signed(key, message, other)


def opened(sealed, key="k" * 32, purpose="one", owner="alice"):
    return service_key.open_secret((key,), sealed, purpose=purpose, owner=owner)


def test_a_sealed_secret_opens_with_its_key_for_its_owner_only():
    sealed = service_key.seal(("k" * 32, "o" * 32), "secret", purpose="one", owner="alice")
    assert "secret" not in sealed
    assert opened(sealed) == "secret"
    assert opened(sealed, owner="bob") is None
    assert opened(sealed, purpose="two") is None
    assert opened(sealed, key="o" * 32) is None
    assert service_key.open_secret(("o" * 32, "k" * 32), sealed, purpose="one", owner="alice") == "secret"
    assert service_key.seal(("k" * 32, "o" * 32), "secret", purpose="one", owner="alice") != sealed
    changed = "B" if sealed.startswith("A") else "A"
    for damaged in ("", "x", sealed[:-4], changed + sealed[1:], "é", sealed[:16]):
        assert opened(damaged) is None
