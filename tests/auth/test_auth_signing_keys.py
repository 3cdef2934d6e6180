from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from photosvc.auth.oauth.signing_keys import SigningKey, SigningKeys
from photosvc.core.accounts import MAX_CLIENT_TOKEN_LIFETIME
from photosvc.core.errors import SettingError
from tests.clock import NOW, MovedClock


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def keys(tmp_path, clock):
    return SigningKeys(tmp_path / "keys", clock)


def kids(keys):
    return [key.kid for key in keys]


def test_there_is_no_key_before_one_is_needed(keys, tmp_path):
    assert keys.existing() == ()
    assert not (tmp_path / "keys").exists()
    key = keys.current()
    assert (key.number, key.created_at, key.published_until) == (1, NOW, None)
    assert kids(keys.existing()) == kids(keys.published()) == [key.kid]
    assert keys.current() is key


def test_of_many_workers_that_start_at_once_all_get_the_same_key(tmp_path, clock):
    workers = [SigningKeys(tmp_path / "keys", clock) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert len({key.kid for key in pool.map(SigningKeys.current, workers)}) == 1


def test_a_rotation_reaches_other_workers_at_once(keys, tmp_path, clock):
    other = SigningKeys(tmp_path / "keys", clock)
    old = other.current()
    fresh = keys.rotate()
    assert fresh.kid != old.kid
    assert other.current().kid == fresh.kid
    assert kids(other.published()) == [fresh.kid, old.kid]


def test_an_old_key_is_published_until_its_last_token_is_over(keys, clock):
    old = keys.current()
    clock.move(days=100)
    fresh = keys.rotate()
    assert keys.existing()[1].published_until == NOW + timedelta(days=131)
    clock.move(seconds=MAX_CLIENT_TOKEN_LIFETIME - 1)
    assert kids(keys.published()) == [fresh.kid, old.kid]
    clock.move(seconds=1)
    assert kids(keys.published()) == [fresh.kid]
    assert kids(keys.existing()) == [fresh.kid, old.kid]


def test_a_rotation_removes_the_keys_that_are_not_needed(keys, clock, tmp_path):
    keys.current()
    keys.rotate()
    clock.move(seconds=MAX_CLIENT_TOKEN_LIFETIME)
    assert [key.number for key in (keys.rotate(), *keys.existing())] == [3, 3, 2]
    assert sorted(path.name for path in (tmp_path / "keys").iterdir()) == ["2.json", "3.json"]


def test_a_signature_is_checked_with_the_public_half_and_no_other(keys):
    key = keys.current()
    token = key.sign({"sub": "x"}, kind="at+jwt")
    public = RSAKey.import_key(key.public())
    decoded = jwt.decode(token, public, algorithms=["RS256"])
    assert decoded.header == {"alg": "RS256", "typ": "at+jwt", "kid": key.kid}
    assert decoded.claims == {"sub": "x"}
    with pytest.raises(JoseError):
        jwt.decode(token, RSAKey.import_key(keys.rotate().public()), algorithms=["RS256"])


def test_other_files_in_the_folder_are_let_be(keys, tmp_path):
    (tmp_path / "keys").mkdir()
    for name in ("README", "x.json", "2.json.old", ".3.json.tmp"):
        (tmp_path / "keys" / name).write_text("x")
    assert keys.current().number == 1


def test_a_folder_that_cannot_be_made_is_reported_without_its_path(tmp_path, clock):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="cannot be used: NotADirectoryError"):
        SigningKeys(tmp_path / "file" / "keys", clock).current()


def test_a_folder_that_takes_no_key_is_an_error_about_the_keys(tmp_path, clock):
    (tmp_path / "keys").write_text("a file")
    with pytest.raises(SettingError):
        SigningKeys(tmp_path / "keys", clock).current()


def test_a_document_is_signed_once_until_it_or_the_key_changes(keys, tmp_path, clock, monkeypatch):
    signed = []
    sign = SigningKey.sign
    monkeypatch.setattr(
        SigningKey, "sign", lambda key, *given, **named: signed.append(key.number) or sign(key, *given, **named)
    )
    first = keys.sign_document({"a": 1, "b": 2}, kind="JWT")
    assert keys.sign_document({"b": 2, "a": 1}, kind="JWT") == first
    assert signed == [1]
    assert keys.sign_document({"a": 1}, kind="JWT") != first
    assert keys.sign_document({"a": 1}, kind="other") != keys.sign_document({"a": 1}, kind="JWT")
    SigningKeys(tmp_path / "keys", clock).rotate()
    second = keys.sign_document({"a": 1, "b": 2}, kind="JWT")
    assert jwt.decode(second, keys.current().key, algorithms=["RS256"]).header["kid"] == keys.current().kid
    assert signed == [1, 1, 1, 2]


def test_only_a_few_signed_documents_are_kept(keys):
    for number in range(50):
        keys.sign_document({"a": number}, kind="JWT")
    assert len(keys._signed) <= 8
