import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from sqlalchemy import select

from photosvc.auth.errors import OtherServiceKeyError
from photosvc.auth.service_key import encrypt_again
from photosvc.auth.signing_keys import SigningKeys
from photosvc.core.accounts import MAX_CLIENT_TOKEN_LIFETIME
from photosvc.models import StoredKey
from photosvc.models.engine import write_session
from tests.helpers import cheap
from tests.helpers.clock import NOW, MovedClock
from tests.helpers.library import new_engine, new_settings


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def engine(tmp_path):
    engine = new_engine(tmp_path)
    yield engine
    engine.dispose()


@pytest.fixture
def settings(tmp_path):
    return new_settings(tmp_path)


@pytest.fixture
def worker(tmp_path, clock, engine, settings):
    """A function that gives the keys as one more worker sees them."""

    def start(settings=settings):
        reading, writing = engine.connect, lambda: write_session(engine)
        return SigningKeys(reading, writing, lambda: settings, clock)

    return start


@pytest.fixture
def keys(worker):
    return worker()


def kids(keys):
    return [key.kid for key in keys]


def test_there_is_no_key_before_its_first_use(keys):
    assert keys.existing() == ()
    key = keys.current()
    assert (key.number, key.created_at, key.published_until) == (1, NOW, None)
    assert kids(keys.existing()) == kids(keys.published()) == [key.kid]
    assert keys.current() == key


def test_a_new_key_has_2048_bits():
    key = RSAKey.import_key(json.loads(cheap.REAL_NEW_KEY()))
    assert key.is_private
    assert key.private_key.key_size == 2048


def test_of_many_workers_that_start_at_once_all_get_the_same_key(worker):
    workers = [worker() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert len({key.kid for key in pool.map(SigningKeys.current, workers)}) == 1


def test_a_rotation_reaches_other_workers_at_once(keys, worker):
    other = worker()
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


def test_a_rotation_removes_the_keys_that_are_not_needed(keys, clock, engine):
    keys.current()
    keys.rotate()
    clock.move(seconds=MAX_CLIENT_TOKEN_LIFETIME)
    assert [key.number for key in (keys.rotate(), *keys.existing())] == [3, 3, 2]
    with engine.connect() as connection:
        assert sorted(connection.scalars(select(StoredKey.number))) == [2, 3]


def test_a_signature_is_checked_with_the_public_half_and_no_other(keys):
    key = keys.current()
    token = key.sign({"sub": "x"}, kind="at+jwt")
    public = RSAKey.import_key(key.public())
    decoded = jwt.decode(token, public, algorithms=["RS256"])
    assert decoded.header == {"alg": "RS256", "typ": "at+jwt", "kid": key.kid}
    assert decoded.claims == {"sub": "x"}
    with pytest.raises(JoseError):
        jwt.decode(token, RSAKey.import_key(keys.rotate().public()), algorithms=["RS256"])


def test_with_another_service_key_none_is_read_or_made(keys, worker, tmp_path):
    kid, other = keys.current().kid, worker(new_settings(tmp_path, secret_key="x" * 32))
    assert other.existing() == ()
    with pytest.raises(OtherServiceKeyError):
        other.current()
    assert kids(keys.existing()) == [kid]


def test_they_outlive_a_replacement_of_the_service_key(keys, worker, engine, settings, tmp_path):
    kid, fresh = keys.current().kid, "n" * 40
    with write_session(engine) as session:
        encrypt_again(session, new_settings(tmp_path, secret_key=f"{fresh} {settings.secret_key}"))
    assert worker(new_settings(tmp_path, secret_key=fresh)).current().kid == kid


def test_when_the_service_key_was_lost_others_take_their_place(keys, worker, engine, tmp_path):
    kid, fresh = keys.current().kid, new_settings(tmp_path, secret_key="n" * 40)
    with write_session(engine) as session:
        encrypt_again(session, fresh, lost=True)
    found = worker(fresh)
    assert (found.current().number, found.current().kid != kid) == (2, True)
    with engine.connect() as connection:
        assert list(connection.scalars(select(StoredKey.number))) == [2]
